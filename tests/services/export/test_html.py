"""The HTML of an active path, read back with a parser: what a browser would see."""

from __future__ import annotations

import base64
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bibgenie_desktop.services.export import gather, write
from tests.services.export.paths import MARK, SHOWN_BYTES, told
from tests.storage.helpers import MODEL, database, opened, turn


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data

    def values(self, tag: str, name: str) -> list[str]:
        return [value for found, attrs in self.elements if found == tag and (value := attrs.get(name))]


def html_of(folder: Path, answer: str) -> str:
    with opened(database(folder)) as store:
        session, _, _ = turn(store, store.create_session("t", MODEL), "q", answer)
        return write(gather(store, session.id), "html")


@pytest.fixture
def text(tmp_path: Path) -> str:
    with opened(database(tmp_path)) as store:
        return write(gather(store, told(store).id), "html")


def test_markup_of_people_and_models_is_shown_and_not_run(text: str) -> None:
    page = Page(text)
    assert "<script>alert(1)</script>" in page.words
    assert {tag for tag, _ in page.elements}.isdisjoint(
        {"script", "iframe", "object", "link", "form", "base"}
    )
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)


def test_nothing_is_loaded_from_anywhere(tmp_path: Path) -> None:
    text = html_of(
        tmp_path, "![p](https://example.org/p.png) ![q](file:///etc/passwd) ![r](data:image/png;base64,AA==)"
    )
    page = Page(text)
    assert page.values("img", "src") == []
    assert "default-src 'none'" in page.values("meta", "content")[0]


def test_links_lead_only_to_the_web_mail_and_zotero(tmp_path: Path) -> None:
    answer = (
        "[a](https://example.org) [b](zotero://select/library/items/AAAA2222) [c](mailto:a@example.org) "
        "[d](javascript:alert(1)) [e](file:///etc/passwd) [f](//example.org/x) [g](JaVaScRiPt:alert(1)) "
        "[h](data:text/html,x) <vbscript:x>"
    )
    assert Page(html_of(tmp_path, answer)).values("a", "href") == [
        "https://example.org",
        "zotero://select/library/items/AAAA2222",
        "mailto:a@example.org",
    ]


def test_markdown_is_typeset(tmp_path: Path) -> None:
    page = Page(
        html_of(tmp_path, "**bold** ~~gone~~\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx < 1\n```")
    )
    tags = [tag for tag, _ in page.elements]
    assert {"strong", "s", "table", "pre"} <= set(tags)
    assert "x < 1" in page.words


def test_citations_stay_as_marks_and_lead_to_the_list_of_sources(text: str) -> None:
    page = Page(text)
    assert MARK in page.words
    assert page.values("a", "href")[:3] == ["#u-BBBB3333", "#g77-CCCC4444", "#u-BBBB3333"]
    assert page.values("li", "id") == ["u-BBBB3333", "g77-CCCC4444"]
    assert "zotero://open-pdf/library/items/BBBB3333?page=2" in page.values("a", "href")


def test_a_mark_is_not_read_as_a_link(tmp_path: Path) -> None:
    text = html_of(tmp_path, '[[u-BBBB3333 p.4 "*a* <b>"]](https://example.org)')
    assert '[[u-BBBB3333 p.4 "*a* <b>"]]' in Page(text).words
    assert "https://example.org" not in Page(text).values("a", "href")


def test_pictures_are_inside_the_file(text: str) -> None:
    assert Page(text).values("img", "src") == [
        "data:image/png;base64," + base64.b64encode(data).decode()
        for data in (b"\x89PNG picture", SHOWN_BYTES)
    ]
    assert Page(text).values("img", "alt") == ["figure <1>.png", "Hu 2020, p. 218"]


def test_checkpoints_and_tool_steps_are_told(text: str) -> None:
    words = Page(text).words
    assert "Compacted: 48,000 → 6,000 tokens" in words
    assert "To know why." in words
    assert 'search_items {"query":"sleep `now`"} → 2 items' in words
    assert "hidden thought" not in words


def test_no_words_of_an_answer_are_lost_however_deep_they_lie(tmp_path: Path) -> None:
    answer = "\n".join("  " * n + f"- deep{n}x" for n in range(40)) + "\n\n[1]: http://unused.example"
    found = html_of(tmp_path, answer)
    assert [n for n in range(40) if f"deep{n}x" not in found] == []
    assert "unused.example" in found
