"""A process that writes conversations until it is killed, and prints a line for everything acknowledged.

`python -m tests.storage.killed_writer serve` reads databases and seeds and forks one writer for each, which
saves the start of an interpreter; `… once DATABASE SEED` writes in the process itself, for where fork is not.
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

from bibgenie_desktop.domain.errors import NotAllowed
from bibgenie_desktop.domain.ids import uuid7
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Session, UserMessage
from bibgenie_desktop.domain.parts import Draft, TextPart, ToolPart
from bibgenie_desktop.storage.store import Store
from tests.storage.helpers import MODEL, USAGE, reply_id, summary_under

FIRST = 1_750_000_000_000
TEXT = "A sentence that is long enough for a page of its own. " * 20


class Writer:
    def __init__(self, path: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = FIRST + seed * 1_000_000
        self.store = Store(path, self.clock, self.ids, owner=True)
        self.store.recover()

    def clock(self) -> int:
        self.now += 1
        return self.now

    def ids(self) -> str:
        return uuid7(self.clock(), self.random.randbytes(10))

    def run(self) -> None:
        say("ready")
        while True:
            session = self.store.create_session("S", MODEL)
            say("session", session.id)
            for _ in range(self.random.randint(2, 5)):
                session = self.turn(session)
                if self.random.random() < 0.5:
                    session = self.compact(session)
                if self.random.random() < 0.2:
                    session = self.elsewhere(session)
            if self.random.random() < 0.3:
                self.store.trash(session.id)
                say("gone", session.id)
                self.store.empty_trash()

    def turn(self, session: Session) -> Session:
        self.store.save_draft(session.id, None, Draft("typing"))
        session, asked, pending = self.store.send(
            session.id, session.head, (TextPart(TEXT),), reply_id(self.store), MODEL
        )
        say("message", session.id, asked.id)
        return self.answer(session, pending.message_id)

    def answer(self, session: Session, answer_id: str) -> Session:
        say("promised", session.id, answer_id)
        call = ToolPart("t", "search_items", {"query": "x"}, "pending")
        for n in range(self.random.randint(0, 3)):
            self.store.save_pending(session.id, (call, TextPart(TEXT * n)), USAGE)
        status = self.random.choice(("complete", "stopped", "failed"))
        ended = self.store.finish(session.id, status, "", (call, TextPart(TEXT)), USAGE)  # type: ignore[arg-type]
        say("message", session.id, ended.message.id)
        return ended.session

    def compact(self, session: Session) -> Session:
        path = self.store.open_branch(session.id).path
        if not isinstance(path, tuple):
            raise SystemExit(f"damaged: {path.reason}")
        leaf = path[-1]
        questions = [m.id for m in path if isinstance(m, UserMessage)]
        assert isinstance(leaf, AssistantMessage | Checkpoint)
        checkpoint = summary_under(self.store, session, leaf, self.random.choice((None, questions[-1])))
        try:
            session = self.store.commit_checkpoint(session.id, session.head, checkpoint)
        except NotAllowed:
            return session
        say("message", session.id, checkpoint.id)
        return session

    def elsewhere(self, session: Session) -> Session:
        """Retry, or edit with a checkpoint before the new question."""
        path = self.store.open_branch(session.id).path
        assert isinstance(path, tuple)
        turns = [n for n, m in enumerate(path) if isinstance(m, UserMessage)]
        if self.random.random() < 0.5:
            question = path[turns[-1]]
            session, _, pending = self.store.retry(
                session.id, session.head, question.id, reply_id(self.store), MODEL
            )
            return self.answer(session, pending.message_id)
        at = turns[-1]
        parent = path[at - 1] if at else None
        checkpoint = None
        if isinstance(parent, AssistantMessage):
            checkpoint = summary_under(self.store, session, parent, None)
        session, asked, pending = self.store.edit(
            session.id,
            session.head,
            None if parent is None else parent.id,
            (TextPart("edited"),),
            reply_id(self.store),
            MODEL,
            checkpoint,
        )
        if checkpoint is not None:
            say("message", session.id, checkpoint.id)
        say("message", session.id, asked.id)
        return self.answer(session, pending.message_id)


def say(*words: str) -> None:
    os.write(1, (json.dumps(words) + "\n").encode())


def serve() -> None:
    for line in sys.stdin:
        database, seed = json.loads(line)
        child = os.fork()
        if child == 0:
            Writer(Path(database), seed).run()
        say("started", str(child))
        _, status = os.waitpid(child, 0)
        say("dead", str(os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        Writer(Path(sys.argv[2]), int(sys.argv[3])).run()
