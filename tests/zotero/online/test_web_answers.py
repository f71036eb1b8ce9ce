"""Answers that are not what zotero.org promises: what was there stays, and it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.zotero.online.web_account import look_at_account
from bibgenie_desktop.zotero.online.web_cache import WebCache
from bibgenie_desktop.zotero.online.web_library import WebLibrary
from tests.zotero.online.web_bench import HTTP, account_in, contents_in, keys_of, many, sync, web_library
from tests.zotero.online.web_json import USER
from tests.zotero.online.web_json import WebLibrary as ServedLibrary
from tests.zotero.online.web_server import KEY, Fault, WebServer

LISTS = ("groups", "items", "collections", "searches", "settings", "deleted")
ENDPOINTS = ("/keys/current", *(f"/users/{USER}/{what}" for what in LISTS))
DEEP = 200_000
HALF = "\ud800"
DEEPLY: Any = "x"
for _ in range(900):
    DEEPLY = [DEEPLY]
NO_ANSWERS = {
    "a page": b"<html>Log in to this network</html>",
    "nothing": b"",
    "bytes": b"\xff\xfe\x00",
    "null": b"null",
    "a number": b"7",
    "a text": b'"items"',
    "numbers": b"[1, 2]",
    "nulls": b"[null]",
    "lists": b"[[], []]",
    "something else": b'{"a": 1}',
    "other objects": b'[{"a": 1}]',
    "objects without data": b'[{"key": "KEY22222", "id": 5, "version": 3}]',
    "numbers by name": b'{"items": 3, "collections": 4, "searches": 5, "settings": 6}',
    "numbers in lists": b'{"items": [1], "collections": [2], "searches": [], "settings": []}',
    "texts by key": b'{"KEY22222": "3"}',
    "nested lists": b"[" * DEEP,
    "nested objects": b'{"a":' * DEEP,
    "well nested": b"[" * DEEP + b"]" * DEEP,
    "a giant number": b"9" * 5_000,
    "a giant version": b'{"KEY22222": ' + b"9" * 5_000 + b"}",
}
CONTENT_TYPES = ("application/zip", "application/atom+xml", "application/x-bibtex", "text/plain", "x", "")


def prepared() -> dict[str, ServedLibrary]:
    libraries = many(5)
    libraries["u"].put("collections", "CKL22222", {"name": "Old", "parentCollection": False})
    libraries["g5"] = many(2)["u"]
    libraries["g5"].name = "Group"
    return libraries


def changed(org: WebServer) -> None:
    own = org.libraries["u"]
    own.delete("items", keys_of(org)[1])
    own.put("items", "NEWNEW22", {"itemType": "book", "title": "New"})
    own.put("collections", "CKL33333", {"name": "Newer", "parentCollection": False})
    own.put("searches", "SRC22222", {"name": "Search"})
    own.settings["tagColors"] = {"value": [{"name": "x", "color": "#FF0000"}], "version": own.version}


def shown(library: WebLibrary) -> tuple[Any, ...]:
    contents = library.contents
    return (
        sorted(i.title for i in contents.items.values() if i.library.id == "u"),
        [found.name for found in contents.libraries],
        sorted(c.name for c in contents.collections),
        [s.name for s in contents.saved_searches],
        [tag for _, tag in contents.tag_colors],
    )


BEFORE = ([f"Work {n}" for n in range(5)], ["My Library", "Group"], ["Old"], [], [])
AFTER = (
    ["New", *(f"Work {n}" for n in (0, 2, 3, 4))],
    ["My Library", "Group"],
    ["Newer", "Old"],
    ["Search"],
    ["x"],
)


async def refreshed_with(tmp_path: Path, faults: list[Fault]) -> None:
    """A refresh with the faults says so and changes nothing; one without them brings everything."""
    with WebServer(prepared()) as org:
        account = account_in(tmp_path, org.address)
        sync(account)
        library = web_library(account)
        await library.ensure_loaded()
        assert shown(library) == BEFORE
        changed(org)
        for fault in faults:
            org.faults[:] = [fault]
            await library.refresh()
            assert library.status.stale, fault
            assert "zotero.org" in library.status.notice
            assert shown(library) == BEFORE, fault
        org.faults.clear()
        await library.refresh()
        assert not library.status.stale
        assert shown(library) == AFTER
        await library.close()


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_what_is_no_answer_is_never_taken_for_nothing(
    tmp_path: Path, endpoint: str, versioned: bool
) -> None:
    headers = {"Last-Modified-Version": "900"} if versioned else {}
    faults = [Fault(endpoint, 200, headers, times=9, body=body) for body in NO_ANSWERS.values()]
    await refreshed_with(tmp_path, faults)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_an_answer_of_another_sort_than_json_is_none(tmp_path: Path, endpoint: str) -> None:
    bodies = (b"PK\x03\x04 broken", b"<feed><entry>", b"@book{x, title={")
    faults = [
        Fault(endpoint, 200, {"Last-Modified-Version": "900", "Content-Type": kind}, times=9, body=body)
        for kind in CONTENT_TYPES
        for body in bodies
    ]
    await refreshed_with(tmp_path, faults)


async def test_a_list_of_versions_that_says_no_version_does_not_set_the_library_back(tmp_path: Path) -> None:
    await refreshed_with(tmp_path, [Fault(f"/users/{USER}/items", 200, {}, times=9, body=b"{}")])


@pytest.mark.parametrize(
    "access",
    [None, [], 3, {"user": []}, {"groups": [1]}, {"groups": {"abc": {"write": True}}}, {"groups": {"5": 1}}],
)
@pytest.mark.parametrize("user", [None, -1, [], "x", 1 << 60, 1e308, float("inf")])
def test_an_odd_owner_of_a_key_is_a_sentence(access: Any, user: Any) -> None:
    for told in ({"userID": user}, {"userID": USER, "access": access}, {"userID": user, "access": access}):
        body = json.dumps({"username": [HALF], **told}).encode()
        with WebServer(many(1)) as org:
            org.faults.append(Fault("/keys/current", 200, body=body))
            org.own_library = False
            with pytest.raises(UserError):
                look_at_account(KEY, HTTP, address=org.address)


def test_half_characters_and_deep_values_anywhere_hide_nothing_else(tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [
        {"title": f"a{HALF}b"},
        {HALF: "value"},
        {f"x{HALF}": HALF},
        {"title": DEEPLY},
        {"extra": {"a": {HALF: [HALF]}}},
        {"tags": [{"tag": HALF}, {"tag": DEEPLY}]},
        {"tags": DEEPLY},
        {"creators": [{"creatorType": HALF, "firstName": HALF, "lastName": HALF}, {"name": HALF}]},
        {"relations": {HALF: HALF, "dc:relation": [HALF, DEEPLY]}},
        {"collections": [HALF, DEEPLY]},
        {"itemType": HALF},
        {"dateAdded": HALF, "dateModified": HALF, "accessDate": HALF, "date": HALF},
        {"parentItem": HALF},
        {"itemType": "note", "note": f"<p>{HALF}</p>"},
        {"itemType": "annotation", "annotationText": HALF, "annotationType": HALF, "parentItem": "BAD22222"},
        {"itemType": "attachment", "filename": HALF, "md5": HALF, "contentType": HALF, "linkMode": HALF},
    ]
    with WebServer(prepared()) as org:
        own = org.libraries["u"]
        for at, data in enumerate(odd):
            key = f"BAD2222{'23456789ABCDEFGHIJK'[at]}"
            own.put("items", key, {"itemType": "book", "title": "Odd", **data}, {"parsedDate": HALF})
        own.items["BAD22222"]["meta"] = {"createdByUser": {"id": 3, "name": HALF, "username": HALF}}
        own.put("collections", "CKL33333", {"name": HALF, "parentCollection": HALF})
        own.put("searches", "SRC22222", {"name": HALF, "conditions": DEEPLY})
        own.settings[f"tagColors{HALF}"] = {"value": {HALF: 2**90}, "version": own.version}
        own.settings["deep"] = {"value": DEEPLY, "version": own.version}
        own.settings["tagColors"] = {"value": [{"name": "x", "color": "#FF0000"}], "version": own.version}
        org.libraries["g5"].name = HALF
        account = account_in(tmp_path, org.address)
        assert sync(account).changed
        contents = contents_in(account)
        assert {f"Work {n}" for n in range(5)} <= {i.title for i in contents.items.values()}
        assert "a\ufffdb" in {i.title for i in contents.items.values()}
        assert [tag for _, tag in contents.tag_colors] == ["x"]
        assert len(contents.libraries) == 2
        own.deleted.extend((own.version + 1, kind, HALF) for kind in ("items", "collections", "settings"))
        own.put("items", "NEWNEW22", {"itemType": "book", "title": "New"})
        assert sync(account).changed
        assert "New" in {i.title for i in contents_in(account).items.values()}
        assert not sync(account).changed
    cache = WebCache(account.folder)
    assert [library.complete for library in cache.libraries()] == [True, True]
    cache.close()
