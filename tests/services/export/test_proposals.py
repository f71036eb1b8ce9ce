"""Exports tell what has become of a proposal after its turn; the stored result stays what it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bibgenie_desktop.domain.parts import ToolPart
from bibgenie_desktop.services.export import ExportFormat, gather, write
from bibgenie_desktop.storage.journal import NOT_ANSWERED, EntryKind
from tests.storage.helpers import opened
from tests.storage.test_journal import ended_call, proposed

DONE = {"library": "u", "key": "NOTE2345", "route": "local", "version": 3, "digest": "d" * 8}


@pytest.mark.parametrize("format", ["md", "html", "json"])
@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ((), "not answered"),
        (("accepted", "sending", "written"), "written"),
        (("declined",), "declined"),
        (("accepted", "sending", "unknown"), "not known whether written"),
        (("accepted", "failed"), "Zotero was closed."),
        (("accepted", "sending", "written", "undo", "undone"), "taken back"),
    ],
)
def test_an_export_says_what_the_journal_says_of_a_proposal(
    tmp_path: Path, format: ExportFormat, kinds: tuple[EntryKind, ...], words: str
) -> None:
    path = tmp_path / "conversations.sqlite"
    with opened(path) as store:
        session, call = proposed(store)
        store.recover()
        for kind in kinds:
            content = {"reason": "Zotero was closed."} if kind == "failed" else DONE
            store.journal_entry(call, session.id, kind, content)
        before = ended_call(store, session)
        text = write(gather(store, session.id), format)
        if format == "json":
            (told,) = json.loads(text)["proposals"]
            assert [entry["kind"] for entry in told["journal"]] == ["proposed", *kinds]
            assert told["state"] == (kinds[-1] if kinds else "proposed")
            assert told["at"] == told["journal"][-1]["at"]
            if told["words"]:
                assert words in told["words"].lower() or told["words"] == words
        else:
            assert words in text
            assert "UTC)" in text
            assert "interrupted" not in text.split("→")[-1].split("\n")[0]
        assert before == ended_call(store, session)
        assert isinstance(before, ToolPart)
        assert NOT_ANSWERED in before.result
