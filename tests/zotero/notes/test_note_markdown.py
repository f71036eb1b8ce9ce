"""Notes as Markdown: what people write into Zotero's notes stays readable, whatever state its HTML is in."""

from __future__ import annotations

import json
import time
from urllib.parse import quote

import pytest

from bibgenie_desktop.zotero.notes.note_citations import cited_ids
from bibgenie_desktop.zotero.notes.note_markdown import note_markdown

CITED = quote(
    json.dumps(
        {
            "citationItems": [
                {"uris": ["http://zotero.org/users/12/items/ABCD2345"], "locator": "12", "label": "page"},
                {"uris": ["http://zotero.org/groups/77/items/ABCD2346"]},
            ]
        }
    )
)
MARKED = quote(
    json.dumps(
        {
            "attachmentURI": "http://zotero.org/users/local/xyz/items/WXYZ2345",
            "position": {"pageIndex": 3},
        }
    )
)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h1>Title</h1><p>One <b>bold</b> &amp; <i>it</i></p>", "# Title\n\nOne **bold** & *it*"),
        (f'<p>So <span class="citation" data-citation="{CITED}">(<span>Walker</span>)</span>.</p>',
         "So [@u-ABCD2345, p. 12; @g77-ABCD2346]."),
        (f'<p><span class="highlight" data-annotation="{MARKED}">“word”</span></p>',
         "“word” [@u-WXYZ2345 p.4]"),
        ('<span class="citation" data-citation="%7B">(Walker)</span>', "(Walker)"),
        ("<ul><li>a</li><li><p>b</p><ol><li>c</li><li>d</li></ol></li></ul><p>e</p>",
         "- a\n- b\n  1. c\n  2. d\n\ne"),
        ("<blockquote><p>q</p><p>r</p></blockquote>x", "> q\n>\n> r\n\nx"),
        ('<p>in <span class="math">$a_b < c*d$</span></p><pre class="math">$$\\int x*y$$</pre>',
         "in $a_b < c*d$\n\n$$\\int x*y$$"),
        ("<pre>code *x*\n y</pre>", "```\ncode *x*\n y\n```"),
        ("<table><tr><th><p>A</p></th><th>B|C</th></tr><tr><td>1</td><td>2</td></tr></table>",
         "| A | B\\|C |\n| --- | --- |\n| 1 | 2 |"),
        ('<p><a href="https://x.org">link</a> <img data-attachment-key="IMGK2345"></p>',
         "[link](https://x.org) ![image](u-IMGK2345)"),
        ("one<br>two *stars* x<sub>2</sub>", "one  \ntwo \\*stars\\* x<sub>2</sub>"),
        ("<div class='zotero-note znv1'><p>old", "old"),
        ("<script>alert(1)</script>after<!-- hidden -->", "after"),
        ("<p>never closed <b>bold", "never closed **bold**"),
        ("a < b and c > d", "a \\< b and c > d"),
    ],
)  # fmt: skip
def test_html_of_notes_becomes_markdown(html: str, markdown: str) -> None:
    assert note_markdown(html, "u") == markdown


def test_the_cited_items_of_a_note_are_known() -> None:
    html = f'<span data-citation="{CITED}"></span><span data-citation="{CITED}"></span>'
    assert cited_ids(html) == ("u-ABCD2345", "g77-ABCD2346")


@pytest.mark.parametrize(
    "piece",
    [
        "<!--",
        "<a",
        "<a x='",
        "<p>",
        "<![CDATA[",
        "<!DOCTYPE [",
        "</p>",
        "<td>",
        "<ul><li>",
        "<blockquote>",
        '<"',
        '<a b="',
        "<?",
        "<table><tr><td>",
        '<span data-citation="%7B">',
    ],
)
def test_hostile_markup_costs_time_in_proportion_to_its_length(piece: str) -> None:
    started = time.process_time()
    note_markdown(piece * (200_000 // len(piece)), "u")
    assert time.process_time() - started < 5
