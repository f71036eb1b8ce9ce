"""Of every library either the state before a synchronisation is shown or the one after it, wherever it breaks
off; what came is not fetched again."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.zotero.online.web_account import WebAccount
from bibgenie_desktop.zotero.online.web_cache import FILE, WebCache
from bibgenie_desktop.zotero.online.web_progress import SyncProgress
from bibgenie_desktop.zotero.source import TakingCancelled
from tests.zotero.online.web_bench import account_in, contents_in, keys_of, many, sync, web_library
from tests.zotero.online.web_json import WebLibrary
from tests.zotero.online.web_server import KEY, Fault, WebServer, until

GROUP = "g5"


def two_libraries(group: int = 400) -> dict[str, WebLibrary]:
    """The person's own library, and a group that is fetched after it."""
    libraries = many(10)
    libraries[GROUP] = many(group)["u"]
    libraries[GROUP].name = "Group"
    libraries[GROUP].put("collections", "CKL22222", {"name": "Old", "parentCollection": False})
    libraries[GROUP].settings["tagColors"] = {"value": [{"name": "old", "color": "#FF0000"}], "version": 1}
    return libraries


def changed(org: WebServer) -> None:
    """Something in each library: in the group every item, one less, one more, a collection and a setting."""
    org.libraries["u"].put("items", "NEWNEW22", {"itemType": "book", "title": "Own"})
    group = org.libraries[GROUP]
    for key in keys_of(org, GROUP):
        group.change(key, title="Changed", date="")
    group.delete("items", keys_of(org, GROUP)[-1])
    group.put("items", "NEWNEW33", {"itemType": "book", "title": "Changed"})
    group.put("collections", "CKL22222", {"name": "New", "parentCollection": False})
    group.settings["tagColors"] = {
        "value": [{"name": "new", "color": "#FF0000"}],
        "version": group.version,
    }


def shown(account: WebAccount) -> tuple[int, set[str], list[str], list[str]]:
    """(own items, and of the group: the kinds of titles, collections, tags with a colour)."""
    contents = contents_in(account)
    titles = [i.title for i in contents.items.values() if i.library.id == GROUP]
    assert not titles or len(titles) in (400, 400 - 1 + 1)
    kinds = {"Changed" if title == "Changed" else "Work" for title in titles}
    own = sum(i.library.id == "u" for i in contents.items.values())
    return own, kinds, [c.name for c in contents.collections], [tag for _, tag in contents.tag_colors]


BEFORE, AFTER = ({"Work"}, ["Old"], ["old"]), ({"Changed"}, ["New"], ["new"])


@pytest.mark.parametrize(
    "where",
    [f"/groups/5/{what}" for what in ("items", "collections", "searches", "settings", "deleted")],
)
@pytest.mark.parametrize("status", [0, 404, 500])
def test_a_library_that_broke_off_stays_as_it_was_beside_one_that_was_finished(
    tmp_path: Path, where: str, status: int
) -> None:
    with WebServer(two_libraries()) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        assert shown(account) == (10, *BEFORE)
        changed(org)
        org.faults.append(Fault(where, status, times=100, after=3 if where.endswith("/items") else 0))
        if status == 404:  # a group that is not there any more is left out
            assert sync(account).notices
            assert shown(account)[:2] == (11, set())
            org.faults.clear()
            sync(account)
            assert shown(account) == (11, *AFTER)
            return
        with pytest.raises(UserError):
            sync(account)
        assert shown(account) == (11, *BEFORE)
        org.faults.clear()
        sync(account)
        assert shown(account) == (11, *AFTER)


@pytest.mark.parametrize("page", range(1, 11, 2))
def test_whichever_request_of_a_group_fails_nothing_of_it_shows(tmp_path: Path, page: int) -> None:
    with WebServer(two_libraries()) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        changed(org)
        org.faults.append(Fault("/groups/5/", 500, times=100, after=page - 1))
        try:
            sync(account)
        except UserError:
            assert shown(account) == (11, *BEFORE)
        else:
            assert shown(account) == (11, *AFTER)


