"""The first schema: the tables of the design, and triggers that keep the tree append-only.

The rules live in the database so that no program bug and no other tool can write over what a person said.
Each trigger works on connections with default settings; none relies on `recursive_triggers`.
"""

from __future__ import annotations

from collections.abc import Callable

# The big columns come last: reading the light ones of a long row then touches one page.
# WITHOUT ROWID: no hidden key by which INSERT OR REPLACE could remove another row past the triggers.
TABLES = (
    """
    CREATE TABLE tree (
        id TEXT PRIMARY KEY NOT NULL,
        created_at INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE message (
        id TEXT PRIMARY KEY NOT NULL,
        tree_id TEXT NOT NULL REFERENCES tree (id),
        parent_id TEXT REFERENCES message (id),
        kind TEXT NOT NULL,
        status TEXT NOT NULL DEFAULT 'complete',
        depth INTEGER NOT NULL,
        model TEXT NOT NULL DEFAULT '',
        created_at INTEGER NOT NULL,
        error TEXT NOT NULL DEFAULT '',
        words TEXT,
        usage TEXT NOT NULL DEFAULT '[]',
        parts TEXT NOT NULL DEFAULT '[]'
    ) WITHOUT ROWID
    """,
    "CREATE INDEX message_parent ON message (parent_id, created_at)",
    "CREATE INDEX message_tree ON message (tree_id, depth)",
    """
    CREATE TABLE checkpoint (
        message_id TEXT PRIMARY KEY NOT NULL REFERENCES message (id),
        first_kept_id TEXT,
        trigger TEXT NOT NULL,
        head_leaf_id TEXT NOT NULL,
        head_revision INTEGER NOT NULL,
        tokens_before INTEGER NOT NULL,
        tokens_after INTEGER NOT NULL,
        imported INTEGER NOT NULL DEFAULT 0,
        summary TEXT NOT NULL,
        ledger_projected TEXT NOT NULL,
        ledger TEXT NOT NULL
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE session (
        id TEXT PRIMARY KEY NOT NULL,
        tree_id TEXT NOT NULL REFERENCES tree (id),
        title TEXT NOT NULL,
        leaf_id TEXT REFERENCES message (id),
        branch_revision INTEGER NOT NULL DEFAULT 0,
        model TEXT NOT NULL DEFAULT '',
        origin_session_id TEXT,
        origin_message_id TEXT,
        pinned INTEGER NOT NULL DEFAULT 0,
        trashed_at INTEGER,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    "CREATE INDEX session_tree ON session (tree_id)",
    "CREATE INDEX session_leaf ON session (leaf_id)",
    """
    CREATE TABLE pending_reply (
        session_id TEXT PRIMARY KEY NOT NULL REFERENCES session (id),
        message_id TEXT NOT NULL UNIQUE,
        parent_id TEXT NOT NULL REFERENCES message (id),
        model TEXT NOT NULL,
        head_leaf_id TEXT NOT NULL,
        head_revision INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        usage TEXT NOT NULL DEFAULT '[]',
        parts TEXT NOT NULL DEFAULT '[]'
    ) WITHOUT ROWID
    """,
    "CREATE INDEX pending_reply_parent ON pending_reply (parent_id)",
    """
    CREATE TABLE draft (
        session_id TEXT NOT NULL REFERENCES session (id),
        edits_message_id TEXT,
        content TEXT NOT NULL,
        updated_at INTEGER NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX draft_place ON draft (session_id, ifnull(edits_message_id, ''))",
    """
    CREATE TABLE blob (
        sha256 TEXT PRIMARY KEY NOT NULL,
        mime TEXT NOT NULL,
        width INTEGER NOT NULL DEFAULT 0,
        height INTEGER NOT NULL DEFAULT 0,
        bytes BLOB NOT NULL
    )
    """,
    # Side tables: they may change and never belong to a path.
    "CREATE TABLE last_child (parent_id TEXT PRIMARY KEY NOT NULL, child_id TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE archived (message_id TEXT PRIMARY KEY NOT NULL, archived_at INTEGER NOT NULL)",
    "CREATE TABLE label (message_id TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL) WITHOUT ROWID",
    """
    CREATE TABLE pin (
        session_id TEXT NOT NULL REFERENCES session (id),
        locator TEXT NOT NULL,
        title TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        PRIMARY KEY (session_id, locator)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE estimate (
        message_id TEXT NOT NULL,
        model TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        PRIMARY KEY (message_id, model)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE model_fact (
        model TEXT NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        updated_at INTEGER NOT NULL,
        PRIMARY KEY (model, name)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE journal (
        id TEXT PRIMARY KEY NOT NULL,
        session_id TEXT,
        message_id TEXT,
        kind TEXT NOT NULL,
        content TEXT NOT NULL,
        created_at INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    # `never` stays empty. A permit points into it with a deferred key, so a permit that is still there makes
    # COMMIT fail: it lives inside one transaction or not at all.
    "CREATE TABLE never (id INTEGER PRIMARY KEY)",
    """
    CREATE TABLE write_permit (
        message_id TEXT PRIMARY KEY NOT NULL,
        unspent INTEGER NOT NULL DEFAULT 1 CHECK (unspent = 1)
            REFERENCES never (id) DEFERRABLE INITIALLY DEFERRED
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE purge_permit (
        tree_id TEXT PRIMARY KEY NOT NULL,
        unspent INTEGER NOT NULL DEFAULT 1 CHECK (unspent = 1)
            REFERENCES never (id) DEFERRABLE INITIALLY DEFERRED
    ) WITHOUT ROWID
    """,
)


def _refuse(name: str, event: str, condition: str, sentence: str) -> str:
    return f"""
    CREATE TRIGGER {name} {event}
    WHEN {condition}
    BEGIN SELECT RAISE(ABORT, '{sentence}'); END
    """


# (I1) A row of the tree is written once.
WRITTEN_ONCE = tuple(
    trigger
    for table, key, tree in (
        ("message", "id", "OLD.tree_id"),
        ("checkpoint", "message_id", "(SELECT tree_id FROM message WHERE id = OLD.message_id)"),
        ("tree", "id", "OLD.id"),
    )
    for trigger in (
        _refuse(
            f"{table}_written_once",
            f"BEFORE INSERT ON {table}",
            f"EXISTS (SELECT 1 FROM {table} WHERE {key} = NEW.{key})",
            f"{table}: there is a row with this id already",
        ),
        _refuse(f"{table}_never_changed", f"BEFORE UPDATE ON {table}", "1", f"{table}: a row never changes"),
        _refuse(
            f"{table}_never_deleted",
            f"BEFORE DELETE ON {table}",
            f"NOT EXISTS (SELECT 1 FROM purge_permit WHERE tree_id IS {tree})",
            f"{table}: a row is never deleted",
        ),
    )
)

# (I3) Parents, and what else a new node must agree with.
NODES = (
    _refuse(
        "message_kind_known",
        "BEFORE INSERT ON message",
        "NEW.kind NOT IN ('user', 'assistant', 'checkpoint') OR NEW.status NOT IN "
        "('complete', 'stopped', 'failed', 'interrupted') "
        "OR (NEW.kind <> 'assistant' AND NEW.status <> 'complete')",
        "message: unknown kind or status",
    ),
    _refuse(
        "message_first_is_user",
        "BEFORE INSERT ON message",
        "NEW.parent_id IS NULL AND (NEW.kind <> 'user' OR NEW.depth <> 0 "
        "OR NOT EXISTS (SELECT 1 FROM tree WHERE id = NEW.tree_id))",
        "message: a first message is a user message of depth 0 in a known tree",
    ),
    _refuse(
        "message_parent_fits",
        "BEFORE INSERT ON message",
        "NEW.parent_id IS NOT NULL AND NOT EXISTS "
        "(SELECT 1 FROM message parent WHERE parent.id = NEW.parent_id "
        "AND parent.tree_id = NEW.tree_id AND NEW.depth = parent.depth + 1 "
        "AND ((NEW.kind = 'assistant') = (parent.kind = 'user')))",
        "message: the parent is missing, of the wrong kind, of another tree or at the wrong depth",
    ),
    _refuse(
        "pending_reply_id_fresh",
        "BEFORE INSERT ON pending_reply",
        "EXISTS (SELECT 1 FROM message WHERE id = NEW.message_id)",
        "pending_reply: the id of the coming answer is used already",
    ),
)

# (I2) A checkpoint needs a permit for exactly its id; storing the checkpoint uses it up.
PERMITS = (
    _refuse(
        "write_permit_enforced",
        "BEFORE INSERT ON write_permit",
        # Only with enforced foreign keys does a left-over permit stop COMMIT.
        "(SELECT foreign_keys FROM pragma_foreign_keys) IS NOT 1 "
        "OR EXISTS (SELECT 1 FROM message WHERE id = NEW.message_id)",
        "write_permit: needs enforced foreign keys and an id that is not used yet",
    ),
    _refuse(
        "write_permit_fixed", "BEFORE UPDATE ON write_permit", "1", "write_permit: a permit never changes"
    ),
    _refuse(
        "write_permit_returned",
        "BEFORE DELETE ON write_permit",
        "EXISTS (SELECT 1 FROM message WHERE id = OLD.message_id) "
        "AND NOT EXISTS (SELECT 1 FROM checkpoint WHERE message_id = OLD.message_id)",
        "write_permit: the checkpoint is not complete",
    ),
    _refuse("never_filled", "BEFORE INSERT ON never", "1", "never: this table stays empty"),
    _refuse(
        "message_checkpoint_permitted",
        "BEFORE INSERT ON message",
        "NEW.kind = 'checkpoint' AND NOT EXISTS (SELECT 1 FROM write_permit WHERE message_id = NEW.id)",
        "message: a checkpoint needs a permit",
    ),
    _refuse(
        "checkpoint_permitted",
        "BEFORE INSERT ON checkpoint",
        "NOT EXISTS (SELECT 1 FROM write_permit WHERE message_id = NEW.message_id) OR NOT EXISTS "
        "(SELECT 1 FROM message WHERE id = NEW.message_id AND kind = 'checkpoint')",
        "checkpoint: needs a permit and its message",
    ),
    # (I4) The boundary is a user message among the ancestors; the climb ends at the boundary's depth.
    _refuse(
        "checkpoint_boundary_fits",
        "BEFORE INSERT ON checkpoint",
        """NEW.first_kept_id IS NOT NULL AND NOT EXISTS (
            WITH RECURSIVE up (id, parent_id, depth, kind) AS (
                SELECT id, parent_id, depth, kind FROM message WHERE id = NEW.message_id
                UNION
                SELECT m.id, m.parent_id, m.depth, m.kind FROM up JOIN message m ON m.id = up.parent_id
                WHERE up.depth > (SELECT depth FROM message WHERE id = NEW.first_kept_id)
            )
            SELECT 1 FROM up WHERE id = NEW.first_kept_id AND kind = 'user'
        )""",
        "checkpoint: the boundary is not a user message before it",
    ),
    """
    CREATE TRIGGER checkpoint_spends_permit AFTER INSERT ON checkpoint
    BEGIN DELETE FROM write_permit WHERE message_id = NEW.message_id; END
    """,
)

# The only way a node goes: with its whole tree, when no session points into it.
PURGE = (
    _refuse(
        "purge_permit_enforced",
        "BEFORE INSERT ON purge_permit",
        "(SELECT foreign_keys FROM pragma_foreign_keys) IS NOT 1 "
        "OR EXISTS (SELECT 1 FROM session WHERE tree_id = NEW.tree_id)",
        "purge_permit: needs enforced foreign keys and a tree without sessions",
    ),
    _refuse(
        "purge_permit_fixed", "BEFORE UPDATE ON purge_permit", "1", "purge_permit: a permit never changes"
    ),
    _refuse(
        "purge_permit_kept",
        "BEFORE DELETE ON purge_permit",
        "EXISTS (SELECT 1 FROM tree WHERE id = OLD.tree_id)",
        "purge_permit: the tree is still there",
    ),
    _refuse(
        "tree_deleted_last",
        "BEFORE DELETE ON tree",
        "EXISTS (SELECT 1 FROM message WHERE tree_id = OLD.id) "
        "OR EXISTS (SELECT 1 FROM session WHERE tree_id = OLD.id)",
        "tree: it still has messages or sessions",
    ),
    """
    CREATE TRIGGER tree_spends_permit AFTER DELETE ON tree
    BEGIN DELETE FROM purge_permit WHERE tree_id = OLD.id; END
    """,
)


def apply(execute: Callable[[str], object]) -> None:
    for statement in (*TABLES, *WRITTEN_ONCE, *NODES, *PERMITS, *PURGE):
        execute(statement)
