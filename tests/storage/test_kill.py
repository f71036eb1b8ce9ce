"""Kill −9 at random moments: what was acknowledged is there, nothing is there by halves, and work goes on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.messages import UserMessage
from bibgenie_desktop.storage.store import Store
from tests.harness import Soak
from tests.storage.helpers import Counting, count, plain, turn

ROOT = Path(__file__).resolve().parents[2]
PYTHON = [sys.executable, "-m", "tests.storage.killed_writer"]
LONGEST_LIFE = 0.12
NEW_FILE_EVERY = 10
EARLY = 5


class Writers:
    """Starts writers one after the other and kills each after a random time."""

    def __init__(self) -> None:
        self._server = None
        if hasattr(os, "fork"):
            self._server = subprocess.Popen(
                [*PYTHON, "serve"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )

    def run_and_kill(self, path: Path, seed: int, chance: random.Random) -> list[list[str]]:
        """Everything the writer had acknowledged."""
        if self._server is None:
            return self._one(path, seed, chance)
        server = self._server
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps([str(path), seed]) + "\n")
        server.stdin.flush()
        said: list[list[str]] = []
        child = 0
        while True:
            line = json.loads(server.stdout.readline())
            if line[0] == "started":
                child = int(line[1])
            elif line[0] != "dead":
                said.append(line)
            else:
                assert line[1] == str(-signal.SIGKILL), f"the writer ended by itself: {line}"
                return said
            # Some die while the file is being made, opened or recovered, most while they write.
            if child and (said or seed % EARLY == 0):
                time.sleep(chance.uniform(0, LONGEST_LIFE))
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
                child = 0

    def _one(self, path: Path, seed: int, chance: random.Random) -> list[list[str]]:
        with subprocess.Popen(
            [*PYTHON, "once", str(path), str(seed)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            first = child.stdout.readline()
            time.sleep(chance.uniform(0, LONGEST_LIFE))
            child.kill()
            lines = [first, *child.stdout.read().splitlines()]
        return [json.loads(line) for line in lines if line.strip()]

    def close(self) -> None:
        if self._server is not None:
            self._server.communicate()


@contextmanager
def writers() -> Iterator[Writers]:
    made = Writers()
    try:
        yield made
    finally:
        made.close()


@pytest.mark.patience(600)
def test_kill_at_any_moment_loses_nothing_acknowledged(tmp_path: Path, soak: Soak) -> None:
    kills = soak.count(100, 1000)
    chance = random.Random(7)
    wrote = interrupted = 0
    path = tmp_path
    promised: dict[str, str] = {}
    with writers() as running:
        for n in range(kills):
            if n % NEW_FILE_EVERY == 0:
                path, promised = tmp_path / f"data{n}" / "bibgenie.sqlite", {}
            said = running.run_and_kill(path, n, chance)
            wrote += bool(said)
            gone = {line[1] for line in said if line[0] == "gone"}
            acknowledged = {line[2] for line in said if line[0] == "message" and line[1] not in gone}
            promised |= {line[2]: line[1] for line in said if line[0] == "promised"}
            interrupted += checked(path, n, acknowledged, gone)
            check_promises(path, promised, gone)
            promised = {answer: session for answer, session in promised.items() if session not in gone}
    assert wrote > kills // 2
    assert interrupted > 0


def checked(path: Path, n: int, acknowledged: set[str], gone: set[str]) -> int:
    """The state after a kill, then recovery and a turn in some session; how many answers were recovered."""
    source = Counting(1_000_000_000 + n * 100_000)
    if path.exists() and path.stat().st_size:
        with plain(path) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
    store = Store(path, source.clock, source.ids, owner=True)
    try:
        no_halves(path)
        with plain(path) as raw:
            stored = {node for (node,) in raw.execute("SELECT id FROM message")}
        assert acknowledged <= stored
        pending = count(path, "pending_reply")
        recovered = store.recover()
        assert len(recovered) == pending
        rows = store.sessions()
        for row in rows:
            assert store.check_session(row.session.id) is None
            opened = store.open_branch(row.session.id)
            assert opened.pending is None
            assert not opened.path or not isinstance(opened.path[-1], UserMessage)  # type: ignore[index]
        if rows:
            usable = next(
                (r.session for r in rows if recovered and r.session.id == recovered[0].session_id), None
            )
            turn(store, usable or rows[0].session)
        return len(recovered)
    finally:
        store.close()


def no_halves(path: Path) -> None:
    with plain(path) as raw:
        for table in ("write_permit", "purge_permit"):
            assert raw.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        for sql in (
            "SELECT id FROM message WHERE kind = 'checkpoint' EXCEPT SELECT message_id FROM checkpoint",
            "SELECT message_id FROM checkpoint EXCEPT SELECT id FROM message WHERE kind = 'checkpoint'",
            # A question without an answer waits for one.
            "SELECT m.id FROM message m WHERE m.kind = 'user' AND NOT EXISTS "
            "(SELECT 1 FROM message a WHERE a.parent_id = m.id) AND NOT EXISTS "
            "(SELECT 1 FROM pending_reply p WHERE p.parent_id = m.id)",
        ):
            assert raw.execute(sql).fetchall() == []


def check_promises(path: Path, promised: dict[str, str], gone: set[str]) -> None:
    """After recovery every answer that was ever started is in the tree."""
    with plain(path) as raw:
        stored = {node for (node,) in raw.execute("SELECT id FROM message")}
    assert {answer for answer, session in promised.items() if session not in gone} <= stored


def test_the_checks_of_this_file_notice_a_half_checkpoint(tmp_path: Path) -> None:
    from tests.storage.helpers import compacted, conversation, damaged, opened

    path = tmp_path / "data" / "bibgenie.sqlite"
    with opened(path) as store:
        session, asked, answers = conversation(store, 1)
        compacted(store, session, answers[0], asked[0].id)
    no_halves(path)
    damaged(path, ("DELETE FROM checkpoint", ()))
    with pytest.raises(AssertionError):
        no_halves(path)
    with opened(path) as store:
        assert store.check_session(SessionId(session.id)) is not None
        assert store.siblings(asked[0]) == (MessageId(asked[0].id),)
