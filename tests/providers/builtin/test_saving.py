"""The built-in assistant proposes a note where it is asked to, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.parts import TextPart
from bibgenie_desktop.domain.projection import ProjectedMessage
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.propose_change import ProposeChange
from bibgenie_desktop.settings.resources import sample_library
from tests.providers.builtin.helpers import FakeTool, Turn, ask, spec, user
from tests.zotero.helpers import opened_library

ONE = 'Sleep helps: [[u-KKKK2222 p.2 "by a fifth"]].\n\n_Built-in assistant: I find and quote passages._'
TWO = 'Sleep helps: [[u-KKKK2222 p.2 "a"]] and [[u-LLLL3333 p.1 "b"]].'


def answer(text: str) -> ProjectedMessage:
    return ProjectedMessage(MessageId("a1"), "assistant", (TextPart(text),))


async def wish(words: str, before: str, result: ToolResult | None = None) -> Turn:
    tool = FakeTool(
        spec("propose_change", "kind", "target", "content"), [result or ToolResult("Accepted. Written.")]
    )
    messages = [user("Does sleep help?"), answer(before)] if before else []
    return await ask([tool], *messages, user(words, id="u2"))


@pytest.mark.parametrize(
    "words",
    [
        "Save this as a note",
        "Please save that as a note in Zotero.",
        "Can you keep this answer as a note?",
        "Speichere das als Notiz",
        "Bitte mach daraus eine Notiz.",
        "Enregistre cela comme note",
    ],
)
async def test_the_answer_before_becomes_a_proposal_where_one_asks_for_it(words: str) -> None:
    turn = await wish(words, ONE)
    (call,) = turn.calls
    assert call.input == {
        "kind": "note",
        "target": "u-KKKK2222",
        "content": '# Does sleep help\n\nSleep helps: [[u-KKKK2222 p.2 "by a fifth"]].',
    }


async def test_an_answer_that_cites_several_works_becomes_a_note_of_its_own() -> None:
    turn = await wish("Save this as a note", TWO)
    assert turn.calls[0].input["target"] == "u"


@pytest.mark.parametrize(
    "words",
    ["What do my notes say about saving energy?", "Does sleep save notes?", "How do infants keep warm?"],
)
async def test_nothing_is_proposed_where_nobody_asks_for_a_note(words: str) -> None:
    assert [c.name for c in (await wish(words, ONE)).calls if c.name == "propose_change"] == []


async def test_without_an_answer_there_is_nothing_to_save() -> None:
    turn = await wish("Save this as a note", "")
    assert turn.calls == []
    assert "no answer yet" in turn.text


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (ToolResult("Accepted. Written to Zotero."), "is in Zotero"),
        (ToolResult("Not written to Zotero: the person copied it.", note="copied"), "clipboard"),
        (
            ToolResult("The person accepted, but nothing was written: off.", error=True),
            "not in Zotero: The person",
        ),
    ],
)
async def test_what_came_of_it_is_said_as_it_is(result: ToolResult, said: str) -> None:
    turn = await wish("Save this as a note", ONE, result)
    assert said in turn.text


async def test_the_proposal_of_a_real_answer_fits_the_real_tool(tmp_path: Path) -> None:
    library = opened_library(sample_library(), tmp_path)
    await library.ensure_loaded()
    try:
        pdf = next(iter(library.items[0].pdfs)).id
        turn = await wish("Save this as a note", f'It holds [[{pdf} p.1 "words"]].')
        card = await ProposeChange(library).propose(turn.calls[0].input)
        assert not isinstance(card, ToolResult), card
        assert library.items[0].title in card.target
    finally:
        await library.close()
