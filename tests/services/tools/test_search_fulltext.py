"""Full text as a model gets it: items, snippets, pages that are certain, and how much is indexed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.zotero.citing.quotes import check_quote
from tests.services.tools.test_library_tools import desk
from tests.zotero.helpers import generated, manifest


def snippets(item: dict[str, Any]) -> list[dict[str, Any]]:
    return [s for hit in item["hits"] for s in hit["snippets"]]


def in_file(item: dict[str, Any]) -> dict[str, Any]:
    return next(hit for hit in item["hits"] if "attachment_id" in hit)


async def test_words_of_pages_notes_and_annotations_lead_to_their_item(tmp_path: Path) -> None:
    zotero = generated(tmp_path / "lib", "--items", "60")
    entries = manifest(zotero)["items"]
    async with desk(tmp_path, zotero) as d:
        wagner = await d.data("search_fulltext", query="hidden rule percent")
        assert wagner["items"][0]["id"] == f"u-{entries['wagner2004']['key']}"
        found = in_file(wagner["items"][0])
        place = next(s for s in found["snippets"] if "59 percent" in s["text"])
        assert place["page"] == 2
        pages = await d.library.pages_text(d.library.contents.attachments[found["attachment_id"]], 1, 1)
        assert check_quote(place["text"].strip("…"), pages[0].text) == "verified"
        assert wagner["coverage"]["indexed"] > 20
        assert "state" not in wagner["coverage"]
        mark = await d.data("search_fulltext", query="grant pitch")
        assert mark["items"][0]["id"] == f"u-{entries['mander2013']['key']}"
        assert snippets(mark["items"][0])[0]["page"] == 2
        note = await d.data("search_fulltext", query="twelve trials nap Mednick", mode="any")
        assert f"u-{entries['walker2002']['key']}" in {i["id"] for i in note["items"]}
        alone = await d.data("search_fulltext", query="ideas for the review")
        assert alone["items"][0]["type"] == "note"
        epub = await d.data("search_fulltext", query="second half of the night is not a copy", mode="phrase")
        assert len(epub["items"]) == 1
        assert "page" not in in_file(epub["items"][0])["snippets"][0]


async def test_texts_are_found_without_zoteros_extracts_too(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        result = await d.data("search_fulltext", query="hidden rule")
        row = next(i for i in result["items"] if i["source"].startswith("Wagner"))
        place = next(s for s in in_file(row)["snippets"] if "59 percent" in s["text"])
        assert (place["page"], place["label"]) == (2, "353")
        assert result["coverage"]["without_text"] >= 2


async def test_the_trash_and_feeds_are_never_searched(tmp_path: Path) -> None:
    zotero = generated(tmp_path / "lib", "--items", "60")
    trashed = next(e for e in manifest(zotero)["items"].values() if e["trashed"])
    async with desk(tmp_path, zotero) as d:
        for query in ("FEED ITEM", "must not be indexed", trashed["title"]):
            data = await d.data("search_fulltext", query=query, mode="phrase")
            assert data["items"] == [], query


async def test_scopes_pages_and_relaxing_are_said(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        every = await d.data("search_fulltext", query="sleep", limit=5)
        assert every["next_offset"] == 5
        following = await d.data("search_fulltext", query="sleep", limit=5, offset=5)
        assert not {i["id"] for i in every["items"]} & {i["id"] for i in following["items"]}
        walker = d.item("Practice with Sleep")
        one = await d.data("search_fulltext", query="sleep", item_ids=[walker.attachments[0].id])
        assert [i["id"] for i in one["items"]] == [walker.id]
        inside = await d.data("search_fulltext", query="sleep", collection="Sleep loss")
        assert 0 < inside["total"] < every["total"]
        relaxed = await d.data("search_fulltext", query="ripples zygomorphic")
        assert relaxed["total"] > 0
        assert "some" in relaxed["relaxed"]
        nothing = await d.data("search_fulltext", query="zygomorphic")
        assert (nothing["total"], nothing["items"]) == (0, [])
        assert "search_items" in nothing["hint"]


@pytest.mark.parametrize(
    ("arguments", "taught"),
    [
        ({}, "query is missing"),
        ({"query": "!!"}, "no words"),
        ({"query": "x", "mode": "fuzzy"}, "all_words, phrase, any"),
        ({"query": "x", "item_ids": ["u-AAAAAAAA"]}, "There is no u-AAAAAAAA"),
        ({"query": "x", "collection": "Nowhere"}, "Sleep & memory"),
    ],
)
async def test_wrong_arguments_teach(tmp_path: Path, arguments: dict[str, Any], taught: str) -> None:
    async with desk(tmp_path) as d:
        assert taught in await d.error("search_fulltext", **arguments)
