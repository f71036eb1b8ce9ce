"""The one object for a library: loading, staying current, labels, quotes, closing."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sqlite3
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.errors import DocumentUnreadable, LibraryUnavailable
from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.zotero.index import build as index_build
from bibgenie_desktop.zotero.index.search import Query
from bibgenie_desktop.zotero.local.discovery import Candidate
from bibgenie_desktop.zotero.local.local_source import LocalSource
from bibgenie_desktop.zotero.local.snapshot import Snapshot, SnapshotSource
from bibgenie_desktop.zotero.service import LibraryStatus, ZoteroLibrary
from bibgenie_desktop.zotero.source import TakingCancelled
from tests.zotero.helpers import SAMPLE, library_of, now, opened_library, retitle, sample_copy, titled


@asynccontextmanager
async def opened(data_dir: Path, private: Path, **options: Any) -> AsyncIterator[ZoteroLibrary]:
    library = opened_library(data_dir, private, **options)
    try:
        yield library
    finally:
        await library.close()


def rename(zotero: Path, title: str) -> None:
    retitle(zotero, "Practice with Sleep", title)


async def test_nothing_is_there_before_loading_and_everything_after(tmp_path: Path) -> None:
    async with opened(SAMPLE, tmp_path) as library:
        assert not library.status.loaded
        assert library.items == ()
        with pytest.raises(LibraryUnavailable):
            await library.search(Query("sleep"))
        await library.ensure_loaded()
        status = library.status
        assert (status.loaded, status.items, status.userdata_version) == (True, 31, 125)
        assert [lib.name for lib in status.libraries] == ["My Library", "Journal club"]
        assert (status.stale, status.notice) == (False, "")
        assert 0 <= status.age_ms < 60_000
        assert len(library.items) == 31


async def test_concurrent_first_uses_load_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []
    build = index_build.build
    monkeypatch.setattr(index_build, "build", lambda *c: loads.append(1) or build(*c))
    async with opened(SAMPLE, tmp_path) as library:
        await asyncio.gather(*(library.ensure_loaded() for _ in range(5)))
        await library.ensure_loaded()
    assert loads == [1]


async def test_a_change_in_zotero_is_seen_by_the_next_question(tmp_path: Path) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    async with opened(zotero, tmp_path / "private") as library:
        await library.ensure_loaded()
        rename(zotero, "Zygomorphic practice")
        for _ in range(100):  # a busy machine may need longer than a question waits
            await library.ensure_loaded()
            if (await library.search(Query("zygomorphic"))).total:
                break
        assert (await library.search(Query("zygomorphic"))).total == 1


async def test_a_watcher_reports_new_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalSource, "poll_s", 0.02)
    monkeypatch.setattr("bibgenie_desktop.zotero.loading.QUIET_S", 0.05)
    zotero = sample_copy(tmp_path / "Zotero")
    seen: asyncio.Queue[LibraryStatus] = asyncio.Queue()
    async with opened(zotero, tmp_path / "private") as library:
        await library.ensure_loaded()
        watcher = asyncio.ensure_future(library.watch(seen.put_nowait))
        await asyncio.sleep(0.1)
        assert seen.empty()
        rename(zotero, "Renamed while watched")
        assert not (await asyncio.wait_for(seen.get(), 20)).stale
        assert titled(library.contents, "Renamed while watched")
        watcher.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watcher


async def test_a_library_that_goes_away_stays_readable_and_is_marked_stale(tmp_path: Path) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    async with opened(zotero, tmp_path / "private") as library:
        await library.ensure_loaded()
        (zotero / "zotero.sqlite").write_bytes(b"")
        await library.ensure_loaded()
        assert library.status.stale
        assert "not a database" in library.status.notice
        assert library.status.items == 31


async def test_a_removed_library_is_said_to_be_gone_and_soon(tmp_path: Path) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    async with opened(zotero, tmp_path / "private") as library:
        await library.ensure_loaded()
        shutil.rmtree(zotero)
        await asyncio.wait_for(library.refresh(), 15)  # far below the patience for a library that is written
        assert library.status.stale
        assert "not there any more" in library.status.notice
        assert library.status.items == 31


async def test_an_unreadable_library_is_an_error_each_time_it_is_asked(tmp_path: Path) -> None:
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / "zotero.sqlite").write_bytes(b"nonsense")
    async with opened(tmp_path / "z", tmp_path / "private") as library:
        for _ in range(2):
            with pytest.raises(LibraryUnavailable, match="not a database"):
                await library.ensure_loaded()


async def test_the_loop_is_never_blocked_by_loading(tmp_path: Path) -> None:
    class Slow(SnapshotSource):
        def refresh(self, *args: Any, **kwargs: Any) -> Snapshot:
            time.sleep(0.4)
            return super().refresh(*args, **kwargs)

    library = opened_library(SAMPLE, tmp_path, snapshots=Slow(SAMPLE, tmp_path, now))
    loading = asyncio.ensure_future(library.ensure_loaded())
    ticks = 0
    while not loading.done():
        await asyncio.sleep(0.01)
        ticks += 1
    await loading
    assert ticks >= 20
    await library.close()


async def test_closing_stops_a_load_that_waits_for_zotero(tmp_path: Path) -> None:
    waiting = threading.Event()

    class Waiting(SnapshotSource):
        def refresh(self, cancelled: Any = None, patience: float | None = None) -> Snapshot:
            waiting.set()
            while not cancelled():
                time.sleep(0.01)
            return super().refresh(cancelled, patience)

    library = opened_library(SAMPLE, tmp_path, snapshots=Waiting(SAMPLE, tmp_path, now))
    loading = asyncio.ensure_future(library.ensure_loaded())
    assert await asyncio.to_thread(waiting.wait, 10)
    await asyncio.wait_for(library.close(), 10)
    with pytest.raises(TakingCancelled):
        await loading
    assert not library.status.loaded


async def test_a_large_first_copy_is_checked_after_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bibgenie_desktop.zotero.local.snapshot.CHECK_AT_ONCE", 1000)
    zotero = sample_copy(tmp_path / "Zotero")
    with contextlib.closing(sqlite3.connect(zotero / "zotero.sqlite")) as db, db:
        db.execute("CREATE TABLE filler (x)")
        db.execute(
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)"
            " INSERT INTO filler SELECT 'fill' || zeroblob(3000) FROM n"
        )
    raw = bytearray((zotero / "zotero.sqlite").read_bytes())
    page = len(raw) - 4096
    raw[page : page + 4096] = b"\x07" * 4096
    (zotero / "zotero.sqlite").write_bytes(raw)
    async with opened(zotero, tmp_path / "private") as library:
        await library.ensure_loaded()
        assert library.status.items == 31
        for _ in range(500):
            if library.status.notice:
                break
            await asyncio.sleep(0.01)
        assert "damaged" in library.status.notice
        assert library.status.stale


async def test_labels_use_the_printed_page_once_it_is_known(tmp_path: Path) -> None:
    async with opened(SAMPLE, tmp_path) as library:
        await library.ensure_loaded()
        item = titled(library.contents, "Promoting memory")
        attachment = library.attachment(item.attachments[0].id)
        assert attachment is not None
        assert attachment.status == "ok"
        place = Locator("u", "pdf", att=attachment.key, page_index=1)
        assert library.citation_label(place) == "Hu et al. 2020, p. 2"
        await library.pages_text(attachment, 1, 1)
        assert library.citation_label(place) == "Hu et al. 2020, p. 219"
        assert library.citation_label(Locator("u", "item", item=item.key)) == "Hu et al. 2020"
        assert library.citation_label(Locator("u", "item", item="ZZZZ9999")) == ""
        assert library.citation_label(Locator("u", "pdf", item=item.key, att="ZZZZ9999")) == ""
        assert library.zotero_link(place).endswith(f"{attachment.key}?page=2")
        assert library.item(f"1-{item.key}") == item


async def test_a_quote_is_looked_up_on_its_page(tmp_path: Path) -> None:
    async with opened(SAMPLE, tmp_path) as library:
        await library.ensure_loaded()
        att = titled(library.contents, "Promoting memory").attachments[0].key
        scan = titled(library.contents, "Obliviscence").attachments[0].key

        async def verdict(page: int, quote: str, key: str = att) -> str:
            return await library.check_quote(Locator("u", "pdf", att=key, page_index=page, quote=quote))

        assert await verdict(1, "the benefit of cueing was small to moderate") == "verified"
        assert await verdict(1, "the benefit of cueing was large to moderate") == "not found"
        assert await verdict(1, "benefits of cueing were small to moderate") == "paraphrase"
        assert await verdict(0, "the benefit of cueing was small to moderate") == "not found"
        assert await verdict(2, "the benefit of cueing was small to moderate") == "not found"
        assert await verdict(9, "the benefit of cueing was small to moderate") == "not found"
        assert await verdict(0, "anything", scan) == "not found"


async def test_a_missing_pdf_says_why(tmp_path: Path) -> None:
    async with opened(SAMPLE, tmp_path) as library:
        await library.ensure_loaded()
        item = titled(library.contents, "Hippocampal sharp wave-ripple")
        assert library.attachment(item.attachments[0].id).status == "missing"  # type: ignore[union-attr]
        with pytest.raises(DocumentUnreadable, match="not on this computer"):
            await library.pages_text(item.attachments[0], 0, 0)


async def test_linked_files_use_the_base_directory_of_the_profile(tmp_path: Path) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    (tmp_path / "base").mkdir()
    source = next((zotero / "storage").glob("*/Hu - 2020.pdf"))
    source.rename(tmp_path / "base" / "hu.pdf")
    with contextlib.closing(sqlite3.connect(zotero / "zotero.sqlite")) as db, db:
        db.execute(
            "UPDATE itemAttachments SET linkMode = 2, path = 'attachments:hu.pdf'"
            " WHERE path = 'storage:Hu - 2020.pdf'"
        )
    for base, status in ((tmp_path / "base", "ok"), (None, "missing")):
        candidate = Candidate(zotero, "p", base)
        library = library_of(candidate, tmp_path / "private")
        await library.ensure_loaded()
        item = titled(library.contents, "Promoting memory")
        found = library.attachment(item.attachments[0].id)
        assert found is not None
        assert found.status == status
        await library.close()
