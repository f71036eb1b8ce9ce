"""Files of a web library that do not come as they should: slowly, for ever, under one key, in an archive."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.services.tools.registry import library_tools
from bibgenie_desktop.zotero.model.library import Attachment, Library
from bibgenie_desktop.zotero.online.errors import ZoteroError, ZoteroRefused
from bibgenie_desktop.zotero.online.web_files import FileStore, unpack
from bibgenie_desktop.zotero.online.web_library import WebLibrary
from tests.zotero.online.web_bench import account_in, hasty, many, sync, web_library
from tests.zotero.online.web_json import WebLibrary as ServedLibrary
from tests.zotero.online.web_server import KEY, WebServer

ATT, OTHER = "ATT22222", "ATT33333"
LINES = "plain words of a text. " * 50


def with_texts(*libraries: str, keys: tuple[str, ...] = (ATT, OTHER)) -> dict[str, ServedLibrary]:
    """Libraries that have attachments with the same keys and other contents."""
    found = {id: many(1)["u"] for id in ("u", *libraries)}
    for id, library in found.items():
        library.name = "" if id == "u" else f"Group {id}"
        for key in keys:
            data = {"itemType": "attachment", "linkMode": "imported_file", "contentType": "text/plain"}
            library.put("items", key, {**data, "filename": "text.txt", "title": "text", "md5": ""})
            library.files[key] = f"{LINES} These are the words of {id} {key}.".encode()
    return found


@asynccontextmanager
async def opened(org: WebServer, folder: Path, **options: Any) -> AsyncIterator[WebLibrary]:
    account = account_in(folder, org.address, **options)
    sync(account)
    library = web_library(account)
    await library.ensure_loaded()
    try:
        yield library
    finally:
        await library.close()


async def read(library: WebLibrary, id: str) -> str:
    tool = next(t for t in library_tools(library) if t.spec.name == "read_document")
    return (await tool.run({"attachment_id": id})).text


@pytest.mark.parametrize("piece", [b"x", b"h"])
@pytest.mark.parametrize("where", ["/stored/u/ATT22222", "/ATT22222/file", "/ATT22222/fulltext"])
async def test_what_drips_is_given_up_and_keeps_no_other_document_waiting(
    tmp_path: Path, where: str, piece: bytes
) -> None:
    """`h`: not even the head of the answer comes to an end."""
    libraries = with_texts()
    if where.endswith("fulltext"):
        del libraries["u"].files[ATT]
    with WebServer(libraries) as org:
        async with opened(org, tmp_path, http=hasty, patience=1.5) as library:
            org.trickle = (where, piece, 0.02)
            dripping = asyncio.ensure_future(read(library, f"u-{ATT}"))
            await asyncio.sleep(0.1)
            assert f"words of u {OTHER}" in await read(library, f"u-{OTHER}")
            assert not dripping.done()
            said = await asyncio.wait_for(dripping, 20)
            assert "words of u" not in said
            if not where.endswith("fulltext"):
                assert "too slowly" in said or "in time" in said
            org.trickle = None
            if not where.endswith("fulltext"):
                assert f"words of u {ATT}" in await read(library, f"u-{ATT}")


async def test_a_file_is_fetched_once_for_all_who_wait_for_it(tmp_path: Path) -> None:
    with WebServer(with_texts()) as org:
        async with opened(org, tmp_path) as library:
            org.slow = 0.2
            answers = await asyncio.gather(*(read(library, f"u-{ATT}") for _ in range(5)))
            assert all(f"words of u {ATT}" in said for said in answers)
            assert len(org.asked(f"/{ATT}/file")) == 1


async def test_nothing_else_waits_for_ten_files_that_drip(tmp_path: Path) -> None:
    keys = tuple(f"ATT4444{letter}" for letter in "23456789AB")
    with WebServer(with_texts(keys=(*keys, OTHER))) as org:
        async with opened(org, tmp_path, patience=20) as library:
            org.trickle = ("/stored/u/ATT4444", b"x", 0.05)
            dripping = [asyncio.ensure_future(read(library, f"u-{key}")) for key in keys]
            await asyncio.sleep(0.5)
            assert f"words of u {OTHER}" in await asyncio.wait_for(read(library, f"u-{OTHER}"), 10)
            assert await asyncio.wait_for(asyncio.to_thread(lambda: 1), 5) == 1
            assert not [each for each in dripping if each.done()]
            for each in dripping:
                each.cancel()
            await asyncio.gather(*dripping, return_exceptions=True)


async def test_many_documents_are_fetched_at_a_time(tmp_path: Path) -> None:
    keys = tuple(f"ATT4444{letter}" for letter in "23456789ABCD")
    with WebServer(with_texts(keys=keys)) as org:
        async with opened(org, tmp_path) as library:
            org.slow = 0.3
            answers = await asyncio.gather(*(read(library, f"u-{key}") for key in keys))
            for key, said in zip(keys, answers, strict=True):
                assert f"words of u {key}" in said


CHILD = """
import asyncio, resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from tests.zotero.online.test_web_files import opened, read
class Org: address = sys.argv[2]
async def main():
    async with opened(Org, Path(sys.argv[1])) as library:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print((await read(library, "u-ATT22222")).replace("\\n", " ")[:200])
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
asyncio.run(main())
"""


@pytest.mark.skipif(os.name == "nt", reason="measures with resource")
def test_a_file_without_an_end_is_left_at_the_limit_and_never_held_in_memory(tmp_path: Path) -> None:
    with WebServer(with_texts()) as org:
        org.trickle = ("/stored/u/ATT22222", b"x" * (1 << 20), 0.0)
        root = str(Path(__file__).resolve().parents[3])
        command = [sys.executable, "-c", CHILD, str(tmp_path), org.address, root]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True, cwd=root)
    said, grown = done.stdout.strip().splitlines()
    assert "too large" in said
    assert int(grown) < 100
    storage = tmp_path / "web" / "storage"
    assert [p for p in storage.rglob("*") if p.is_file()] == []


async def test_the_same_key_in_two_libraries_is_two_files(tmp_path: Path) -> None:
    with WebServer(with_texts("g5", "g6")) as org:
        async with opened(org, tmp_path) as library:
            for id in ("g5", "u", "g6", "u", "g5"):
                said = await read(library, f"{id}-{ATT}")
                assert [f"words of {each} " in said for each in (id,)] == [True]
                assert not [each for each in ("u", "g5", "g6") if each != id and f"words of {each} " in said]
            paths = {library.attachment(f"{id}-{ATT}").path for id in ("u", "g5", "g6")}  # type: ignore[union-attr]
            assert len(paths) == 3


async def test_the_same_key_in_two_libraries_has_two_extracts(tmp_path: Path) -> None:
    libraries = with_texts("g5")
    for id, library in libraries.items():
        library.files.clear()
        library.texts[ATT] = f"{LINES} The extract of {id}."
    del libraries["g5"].texts[ATT]
    with WebServer(libraries) as org:
        async with opened(org, tmp_path) as library:
            assert "extract of u." in await read(library, f"u-{ATT}")
            assert "extract of" not in await read(library, f"g5-{ATT}")
            org.libraries["g5"].texts[ATT] = f"{LINES} The extract of g5."
            for id in ("g5", "u"):
                assert f"extract of {id}." in await read(library, f"{id}-{ATT}")


async def test_what_was_fetched_is_found_by_a_search_of_the_texts_under_its_own_library(
    tmp_path: Path,
) -> None:
    libraries = with_texts("g5")
    libraries["u"].files[ATT] = f"{LINES} Marmalade.".encode()
    libraries["g5"].files[ATT] = f"{LINES} Porridge.".encode()
    with WebServer(libraries) as org:
        async with opened(org, tmp_path) as library:
            for id in ("u", "g5"):
                await read(library, f"{id}-{ATT}")
            await library.index_texts()
            for word, id in (("marmalade", "u"), ("porridge", "g5")):
                found = await library.search_texts(word, "all_words", lambda _: True, 10, 0)
                assert [hit.id for hit in found.hits] == [f"{id}-{ATT}"]


# -- archives, and the store


def archive(path: Path, contents: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in contents.items():
            packed.writestr(name, content)
    return path


def test_the_file_of_an_archive_takes_its_place(tmp_path: Path) -> None:
    contents = {"../../evil.html": b"evil", "page.html": b"page"}
    for name, content in (("page.html", b"page"), ("other.html", b"evil")):
        path = archive(tmp_path / "x", contents)
        unpack(path, name)
        assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("harm", ["junk", "empty", "no files", "damaged", "bomb"])
def test_an_archive_that_cannot_be_read_is_a_sentence(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "x"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        if harm == "bomb":
            with made.open("page.html", "w") as file:
                for _ in range(310):
                    file.write(bytes(1 << 20))
        elif harm != "no files":
            made.writestr("page.html", os.urandom(5_000))
    content = packed.getvalue()
    damaged = content[:100] + bytes(3_000) + content[3_100:]
    path.write_bytes({"junk": b"PK junk", "empty": b"", "damaged": damaged}.get(harm, content))
    with pytest.raises(ZoteroRefused):
        unpack(path, "page.html")
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def stored(key: str = ATT, library: str = "u", name: str = "a.txt") -> Attachment:
    of = Library(library, "L")
    return Attachment(f"{library}-{key}", key, of, f"{library}-{key}", "T", "text", "", 0, f"storage:{name}")


def test_nothing_stays_of_a_file_that_did_not_come(tmp_path: Path) -> None:
    store = FileStore(tmp_path)

    def part(name: str, path: Path) -> None:
        path.write_bytes(b"part")
        raise ZoteroError("broke off")

    def full(name: str, path: Path) -> None:
        raise OSError(28, "No space left on device")

    def other(name: str, path: Path) -> None:
        path.write_bytes(b"other")

    for get in (part, full, other):
        with pytest.raises(UserError):
            store.fetch(stored(), hashlib.md5(b"content").hexdigest(), get)
    assert [p for p in (tmp_path / "storage").rglob("*") if p.is_file()] == []
    assert not store.has(stored(), "")


def test_what_an_ended_run_left_behind_goes_in_time(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    (tmp_path / "storage").mkdir()
    old, new = (tmp_path / "storage" / f".fetching-{name}" for name in ("old", "new"))
    for path in (old, new):
        path.write_bytes(b"part")
    os.utime(old, (time.time() - 100_000,) * 2)
    store.keep_text(stored(), "words")
    assert (old.exists(), new.exists()) == (False, True)


def test_the_key_is_not_in_the_store(tmp_path: Path) -> None:
    with WebServer(with_texts()) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
    for path in (tmp_path / "web").rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()
