"""Kill −9 before every SQL statement of every operation that writes: all of it is there, or nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bibgenie_desktop.domain.messages import UserMessage
from bibgenie_desktop.domain.parts import Draft, TextPart
from tests.harness import Soak
from tests.proofs.killed_commit import CALL, OPERATIONS, PENDING
from tests.storage.helpers import (
    MODEL,
    USAGE,
    compacted,
    conversation,
    everything,
    opened,
    plain,
    reply_id,
    turn,
)
from tests.storage.test_kill import no_halves

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-m", "tests.proofs.killed_commit"]


class Children:
    def __init__(self) -> None:
        self._server = None
        if hasattr(os, "fork"):
            self._server = subprocess.Popen(
                [*PROGRAM, "serve"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )

    def run(self, database: Path, operation: str, n: int) -> int | None:
        """How many statements a child ran that came to its end; None for one that was killed."""
        if self._server is None:
            done = subprocess.run(
                [*PROGRAM, "once", str(database), operation, str(n)],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                text=True,
                check=False,
            )
            return int(json.loads(done.stdout)[1]) if done.returncode == 0 else None
        server = self._server
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps([str(database), operation, n]) + "\n")
        server.stdin.flush()
        first = json.loads(server.stdout.readline())
        if first[0] == "whole":
            assert json.loads(server.stdout.readline()) == ["ended", 0]
            return int(first[1])
        assert first == ["ended", -9], f"{operation} before statement {n}: {first}"
        return None

    def close(self) -> None:
        if self._server is not None:
            self._server.communicate()


@contextmanager
def children() -> Iterator[Children]:
    made = Children()
    try:
        yield made
    finally:
        made.close()


def base(path: Path, operation: str) -> None:
    """Three turns, a checkpoint, a turn, a session in the trash, drafts; perhaps an answer under way."""
    with opened(path) as store:
        session, asked, answers = conversation(store, 3)
        other, *_ = conversation(store, 1)
        store.trash(other.id)
        session, _ = compacted(store, session, answers[-1], asked[1].id)
        session, fourth, answer = turn(store, session, "q4", "a4")
        session = store.fork(session.id, answer.id, "at work")
        store.save_draft(session.id, None, Draft("a draft"))
        store.save_draft(session.id, fourth.id, Draft("an edit"))
        if operation == "undo_checkpoint":
            session = store.fork(session.id, answer.id, "compacted")
            compacted(store, session, answer, fourth.id)
        if operation == "reclaim_queue":
            store.keep_queue(session.id, (Draft("one"), Draft("two")))
        if operation in PENDING:
            session, *_ = store.send(session.id, session.head, (TextPart("q5"),), reply_id(store), MODEL)
            store.save_draft(session.id, None, Draft("typed meanwhile"))
            store.save_pending(session.id, (TextPart("so far"), CALL), USAGE)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_kill_before_any_statement_leaves_all_or_nothing(
    tmp_path: Path, operation: str, soak: Soak
) -> None:
    start = tmp_path / "start" / "bibgenie.sqlite"
    base(start, operation)
    before = everything(start)
    kills = 0
    with children() as running:
        whole = copied(start, tmp_path / "whole")
        statements = running.run(whole, operation, 0)
        assert statements is not None
        assert statements >= 3, "BEGIN, a change and COMMIT at least"
        after = everything(whole)
        assert after != before, "the operation changes something"
        for n in range(1, soak.count(statements, statements) + 1):
            path = copied(start, tmp_path / f"{n}")
            assert running.run(path, operation, n) is None
            kills += 1
            left = everything(path)
            assert left in (before, after), f"{operation}: half of it was there before statement {n}"
            check(path, n)
    assert kills == statements


def check(path: Path, n: int) -> None:
    """Sound, without permits; recovery and a turn work, and drafts are what they were."""
    with plain(path) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
        drafts = raw.execute("SELECT * FROM draft ORDER BY 1, 2").fetchall()
        pending = raw.execute("SELECT count(*) FROM pending_reply").fetchone()[0]
    no_halves(path)
    with opened(path, start=900_000 + n) as store:
        assert len(store.recover()) == pending
        with plain(path) as raw:
            assert raw.execute("SELECT * FROM draft ORDER BY 1, 2").fetchall() == drafts
        for row in store.sessions():
            assert store.check_session(row.session.id) is None
            branch = store.open_branch(row.session.id)
            assert branch.pending is None
            assert not isinstance(branch.path[-1], UserMessage)  # type: ignore[index]
        turn(store, store.sessions()[0].session)


def copied(start: Path, folder: Path) -> Path:
    folder.mkdir()
    return Path(shutil.copy(start, folder / start.name))
