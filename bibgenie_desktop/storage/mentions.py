"""Which sessions have to do with a Zotero item: a look through what messages say and hold.

There is no table of it: the tree is the only truth, and such a question is rare. The look goes in steps, so
that the store's thread is free for others between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bibgenie_desktop.domain.codec import InvalidContent, loads, parts_from_json
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.locators import split_id
from bibgenie_desktop.domain.works import ids_used
from bibgenie_desktop.storage.records import Records

STEP = 400
"""Messages that are looked through in one go."""


class Mentions(Records):
    def using(
        self, ids: Sequence[str], after: str = "", most: int = STEP
    ) -> tuple[tuple[MessageId, ...], str]:
        """The messages of the next step that used one of these works, and where the step after begins.

        The place is empty at the end. A checkpoint's ledger repeats its span and is not looked at; what
        cannot be read counts where it names one.
        """
        split = [each for full_id in ids if (each := split_id(full_id)) is not None]
        with self._db.reading():
            steps = self._db.rows("SELECT id FROM message WHERE id > ? ORDER BY id LIMIT ?", after, most)
            if not steps or not split:
                return (), ""
            last = str(steps[-1][0])
            # As a locator of a part, or as a citation or an argument in words.
            conditions = " OR ".join(
                "(instr(parts, ?) > 0 AND instr(parts, ?) > 0) OR instr(parts, ?) > 0" for _ in split
            )
            values = [v for lib, key in split for v in (f'"{key}"', f'"lib":"{lib}"', f"{lib}-{key}")]
            rows = self._db.rows(
                "SELECT id, parts FROM message "
                f"WHERE id > ? AND id <= ? AND kind <> 'checkpoint' AND ({conditions})",
                after,
                last,
                *values,
            )
        wanted = frozenset(ids)
        used = tuple(MessageId(str(i)) for i, parts in rows if _uses(parts, wanted))
        return used, last if len(steps) == most else ""

    def sessions_through(self, message_ids: Iterable[MessageId]) -> tuple[SessionId, ...]:
        """The sessions whose path runs through one of these messages; the newest first."""
        found: set[SessionId] = set()
        wanted = set(message_ids)
        with self._db.reading():
            for leaf, session_id in self._db.rows(
                "SELECT leaf_id, id FROM session WHERE leaf_id IS NOT NULL AND tree_id IN "
                "(SELECT tree_id FROM message WHERE id IN (SELECT value FROM json_each(?)))",
                _list(wanted),
            ):
                path = self._db.rows(
                    "WITH RECURSIVE up (id) AS (SELECT ? UNION "
                    "SELECT m.parent_id FROM up JOIN message m ON m.id = up.id) SELECT id FROM up",
                    leaf,
                )
                if any(i in wanted for (i,) in path):
                    found.add(SessionId(str(session_id)))
            rows = self._db.rows("SELECT id FROM session ORDER BY updated_at DESC, id DESC")
        return tuple(SessionId(str(i)) for (i,) in rows if i in found)


def _uses(text: object, wanted: frozenset[str]) -> bool:
    try:
        return not wanted.isdisjoint(ids_used(parts_from_json(loads(text))))
    except InvalidContent:
        return True


def _list(ids: Iterable[str]) -> str:
    return "[" + ",".join(f'"{i}"' for i in ids) + "]"
