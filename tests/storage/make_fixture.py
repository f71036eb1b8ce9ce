"""Writes `fixtures/<newest migration>.sql`: a filled database of the present version, for upgrade tests.

`python -m tests.storage.make_fixture`; a fixture that exists is history and is left alone.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.storage.migrations import MIGRATIONS
from tests.storage.helpers import compacted, conversation, opened, plain, turn


def main() -> None:
    target = Path(__file__).with_name("fixtures") / f"{MIGRATIONS[-1][0]}.sql"
    if target.exists():
        sys.exit(f"{target.name} is there already")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "bibgenie.sqlite"
        with opened(path) as store:
            session, asked, answers = conversation(store, 3)
            session, _ = compacted(store, session, answers[-1], asked[-1].id)
            session, _, answer = turn(store, session, "q4", "a4", "stopped")
            store.save_draft(session.id, None, Draft("half a thought"))
            store.fork(session.id, answer.id, "A fork")
        with plain(path) as filled:
            target.write_text("\n".join(filled.iterdump()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