async def test_the_window_of_a_running_application_shows_it_so_too(tmp_path: Path) -> None:
    with WebServer(two_libraries()) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        library = web_library(account)
        await library.ensure_loaded()
        changed(org)
        org.faults.append(Fault("/groups/5/items", 500, times=100, after=3))
        await library.refresh()
        assert library.status.stale
        assert "Changed" not in {i.title for i in library.items}
        org.faults.clear()
        await library.refresh()
        assert not library.status.stale
        assert {i.title for i in library.items if i.library.id == GROUP} == {"Changed"}
        await library.close()


def test_pages_that_came_before_it_broke_off_are_not_fetched_again(tmp_path: Path) -> None:
    with WebServer(two_libraries()) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        changed(org)
        org.faults.append(Fault("/groups/5/items", 500, times=100, after=3))  # the versions, two pages
        with pytest.raises(UserError):
            sync(account)
        org.faults.clear()
        org.requests.clear()
        sync(account_in(tmp_path, org.address))
        starts = [r.query["start"] for r in org.asked("/groups/5/items") if r.query.get("sort")]
        assert starts[0] == "200"
        assert [
            r for r in org.asked("/users/4711/items") if r.query.get("sort") or "itemKey" in r.query
        ] == []
    assert shown(account) == (11, *AFTER)


def test_a_page_that_came_and_changed_again_is_fetched_again(tmp_path: Path) -> None:
    with WebServer(two_libraries()) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        changed(org)
        org.faults.append(Fault("/groups/5/items", 500, times=100, after=3))
        with pytest.raises(UserError):
            sync(account)
        org.faults.clear()
        first, second = keys_of(org, GROUP)[:2]
        org.libraries[GROUP].change(first, title="Newest")
        org.libraries[GROUP].delete("items", second)  # was fetched, and is not to come back
        sync(account)
    contents = contents_in(account)
    assert contents.items[f"{GROUP}-{first}"].title == "Newest"
    assert f"{GROUP}-{second}" not in contents.items


@pytest.mark.parametrize("at", [13, 15, 17])
def test_a_killed_application_shows_each_library_as_it_was_or_is(tmp_path: Path, at: int) -> None:
    with WebServer(two_libraries()) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        changed(org)
        asked: list[str] = []
        reached = threading.Event()

        def between(path: str) -> None:
            asked.append(path)
            if len(asked) == at:
                reached.set()
                org.wait(20)

        org.between = between
        script = Path(__file__).with_name("web_child.py")
        command = [sys.executable, str(script), str(tmp_path), org.address, KEY]
        child = subprocess.Popen(command, cwd=Path(__file__).resolve().parents[3])
        assert reached.wait(30)
        child.kill()
        child.wait()
        assert asked[at - 1].startswith("/groups/5/")
        assert shown(account) == (11, *BEFORE)
        org.between = None
        sync(account)
    assert shown(account) == (11, *AFTER)


def test_a_group_that_is_new_shows_when_all_of_it_is_here(tmp_path: Path) -> None:
    libraries = two_libraries()
    group = libraries.pop(GROUP)
    with WebServer(libraries) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        org.libraries[GROUP] = group
        org.libraries["u"].put("items", "NEWNEW22", {"itemType": "book", "title": "Own"})
        org.faults.append(Fault("/groups/5/items", 500, times=100, after=3))
        with pytest.raises(UserError):
            sync(account)
        contents = contents_in(account)
        assert [library.id for library in contents.libraries] == ["u"]
        assert len(contents.items) == 11
        org.faults.clear()
        sync(account)
        assert len(contents_in(account).libraries) == 2
    assert shown(account) == (11, *BEFORE)


def test_a_library_in_which_nothing_was_ever_put_is_complete(tmp_path: Path) -> None:
    libraries = many(3)
    libraries[GROUP] = WebLibrary("Empty", version=0)
    with WebServer(libraries) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        sync(account)
    assert [library.name for library in contents_in(account).libraries] == ["My Library", "Empty"]


