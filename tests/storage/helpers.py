"""A real store in a temporary directory with a counting clock and counting ids, and short ways to fill it."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bibgenie_desktop.domain.ids import MessageId, uuid7
from bibgenie_desktop.domain.locators import LedgerEntry, Locator
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Session, Status, UserMessage
from bibgenie_desktop.domain.parts import TextPart
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.storage.store import Store

MODEL = "local/model:1b"
LEDGER = (LedgerEntry(Locator("u", "pdf", "AAAA2222", "BBBB3333", page_index=3), "A paper", 2, 4),)
USAGE = (Usage("local", "http://127.0.0.1:1/v1", "model:1b", 100, 20, cache_read=40),)


class Counting:
    """Clock and id source of one test: deterministic, and distinct for each `start`."""

    def __init__(self, start: int = 1) -> None:
        self._ticks = itertools.count(1_700_000_000_000 + start)
        self._numbers = itertools.count(start)

    def clock(self) -> int:
        return next(self._ticks)

    def ids(self) -> str:
        number = next(self._numbers)
        return uuid7(1_700_000_000_000 + number, number.to_bytes(10))


def database(directory: Path) -> Path:
    return directory / "data" / "bibgenie.sqlite"


@contextmanager
def opened(path: Path, *, owner: bool = True, start: int = 1) -> Iterator[Store]:
    source = Counting(start)
    store = Store(path, source.clock, source.ids, owner)
    try:
        yield store
    finally:
        store.close()


def reply_id(store: Store) -> MessageId:
    return MessageId(store._ids())


def turn(
    store: Store,
    session: Session,
    question: str = "why?",
    answer: str = "because",
    status: Status = "complete",
) -> tuple[Session, UserMessage, AssistantMessage]:
    session, asked, _ = store.send(
        session.id, session.head, (TextPart(question),), reply_id(store), session.model
    )
    ended = store.finish(session.id, status, "", (TextPart(answer),), USAGE)
    return ended.session, asked, ended.message


def conversation(
    store: Store, turns: int
) -> tuple[Session, tuple[UserMessage, ...], tuple[AssistantMessage, ...]]:
    """A session with questions `q1`… and answers `a1`…"""
    session = store.create_session("A conversation", MODEL)
    asked, answers = [], []
    for n in range(1, turns + 1):
        session, question, answer = turn(store, session, f"q{n}", f"a{n}")
        asked.append(question)
        answers.append(answer)
    return session, tuple(asked), tuple(answers)


def summary_under(
    store: Store, session: Session, parent: AssistantMessage | Checkpoint, boundary: MessageId | None
) -> Checkpoint:
    return Checkpoint(
        id=reply_id(store),
        tree_id=session.tree_id,
        parent_id=parent.id,
        depth=parent.depth + 1,
        first_kept_id=boundary,
        summary="## Research Goal\nTo know why.",
        ledger=LEDGER,
        ledger_projected="- u-BBBB3333 p.4",
        trigger="manual",
        head_leaf_id=session.leaf_id or MessageId(""),
        head_revision=session.branch_revision,
        tokens_before=48_000,
        tokens_after=6_000,
        model=MODEL,
        created_at=store._clock(),
    )


def compacted(
    store: Store, session: Session, parent: AssistantMessage | Checkpoint, boundary: MessageId | None
) -> tuple[Session, Checkpoint]:
    checkpoint = summary_under(store, session, parent, boundary)
    return store.commit_checkpoint(session.id, session.head, checkpoint), checkpoint


@contextmanager
def plain(path: Path) -> Iterator[sqlite3.Connection]:
    """The file as any other program would open it: default settings, nothing of ours."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def rows(path: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    with plain(path) as connection:
        return connection.execute(sql, values).fetchall()


def count(path: Path, table: str) -> int:
    with plain(path) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


TREE_ROWS = (
    "SELECT * FROM tree ORDER BY id",
    "SELECT * FROM message ORDER BY id",
    "SELECT * FROM checkpoint ORDER BY message_id",
)


def tree_rows(path: Path) -> list[tuple[object, ...]]:
    """Everything that must never change."""
    with plain(path) as connection:
        return [row for sql in TREE_ROWS for row in connection.execute(sql)]


def everything(path: Path) -> list[tuple[object, ...]]:
    with plain(path) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return [
            (table, *row) for table in sorted(tables) for row in connection.execute(f"SELECT * FROM {table}")
        ]


def damaged(path: Path, *changes: tuple[str, tuple[object, ...]]) -> None:
    """What a faulty disk or another program could have left: triggers dropped, then changed by hand."""
    with plain(path) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        connection.execute("BEGIN")
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for sql, values in changes:
            assert connection.execute(sql, values).rowcount > 0
        for _, sql in triggers:
            connection.execute(sql)
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def after(calls: int, then: Callable[[], bool] = lambda: True) -> Callable[[], bool]:
    """A cancel token that is asked and answers no so many times first."""
    left = itertools.count(calls, -1)
    return lambda: next(left) <= 0 and then()
