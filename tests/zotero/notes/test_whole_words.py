"""No word of a note's Markdown is lost on its way to Zotero, however it is nested or broken."""

from __future__ import annotations

import re
from itertools import count

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bibgenie_desktop.zotero.notes.note_markdown import note_markdown
from bibgenie_desktop.zotero.online.note_html import note_html
from bibgenie_desktop.zotero.online.note_rules import Cited


class Nothing:
    def cited(self, full_id: str, page: int | None, quote: str) -> Cited | None:
        return None


def html(markdown: str) -> str:
    return note_html(markdown, Nothing())


def numbered(markdown: str) -> tuple[str, list[str]]:
    """Every W becomes a word of its own."""
    numbers = count()
    text = re.sub("W", lambda _: f"w{next(numbers)}q", markdown)
    return text, re.findall(r"w\d+q", text)


def assert_whole(markdown: str) -> None:
    text, words = numbered(markdown)
    made = html(text)
    assert [w for w in words if w not in made] == []
    back = note_markdown(made, "u")
    assert [w for w in words if w not in back] == []


LEADS = ("- ", "* ", "1. ", "10) ", "> ", ">")


def nested(leads: list[str], loose: bool) -> str:
    """A block in a block for each lead, each with a word of its own."""
    lines, before = [], ""
    for lead in leads:
        lines.append(f"{before}{lead}W")
        before += lead if lead.startswith(">") else " " * len(lead)
        if loose:
            lines += [before.rstrip(), f"{before}W"]
    return "\n".join(lines)


@pytest.mark.parametrize("depth", [1, 8, 9, 10, 19, 20, 24, 25, 49, 50, 51, 120])
@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("loose", [False, True])
def test_nothing_is_lost_at_any_depth(depth: int, lead: str, loose: bool) -> None:
    assert_whole(nested([lead] * depth, loose))


def test_lists_of_twenty_levels_stay_lists() -> None:
    assert html(nested(["- "] * 20, loose=False)).count("<ul><li>") == 20


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(LEADS), min_size=1, max_size=60), st.booleans())
def test_nothing_is_lost_in_mixed_nesting(leads: list[str], loose: bool) -> None:
    assert_whole(nested(leads, loose))


PIECES = st.sampled_from(
    ["W", "W W", "- ", "1. ", "> ", "# ", "|", "|--|--|", "---", "    ", "\t", "[W]: ", "[W]", "[W](http://W)",
     "http://W", '"W"', "```\n", "~~~\n", "`W", "*W", "**", "W_", "<W>", "<!-- W", "$", "$$", "\\[",
     "![W](x)", "&W;", "“W”", "~~", "<sub>W</sub>", "[^W]", "\\", "[@u-ABCD2345]", "==="]
)  # fmt: skip
LINES = st.lists(PIECES, max_size=6).map("".join)


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(st.lists(LINES, min_size=1, max_size=12).map("\n".join))
@example("| a | b |\n|--|--|\n| W | W | W | W |")
@example("|W|\n|--|\n|`W|W`|W||")
@example('[a][1]\n\n[1]: http://W "W W"\n[2]: http://W')
@example("[W]: <W W>\n\n[W]: W\n\nW")
@example("``` W W\nW\n```")
@example("[W](W)")
def test_nothing_is_lost_in_broken_markdown(markdown: str) -> None:
    text, words = numbered(markdown)
    made = html(text)
    assert [w for w in words if w not in made] == []


def test_cells_beyond_the_head_of_a_table_stand_in_the_last_one() -> None:
    assert "<td>1</td><td>2 | 3</td>" in html("| a | b |\n|---|---|\n| 1 | 2 | 3 |")


def test_a_used_definition_is_a_link_and_an_unused_one_is_words() -> None:
    assert ">a</a>" in html("[a][1]\n\n[1]: http://x.org")
    assert "[2]: http://y.org" in html("W\n\n[2]: http://y.org")