def test_being_stopped_while_the_new_state_is_written_leaves_the_old_one(tmp_path: Path) -> None:
    with WebServer(two_libraries()) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        changed(org)
        stop = threading.Event()

        def progress(now: SyncProgress) -> None:
            if now.phase == "storing" and now.library == "Group":
                stop.set()
                time.sleep(0.3)  # until that is noticed

        with pytest.raises(TakingCancelled):
            sync(account, progress=progress, cancelled=stop.is_set)
        until(lambda: not [t for t in threading.enumerate() if t.name == "zotero-web-sync"])
        assert shown(account) == (11, *BEFORE)
        org.requests.clear()
        sync(account)
        assert [r for r in org.asked("/groups/5/items") if r.query.get("sort")] == []
    assert shown(account) == (11, *AFTER)


def test_what_was_fetched_apart_is_not_kept_twice(tmp_path: Path) -> None:
    with WebServer(two_libraries()) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
    cache = WebCache(account.folder)
    with cache.transaction() as db:
        assert db.execute("SELECT count(*) FROM arriving").fetchone() == (0,)
    cache.close()


def test_the_copy_that_readers_get_holds_nothing_that_is_half_fetched(tmp_path: Path) -> None:
    with WebServer(two_libraries()) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        changed(org)
        org.faults.append(Fault("/groups/5/items", 500, times=100, after=3))
        with pytest.raises(UserError):
            sync(account)
    assert shown(account) == (11, *BEFORE)
    (copy,) = account.folder.glob("library-*.sqlite")
    with contextlib.closing(sqlite3.connect(copy)) as db:
        assert db.execute("SELECT count(*) FROM arriving").fetchone() == (0,)
    assert b"NEWNEW33" not in copy.read_bytes()


def served(org: WebServer) -> dict[str, str]:
    return {f"u-{key}": entry["data"]["title"] for key, entry in org.libraries["u"].items.items()}


@pytest.mark.parametrize("turn", range(1, 12))
def test_what_changes_while_pages_are_fetched_is_all_there_at_the_end(tmp_path: Path, turn: int) -> None:
    with WebServer(many(430)) as org:
        account = account_in(tmp_path, org.address)
        asked: list[str] = []

        def between(path: str) -> None:
            asked.append(path)
            if len(asked) == turn:
                own, keys = org.libraries["u"], keys_of(org)
                own.change(keys[3], title="Changed")
                own.change(keys[-3], title="Changed")
                own.delete("items", keys[5])
                own.delete("items", keys[-5])
                own.put("items", "NEWNEW22", {"itemType": "book", "title": "New"})
                own.put("collections", "CKL22222", {"name": "New", "parentCollection": False})

        org.between = between
        sync(account)
        contents = contents_in(account)
        assert {id: item.title for id, item in contents.items.items()} == served(org)
        assert [c.name for c in contents.collections] == ["New"]
        org.between = None
        assert not sync(account).changed


def test_a_library_that_changes_all_the_time_is_fetched_a_few_times_and_shown(tmp_path: Path) -> None:
    with WebServer(many(230)) as org:
        account = account_in(tmp_path, org.address)
        org.between = lambda path: org.libraries["u"].change(keys_of(org)[0], title="Changed")
        sync(account)
        assert len(org.requests) < 60
        assert len(contents_in(account).items) == 230
        org.between = None
        assert sync(account).changed


@pytest.mark.parametrize("table", ["arriving", "items", "itemTags", "account", "libraries"])
async def test_a_cache_that_cannot_be_written_is_a_sentence_and_keeps_what_is_shown(
    tmp_path: Path, table: str
) -> None:
    with WebServer(two_libraries()) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        library = web_library(account)
        await library.ensure_loaded()
        before = {i.title for i in library.items}
        with contextlib.closing(sqlite3.connect(account.folder / FILE)) as db:
            for what in ("INSERT", "UPDATE"):
                refusing = f"no_{what} BEFORE {what} ON {table} BEGIN SELECT RAISE(ABORT, 'full'); END"
                db.execute(f"CREATE TRIGGER {refusing}")
        changed(org)
        org.libraries["u"].change("NEWNEW22", tags=[{"tag": "x"}])
        with pytest.raises(UserError, match="free space"):
            sync(account)
        await library.refresh()
        assert library.status.stale
        assert "free space" in library.status.notice
        assert {i.title for i in library.items} == before
        await library.close()
