"""Markdown as note HTML and back: structure, formulas, tables and citations stay what they are."""

from __future__ import annotations

import json
import re
from urllib.parse import unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bibgenie_desktop.zotero.notes.note_citations import cited_ids
from bibgenie_desktop.zotero.notes.note_markdown import note_markdown
from bibgenie_desktop.zotero.online.note_html import note_html
from bibgenie_desktop.zotero.online.note_rules import Cited

BASE = "http://zotero.org/users/12/items/"
MARKED = "marked words"


class Names:
    """One work with an attachment, whose printed pages begin at 101, and a marked passage on page 4."""

    def cited(self, full_id: str, page: int | None, quote: str) -> Cited | None:
        match full_id:
            case "u-ABCD2345":
                return Cited(f"{BASE}ABCD2345", "Walker 2020")
            case "g77-ABCD2346":
                return Cited("http://zotero.org/groups/77/items/ABCD2346", "Hu & Li 2019")
            case "u-ATTK2345":
                work = Cited(
                    f"{BASE}ABCD2345", "Walker 2020", str(page + 100) if page else "", f"{BASE}ATTK2345"
                )
                if page == 4 and quote == MARKED:
                    return Cited(
                        work.uri, work.label, work.page, work.attachment_uri, "MARK2345", "#ffd400", 3
                    )
                return work
        return None


def html(markdown: str) -> str:
    whole = note_html(markdown, Names())
    assert whole.startswith('<div data-schema-version="9">')
    return whole.removeprefix('<div data-schema-version="9">').removesuffix("</div>")


def data(text: str, name: str = "citation") -> list[dict[str, object]]:
    return [json.loads(unquote(v)) for v in re.findall(rf'data-{name}="([^"]*)"', text)]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("# Title\n\nOne **bold** & *it* ~~off~~ `a<b`",
         "<h1>Title</h1><p>One <strong>bold</strong> &amp; <em>it</em> <s>off</s> <code>a&lt;b</code></p>"),
        ("- a\n- b\n\n  more\n  1. c\n\n3. x", "<ul><li>a</li><li>b<p>more</p><ol><li>c</li></ol></li></ul>"
         '<ol start="3"><li>x</li></ol>'),
        ("> q\n>\n> r", "<blockquote><p>q</p><p>r</p></blockquote>"),
        ("| A | B |\n|---|:-:|\n| 1 | *2* |",
         "<table><tbody><tr><th>A</th><th>B</th></tr><tr><td>1</td><td><em>2</em></td></tr></tbody></table>"),
        ("```py\nx < 1\n\ny\n```", "<pre>x &lt; 1\n\ny</pre>"),
        ("so $a_b < c^*$ and \\(x\\)",
         '<p>so <span class="math">$a_b &lt; c^*$</span> and <span class="math">$x$</span></p>'),
        ("$$\n\\int_0^1\nx\n$$\n\n\\[y\\]",
         '<pre class="math">$$\\int_0^1\nx$$</pre><pre class="math">$$y$$</pre>'),
        ("it costs $5 and not 10$ or $20", "<p>it costs $5 and not 10$ or $20</p>"),
        ("H<sub>2</sub>O x<sup>a\\*</sup>", "<p>H<sub>2</sub>O x<sup>a*</sup></p>"),
        ("a  \nb\nc", "<p>a<br>b c</p>"),
    ],
)  # fmt: skip
def test_markdown_becomes_the_html_of_zoteros_notes(markdown: str, expected: str) -> None:
    assert html(markdown) == expected


@pytest.mark.parametrize(
    "markdown",
    [
        "<script>alert(1)</script>",
        "[click](javascript:alert(1))",
        "[click](file:///etc/passwd)",
        "![pixel](https://tracker.example/x.png)",
        "<img src=x onerror=alert(1)>",
        '[a](https://x.org/"onclick="x)',
        "[a](data:text/html,hi)",
        '[[u-ATTK2345 p.4 "<b onclick=x>"]]',
        "$<img src=x>$",
    ],
)
def test_nothing_in_a_note_runs_or_is_loaded(markdown: str) -> None:
    made = html(markdown)
    assert not re.search(r"<(?!/?(?:p|a|span|pre)\b)", made)
    assert not re.search(r"<[^>]*\s(?:on\w+|src)=", made)
    targets = re.findall(r'href="([^"]*)"', made)
    assert all(t.startswith("https://") for t in targets)


