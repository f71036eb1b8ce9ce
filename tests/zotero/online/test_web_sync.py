"""Synchronising a web library over real sockets: what is asked, what is kept, and what breaks off."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.online.errors import (
    ZoteroBusy,
    ZoteroKeyRefused,
    ZoteroUnreachable,
)
from bibgenie_desktop.zotero.online.web_account import look_at_account
from bibgenie_desktop.zotero.online.web_cache import FILE
from bibgenie_desktop.zotero.online.web_progress import SyncProgress
from bibgenie_desktop.zotero.online.web_reads import ServerFault
from bibgenie_desktop.zotero.source import TakingCancelled
from tests.zotero.helpers import SAMPLE, contents_of, generated
from tests.zotero.online.web_bench import (
    HTTP,
    account_in,
    comparable,
    contents_in,
    keys_of,
    many,
    sync,
)
from tests.zotero.online.web_json import USER, WebLibrary, web_libraries
from tests.zotero.online.web_server import KEY, Fault, WebServer, until


def test_the_sample_library_is_the_same_from_the_web(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
    assert comparable(contents_in(account)) == comparable(contents_of(SAMPLE, tmp_path / "private"))


def test_trash_groups_notes_and_every_kind_of_item_are_the_same_from_the_web(tmp_path: Path) -> None:
    data_dir = generated(tmp_path / "lib", "--items", "200", "--schema-version", "125")
    with WebServer(web_libraries(data_dir)) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
    web, local = contents_in(account), contents_of(data_dir, tmp_path / "private")
    found, wanted = comparable(web), comparable(local)
    ranges = [id for id, i in local.items.items() if i.date.startswith("2022-06-03/")]
    for id in ranges:  # Zotero keeps such a date as free text, zotero.org takes its first day
        assert (found["items"].pop(id).year, wanted["items"].pop(id).year) == (2022, 2022)
    assert found == wanted
    assert local.trashed


def test_only_reading_requests_are_made_and_the_key_is_in_no_address(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        look_at_account(KEY, HTTP, address=org.address)
        sync(account_in(tmp_path, org.address))
    assert {r.method for r in org.requests} == {"GET"}
    assert not [r for r in org.requests if KEY in f"{r.path}{r.query}"]
    for path in (tmp_path / "web").rglob("*"):
        assert KEY.encode() not in path.read_bytes()


def test_a_large_library_is_paged_by_links(tmp_path: Path) -> None:
    with WebServer(many(430)) as org:
        account = account_in(tmp_path, org.address)
        seen: list[SyncProgress] = []
        sync(account, progress=seen.append)
    pages = [r.query["start"] for r in org.asked("/items") if r.query.get("sort")]
    assert pages == ["0", "100", "200", "300", "400"]
    assert len(contents_in(account).items) == 430
    steps = [p.done for p in seen if p.total == 430]
    assert steps == [100, 200, 300, 400, 430]


def test_what_did_not_change_is_not_asked_for_again(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        account = account_in(tmp_path, org.address)
        assert sync(account).changed
        org.requests.clear()
        assert not sync(account).changed
        asked = [r.path.rpartition("/")[2] for r in org.requests]
    assert asked == ["current", "groups", "items", "items"]  # each library said 304


def test_a_change_a_new_item_and_a_deletion_arrive_and_nothing_else_is_fetched(tmp_path: Path) -> None:
    with WebServer(many(300)) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        first, second, third, *_ = keys_of(org)
        own = org.libraries["u"]
        own.change(first, title="Another title")
        own.put("items", "NEWNEW22", {"itemType": "book", "title": "New", "date": "n.d."})
        own.delete("items", second)
        own.change(third, deleted=1)
        own.put("collections", "CKL22222", {"name": "Later", "parentCollection": False})
        own.settings["tagColors"] = {"value": [{"name": "x", "color": "#FF0000"}], "version": own.version}
        org.requests.clear()
        sync(account)
        fetched = [r.query["itemKey"] for r in org.requests if "itemKey" in r.query]
    contents = contents_in(account)
    assert sorted(",".join(fetched).split(",")) == sorted([first, "NEWNEW22", third])
    assert contents.items[f"u-{first}"].title == "Another title"
    assert (contents.items["u-NEWNEW22"].year, contents.items["u-NEWNEW22"].date) == (None, "n.d.")
    assert f"u-{second}" not in contents.items
    assert f"u-{third}" in contents.trashed
    assert [c.name for c in contents.collections] == ["Later"]
    assert contents.tag_colors == {("u", "x"): "#FF0000"}
    assert len(contents.items) == 299


def test_an_item_put_into_a_collection_that_comes_later_lies_in_it(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        account = account_in(tmp_path, org.address)
        own, key = org.libraries["u"], keys_of(org)[0]
        own.change(key, collections=["CKL33333"])
        sync(account)
        assert contents_in(account).items[f"u-{key}"].collections == ()
        own.put("collections", "CKL33333", {"name": "Inner", "parentCollection": "CKL22222"})
        own.put("collections", "CKL22222", {"name": "Outer", "parentCollection": False})
        sync(account)
    assert [c.display for c in contents_in(account).items[f"u-{key}"].collections] == ["Outer / Inner"]


def test_a_cut_connection_is_tried_again_and_nothing_is_lost(tmp_path: Path) -> None:
    with WebServer(many(430)) as org:
        org.faults.append(Fault("/items", after=3))
        account = account_in(tmp_path, org.address)
        sync(account)
        starts = [r.query["start"] for r in org.asked("/items") if r.query.get("sort")]
    assert len(contents_in(account).items) == 430
    assert starts == ["0", "100", "200", "200", "300", "400"]


def test_an_interrupted_first_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with WebServer(many(430)) as org:
        org.faults.append(Fault("/items", after=3, times=100))
        account = account_in(tmp_path, org.address)
        with pytest.raises(ZoteroUnreachable):
            sync(account)
        with pytest.raises(LibraryUnavailable, match="not been fetched completely"):
            contents_in(account)
        org.faults.clear()
        org.libraries["u"].delete("items", keys_of(org)[5])  # meanwhile
        org.requests.clear()
        sync(account_in(tmp_path, org.address))
        starts = [r.query["start"] for r in org.asked("/items") if r.query.get("sort")]
    assert starts[0] == "100"  # the page in which one is missing now
    assert len(contents_in(account).items) == 429


def test_cancelling_leaves_a_slow_server_at_once_and_keeps_what_came(tmp_path: Path) -> None:
    with WebServer(many(430)) as org:
        account = account_in(tmp_path, org.address)
        cancelled = threading.Event()

        def progress(now: SyncProgress) -> None:
            if now.done >= 200:
                org.slow = 30
                cancelled.set()

        with pytest.raises(TakingCancelled):
            sync(account, progress=progress, cancelled=cancelled.is_set)
        org.slow = 0
    until(lambda: not [t for t in threading.enumerate() if t.name == "zotero-web-sync"])
    with WebServer(many(430)) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        starts = [r.query["start"] for r in org.asked("/items") if r.query.get("sort")]
    assert starts[0] == "200"
    assert len(contents_in(account).items) == 430


def test_a_killed_application_goes_on_where_it_was(tmp_path: Path) -> None:
    with WebServer(many(430)) as org:
        pages: list[str] = []
        reached = threading.Event()

        def between(path: str) -> None:
            pages.append(path)
            if len(pages) == 9:  # key, groups, versions, three small ones, then the third page of items
                reached.set()
                org.wait(20)

        org.between = between
        script = Path(__file__).with_name("web_child.py")
        command = [sys.executable, str(script), str(tmp_path), org.address, KEY]
        child = subprocess.Popen(command, cwd=Path(__file__).resolve().parents[3])
        assert reached.wait(30)
        child.kill()
        child.wait()
        org.between = None
        org.requests.clear()
        account = account_in(tmp_path, org.address)
        sync(account)
        starts = [r.query["start"] for r in org.asked("/items") if r.query.get("sort")]
    assert starts[0] == "200"
    assert len(contents_in(account).items) == 430


def test_two_synchronisations_do_not_run_at_a_time(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        account = account_in(tmp_path, org.address)
        inside: list[BaseException] = []

        def between(path: str) -> None:
            org.between = None
            try:
                sync(account)
            except ZoteroBusy as error:
                inside.append(error)

        org.between = between
        sync(account)
    assert len(inside) == 1


def test_a_state_that_is_being_fetched_is_never_shown_half(tmp_path: Path) -> None:
    with WebServer(many(430)) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        for key in keys_of(org)[:300]:
            org.libraries["u"].change(key, title="Changed")
        org.faults.append(Fault("/items", after=2, times=100))
        with pytest.raises(ZoteroUnreachable):
            sync(account)
        titles = {i.title for i in contents_in(account).items.values()}
        assert "Changed" not in titles
        org.faults.clear()
        sync(account)
    assert sum(i.title == "Changed" for i in contents_in(account).items.values()) == 300


def test_a_wish_to_wait_is_waited_out(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        org.faults.append(Fault("/collections", 429, {"Retry-After": "1"}))
        waits: list[float] = []
        account = account_in(tmp_path, org.address)
        sync(account, progress=lambda p: waits.append(p.wait_s) if p.phase == "waiting" else None)
        assert len(org.asked("/collections")) == 2
    assert 0.8 < max(waits) <= 1.0
    assert len(contents_in(account).items) == 3


def test_a_wait_of_an_hour_is_told_instead_of_slept(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        org.faults.append(Fault("/items", 429, {"Retry-After": "3600"}))
        with pytest.raises(ZoteroBusy, match="3600 seconds"):
            sync(account_in(tmp_path, org.address))
        assert len(org.asked("/items")) == 1


def test_backoff_slows_the_next_request_down(tmp_path: Path) -> None:
    with WebServer({"u": WebLibrary("")}) as org:
        org.backoff = 1
        at: list[float] = []
        org.between = lambda path: at.append(time.monotonic())
        org.libraries["u"].version = 1
        look_at_account(KEY, HTTP, address=org.address)
    assert len(at) == 3
    assert at[2] - at[1] > 0.9


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_fault_of_the_server_is_tried_again_a_few_times(tmp_path: Path, status: int) -> None:
    with WebServer(many(3)) as org:
        org.faults.append(Fault("/collections", status, times=2))
        account = account_in(tmp_path, org.address)
        sync(account)
        assert len(org.asked("/collections")) == 3
        org.libraries["u"].change(keys_of(org)[0], title="X")
        org.faults.append(Fault("/collections", status, times=100))
        with pytest.raises((ServerFault, ZoteroBusy)):
            sync(account)
    assert len(contents_in(account).items) == 3


def test_a_wrong_key_says_so_and_writes_nothing(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        with pytest.raises(ZoteroKeyRefused, match="does not know this key"):
            sync(account_in(tmp_path, org.address), "wrong")
        with pytest.raises(ZoteroKeyRefused, match="does not know this key"):
            look_at_account("wrong", HTTP, address=org.address)
    assert not (tmp_path / "web" / FILE).exists()


def test_a_key_of_another_account_does_not_touch_this_library(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        org.keys["other"] = USER + 1
        with pytest.raises(ZoteroKeyRefused, match="another account"):
            sync(account, "other")
    assert len(contents_in(account).items) == 3


def test_a_group_that_the_key_may_not_read_is_named_and_left_out(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        assert len(contents_in(account).libraries) == 2
        org.hidden.add("g4000001")
        done = sync(account)
    assert done.notices == ("The key may not read the group “Journal club”.",)
    assert [library.id for library in contents_in(account).libraries] == ["u"]


def test_a_key_for_groups_only_reads_the_groups(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        org.own_library = False
        found = look_at_account(KEY, HTTP, address=org.address)
        assert (found.items, found.groups) == (0, ("Journal club",))
        account = account_in(tmp_path, org.address)
        sync(account)
    assert [library.id for library in contents_in(account).libraries] == ["g4000001"]


def test_the_cache_is_for_this_person_alone(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
    contents_in(account)
    assert account.folder.stat().st_mode & 0o777 == 0o700
    files = [p for p in account.folder.iterdir() if p.is_file()]
    assert len(files) >= 2
    assert {p.stat().st_mode & 0o077 for p in files} == {0}


@pytest.mark.parametrize("harm", ["text", "empty", "truncated"])
def test_a_damaged_cache_is_fetched_anew(tmp_path: Path, harm: str) -> None:
    with WebServer(many(200)) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        path = account.folder / FILE
        content = path.read_bytes()
        path.write_bytes({"text": b"not a database", "empty": b"", "truncated": content[:20_000]}[harm])
        sync(account)
    assert len(contents_in(account).items) == 200


def test_objects_of_a_wrong_form_are_left_out_and_hide_nothing(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        own = org.libraries["u"]
        own.put("items", "BAD22222", {"itemType": "book", "title": "\ud800 half", "creators": "nobody"})
        own.put("items", "BAD33333", {"title": ["a"], "tags": [3, {"tag": None}], "relations": [1]})
        own.put("items", "BAD44444", {"itemType": "attachment", "parentItem": "BAD44444", "linkMode": 7})
        own.items["../../x"] = {**own.items["BAD22222"], "key": "../../x"}
        account = account_in(tmp_path, org.address)
        sync(account)
    contents = contents_in(account)
    assert contents.items["u-BAD22222"].title == "\ufffd half"
    assert [i for i in contents.items if "/" in i] == []
    assert len([i for i in contents.items.values() if i.title.startswith("Work")]) == 3
