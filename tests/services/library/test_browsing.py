"""The library as the window asks for it: tree, pages, tags, previews, attached parts, references, uses."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import LibraryUnavailable, UserError
from bibgenie_desktop.domain.locators import Locator, Resource
from bibgenie_desktop.domain.parts import ResourcePart, TextPart, ToolPart
from bibgenie_desktop.domain.works import ids_used
from bibgenie_desktop.services.library.attaching import NOTE, Attaching, note_part
from bibgenie_desktop.services.library.browsing import Browsing, Listing, Order, Scope
from bibgenie_desktop.services.library.item_details import Details
from bibgenie_desktop.services.library.payloads import Payload
from bibgenie_desktop.services.library.referencing import Referencing
from bibgenie_desktop.zotero.model.folding import key
from bibgenie_desktop.zotero.service import ZoteroLibrary
from tests.scripted_server import ScriptedServer, text
from tests.services.desk import ask, desk
from tests.zotero.helpers import SAMPLE, generated, opened_library, titled

LINKED = "zotero://open-pdf/library/items/{0}?page={1}&annotation={2}"


@asynccontextmanager
async def sample(folder: Path, data_dir: Path = SAMPLE) -> AsyncIterator[ZoteroLibrary]:
    library = opened_library(data_dir, folder / "private")
    try:
        await library.ensure_loaded()
        yield library
    finally:
        await library.close()


def sent(part: ResourcePart) -> dict[str, object]:
    body = part.sent.split('<zotero_data trust="untrusted">\n')[1].split("\n</zotero_data>")[0]
    loaded: dict[str, object] = json.loads(body)
    return loaded


async def test_every_place_counts_what_its_list_holds(tmp_path: Path) -> None:
    async with sample(tmp_path, generated(tmp_path, "--items", "37")) as library:
        browsing = Browsing(library)
        for place in await browsing.tree():
            assert place.count == (await browsing.page(Listing(place.scope), 0)).total, place


async def test_the_tree_nests_collections_and_counts_what_lies_below(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        places = await Browsing(library).tree()
        assert [p.scope.kind for p in places[:3]] == ["recent", "all", "library"]
        replay = next(p for p in places if p.name == "Replay and ripples")
        above = next(p for p in places if p.scope == replay.parent)
        assert (above.name, above.depth, replay.depth) == ("Systems consolidation", 2, 3)
        assert above.count >= replay.count > 0
        assert above.children
        assert not replay.children
        assert {p.parent for p in places if p.scope.kind == "unfiled"} == {
            Scope("library", lib.id) for lib in library.contents.libraries
        }
        whole = next(p for p in places if p.scope.kind == "all")
        assert whole.count == sum(p.count for p in places if p.scope.kind == "library")


async def test_pages_of_a_list_join_without_gap_or_repetition(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        browsing = Browsing(library)
        for order in ("added", "modified", "title", "creator", "year"):
            listing = Listing(Scope("library", "u"), order=order)
            pages = [await browsing.page(listing, at, 7) for at in range(0, 40, 7)]
            ids = [row.id for page in pages for row in page.rows]
            assert len(ids) == len(set(ids)) == pages[0].total
            assert all(i.startswith("u-") for i in ids)


async def test_orders_are_what_they_say(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        browsing, items = Browsing(library), library.contents.items

        async def ordered(order: Order) -> list[str]:
            page = await browsing.page(Listing(Scope("all"), order=order), 0, 100)
            return [row.id for row in page.rows if row.id in items]

        titles = [key(items[i].title) for i in await ordered("title")]
        assert titles == sorted(titles)
        years = [items[i].year or 0 for i in await ordered("year")]
        assert years == sorted(years, reverse=True)
        added = [items[i].added for i in await ordered("added")]
        assert added == sorted(added, reverse=True)


async def test_a_collection_lists_what_lies_below_it_and_nothing_else(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        browsing = Browsing(library)
        for place in await browsing.tree():
            page = await browsing.page(Listing(place.scope), 0, 100)
            assert page.total == place.count, place


async def test_words_search_within_the_place_and_say_when_only_some_match(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        browsing = Browsing(library)
        everywhere = await browsing.page(Listing(Scope("all"), "sleep"), 0, 5)
        group = await browsing.page(Listing(Scope("library", "g4000001"), "sleep"), 0, 50)
        assert everywhere.total > 5 == len(everywhere.rows)
        assert all(row.id.startswith("g4000001-") for row in group.rows)
        relaxed = await browsing.page(Listing(Scope("all"), "ripples zebrafish"), 0, 5)
        assert relaxed.relaxed
        nothing = await browsing.page(Listing(Scope("collection", "u", "u-ZZZZZZZZ"), "sleep"), 0, 5)
        assert nothing.total == 0
        assert await browsing.find("ripples zebrafish", 8) == ()
        assert len(await browsing.find("", 8)) == 8


async def test_tags_narrow_a_list_to_items_that_carry_all_of_them(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        browsing = Browsing(library)
        tags = await browsing.tags(Listing())
        assert tags
        first = tags[0]
        page = await browsing.page(Listing(tags=(first.name,)), 0, 100)
        assert page.total == first.count
        left = await browsing.tags(Listing(tags=(first.name,)))
        assert next(t for t in left if t.name == first.name).count == page.total


async def test_nothing_is_listed_before_the_library_is_read(tmp_path: Path) -> None:
    library = opened_library(SAMPLE, tmp_path)
    browsing = Browsing(library)
    assert browsing.state is None
    with pytest.raises(LibraryUnavailable):
        await browsing.page(Listing(), 0)
    await library.ensure_loaded()
    assert browsing.state is not None
    while not await browsing.first():  # noqa: ASYNC110 - the index is made beside everything
        await asyncio.sleep(0.01)
    await library.close()
    again = opened_library(SAMPLE, tmp_path)
    known = await Browsing(again).first()
    await again.close()
    assert len(known) > 20


async def test_details_hold_files_notes_and_annotations_in_reading_order(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        item = titled(library.contents, "Practice with Sleep")
        found = await Details(library).of(item.id)
        assert found is not None
        assert found.facts.startswith("2002 · Neuron 35(1), 205")
        assert [p.kind for p in found.pieces] == ["attachment", "note", *["annotation"] * 3]
        marks = found.of_kind("annotation")
        assert all(p.link.startswith("zotero://open-pdf/") and p.color.startswith("#") for p in marks)
        assert all(p.detail.startswith("p. ") for p in marks)
        note = await Details(library).of(found.of_kind("note")[0].id)
        assert note is not None
        assert note.type == "note"
        assert await Details(library).of("u-ZZZZZZZZ") is None


async def test_a_missing_file_says_why_it_cannot_be_read(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        details = Details(library)
        found = [await details.of(i) for i in library.contents.items]
        reasons = [p.reason for d in found if d is not None for p in d.of_kind("attachment") if p.reason]
        assert len(reasons) == 1
        assert "not on this computer" in reasons[0]


async def test_an_attached_item_is_frozen_with_its_abstract_and_ids(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        item = titled(library.contents, "Practice with Sleep")
        (part,) = (await Attaching(library).by_ids([item.id])).parts
        assert part.locator == Locator("u", "item", item=item.key)
        assert part.sent.startswith(f"[attached item {item.id}]\n")
        data = sent(part)
        assert data["abstract"] == item.abstract
        assert data["attachments"][0]["id"] == item.attachments[0].id  # type: ignore[index]


async def test_notes_and_annotations_come_with_their_text_and_places(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        contents = library.contents
        note = next(iter(contents.notes.values()))
        mark = next(a for a in contents.annotations.values() if a.text and a.place.page_index is not None)
        file = next(iter(contents.items[mark.item_id].pdfs))
        attached = await Attaching(library).by_ids([note.id, mark.id, file.id, "u-ZZZZZZZZ"])
        of_note, of_mark, of_file = attached.parts
        assert (of_note.locator.kind, of_note.locator.item) == ("note", note.key)
        assert sent(of_note)["markdown"]
        assert (of_mark.locator.annotation, of_mark.locator.att_id) == (mark.key, mark.attachment_id)
        assert sent(of_mark)["text"] == mark.text
        assert of_mark.locator.page_index == mark.place.page_index
        assert (of_file.locator.att_id, of_file.locator.kind) == (file.id, "pdf")
        assert attached.missing == ("u-ZZZZZZZZ",)


async def test_long_notes_are_cut_and_say_how_much_is_left_out(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        note = next(iter(library.contents.notes.values()))
        data = sent(note_part(replace(note, html=f"<p>{'word ' * 4_000}</p>")))
        assert len(str(data["markdown"])) <= NOTE + 1
        assert str(data["left_out"]).endswith(" characters")


async def test_a_copied_annotation_is_found_and_one_not_synced_yet_keeps_its_words(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        mark = next(a for a in library.contents.annotations.values() if a.text)
        attachment = mark.attachment_id.partition("-")[2]
        known = f"“{mark.text}” ([pdf]({LINKED.format(attachment, 1, mark.key)}))"
        (part,) = (await Attaching(library).by_payload(Payload(text=known))).parts
        assert part.locator.annotation == mark.key
        new = f"“Sleep mends” ([pdf]({LINKED.format(attachment, 2, 'NEWK2345')}))"
        (part,) = (await Attaching(library).by_payload(Payload(text=new))).parts
        assert (part.locator.att_id, part.locator.page_index) == (mark.attachment_id, 1)
        assert sent(part)["text"] == "Sleep mends"


async def test_dois_citation_keys_and_dragged_references_find_their_work(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        item = titled(library.contents, "Practice with Sleep")
        attaching = Attaching(library)
        reference = "Walker, M. P., Brakefield, T. (2002). " + item.title + ". Neuron, 35(1), 205–211."
        for payload in (
            Payload(text=f"https://doi.org/{item.doi}"),
            Payload(text=f"zotero://select/items/@{item.citekey}"),
            Payload(formats=(("zotero/item", b"12"),), text=reference, dropped=True),
        ):
            found = await attaching.by_payload(payload)
            assert [p.locator.item_id for p in found.parts] == [item.id], payload
        stranger = await attaching.by_payload(Payload(text="10.1000/nowhere"))
        assert (stranger.parts, stranger.missing) == ((), ("10.1000/nowhere",))


async def test_what_zotero_drags_by_rows_is_taken_if_its_words_fit(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        item = titled(library.contents, "Practice with Sleep")
        uri = f"{(SAMPLE / 'zotero.sqlite').as_uri()}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as db:
            (row,) = db.execute("SELECT itemID FROM items WHERE key = ?", (item.key,)).fetchone()
        rows = (("zotero/item", str(row).encode()),)
        attaching = Attaching(library)
        bare = await attaching.by_payload(Payload(rows, dropped=True))
        assert [p.locator.item_id for p in bare.parts] == [item.id]
        short = await attaching.by_payload(Payload(rows, "(Walker et al., 2002)", dropped=True))
        assert short.parts == bare.parts
        other = await attaching.by_payload(Payload(rows, "(Hobson, 1998)", dropped=True))
        assert other.parts == ()


async def test_markers_become_citations_of_a_style_with_printed_pages(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        item = titled(library.contents, "Practice with Sleep")
        file = next(item.pdfs).id
        referencing = Referencing(library)
        answer = f'Sleep helps [[{file} p.1 "motor skill"]]. Lost [[u-ZZZZZZZZ p.1]].'
        made = await referencing.cited(answer, "author-date", "en-GB")
        head, _, references = made.text.partition("\n\n")
        assert head == "Sleep helps (Walker et al. 2002, p. 205). Lost (u-ZZZZZZZZ)."
        assert references.startswith("Walker, M. P.")
        assert made.missing == 1
        assert (await referencing.cited("No source.")).text == "No source."


async def test_works_are_written_in_every_form(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        item = titled(library.contents, "Practice with Sleep")
        file = next(item.pdfs).id
        referencing = Referencing(library)
        assert (await referencing.write([item.id, file], "citation")).text == "(Walker et al. 2002)"
        link = (await referencing.write([item.id], "link")).text
        assert link == f"[Walker et al. 2002](zotero://select/library/items/{item.key})"
        assert (await referencing.write([item.id], "citekey")).text == item.citekey
        assert (await referencing.write([item.id], "bibtex")).text.startswith("@article{")
        assert "TY  - JOUR" in (await referencing.write([item.id], "ris")).text
        assert (
            json.loads((await referencing.write([item.id, "u-ZZZZZZZZ"], "csl-json")).text)[0]["id"]
            == item.id
        )
        with pytest.raises(UserError):
            await referencing.write(["u-ZZZZZZZZ"], "ris")


async def test_sessions_that_used_a_work_are_found_and_those_that_only_met_it_are_not(tmp_path: Path) -> None:
    async with sample(tmp_path) as library:
        item, other = list(library.contents.items.values())[:2]
        (part,) = (await Attaching(library).by_ids([item.id])).parts
        with ScriptedServer() as server:
            server.script(text("One."), text(f"Two [[{next(item.pdfs).id} p.1]]."), text("Three."))
            async with desk(tmp_path, server) as on:
                on.workspace.use_library(library)
                room = on.workspace.room
                assert room is not None
                chats = [await on.workspace.chat((await on.workspace.new_session()).id) for _ in range(3)]
                await chats[0].send(replace(ask("First?"), attached=(part,)))
                await chats[1].send(ask("Second?"))
                await chats[2].send(ask("Third?"))
                assert set(await room.sessions_using(item.id)) == {c.session_id for c in chats[:2]}
                assert await room.sessions_using(other.id) == ()
                assert await room.used_by(chats[0].session_id) == (item.id,)
                assert await room.used_by(chats[2].session_id) == ()


def test_a_hit_of_a_search_is_no_use_but_a_read_page_is() -> None:
    hit = ToolPart(
        "1", "search_items", {}, "done", resources=(Resource(Locator("u", "item", item="HUTM2224"), ""),)
    )
    page = Locator("u", "pdf", item="HUTM2224", att="PDFK2345", page_index=3)
    read = ToolPart("2", "read_document", {}, "done", resources=(Resource(page, ""),))
    assert list(ids_used([hit])) == []
    assert list(ids_used([read])) == ["u-HUTM2224", "u-PDFK2345"]
    assert list(ids_used([TextPart("As said [[u-PDFK2345 p.4]].")])) == ["u-PDFK2345"]


async def test_lists_of_a_large_library_leave_the_loop_free(tmp_path: Path) -> None:
    data_dir = generated(tmp_path / "made", "--items", "3000")
    async with sample(tmp_path, data_dir) as library:
        browsing = Browsing(library)
        longest = 0.0
        loop = asyncio.get_running_loop()

        async def watch() -> None:
            nonlocal longest
            while True:
                before = loop.time()
                await asyncio.sleep(0.001)
                longest = max(longest, loop.time() - before)

        watching = asyncio.create_task(watch())
        try:
            for listing in (Listing(order="title"), Listing(order="creator"), Listing(words="memory")):
                page = await browsing.page(listing, 0)
                assert page.rows
            await browsing.tree()
            await browsing.tags(Listing())
        finally:
            watching.cancel()
        assert longest < 0.5
