"""Names in a proposal: nothing invisible in them, and a comma never makes two of one."""

from __future__ import annotations

import asyncio
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bibgenie_desktop.services import events
from bibgenie_desktop.services.tools.arguments import BadArguments
from bibgenie_desktop.services.tools.base import Card, Decision, ToolResult
from bibgenie_desktop.services.tools.propose_change import ProposeChange
from bibgenie_desktop.services.zotero_changes.lines import shown_lines, signed, split_list, visible
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.services.desk import ask
from tests.services.zotero_changes.helpers import PAPER, put_into, workbench
from tests.zotero.online.zotero_server import ZoteroServer

UNSEEN = ("\x00", "\x07", "\x1b", "\x7f", "\u00ad", "\u200b", "\u200e", "\u202e", "\u2060", "\u2066",
          "\ufeff", "\ue000", "\ufff9", "\U000e0041", "\u3164", "\u2800", "\uffff", "\u034f")  # fmt: skip


@pytest.mark.parametrize("sign", UNSEEN)
def test_signs_that_cannot_be_seen_are_no_part_of_a_name(sign: str) -> None:
    assert signed(f"{sign}sle{sign}ep{sign}\n-{sign}gone{sign}") == (("sleep",), ("gone",))
    assert signed(f"{sign}-gone") == ((), ("gone",))
    for alone in (sign, f" {sign}\u200d{sign} ", f"good\n{sign}", f"{sign}\ufe0f"):
        with pytest.raises(BadArguments, match="invisible characters alone"):
            signed(alone)


@pytest.mark.parametrize(
    "name",
    [
        "Müller",
        "u\u0308ber",
        "日本語",
        "می\u200cخواهم",
        "👩\u200d🔬",
        "❤\ufe0f",
        "a+b",
        "C++",
        "Paris, 1789",
        "x—y",
        "؀١",
    ],
)
def test_names_of_every_script_stay_as_they_are(name: str) -> None:
    assert signed(name) == ((name,), ())
    assert signed(f"-{name}") == ((), (name,))
    assert shown_lines(name) == name


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.text(st.characters(), max_size=30))
@example("a\u200d \u200db")
@example("\u200d\u200c")
def test_what_is_left_of_a_name_can_be_seen_and_stays_the_same(name: str) -> None:
    kept = visible(name)
    assert visible(kept) == kept
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Cn", "Co", "Zl", "Zp") for c in kept)
    assert not set(kept) & set(UNSEEN)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.text("ab ,+-\u200b\x00é", min_size=1, max_size=6), min_size=1, max_size=4).map("\n".join))
def test_what_the_card_shows_for_editing_means_the_same(content: str) -> None:
    try:
        meant = signed(content)
    except BadArguments:
        return
    assert signed(shown_lines(content)) == meant


def test_a_tag_that_begins_with_a_sign_has_another_before_it() -> None:
    assert signed("+-omics\n++\n--x") == (("-omics", "+"), ("-x",))


@pytest.mark.parametrize(
    ("content", "meant"),
    [
        ("sleep, memory", "sleep\nmemory"),
        ("sleep, -memory", "sleep\n-memory"),
        ("Paris, 1789", "Paris, 1789"),
        ("-Paris, 1789", "-Paris, 1789"),
        ("Rome, 476\nsleep", "Rome, 476\nsleep"),
    ],
)
def test_a_models_list_with_commas_is_one_a_line_unless_it_is_a_name(content: str, meant: str) -> None:
    assert split_list(content, {"Paris, 1789"}) == meant


@pytest.mark.parametrize("content", [["Rome, 476"], "Rome, 476\nsleep spindles"])
async def test_a_tag_with_a_comma_is_one_tag_on_the_card_edited_and_in_zotero(
    tmp_path: Path, content: Any
) -> None:
    call = {"kind": "tags", "target": PAPER, "content": content}
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            zotero.dialog("always")
            chat = await bench.on.chat()
            server.script(tool_calls(("propose_change", call)), text("Done."))
            running = asyncio.ensure_future(chat.send(ask("Tag it")))
            await bench.on.until(events.CardOpened)
            card = bench.on.happened(events.CardOpened)[-1].card
            assert isinstance(card, Card)
            assert card.add[0] == "Rome, 476"
            assert card.content.splitlines() == list(card.add)
            chat.answer_card(Decision("edited", "Rome, 477 \u202e\x07"))
            await running
            tags = [t["tag"] for t in zotero.item(PAPER.partition("-")[2])["tags"]]
            assert tags[-1] == "Rome, 477"
            assert "Rome" not in tags


@pytest.mark.parametrize("content", ["\u200b", "good\n\ufeff", ["\x00"], "\u202e, \u200b"])
async def test_a_tag_of_nothing_visible_is_refused_before_a_card(tmp_path: Path, content: Any) -> None:
    with ScriptedServer() as server:
        async with workbench(tmp_path, server, None) as bench:
            tool = ProposeChange(bench.library, bench.changes)
            found = await tool.propose({"kind": "tags", "target": PAPER, "content": content})
            assert isinstance(found, ToolResult)
            assert "invisible characters alone" in found.text
