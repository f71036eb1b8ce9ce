"""What messages say, for a search through all of them: their texts, and which sessions show a message.

The tree is the only truth; an index of it lies in a file of its own, `text_index`, and can be made anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bibgenie_desktop.domain.codec import InvalidContent, dumps, loads, parts_from_json
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.parts import text_of
from bibgenie_desktop.storage.records import Records

SAID = "kind IN ('user', 'assistant')"
"""A checkpoint repeats in short what messages say."""


class Texts(Records):
    def texts_mark(self) -> tuple[int, str]:
        """Changes whenever messages were added or purged."""
        row = self._db.row("SELECT count(*), max(id) FROM message")
        return (0, "") if row is None else (int(row[0]), str(row[1]))

    def said(self) -> frozenset[MessageId]:
        """All messages that say something."""
        return frozenset(MessageId(str(i)) for (i,) in self._db.rows(f"SELECT id FROM message WHERE {SAID}"))

    def texts(self, message_ids: Iterable[MessageId]) -> tuple[tuple[MessageId, str], ...]:
        """The words of messages, for people; nothing for one that cannot be read."""
        rows = self._db.rows(
            "SELECT id, parts FROM message WHERE id IN (SELECT value FROM json_each(?))",
            dumps(list(message_ids)),
        )
        return tuple((MessageId(str(i)), _words(parts)) for i, parts in rows)

    def showing(self, message_ids: Iterable[MessageId]) -> Mapping[MessageId, tuple[SessionId, ...]]:
        """The sessions whose branch a message is on; where none is, all sessions of its tree."""
        wanted = dumps(list(message_ids))
        with self._db.reading():
            trees = self._db.rows(
                "SELECT id, tree_id FROM message WHERE id IN (SELECT value FROM json_each(?))", wanted
            )
            sessions = self._db.rows(
                "SELECT id, tree_id, leaf_id FROM session WHERE tree_id IN "
                "(SELECT value FROM json_each(?)) ORDER BY updated_at DESC",
                dumps(sorted({str(tree) for _, tree in trees})),
            )
            on: dict[str, list[str]] = {}
            for session, _, leaf in sessions:
                found = self._db.rows(
                    "WITH RECURSIVE up (id) AS (SELECT ? UNION "
                    "SELECT m.parent_id FROM up JOIN message m ON m.id = up.id) "
                    "SELECT id FROM up WHERE id IN (SELECT value FROM json_each(?))",
                    leaf,
                    wanted,
                )
                for (i,) in found:
                    on.setdefault(str(i), []).append(str(session))
        of_tree: dict[str, list[str]] = {}
        for session, tree, _ in sessions:
            of_tree.setdefault(str(tree), []).append(str(session))
        shown: dict[MessageId, tuple[SessionId, ...]] = {}
        for i, tree in trees:
            found_in = on.get(str(i)) or of_tree.get(str(tree)) or []
            shown[MessageId(str(i))] = tuple(SessionId(session) for session in found_in)
        return shown


def _words(parts: object) -> str:
    try:
        return text_of(parts_from_json(loads(parts)))
    except InvalidContent:
        return ""