@pytest.mark.parametrize(
    "link", ["https://x.org/a", "http://x.org", "zotero://select/library/items/AB", "mailto:a@b.c"]
)
def test_links_to_the_web_to_zotero_and_to_mail_stay(link: str) -> None:
    assert f'href="{link}"' in html(f"[words]({link})")


def test_a_citation_of_an_answer_becomes_one_of_zotero_with_the_printed_page() -> None:
    made = html('It holds [[u-ATTK2345 p.4 "some words"]].')
    assert "It holds “some words” <span" in made
    assert '>(<span class="citation-item">Walker 2020, p. 104</span>)</span>.' in made
    assert data(made) == [
        {
            "citationItems": [{"uris": [f"{BASE}ABCD2345"], "locator": "104", "label": "page"}],
            "properties": {},
        }
    ]
    assert cited_ids(made) == ("u-ABCD2345",)


def test_words_the_person_has_marked_become_a_highlight() -> None:
    made = html(f'See [[u-ATTK2345 p.4 "{MARKED}"]].')
    (mark,) = data(made, "annotation")
    assert mark["annotationKey"] == "MARK2345"
    assert mark["attachmentURI"] == f"{BASE}ATTK2345"
    assert mark["position"] == {"pageIndex": 3, "rects": []}
    assert f">“{MARKED}”</span> <span" in made
    back = note_markdown(made, "u")
    assert back == f"See “{MARKED}” [@u-ATTK2345 p.4] [@u-ABCD2345, p. 104]."
    assert html(back) == made


def test_several_works_in_one_citation_keep_their_places() -> None:
    made = html("So [@u-ABCD2345, ch. 3; @g77-ABCD2346, p. 5–7] it is.")
    (citation,) = data(made)
    assert citation["citationItems"] == [
        {"uris": [f"{BASE}ABCD2345"], "locator": "3", "label": "chapter"},
        {"uris": ["http://zotero.org/groups/77/items/ABCD2346"], "locator": "5–7", "label": "page"},
    ]
    assert "Hu &amp; Li 2019, p. 5–7" in made
    assert note_markdown(made, "u") == "So [@u-ABCD2345, ch. 3; @g77-ABCD2346, p. 5–7] it is."


@pytest.mark.parametrize(
    "words", ["[[u-NONE2345 p.4]]", "[@u-NONE2345, p. 1]", "[@u-ABCD2345; @u-NONE2345]", "`[[u-ABCD2345]]`"]
)
def test_a_citation_of_something_unknown_stays_words(words: str) -> None:
    made = html(f"See {words}.")
    assert "data-citation" not in made
    assert "u-" in made


def test_54yyyu_503_llm4z_101_tables_formulas_and_citations_survive_both_ways() -> None:
    """54yyyu#503: Markdown is never stored raw; llm4z#101: formatting is not lost on reading."""
    markdown = (
        "# Effects\n\n| Stage | *g* |\n| --- | --- |\n| N2 | $g_2 = 0.32$ |\n| REM | a \\| b |\n\n"
        "$$\\sum_i x_i^2$$\n\n- one\n  1. two **bold**\n\n> quoted [@u-ABCD2345, p. 12]\n\n"
        "```\ncode *raw*\n```"
    )
    made = html(markdown)
    assert not re.search(r"\*\*|\| ---|```|\[@", made)
    assert all(
        sign in made
        for sign in ("<table>", 'class="math"', "<ol>", "<blockquote>", "data-citation", "<pre>code")
    )
    assert note_markdown(made, "u") == markdown


# ---- there and back ----------------------------------------------------------------------------------------

