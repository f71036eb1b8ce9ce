"""What is known beside the tree: pins of a session, facts about models, cached estimates.

Mutable side tables; nothing here is part of a path.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from bibgenie_desktop.domain.codec import (
    InvalidContent,
    dumps,
    loads,
    locator_from_json,
    locator_to_json,
    usage_from_json,
)
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.locators import LedgerEntry
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.storage.connection import Row
from bibgenie_desktop.storage.records import Records
from bibgenie_desktop.storage.values import Spending, SpendingMark, Spent


class Facts(Records):
    def pins(self, session_id: SessionId) -> tuple[LedgerEntry, ...]:
        """What the person pinned in a session, oldest first: places, and sentences (without a locator)."""
        with self._db.reading():
            rows = self._db.rows(
                "SELECT locator, title FROM pin WHERE session_id = ? ORDER BY created_at, locator", session_id
            )
        return tuple(_pin(str(locator), str(title)) for locator, title in rows)

    def add_pin(self, session_id: SessionId, pin: LedgerEntry) -> None:
        """Pins a place or a sentence; pinned already is no change."""
        with self._db.writing():
            self._session(session_id)
            self._db.run(
                "INSERT INTO pin (session_id, locator, title, created_at) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (session_id, locator) DO NOTHING",
                session_id,
                _pin_key(pin),
                pin.title,
                self._clock(),
            )

    def remove_pin(self, session_id: SessionId, pin: LedgerEntry) -> None:
        with self._db.writing():
            self._db.run("DELETE FROM pin WHERE session_id = ? AND locator = ?", session_id, _pin_key(pin))

    def model_facts(self, name: str) -> Mapping[str, object]:
        """What was learned under a name, by model."""
        with self._db.reading():
            rows = self._db.rows("SELECT model, value FROM model_fact WHERE name = ?", name)
        return {str(model): loads(value) for model, value in rows}

    def set_model_fact(self, model: str, name: str, value: object) -> None:
        with self._db.writing():
            self._db.run(
                "INSERT INTO model_fact (model, name, value, updated_at) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (model, name) DO UPDATE SET value = excluded.value, "
                "updated_at = excluded.updated_at",
                model,
                name,
                dumps(value),
                self._clock(),
            )

    def spending_mark(self, session_id: SessionId) -> SpendingMark:
        """Changes whenever what was spent in a session's tree, or what lies on its path, may have changed."""
        with self._db.reading():
            session = self._session(session_id)
            count = self._db.value("SELECT count(*) FROM message WHERE tree_id = ?", session.tree_id)
        return session.tree_id, session.leaf_id, int(count)

    def spent(self, session_id: SessionId, known: Container[MessageId] = ()) -> Spent:
        """Every request that a session's tree has a record of, those of `known` messages left out.

        Records that cannot be read are left out too.
        """
        with self._db.reading():
            session = self._session(session_id)
            listed = self._db.rows("SELECT id FROM message WHERE tree_id = ? ORDER BY depth", session.tree_id)
            unknown = [str(row[0]) for row in listed if MessageId(str(row[0])) not in known]
            rows = self._db.rows(
                "SELECT id, kind, usage, trigger FROM message LEFT JOIN checkpoint "
                "ON message_id = CASE kind WHEN 'checkpoint' THEN id END "
                "WHERE id IN (SELECT value FROM json_each(?))",
                dumps(unknown),
            )
            up = self._db.rows(
                # Without UNION ALL a circle in a damaged tree ends here as well.
                "WITH RECURSIVE up (id) AS ("
                "  SELECT ? UNION SELECT m.parent_id FROM up JOIN message m ON m.id = up.id"
                ") SELECT id FROM up WHERE id IS NOT NULL",
                session.leaf_id,
            )
        return Spent(
            session.tree_id,
            session.leaf_id,
            tuple(_spending(row) for row in rows),
            frozenset(MessageId(str(row[0])) for row in up),
        )

    def estimates(self, message_ids: Iterable[MessageId], version: str) -> Mapping[MessageId, int]:
        """The cached estimates of these messages under one version of the rule."""
        with self._db.reading():
            rows = self._db.rows(
                "SELECT message_id, tokens FROM estimate "
                "WHERE version = ? AND message_id IN (SELECT value FROM json_each(?))",
                version,
                dumps(list(message_ids)),
            )
        return {MessageId(str(message_id)): int(tokens) for message_id, tokens in rows}

    def save_estimates(self, tokens: Mapping[MessageId, int], version: str) -> None:
        with self._db.writing():
            for message_id, count in tokens.items():
                self._db.run(
                    "INSERT INTO estimate (message_id, version, tokens) VALUES (?, ?, ?) "
                    "ON CONFLICT (message_id, version) DO NOTHING",
                    message_id,
                    version,
                    count,
                )


def _spending(row: Row) -> Spending:
    message_id, kind, text, trigger = row
    usages = _usages(text)
    missing = kind == "checkpoint" and not usages and trigger != "revise"
    return Spending(MessageId(str(message_id)), usages, missing)


def _usages(text: object) -> tuple[Usage, ...]:
    try:
        return usage_from_json(loads(text))
    except InvalidContent:
        return ()


def _pin_key(pin: LedgerEntry) -> str:
    return dumps({"sentence": pin.title} if pin.locator is None else locator_to_json(pin.locator))


def _pin(key: str, title: str) -> LedgerEntry:
    value = loads(key)
    sentence = isinstance(value, dict) and "sentence" in value
    return LedgerEntry(None if sentence else locator_from_json(value), title, 0, 0, pinned=True)
