"""The journal is of writes to Zotero alone and append-only; what waits for a while has tables of its own.

`proposal` keeps what a card shows, and goes with its message. Journal rows name things by id and say what was
done to Zotero, so they stay when a conversation goes.
"""

from __future__ import annotations

from collections.abc import Callable

STATEMENTS = (
    """
    CREATE TABLE follow_up (
        id TEXT PRIMARY KEY NOT NULL,
        session_id TEXT NOT NULL REFERENCES session (id),
        content TEXT NOT NULL,
        created_at INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    "CREATE INDEX follow_up_session ON follow_up (session_id)",
    """
    CREATE TABLE undone (
        session_id TEXT PRIMARY KEY NOT NULL REFERENCES session (id),
        message_id TEXT NOT NULL,
        branch_revision INTEGER NOT NULL,
        created_at INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    """
    INSERT INTO follow_up (id, session_id, content, created_at)
    SELECT id, session_id, content, created_at FROM journal
    WHERE kind = 'follow-up' AND session_id IN (SELECT id FROM session)
    """,
    """
    INSERT OR REPLACE INTO undone (session_id, message_id, branch_revision, created_at)
    SELECT session_id, message_id, CAST(content AS INTEGER), created_at FROM journal
    WHERE kind = 'undone' AND message_id IS NOT NULL AND session_id IN (SELECT id FROM session) ORDER BY id
    """,
    "DROP TABLE journal",
    """
    CREATE TABLE journal (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        call_id TEXT NOT NULL,
        session_id TEXT,
        message_id TEXT,
        kind TEXT NOT NULL,
        content TEXT NOT NULL,
        created_at INTEGER NOT NULL
    )
    """,
    "CREATE INDEX journal_call ON journal (call_id, seq)",
    """
    CREATE TABLE proposal (
        call_id TEXT PRIMARY KEY NOT NULL,
        message_id TEXT NOT NULL,
        content TEXT NOT NULL,
        created_at INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    "CREATE INDEX proposal_message ON proposal (message_id)",
    # The order of entries is that of their writing: ids and times follow a clock that may be set back.
    # INSERT OR REPLACE would remove a row past the trigger on DELETE.
    """
    CREATE TRIGGER journal_written_once BEFORE INSERT ON journal
    WHEN EXISTS (SELECT 1 FROM journal WHERE id = NEW.id OR seq = NEW.seq)
    BEGIN SELECT RAISE(ABORT, 'journal: there is a row with this id already'); END
    """,
    """
    CREATE TRIGGER journal_never_changed BEFORE UPDATE ON journal
    BEGIN SELECT RAISE(ABORT, 'journal: a row never changes'); END
    """,
    """
    CREATE TRIGGER journal_never_deleted BEFORE DELETE ON journal
    BEGIN SELECT RAISE(ABORT, 'journal: a row is never deleted'); END
    """,
)


def apply(execute: Callable[[str], object]) -> None:
    for statement in STATEMENTS:
        execute(statement)