WORDS = st.text('ab1*_`~#>|$\\[]()<&!.-+=:;^“”" éß漢', min_size=1, max_size=24)
CITES = st.sampled_from(
    [
        "[@u-ABCD2345, p. 12]",
        "[[u-ATTK2345 p.4]]",
        f'[[u-ATTK2345 p.4 "{MARKED}"]]',
        '[[u-ATTK2345 p.9 "other *words*"]]',
        "[@u-ABCD2345; @g77-ABCD2346, ch. 2]",
        "[[u-NONE2345]]",
    ]
)
PIECES = st.one_of(
    WORDS,
    CITES,
    st.sampled_from(
        ["**bold**", "*it*", "~~off~~", "`co|de`", "``a`b``", "$x^2_i$", "\\(y\\)", "  \n", "\n"]
    ),
    st.sampled_from(["[link](https://x.org/a_(b))", "H<sub>2</sub>", "<u>x</u>", "&lt;", "![p](u-ABCD2345)"]),
)
LINES = st.lists(PIECES, min_size=1, max_size=5).map(" ".join)


def indented(text: str, lead: str) -> str:
    return "\n".join(lead + line if line else "" for line in text.split("\n"))


def listed(items: list[str], numbered: bool, loose: bool) -> str:
    signs = [f"{n}. " if numbered else "- " for n in range(9, 9 + len(items))]
    made = [s + indented(i, " " * len(s))[len(s) :] for s, i in zip(signs, items, strict=True)]
    return ("\n\n" if loose else "\n").join(made)


def rows(cells: list[list[str]]) -> str:
    flat = [[c.replace("\n", " ").replace("|", "") or "x" for c in row] for row in cells]
    return "\n".join(["| " + " | ".join(r) + " |" for r in [flat[0], ["---"] * len(flat[0]), *flat[1:]]])


LEAVES = st.one_of(
    LINES,
    st.builds(lambda n, t: "#" * n + " " + t.replace("\n", " "), st.integers(1, 6), LINES),
    st.builds(lambda t: f"````\n{t}\n````", st.text("ab `\n*<&", max_size=20)),
    st.builds(lambda t: f"$$\n{t}\n$$", st.text("ab\\_^<&", min_size=1, max_size=9)),
    st.just("***"),
    st.lists(st.lists(LINES, min_size=2, max_size=2), min_size=1, max_size=3).map(rows),
)
BLOCKS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("\n\n".join).map(lambda t: indented(t, "> ")),
        st.builds(listed, st.lists(inner, min_size=1, max_size=3), st.booleans(), st.booleans()),
        st.lists(inner, min_size=1, max_size=3).map("\n\n".join),
    ),
    max_leaves=6,
)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.lists(BLOCKS, min_size=1, max_size=4).map("\n\n".join))
@example("- a\n\n\n* b")
@example("1. a\n\n1) b")
@example("- ***\n- # a\n- > q")
@example("- ```\n  a\n\n  b\n  ```")
@example("a  \n--- b\n\na  \n1. b")
@example("“marked words” [@u-ATTK2345 p.4]")
@example("*_1 1_*")
@example("_a_*b*")
@example("- 1\n\n  9. x\n  10. y")
@example('“ [[u-ATTK2345 p.4 "marked words"]]')
@example("\\   \n 1")
@example("1. a\n   - b\n\n     c\n\n   > d")
def test_a_note_read_back_is_the_same_note(markdown: str) -> None:
    made = html(markdown)
    back = note_markdown(made, "u")
    assert html(back) == made
    assert note_markdown(html(back), "u") == back


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(WORDS, min_size=1, max_size=4).map(" ".join))
@example("[1]")
@example("[\\]")
@example("costs $5 and $10, _so_ #1")
def test_text_of_a_note_keeps_its_words(words: str) -> None:
    """Text as Zotero's editor writes it, with every sign that means something in Markdown."""
    shown = " ".join(words.split())
    escaped = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    back = html(note_markdown(f"<p>{escaped}</p>", "u"))
    assert back == (f"<p>{escaped}</p>" if shown else "")
