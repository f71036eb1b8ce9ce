"""A process that does one thing to a database and kills itself before its n-th SQL statement or trigger.

`python -m tests.proofs.killed_commit serve` reads `[database, operation, n]` a line, forks a child for each;
`… once DATABASE OPERATION N` does it in the process itself, for where fork is not. A child that comes to its
end says how many statements there were.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Session, UserMessage
from bibgenie_desktop.domain.parts import Draft, TextPart, ToolPart
from bibgenie_desktop.storage.store import Store
from tests.storage.helpers import MODEL, USAGE, Counting, reply_id, summary_under

START = 500_000
CALL = ToolPart("c", "search_items", {"query": "x"}, "pending")


class Work:
    """The operations. The newest session is the one that they are done to."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @property
    def session(self) -> Session:
        return max((row.session for row in self.store.sessions()), key=lambda s: s.id)

    @property
    def path(self) -> tuple[UserMessage | AssistantMessage | Checkpoint, ...]:
        found = self.store.open_branch(self.session.id).path
        assert isinstance(found, tuple)
        return found

    def send(self) -> None:
        store, session = self.store, self.session
        store.send(session.id, session.head, Draft("a draft").parts(), reply_id(store), MODEL)

    def retry(self) -> None:
        store, session = self.store, self.session
        question = [m for m in self.path if isinstance(m, UserMessage)][-1]
        store.retry(session.id, session.head, question.id, reply_id(store), MODEL)

    def edit(self) -> None:
        self._edit(compact=False)

    def edit_with_checkpoint(self) -> None:
        self._edit(compact=True)

    def _edit(self, *, compact: bool) -> None:
        store, session = self.store, self.session
        questions = [m for m in self.path if isinstance(m, UserMessage)]
        parent = next(m for m in self.path if m.id == questions[-1].parent_id)
        assert isinstance(parent, AssistantMessage | Checkpoint)
        checkpoint = summary_under(store, session, parent, questions[1].id) if compact else None
        store.edit(
            session.id,
            session.head,
            parent.id,
            Draft("an edit").parts(),
            reply_id(store),
            MODEL,
            checkpoint,
            edits=questions[-1].id,
        )

    def commit_checkpoint(self) -> None:
        store, session, leaf = self.store, self.session, self.path[-1]
        questions = [m for m in self.path if isinstance(m, UserMessage)]
        assert isinstance(leaf, AssistantMessage)
        store.commit_checkpoint(
            session.id, session.head, summary_under(store, session, leaf, questions[-1].id)
        )

    def fork(self) -> None:
        self.store.fork(self.session.id, self.path[1].id, "a fork")

    def switch(self) -> None:
        self.store.switch(self.session.id, self.session.head, self.path[1].id)

    def undo_checkpoint(self) -> None:
        self.store.undo_checkpoint(self.session.id, self.session.head)

    def save_draft(self) -> None:
        self.store.save_draft(self.session.id, None, Draft("another draft"))

    def keep_queue(self) -> None:
        self.store.keep_queue(self.session.id, (Draft("a draft"), Draft("more")), Draft("refused"))

    def reclaim_queue(self) -> None:
        self.store.reclaim_queue(self.session.id)

    def put_blob(self) -> None:
        self.store.put_blob(b"a picture" * 9_000, "image/png", 3, 3)

    def empty_trash(self) -> None:
        self.store.empty_trash()

    # on a session with an answer under way

    def save_pending(self) -> None:
        self.store.save_pending(self.session.id, (TextPart("half " * 2_000), CALL), USAGE)

    def finish(self) -> None:
        self.store.finish(self.session.id, "complete", "", (TextPart("whole"), CALL), USAGE)

    def recover(self) -> None:
        self.store.recover()


OPERATIONS: Mapping[str, Callable[[Work], None]] = {
    name: operation for name, operation in vars(Work).items() if not name.startswith("_") and name.islower()
    and callable(operation)
}  # fmt: skip
PENDING = ("save_pending", "finish", "recover")


def work(database: Path, operation: str, n: int) -> int:
    """Statements run; does not return where `n` is one of them."""
    source = Counting(START)
    store = Store(database, source.clock, source.ids, owner=True)
    doing = Work(store)
    count = 0

    def traced(_: str) -> None:
        nonlocal count
        count += 1
        if count == n:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

    connection = store._db._db.connection()
    connection.set_trace_callback(traced)
    OPERATIONS[operation](doing)
    connection.set_trace_callback(None)
    store.close()
    return count


def say(*words: object) -> None:
    os.write(1, (json.dumps(words) + "\n").encode())


def serve() -> None:
    for line in sys.stdin:
        database, operation, n = json.loads(line)
        child = os.fork()
        if child == 0:
            say("whole", work(Path(database), operation, n))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        say("ended", os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        say("whole", work(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
