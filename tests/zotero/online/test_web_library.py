"""The web library in use: the same answers as from this computer, files on demand, everything offline."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.errors import DocumentUnreadable, LibraryUnavailable, UserError
from bibgenie_desktop.services.library.citing import CitationChecker
from bibgenie_desktop.services.tools.base import Tool
from bibgenie_desktop.services.tools.registry import library_tools
from bibgenie_desktop.zotero.model.library import Attachment
from bibgenie_desktop.zotero.online.web_files import FileStore
from bibgenie_desktop.zotero.online.web_library import WebLibrary
from bibgenie_desktop.zotero.service import ZoteroLibrary
from tests.zotero.helpers import SAMPLE, opened_library, titled
from tests.zotero.online.web_bench import account_in, many, sync, web_library
from tests.zotero.online.web_json import web_libraries
from tests.zotero.online.web_server import Fault, WebServer

WALKER = "Practice with Sleep"


def tool(library: ZoteroLibrary, name: str) -> Tool:
    return next(t for t in library_tools(library) if t.spec.name == name)


async def answer(library: ZoteroLibrary, name: str, **arguments: Any) -> str:
    return (await tool(library, name).run(arguments)).text


def attachment_of(library: ZoteroLibrary, beginning: str) -> Attachment:
    return titled(library.contents, beginning).attachments[0]


QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("search_items", {"query": "sleep spindles"}),
    ("search_items", {"query": "memory", "year_from": 2005, "year_to": 2010}),
    ("search_items", {"query": "Diekelmann"}),
    ("list_collections", {}),
    ("list_tags", {}),
    ("list_items", {"limit": 30}),
    ("get_items", {"ids": ["u-FQ3D7P4Y"]}),
    ("get_annotations", {"id": "u-FQ3D7P4Y"}),
    ("get_notes", {"query": "nap"}),
    ("get_related", {"id": "u-FQ3D7P4Y"}),
    ("format_citation", {"ids": ["u-FQ3D7P4Y"]}),
    ("read_document", {"attachment_id": "u-FQ3D7P4Y", "pages": "1-2"}),
    ("find_in_document", {"attachment_id": "u-FQ3D7P4Y", "query": "wakefulness"}),
    ("get_outline", {"attachment_id": "u-FQ3D7P4Y"}),
]


async def test_every_tool_answers_from_the_web_as_from_this_computer(tmp_path: Path) -> None:
    local = opened_library(SAMPLE, tmp_path / "private")
    with WebServer(web_libraries(SAMPLE)) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        web = web_library(account)
        try:
            for name, arguments in QUESTIONS:
                here, there = [await answer(lib, name, **arguments) for lib in (local, web)]
                assert plain(there) == plain(here), name
        finally:
            await web.close()
            await local.close()


def plain(text: str) -> Any:
    """Without what differs on purpose: counted pages, and where a file is."""

    def kept(value: Any) -> Any:
        if isinstance(value, list):
            return [kept(each) for each in value]
        if isinstance(value, dict):
            return {
                name: kept(each)
                for name, each in value.items()
                if not (name == "status" or (name == "pages" and isinstance(each, int)))
            }
        return value

    lines = text.split("\n")
    return kept(json.loads(lines[1])) if len(lines) > 1 and lines[1].startswith("{") else text


async def test_the_next_start_needs_no_network_and_shows_the_age(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        library = web_library(account)
        await library.ensure_loaded()
        await library.close()
        asked = len(org.requests)
        library = web_library(account_in(tmp_path, org.address))
        await library.ensure_loaded()
        await library.ensure_loaded()
        assert "Practice with Sleep" in await answer(library, "search_items", query="practice sleep")
        assert len(org.requests) == asked
    status = library.status
    assert (status.kind, status.loaded, status.items, status.stale) == ("web", True, 31, False)
    assert status.age_ms < 60_000
    with pytest.raises(DocumentUnreadable):
        await library.document_info(attachment_of(library, WALKER))
    await library.close()


async def test_refreshing_without_a_network_keeps_the_library_and_says_why(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
    library = web_library(account)
    await library.ensure_loaded()
    await library.refresh()
    assert library.status.stale
    assert "could not be reached" in library.status.notice
    assert len(library.items) == 31
    await library.close()


async def test_refreshing_brings_what_is_new(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        library = web_library(account)
        await library.ensure_loaded()
        org.libraries["u"].put("items", "NEWNEW22", {"itemType": "book", "title": "New"})
        await library.refresh()
        assert [i.title for i in library.items if i.type == "book"] == ["New"]
        await library.close()


async def test_what_was_never_fetched_completely_asks_for_a_refresh_which_goes_on(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        library = web_library(account_in(tmp_path, org.address))
        with pytest.raises(LibraryUnavailable, match="Refresh the library"):
            await library.ensure_loaded()
        assert org.requests == []
        await library.refresh()
        assert len(library.items) == 3
        await library.close()


async def test_a_refresh_without_a_key_says_where_to_enter_one(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        library = web_library(account, key="")
        await library.ensure_loaded()
        with pytest.raises(UserError, match="There is no key"):
            await library.refresh()
        await library.close()


# -- files


async def reading(org: WebServer, tmp_path: Path, **options: Any) -> WebLibrary:
    account = account_in(tmp_path, org.address, **options)
    sync(account)
    library = web_library(account)
    await library.ensure_loaded()
    org.requests.clear()
    return library


async def test_a_file_is_fetched_when_a_tool_opens_it_and_only_once(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        library = await reading(org, tmp_path)
        for _ in range(2):
            assert '"pages_total":3' in await answer(library, "read_document", attachment_id="u-FQ3D7P4Y")
        files = [r.path for r in org.requests]
        assert files == ["/users/4711/items/3Z63DMR5/file", "/stored/u/3Z63DMR5"]
        # the place the server sends to is another one: the key is not for it in general, but this is the same
        kept = tmp_path / "web" / "storage" / "u" / "3Z63DMR5" / "Walker - 2002.pdf"
        assert kept.read_bytes() == org.libraries["u"].files["3Z63DMR5"]
        assert kept.stat().st_mode & 0o077 == 0
        await library.close()


async def test_nothing_is_fetched_by_lists_searches_indexing_or_checks_of_citations(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        library = await reading(org, tmp_path)
        await answer(library, "search_items", query="sleep")
        await answer(library, "list_items")
        await answer(library, "search_fulltext", query="consolidation")
        await answer(library, "get_annotations", id="u-FQ3D7P4Y")
        await library.index_texts()
        checked = await CitationChecker(library).check('So. [[u-3Z63DMR5 p.2 "equal period of wakefulness"]]')
        assert org.requests == []
        assert [c.state for c in checked.values()] == ["unchecked"]
        await answer(library, "read_document", attachment_id="u-3Z63DMR5")
        checked = await CitationChecker(library).check('So. [[u-3Z63DMR5 p.2 "equal period of wakefulness"]]')
        assert [c.state for c in checked.values()] == ["verified"]
        await library.close()


async def test_a_file_with_another_sum_is_not_kept(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        org.libraries["u"].files["3Z63DMR5"] += b"x"
        library = await reading(org, tmp_path)
        said = await answer(library, "read_document", attachment_id="u-3Z63DMR5")
        assert "is not the one that was stored" in said
        assert not list((tmp_path / "web" / "storage").rglob("*.pdf"))
        await library.close()


async def test_a_newer_file_replaces_the_fetched_one(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        library = await reading(org, tmp_path)
        await answer(library, "read_document", attachment_id="u-3Z63DMR5")
        own = org.libraries["u"]
        newer = next(content for key, content in own.files.items() if key != "3Z63DMR5")
        own.files["3Z63DMR5"] = newer
        own.change("3Z63DMR5", md5=hashlib.md5(newer).hexdigest())
        await library.refresh()
        said = await answer(library, "read_document", attachment_id="u-3Z63DMR5")
        assert "error" not in said[:20]
        assert (tmp_path / "web/storage/u/3Z63DMR5/Walker - 2002.pdf").read_bytes() == newer
        await library.close()


async def test_a_file_that_cannot_be_had_says_why(tmp_path: Path) -> None:
    faults = (
        (Fault("/file", 404), "has no file for it"),
        (Fault("/file", 403), "does not allow files"),
        (Fault("/file", 500), "has a fault just now"),
        (Fault("/file"), "could not be reached"),
        (Fault("/file", 429, {"Retry-After": "60"}), "asks to wait"),
    )
    with WebServer(web_libraries(SAMPLE)) as org:
        library = await reading(org, tmp_path)
        for fault, words in faults:
            org.faults.append(fault)
            assert words in await answer(library, "read_document", attachment_id="u-3Z63DMR5")
        org.faults.clear()
        assert '"pages_total":3' in await answer(library, "read_document", attachment_id="u-3Z63DMR5")
        await library.close()


async def test_zoteros_text_stands_in_for_a_file_that_is_not_on_the_server(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        own = org.libraries["u"]
        del own.files["3Z63DMR5"]
        own.texts["3Z63DMR5"] = "Sleep, not time awake."
        library = await reading(org, tmp_path)
        for _ in range(2):
            said = await answer(library, "read_document", attachment_id="u-3Z63DMR5")
            assert "Sleep, not time awake." in said
            assert '"page_unknown":true' in said
        assert len(org.asked("fulltext")) == 1
        await library.close()


async def test_a_linked_file_is_on_another_computer_even_if_its_path_exists_here(tmp_path: Path) -> None:
    secret = tmp_path / "secret.pdf"
    secret.write_bytes((SAMPLE / "storage" / "3Z63DMR5" / "Walker - 2002.pdf").read_bytes())
    with WebServer(web_libraries(SAMPLE)) as org:
        org.libraries["u"].change("3Z63DMR5", linkMode="linked_file", path=str(secret), filename="")
        library = await reading(org, tmp_path)
        located = library.attachment("u-3Z63DMR5")
        assert located is not None
        assert (located.status, located.path) == ("not on this computer", None)
        assert "another computer" in await answer(library, "read_document", attachment_id="u-3Z63DMR5")
        assert org.asked("/file") == []
        await library.close()


async def test_a_giant_file_is_not_even_asked_for(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        org.libraries["u"].change("3Z63DMR5", title="Giant")
        org.libraries["u"].items["3Z63DMR5"]["links"] = {"enclosure": {"length": 1 << 30}}
        library = await reading(org, tmp_path)
        assert "too large" in await answer(library, "read_document", attachment_id="u-3Z63DMR5")
        assert org.asked("/file") == []
        await library.close()


async def test_a_file_name_never_leads_out_of_its_folder(tmp_path: Path) -> None:
    names = ("../../escape.pdf", "a/b.pdf", ".zotero-ft-cache", "", "x" * 300)
    with WebServer(web_libraries(SAMPLE)) as org:
        keys = list(org.libraries["u"].files)[: len(names)]
        for key, name in zip(keys, names, strict=True):
            org.libraries["u"].change(key, filename=name)
        library = await reading(org, tmp_path)
        for key in keys:
            said = await answer(library, "read_document", attachment_id=f"u-{key}")
            assert '"pages_total"' not in said
        await library.close()
    assert FileStore(tmp_path / "web").size() == 0


async def test_a_snapshot_of_a_web_page_comes_out_of_its_archive(tmp_path: Path) -> None:
    page = b"<html><body><p>Sleep helps.</p></body></html>"
    with WebServer(many(1)) as org:
        own = org.libraries["u"]
        data = {"itemType": "attachment", "linkMode": "imported_url", "contentType": "text/html"}
        own.put("items", "PAGE2222", {**data, "filename": "page.html", "md5": hashlib.md5(page).hexdigest()})
        own.files["PAGE2222"] = page
        own.packed.add("PAGE2222")
        library = await reading(org, tmp_path)
        said = json.loads((await answer(library, "read_document", attachment_id="u-PAGE2222")).split("\n")[1])
        assert said["sections"][0]["text"] == "Sleep helps."
        await library.close()


def kilobyte(name: str, path: Path) -> None:
    path.write_bytes(b"x" * 1_000)


def test_files_not_used_for_longest_go_when_there_is_no_room(tmp_path: Path) -> None:
    store = FileStore(tmp_path, most_bytes=2_500)

    def stored(key: str) -> Attachment:
        from bibgenie_desktop.zotero.model.library import Library

        library = Library("u", "My Library")
        return Attachment(f"u-{key}", key, library, f"u-{key}", "T", "pdf", "", 0, f"storage:{key}.pdf")

    for at, key in enumerate(("AAAA2222", "BBBB2222")):
        store.fetch(stored(key), "", kilobyte)
        os.utime(tmp_path / "storage" / "u" / key, (at, at))
    assert store.has(stored("AAAA2222"), "")  # used again
    store.fetch(stored("CCCC2222"), "", kilobyte)
    assert [store.has(stored(k), "") for k in ("AAAA2222", "BBBB2222", "CCCC2222")] == [True, False, True]
    assert store.size() <= 2_500
