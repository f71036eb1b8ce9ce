"""Annotations, notes, collections, tags and related items as a model gets them."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

from tests.services.tools.test_library_tools import desk
from tests.zotero.helpers import generated, manifest, sample_copy
from tests.zotero.local.test_reader import WALKER


async def test_annotations_of_an_item_come_in_reading_order_with_link_and_both_pages(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        item = d.item("Practice with Sleep")
        result = await d.run("get_annotations", item_id=item.id)
        data = await d.data("get_annotations", attachment_id=item.attachments[0].id)
        rows = data["annotations"]
        assert [(r["page"], r["label"], r["color"]) for r in rows] == [
            (2, "206", "yellow"),
            (2, "206", "blue"),
            (3, "207", "red"),
        ]
        assert rows[0]["link"].endswith(f"?page=2&annotation={rows[0]['id'][2:]}")
        assert rows[0]["tags"] == ["effect size"]
        assert [r.locator.page_index for r in result.resources] == [1, 1, 2]
        assert result.resources[0].locator.annotation == rows[0]["id"][2:]


async def test_annotations_are_filtered_by_words_colour_type_tag_and_collection(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        every = (await d.data("get_annotations"))["total"]
        assert every == len(d.library.contents.annotations)
        red = await d.data("get_annotations", colors=["red"])
        assert 0 < red["total"] < every
        assert {r["color"] for r in red["annotations"]} == {"red"}
        sized = await d.data("get_annotations", tags=["effect size"], types=["highlight"])
        assert {tuple(r["tags"]) for r in sized["annotations"]} >= {("effect size",)}
        assert (await d.data("get_annotations", query="limitation"))["total"] >= 1
        assert (await d.data("get_annotations", collection="Sleep loss"))["total"] < every
        page = await d.data("get_annotations", limit=5, offset=5, order="modified")
        assert (page["returned"], page["next_offset"]) == (5, 10)
        nothing = await d.data("get_annotations", query="zygomorphic")
        assert f"{every} annotations" in nothing["hint"]


async def test_notes_come_as_markdown_whole_or_as_previews(tmp_path: Path) -> None:
    zotero = generated(tmp_path / "lib", "--items", "37")
    async with desk(tmp_path, zotero) as d:
        walker = f"u-{manifest(zotero)['items']['walker2002']['key']}"
        data = await d.data("get_notes", item_id=walker)
        note = data["notes"][0]
        assert note["markdown"].startswith("# Reading note: Walker 2002\n\nSleep, **not time awake**")
        assert note["item_id"] == walker
        first = await d.data("get_notes", note_ids=[note["id"]], limit=2)
        assert first["notes"][0]["next_offset"] == 2
        rest = await d.data("get_notes", note_ids=[note["id"]], offset=2)
        assert first["notes"][0]["markdown"] + "\n" + rest["notes"][0]["markdown"] == note["markdown"]
        every = await d.data("get_notes")
        assert every["total"] == len(d.library.contents.notes) >= 3
        assert all("preview" in n for n in every["notes"])
        found = await d.data("get_notes", query="synaptic homeostasis")
        assert [n["title"][:15] for n in found["notes"]] == ["Standalone note"]


async def test_collections_have_paths_counts_and_a_way_down(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        top = await d.data("list_collections")
        memory = next(c for c in top["collections"] if c["path"] == "Sleep & memory")
        assert memory["items"] == 0
        assert memory["items_with_subcollections"] > 10
        below = await d.data("list_collections", parent=memory["id"])
        assert {c["parent"] for c in below["collections"]} == {memory["id"]}
        assert below["total"] == memory["sub_count"]
        whole = await d.data("list_collections", recursive=True)
        assert whole["total"] > top["total"]
        found = await d.data("list_collections", query="ripples")
        assert found["collections"][0]["path"].endswith("Replay and ripples")


async def test_a_listing_of_a_collection_is_complete_and_paged(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        data = await d.data("list_items", collection="Sleep & memory", limit=10)
        ids = [r["id"] for r in data["items"]]
        while "next_offset" in data:
            data = await d.data(
                "list_items", collection="Sleep & memory", limit=10, offset=data["next_offset"]
            )
            ids += [r["id"] for r in data["items"]]
        assert len(ids) == len(set(ids)) == data["total"]
        alone = await d.data("list_items", collection="Sleep & memory", recursive=False)
        assert alone["total"] == 0
        nap = await d.data("list_items", tag="nap")
        assert nap["total"] == sum(any(t.name == "nap" for t in i.tags) for i in d.library.items)
        unfiled = await d.data("list_items", unfiled=True)
        assert all(not d.library.contents.items[r["id"]].collections for r in unfiled["items"])
        recent = await d.data("list_items", recent=True, limit=1)
        assert recent["items"][0]["id"] == max(d.library.items, key=lambda i: (i.added, i.id)).id
        assert "one or the other" in await d.error("list_items", unfiled=True, collection="Sleep loss")


async def test_three_thousand_tags_are_paged_without_loss(tmp_path: Path) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    with contextlib.closing(sqlite3.connect(zotero / "zotero.sqlite")) as db, db:
        db.executemany("INSERT INTO tags VALUES (?, ?)", ((9000 + n, f"bulk {n:04}") for n in range(3000)))
        db.executemany("INSERT INTO itemTags VALUES (1, ?, 1)", ((9000 + n,) for n in range(3000)))
    async with desk(tmp_path, zotero) as d:
        by_hand = (await d.data("list_tags"))["total"]
        seen: list[str] = []
        data = await d.data("list_tags", include_automatic=True, limit=200)
        assert data["total"] >= by_hand + 3000
        while True:
            seen += [t["name"] for t in data["tags"]]
            if "next_offset" not in data:
                break
            data = await d.data("list_tags", include_automatic=True, limit=200, offset=data["next_offset"])
        assert len([n for n in set(seen) if n.startswith("bulk")]) == 3000
        assert len(seen) == data["total"]
        assert (await d.data("list_tags", query="bulk 0001"))["total"] == 0
        inside = await d.data("list_tags", collection="Sleep loss")
        assert 0 < inside["total"] < by_hand


async def test_related_items_say_why(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        item = next(i for i in d.library.items if i.id in d.library.contents.related)
        data = await d.data("get_related", item_id=item.id)
        assert {r["id"] for r in data["items"]} == set(d.library.contents.related[item.id])
        assert {r["reason"] for r in data["items"]} == {"linked in Zotero"}
        walker = d.item("Practice with Sleep")
        shared = await d.data("get_related", item_id=walker.id, kind="shared_tags")
        assert {"sleep", "procedural memory"} <= {r["reason"] for r in shared["items"]}
        authors = await d.data("get_related", item_id=walker.id, kind="same_author")
        assert any("Robert Stickgold" in r["reason"] for r in authors["items"])
        near = await d.data("get_related", item_id=walker.id, kind="same_collection")
        assert walker.id not in {r["id"] for r in near["items"]}


@pytest.mark.parametrize(
    ("tool", "arguments", "taught"),
    [
        ("get_annotations", {"colors": ["pink"]}, "yellow, red"),
        ("get_annotations", {"types": ["mark"]}, "highlight, note"),
        ("get_annotations", {"item_id": "u-AAAAAAAA"}, "There is no u-AAAAAAAA"),
        ("get_notes", {"item_id": "nonsense"}, "is not an id"),
        ("get_notes", {"note_ids": ["u-AAAAAAAA"]}, "There is no u-AAAAAAAA"),
        ("get_notes", {"format": "html"}, "markdown"),
        ("list_collections", {"parent": "Nowhere"}, "Sleep & memory"),
        ("list_items", {"tag": "nappp"}, '"nap"'),
        ("list_tags", {"library": "g9"}, "g4000001"),
        ("get_related", {"item_id": "u-AAAAAAAA"}, "There is no u-AAAAAAAA"),
        ("get_related", {"kind": "related"}, "item_id is missing"),
        ("list_items", {"saved_search": "x"}, "Saved searches of Zotero cannot be run"),
        ("list_items", {"shelf": "x"}, "Valid: collection"),
    ],
)
async def test_wrong_arguments_teach(
    tmp_path: Path, tool: str, arguments: dict[str, object], taught: str
) -> None:
    async with desk(tmp_path) as d:
        assert taught in await d.error(tool, **arguments)


async def test_what_lies_in_the_trash_is_named_as_such(tmp_path: Path) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    async with desk(tmp_path / "before", zotero) as d:
        item = d.item("Practice with Sleep")
        mark = next(a.id for a in d.library.contents.annotations.values() if a.item_id == item.id)
    with contextlib.closing(sqlite3.connect(zotero / "zotero.sqlite")) as db, db:
        db.execute(f"INSERT INTO deletedItems (itemID) SELECT {WALKER}")
    async with desk(tmp_path / "after", zotero) as d:
        for full_id in (item.id, item.attachments[0].id):
            assert "trash" in await d.error("get_items", ids=[full_id])
            assert "trash" in await d.error("read_document", attachment_id=full_id)
        assert "trash" in await d.error("get_annotations", item_id=mark)


async def test_the_id_of_another_kind_of_thing_names_the_tool_for_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        note, mark = next(iter(d.library.contents.notes)), next(iter(d.library.contents.annotations))
        assert "get_notes" in await d.error("read_document", attachment_id=note)
        assert "get_annotations" in await d.error("get_items", ids=[mark])


async def test_a_retracted_work_is_marked_wherever_it_is_listed(tmp_path: Path) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    with contextlib.closing(sqlite3.connect(zotero / "zotero.sqlite")) as db, db:
        data = json.dumps({"date": "2019-04-02", "reasons": ["Error in Data"]})
        db.execute(f"INSERT INTO retractedItems (itemID, data) SELECT {WALKER}, ?", (data,))
    async with desk(tmp_path, zotero) as d:
        found = await d.data("search_items", query="practice with sleep makes perfect")
        assert found["items"][0]["retracted"] == "retracted 2019-04-02: Error in Data"
        full = await d.data("get_items", ids=[found["items"][0]["id"]])
        assert full["items"][0]["retracted"].startswith("retracted")
        assert full["items"][0]["notes"][0]["title"] == "Reading note: Walker 2002"
