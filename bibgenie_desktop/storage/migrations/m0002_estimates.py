"""Cached estimates carry the version of the rule that made them: a new rule starts afresh."""

from __future__ import annotations

from collections.abc import Callable

STATEMENTS = (
    "DROP TABLE estimate",
    """
    CREATE TABLE estimate (
        message_id TEXT NOT NULL,
        version TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        PRIMARY KEY (message_id, version)
    ) WITHOUT ROWID
    """,
)


def apply(execute: Callable[[str], object]) -> None:
    for statement in STATEMENTS:
        execute(statement)
