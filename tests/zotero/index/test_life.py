"""The index over a library's life: starts, other processes, ends that come too early, and damage."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.index import build as index_build
from bibgenie_desktop.zotero.index import library_index
from bibgenie_desktop.zotero.index import process as index_process
from bibgenie_desktop.zotero.index.helpers import HelperFailed, ReadingProcess, helping
from bibgenie_desktop.zotero.index.indexed_contents import IndexedItems, indexed_contents
from bibgenie_desktop.zotero.index.library_index import DAMAGED, LibraryIndex
from bibgenie_desktop.zotero.index.report import index_report
from bibgenie_desktop.zotero.index.search import Query
from bibgenie_desktop.zotero.index.state import IndexState
from bibgenie_desktop.zotero.local.better_bibtex import BetterBibtex
from bibgenie_desktop.zotero.local.discovery import Candidate
from bibgenie_desktop.zotero.local.local_source import LocalSource
from bibgenie_desktop.zotero.source import TakingCancelled
from tests.zotero.helpers import (
    ROOT,
    SAMPLE,
    generated,
    library_of,
    now,
    opened_library,
    retitle,
    sample_copy,
    titled,
)
from tests.zotero.index.test_index import Both, same

FACTS = {
    **dict.fromkeys(("mark", "notice", "lasting", "keys"), ""),
    **{"source": "", "taken_at": "1", "userdata": "125", "whole_at": "1"},
}


async def opened_once(zotero: Path, private: Path) -> None:
    """An earlier run of the application."""
    library = opened_library(zotero, private)
    try:
        await library.ensure_loaded()
    finally:
        await library.close()


def index_files(private: Path) -> list[Path]:
    return list(private.glob("index-*.sqlite"))


@contextlib.contextmanager
def no_copies(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def take(*_: object) -> None:
        raise AssertionError("the database was copied")

    with monkeypatch.context() as patch:
        patch.setattr(LocalSource, "take", take)
        yield


async def test_nothing_is_copied_or_read_at_a_start_after_which_nothing_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    await opened_once(zotero, tmp_path / "private")
    library = opened_library(zotero, tmp_path / "private")
    try:
        with no_copies(monkeypatch):
            assert len(await library.newest(5)) == 5
            await library.ensure_loaded()
            await library.ensure_loaded()
        assert library.status.items == 31
        assert not library.status.stale
        assert library.status.userdata_version == 125
        assert (await library.search(Query("sleep"))).total > 3
    finally:
        await library.close()


async def test_a_start_shows_what_was_there_and_follows_what_changed_since(tmp_path: Path) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    await opened_once(zotero, tmp_path / "private")
    retitle(zotero, "Practice with Sleep", "Zygomorphic practice")
    library = opened_library(zotero, tmp_path / "private")
    try:
        rows = await library.newest(100)
        assert any(r.title.startswith("Practice with Sleep") for r in rows)
        await library.ensure_loaded()
        assert library.status.taken_at
        for _ in range(200):
            if (await library.search(Query("zygomorphic"))).total:
                break
            await library.ensure_loaded()
            await asyncio.sleep(0.02)
        assert (await library.search(Query("zygomorphic"))).total == 1
    finally:
        await library.close()


async def test_a_library_that_cannot_be_read_any_more_is_shown_as_it_was(tmp_path: Path) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    await opened_once(zotero, tmp_path / "private")
    shutil.rmtree(zotero)
    library = library_of(Candidate(zotero, "", None), tmp_path / "private")
    try:
        await library.ensure_loaded()
        assert library.status.items == 31
        for _ in range(300):
            if library.status.stale:
                break
            await asyncio.sleep(0.02)
        assert library.status.stale
        assert library.status.notice
        assert (await library.search(Query("sleep"))).total > 3
    finally:
        await library.close()


async def test_the_index_of_another_library_is_not_shown(tmp_path: Path) -> None:
    await opened_once(SAMPLE, tmp_path / "private")
    other = sample_copy(tmp_path / "Other")
    retitle(other, "Practice with Sleep", "Another library")
    library = opened_library(other, tmp_path / "private")
    try:
        assert await library.newest(5) == ()
        await library.ensure_loaded()
        assert titled(library.contents, "Another library")
    finally:
        await library.close()


@pytest.mark.parametrize("damage", ["noise", "cut", "holes"])
async def test_a_damaged_index_is_made_anew_and_said(tmp_path: Path, damage: str) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    private = tmp_path / "private"
    await opened_once(zotero, private)
    (file,) = index_files(private)
    raw = bytearray(file.read_bytes())
    if damage == "noise":
        raw[:] = b"not a database at all" * 500
    elif damage == "cut":
        del raw[len(raw) // 2 :]
    else:
        for start in range(4096, len(raw), 4096):
            raw[start : start + 4096] = b"\x05" * 4096
    file.write_bytes(raw)
    library = opened_library(zotero, private)
    try:
        await library.ensure_loaded()
        for _ in range(200):
            with contextlib.suppress(LibraryUnavailable):  # found damaged in use: the next one is answered
                if (await library.search(Query("sleep"))).total > 3:
                    break
            await library.ensure_loaded()
        assert len(library.items) == 31
        assert library.status.notice == DAMAGED
    finally:
        await library.close()


async def test_an_index_of_another_version_is_replaced_without_a_word(tmp_path: Path) -> None:
    await opened_once(SAMPLE, tmp_path)
    (file,) = index_files(tmp_path)
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE fact SET value = '0' WHERE name = 'version'")
    library = opened_library(SAMPLE, tmp_path)
    try:
        assert await library.newest(5) == ()
        await library.ensure_loaded()
        assert library.status.items == 31
        assert library.status.notice == ""
    finally:
        await library.close()


def test_a_large_library_is_read_in_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_index, "APART", 0)
    started: list[int] = []
    popen = subprocess.Popen

    class Counted(popen):  # type: ignore[type-arg,misc,valid-type]
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, **options)
            started.append(self.pid)

    monkeypatch.setattr(index_process.subprocess, "Popen", Counted)
    data_dir = generated(tmp_path / "lib", "--items", "120", "--bbt", "--schema-version", "121")
    both = Both(data_dir, tmp_path / "private")
    assert started
    same(both.memory, both.indexed)


def test_when_no_process_can_be_started_the_index_is_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_index, "APART", 0)
    monkeypatch.setattr(index_process, "worker_command", lambda: (str(tmp_path / "missing"),))
    both = Both(SAMPLE, tmp_path / "private")
    same(both.memory, both.indexed)


@pytest.mark.parametrize("helpers", [1, 3])
def test_several_processes_make_the_same_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, helpers: int
) -> None:
    monkeypatch.setattr(index_build, "PIECE", 20)
    data_dir = generated(tmp_path / "lib", "--items", "400", "--bbt", "--schema-version", "121")
    both = Both(data_dir, tmp_path / "private")
    database, target = data_dir / "zotero.sqlite", tmp_path / "private" / "index-7.sqlite"
    keys = BetterBibtex(data_dir, tmp_path).keys()
    command = index_process.worker_command()
    started: list[ReadingProcess] = []

    @contextlib.contextmanager
    def several(items: Sequence[int]) -> Iterator[Sequence[ReadingProcess]]:
        with helping(command, helpers, database, str(data_dir), items) as found:
            started.extend(found)
            yield found

    index_build.build(target, database, keys, FACTS | {"source": str(data_dir)}, helpers=several)
    assert len(started) == helpers
    same(both.memory, indexed_contents(IndexState(target)))


def test_a_helper_that_dies_is_an_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_build, "PIECE", 20)
    data_dir = generated(tmp_path / "lib", "--items", "200", "--schema-version", "125")
    database, target = data_dir / "zotero.sqlite", tmp_path / "index-1.sqlite"
    command = (sys.executable, "-c", "import sys; sys.stdin.readline(); sys.stdin.readline()")
    with pytest.raises(HelperFailed):
        index_build.build(
            target, database, {}, FACTS, helpers=lambda items: helping(command, 1, database, "", items)
        )
    assert list(tmp_path.glob("index-*")) == []


def worker(job: dict[str, object]) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bibgenie_desktop.zotero.index.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(job).encode() + b"\n")
    process.stdin.flush()
    return process


@pytest.mark.skipif(os.name == "nt", reason="processes are killed with a signal here")
@pytest.mark.parametrize("pause", [0.2, 0.4])
def test_a_killed_process_leaves_the_older_index_in_use(tmp_path: Path, pause: float) -> None:
    data_dir = generated(tmp_path / "lib", "--items", "900", "--schema-version", "125")
    private = tmp_path / "private"
    both = Both(data_dir, private)
    before = len(both.indexed.items)
    job = {
        "target": str(private / "index-9.sqlite"),
        "database": str(data_dir / "zotero.sqlite"),
        "keys_in": "",
        "facts": FACTS | {"source": str(data_dir.absolute())},
    }
    process = worker(job)
    time.sleep(pause)
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        pipe.close()
    index = LibraryIndex(private, now)
    found = index.recall(both.source)
    assert found is not None
    assert len(found[1].items) == before
    assert index.notice == ""
    assert list(private.glob("*.part")) == []
    same(both.memory, found[1])


def test_a_process_whose_starter_is_gone_ends(tmp_path: Path) -> None:
    data_dir = generated(tmp_path / "lib", "--items", "2000", "--schema-version", "125")
    target = tmp_path / "index-1.sqlite"
    job = {"target": str(target), "database": str(data_dir / "zotero.sqlite"), "keys_in": "", "facts": {}}
    process = worker(job)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()
    process.stdin.close()
    assert process.wait(10) == 1
    process.stdout.close()
    assert not target.exists()


def test_making_an_index_can_be_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = LocalSource(SAMPLE, tmp_path, now)
    taken = source.take(lambda: False, None)
    for apart in (0, 10**9):
        monkeypatch.setattr(library_index, "APART", apart)
        with pytest.raises(TakingCancelled):
            LibraryIndex(tmp_path, now).bring_up(source, taken, None, lambda *_: None, lambda: True)
        assert list(tmp_path.glob("index-*")) == []


async def test_two_processes_read_one_index_while_it_is_brought_up_to_date(tmp_path: Path) -> None:
    """As the command line does while the application runs."""
    zotero = sample_copy(tmp_path / "Zotero")
    private = tmp_path / "private"
    library = opened_library(zotero, private)
    script = (
        "import sys, time\nfrom pathlib import Path\n"
        "from bibgenie_desktop.zotero.index.report import index_report\n"
        "seen = 0\nuntil = time.monotonic() + 3\n"
        "while time.monotonic() < until:\n"
        "    seen += index_report(Path(sys.argv[1])).items == 31\n"
        "print(seen)"
    )
    try:
        await library.ensure_loaded()
        other = await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, str(private), stdout=asyncio.subprocess.PIPE
        )
        for number in range(8):
            retitle(zotero, "Practice with Sleep", f"Practice with Sleep {number}")
            await library.refresh()
            assert titled(library.contents, f"Practice with Sleep {number}")
            assert isinstance(library.contents.items, IndexedItems)
        said, _ = await other.communicate()
        assert int(said) > 5
        assert library.status.notice == ""
    finally:
        await library.close()


@pytest.mark.skipif(os.name == "nt", reason="processes are killed with a signal here")
async def test_texts_that_were_indexed_before_a_kill_are_kept_and_the_rest_follows(tmp_path: Path) -> None:
    private = tmp_path / "private"
    script = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from tests.zotero.helpers import opened_library\n"
        "async def run():\n"
        "    library = opened_library(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "    await library.index_texts(lambda c: print(c.indexed, flush=True))\n"
        "asyncio.run(run())"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", script, str(SAMPLE), str(private)),
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdout is not None
    while int(await process.stdout.readline()) < 5:
        pass
    process.kill()
    await process.wait()
    report = index_report(private)
    assert report.items == 31
    assert 5 <= report.texts < 31
    library = opened_library(SAMPLE, private)
    try:
        seen: list[int] = []
        await library.index_texts(lambda c: seen.append(c.indexed))
        assert seen[0] >= 5
        assert library.coverage.indexed > 20
        found = await library.search_texts("sleep", "all_words", lambda _: True, 5, 0)
        assert found.hits
        assert library.status.notice == ""
    finally:
        await library.close()
