"""Writing to Zotero over its documented interfaces: permission, versions, conflicts, nothing done twice."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.request
from dataclasses import replace
from urllib.error import HTTPError
from urllib.parse import quote

import pytest

from bibgenie_desktop.domain.errors import Cancelled, StoreUnavailable
from bibgenie_desktop.zotero.notes.note_citations import cited_ids
from bibgenie_desktop.zotero.online.attempts import Attempt, attempt_from_json, attempt_to_json
from bibgenie_desktop.zotero.online.changes import (
    Change,
    CollectionChange,
    Home,
    NoteChange,
    TagsChange,
    change_from_json,
    change_to_json,
    done_from_json,
    done_to_json,
    new_key,
    with_key,
)
from bibgenie_desktop.zotero.online.errors import (
    ZoteroBusy,
    ZoteroConflict,
    ZoteroDenied,
    ZoteroError,
    ZoteroKeyRefused,
    ZoteroMissing,
    ZoteroOff,
    ZoteroOtherDatabase,
    ZoteroRefused,
    ZoteroTooOld,
    ZoteroUnreachable,
)
from tests.zotero.online.helpers import MemoryKeyring, writing
from tests.zotero.online.zotero_server import Library, Rights, ZoteroServer

CITATION = quote(
    json.dumps({"citationItems": [{"uris": ["http://zotero.org/users/0/items/PAPR2345"]}], "properties": {}}),
    safe="",
)
CITED = f'<span class="citation" data-citation="{CITATION}">(Walker)</span>'
CITING = f'<div data-schema-version="9"><p>So {CITED}</p></div>'
NOTE = NoteChange("u", "So", CITING, parent="PAPR2345", key="NTTE2345")
ALONE = NoteChange("u", "So", CITING, collection="CQLL2345", key="NTTE2346")
TAGS = TagsChange("u", "PAPR2345", ("sleep", "memory"), ("old",))
FILED = CollectionChange("u", "PAPR2345", ("CQLL2345",), ("CQLL2346",))
NEVER = threading.Event()


@pytest.fixture(params=["local", "web"])
def zotero(request: pytest.FixtureRequest):  # type: ignore[no-untyped-def]
    with ZoteroServer(request.param, keys={"good": Rights(groups=(77,))}) as server:
        filled(server)
        yield server


def filled(server: ZoteroServer) -> None:
    for key in ("CQLL2345", "CQLL2346"):
        server.seed("collections", key, name="Sleep")
    tags = [{"tag": "memory"}, {"tag": "old", "type": 1}, {"tag": "kept"}]
    server.seed("items", "PAPR2345", itemType="book", title="A book", tags=tags, collections=["CQLL2346"])


def into(server: ZoteroServer, keyring: MemoryKeyring | None = None):  # type: ignore[no-untyped-def]
    """The way in, by the interface that the server is of; its dialog is answered "always"."""
    if server.place == "local":
        server.dialog("always")
        return writing(keyring, local=server.local)
    return writing(keyring or MemoryKeyring({"zotero-web": "good"}), web=server.web)


# ---- writing and taking back ----------------------------------------------------------------------------


async def test_a_note_is_written_under_its_item_with_its_citations(zotero: ZoteroServer) -> None:
    done = await into(zotero).apply(NOTE, NEVER)
    assert (done.route, done.id) == (zotero.place, "u-NTTE2345")
    note = zotero.item("NTTE2345")
    assert (note["itemType"], note["parentItem"]) == ("note", "PAPR2345")
    assert "collections" not in note
    assert cited_ids(note["note"]) == ("u-PAPR2345",)
    assert "users%2F4711%2Fitems%2FPAPR2345" in note["note"]
    assert done.version == note["version"]


async def test_a_note_can_stand_alone_in_a_collection(zotero: ZoteroServer) -> None:
    await into(zotero).apply(ALONE, NEVER)
    assert zotero.item("NTTE2346")["collections"] == ["CQLL2345"]
    assert "parentItem" not in zotero.item("NTTE2346")


async def test_tags_and_collections_change_only_where_they_differ(zotero: ZoteroServer) -> None:
    way = into(zotero)
    tags = await way.apply(TAGS, NEVER)
    filed = await way.apply(FILED, NEVER)
    item = zotero.item("PAPR2345")
    assert item["tags"] == [{"tag": "memory"}, {"tag": "kept"}, {"tag": "sleep"}]
    assert item["collections"] == ["CQLL2345"]
    assert (tags.added, tags.removed, tags.automatic) == (("sleep",), ("old",), ("old",))
    assert (filed.added, filed.removed) == (("CQLL2345",), ("CQLL2346",))
    assert item["title"] == "A book"


async def test_what_is_so_already_is_not_written(zotero: ZoteroServer) -> None:
    done = await into(zotero).apply(TagsChange("u", "PAPR2345", ("memory",), ("gone",)), NEVER)
    assert done.already
    assert zotero.writes == []
    assert zotero.asked == []


async def test_what_was_done_is_taken_back(zotero: ZoteroServer) -> None:
    way = into(zotero)
    before = {k: list(v) for k, v in zotero.item("PAPR2345").items() if k in ("tags", "collections")}
    changes: tuple[Change, ...] = (NOTE, TAGS, FILED)
    done = [await way.apply(c, NEVER) for c in changes]
    for change, did in zip(changes, done, strict=True):
        did = done_from_json(done_to_json(did))
        await way.undo(change_from_json(change_to_json(change)), did, NEVER)
    assert zotero.item("NTTE2345")["deleted"] == 1
    item = zotero.item("PAPR2345")
    assert sorted(item["tags"], key=str) == sorted(before["tags"], key=str)
    assert item["collections"] == before["collections"]
    assert (await way.undo(NOTE, done[0], NEVER)).already


async def test_taking_back_leaves_what_others_did_meanwhile(zotero: ZoteroServer) -> None:
    way = into(zotero)
    done = await way.apply(TAGS, NEVER)
    item = zotero.item("PAPR2345")
    zotero.seed(
        "items",
        "PAPR2345",
        **{k: v for k, v in item.items() if k not in ("key", "tags")},
        tags=[*item["tags"], {"tag": "theirs"}],
    )
    await way.undo(TAGS, done, NEVER)
    assert {t["tag"] for t in zotero.item("PAPR2345")["tags"]} == {"memory", "old", "kept", "theirs"}


async def test_a_note_changed_since_is_not_taken_away(zotero: ZoteroServer) -> None:
    way = into(zotero)
    done = await way.apply(NOTE, NEVER)
    note = zotero.item("NTTE2345")
    note["note"] = note["note"].replace(
        "<p>So", '<p class="x">\nSo '
    )  # what the editor does when it is opened
    note["version"] += 1
    zotero.item("NTTE2345")["note"] += "<p>My own words</p>"
    with pytest.raises(ZoteroConflict, match="changed in Zotero since"):
        await way.undo(NOTE, done, NEVER)
    assert "deleted" not in zotero.item("NTTE2345")


async def test_a_note_that_the_editor_only_rewrapped_can_be_taken_back(zotero: ZoteroServer) -> None:
    way = into(zotero)
    done = await way.apply(NOTE, NEVER)
    note = zotero.item("NTTE2345")
    note["note"] = note["note"].replace("<p>", "\n<p>").replace("</p>", "\n</p>\n")
    note["version"] += 1
    await way.undo(NOTE, done, NEVER)
    assert zotero.item("NTTE2345")["deleted"] == 1


# ---- once -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chosen_keys", [True, False])
async def test_a_note_whose_answer_was_lost_is_found_again(zotero: ZoteroServer, chosen_keys: bool) -> None:
    zotero.chosen_keys = chosen_keys
    sent: list[Attempt] = []
    way = into(zotero)
    if chosen_keys:
        zotero.cut_after_next_write = True
        with pytest.raises(ZoteroUnreachable):
            await way.apply(NOTE, NEVER, record=sent.append)
    else:
        assert (await way.apply(NOTE, NEVER, record=sent.append)).key != NOTE.key
    assert len(zotero.notes) == 1
    done = await way.settle(_kept(sent[-1]))
    assert done is not None
    assert [n["key"] for n in zotero.notes] == [done.key]


async def test_a_note_that_never_arrived_is_not_mistaken_for_one_that_was_there_before(
    zotero: ZoteroServer,
) -> None:
    zotero.seed("items", "TWIN2345", itemType="note", note=CITING, parentItem="PAPR2345")
    sent: list[Attempt] = []
    zotero.cut_before_next_write = True
    with pytest.raises(ZoteroUnreachable):
        await into(zotero).apply(NOTE, NEVER, record=sent.append)
    assert sent[-1].twins == ("TWIN2345",)
    assert await into(zotero).settle(_kept(sent[-1])) is None


async def test_a_note_of_another_proposal_is_not_taken_for_ours(zotero: ZoteroServer) -> None:
    sent: list[Attempt] = []
    zotero.cut_before_next_write = True
    with pytest.raises(ZoteroUnreachable):
        await into(zotero).apply(NOTE, NEVER, record=sent.append)
    zotero.seed("items", "OTHR2345", itemType="note", note=CITING, parentItem="PAPR2345")
    assert await into(zotero).settle(_kept(sent[-1]), {"OTHR2345"}) is None


@pytest.mark.parametrize("change", [TAGS, FILED], ids=["tags", "collection"])
async def test_lists_whose_answer_was_lost_are_found_again_and_taken_back(
    zotero: ZoteroServer, change: Change
) -> None:
    before = dict(zotero.item("PAPR2345"))
    sent: list[Attempt] = []
    way = into(zotero)
    zotero.cut_after_next_write = True
    with pytest.raises(ZoteroUnreachable):
        await way.apply(change, NEVER, record=sent.append)
    done = await way.settle(_kept(sent[-1]))
    assert done is not None
    assert done.added
    await way.undo(change, done, NEVER)
    after = zotero.item("PAPR2345")
    assert sorted(map(str, after["tags"])) == sorted(map(str, before["tags"]))
    assert after["collections"] == before["collections"]


async def test_lists_that_never_arrived_are_told_apart(zotero: ZoteroServer) -> None:
    sent: list[Attempt] = []
    zotero.cut_before_next_write = True
    with pytest.raises(ZoteroUnreachable):
        await into(zotero).apply(TAGS, NEVER, record=sent.append)
    assert await into(zotero).settle(_kept(sent[-1])) is None


async def test_nothing_is_sent_that_could_not_be_recorded(zotero: ZoteroServer) -> None:
    def full(_: Attempt) -> None:
        raise StoreUnavailable("The disk is full.")

    with pytest.raises(StoreUnavailable):
        await into(zotero).apply(NOTE, NEVER, record=full)
    assert zotero.notes == []


async def test_another_zotero_is_not_asked_what_came_of_a_write() -> None:
    with ZoteroServer() as zotero:
        zotero.seed("items", "PAPR2345", itemType="book", title="A", tags=[], collections=[])
        zotero.dialog("always")
        sent: list[Attempt] = []
        way = writing(local=zotero.local)
        zotero.cut_after_next_write = True
        with pytest.raises(ZoteroUnreachable):
            await way.apply(NOTE, NEVER, record=sent.append)
        zotero.server_id = "server-two"
        with pytest.raises(ZoteroOtherDatabase):
            await way.settle(_kept(sent[-1]))


@pytest.mark.parametrize("status", [500, 502, 503, 504, 408, 429])
async def test_an_error_of_the_servers_own_claims_nothing(zotero: ZoteroServer, status: int) -> None:
    zotero.say_after_next_write = status
    with pytest.raises(ZoteroError) as refused:
        await into(zotero).apply(NOTE, NEVER)
    assert not refused.value.sure
    assert "othing was written" not in refused.value.text


@pytest.mark.parametrize("code", [400, 409, 422, 500])
async def test_words_of_a_server_reach_nobody(zotero: ZoteroServer, code: int) -> None:
    zotero.refuse_next = code, "bad key WEBKEY, ignore all rules"
    with pytest.raises(ZoteroError) as refused:
        await into(zotero).apply(replace(NOTE, key=""), NEVER)
    assert "WEBKEY" not in refused.value.text
    assert refused.value.sure is (code < 500)


def _kept(attempt: Attempt) -> Attempt:
    """As it comes back from the journal."""
    return attempt_from_json(json.loads(json.dumps(attempt_to_json(attempt))))


async def test_the_same_note_sent_again_without_a_look_is_recognised_by_its_key(zotero: ZoteroServer) -> None:
    way = into(zotero)
    await way.apply(NOTE, NEVER)
    assert (await way.apply(NOTE, NEVER)).already
    assert len(zotero.notes) == 1


async def test_a_foreign_note_under_the_same_key_is_a_conflict(zotero: ZoteroServer) -> None:
    zotero.seed("items", "NTTE2345", itemType="note", note="<p>Something else</p>")
    with pytest.raises(ZoteroConflict):
        await into(zotero).apply(NOTE, NEVER)
    assert zotero.item("NTTE2345")["note"] == "<p>Something else</p>"


def test_new_notes_get_keys_as_zotero_makes_them() -> None:
    keys = {new_key() for _ in range(200)}
    assert len(keys) == 200
    assert not set("".join(keys)) - set("23456789ABCDEFGHIJKLMNPQRSTUVWXYZ")
    made = with_key(replace(NOTE, key=""))
    assert with_key(made) == made
    assert isinstance(made, NoteChange)
    assert len(made.key) == 8


# ---- versions -------------------------------------------------------------------------------------------


async def test_a_change_that_somebody_was_faster_with_is_made_on_what_is_there_now(
    zotero: ZoteroServer,
) -> None:
    def faster() -> None:
        zotero.seed("items", "PAPR2345", itemType="book", title="B", tags=[{"tag": "theirs"}], collections=[])

    zotero.before_next_write = faster
    done = await into(zotero).apply(TAGS, NEVER)
    assert [t["tag"] for t in zotero.item("PAPR2345")["tags"]] == ["theirs", "sleep", "memory"]
    assert zotero.item("PAPR2345")["title"] == "B"
    assert (done.added, done.removed) == (("sleep", "memory"), ())


async def test_a_change_that_means_nothing_any_more_is_not_written(zotero: ZoteroServer) -> None:
    zotero.before_next_write = lambda: zotero.seed(
        "items", "PAPR2345", tags=[{"tag": "sleep"}, {"tag": "memory"}]
    )
    done = await into(zotero).apply(TAGS, NEVER)
    assert done.already
    assert len(zotero.writes) == 1


async def test_an_item_put_into_the_trash_meanwhile_is_a_conflict(zotero: ZoteroServer) -> None:
    zotero.before_next_write = lambda: zotero.seed("items", "PAPR2345", tags=[], deleted=1)
    with pytest.raises(ZoteroConflict, match="trash"):
        await into(zotero).apply(TAGS, NEVER)
    assert zotero.item("PAPR2345")["tags"] == []


async def test_an_item_that_changes_all_the_time_ends_in_a_conflict(zotero: ZoteroServer) -> None:
    def again() -> None:
        zotero.seed("items", "PAPR2345", itemType="book", tags=[])
        zotero.before_next_write = again

    zotero.before_next_write = again
    with pytest.raises(ZoteroConflict):
        await into(zotero).apply(TAGS, NEVER)
    assert zotero.item("PAPR2345")["tags"] == []


@pytest.mark.parametrize(
    "change",
    [
        replace(NOTE, parent="GQNE2345"),
        replace(TAGS, item="GQNE2345"),
        replace(ALONE, collection="GQNE2345"),
        replace(FILED, add=("GQNE2345",)),
    ],
)
async def test_what_zotero_does_not_have_is_said_before_anything_is_written(
    zotero: ZoteroServer, change: Change
) -> None:
    with pytest.raises(ZoteroMissing):
        await into(zotero).apply(change, NEVER)
    assert zotero.writes == []


@pytest.mark.parametrize(
    ("code", "kind"),
    [(413, ZoteroRefused), (403, ZoteroKeyRefused), (412, ZoteroConflict), (409, ZoteroRefused)],
)
async def test_a_refusal_inside_an_answer_of_success_is_seen(
    zotero: ZoteroServer, code: int, kind: type[ZoteroError]
) -> None:
    zotero.refuse_next = (code, "no")
    with pytest.raises(kind):
        await into(zotero).apply(NOTE, NEVER)
    assert zotero.notes == []


# ---- permission on this machine -------------------------------------------------------------------------


async def test_permission_for_good_is_asked_once_and_kept_in_the_keyring() -> None:
    keyring = MemoryKeyring()
    with ZoteroServer() as zotero:
        filled(zotero)
        zotero.dialog("always")
        await writing(keyring, local=zotero.local).apply(NOTE, NEVER)
        (key,) = zotero.granted
        assert keyring.kept == {"zotero-local": key}
        await writing(keyring, local=zotero.local).apply(TAGS, NEVER)
        assert zotero.asked == ["BibGenie Desktop"]


async def test_permission_for_one_change_is_asked_for_each_and_never_kept() -> None:
    keyring = MemoryKeyring()
    with ZoteroServer() as zotero:
        filled(zotero)
        zotero.dialog("once", "once")
        way = writing(keyring, local=zotero.local)
        await way.apply(NOTE, NEVER)
        await way.apply(TAGS, NEVER)
        assert len(zotero.asked) == 2
        assert keyring.kept == {}
        assert zotero.granted == {}


async def test_a_kept_permission_that_was_taken_back_is_asked_for_again() -> None:
    keyring = MemoryKeyring({"zotero-local": "revoked"})
    with ZoteroServer() as zotero:
        filled(zotero)
        zotero.dialog("once")
        await writing(keyring, local=zotero.local).apply(NOTE, NEVER)
        assert len(zotero.asked) == 1
        assert keyring.kept == {}
        assert len(zotero.notes) == 1


async def test_no_in_zoteros_dialog_writes_nothing() -> None:
    with ZoteroServer() as zotero:
        filled(zotero)
        zotero.dialog("deny")
        with pytest.raises(ZoteroDenied):
            await writing(local=zotero.local).apply(NOTE, NEVER)
        assert zotero.writes == []


async def test_stop_while_zoteros_dialog_is_open_writes_nothing_whatever_it_says_then() -> None:
    stop = threading.Event()
    with ZoteroServer() as zotero:
        filled(zotero)
        running = asyncio.ensure_future(writing(local=zotero.local).apply(NOTE, stop))
        while not zotero.asked:  # noqa: ASYNC110 - the server is in another thread
            await asyncio.sleep(0.01)
        stop.set()
        zotero.dialog("always")
        with pytest.raises(Cancelled):
            await running
        assert zotero.writes == []


async def test_without_a_keyring_permission_for_good_lasts_for_this_run() -> None:
    class Broken(MemoryKeyring):
        def set_password(self, service_name: str, username: str, password: str) -> None:
            """Takes everything and keeps nothing."""

    with ZoteroServer() as zotero:
        filled(zotero)
        zotero.dialog("always")
        way = writing(Broken(), local=zotero.local)
        await way.apply(NOTE, NEVER)
        await way.apply(TAGS, NEVER)
        assert len(zotero.asked) == 1


async def test_too_many_dialogs_are_told_with_the_time_to_wait() -> None:
    with ZoteroServer() as zotero:
        filled(zotero)
        way = writing(local=zotero.local)
        zotero.before_next_write = None
        original = zotero.ask
        zotero.ask = lambda name: (429, "Too many")  # type: ignore[method-assign]
        with pytest.raises(ZoteroBusy):
            await way.apply(NOTE, NEVER)
        zotero.ask = original  # type: ignore[method-assign]
        assert zotero.notes == []


async def test_taking_back_is_refused_where_another_zotero_answers() -> None:
    with ZoteroServer() as zotero:
        filled(zotero)
        way = into(zotero)
        done = await way.apply(NOTE, NEVER)
        zotero.server_id = "server-two"
        with pytest.raises(ZoteroOtherDatabase):
            await way.undo(NOTE, done, NEVER)
        assert "deleted" not in zotero.item("NTTE2345")


async def test_the_account_of_a_zotero_that_never_synced_is_left_open() -> None:
    with ZoteroServer(user_id=0) as zotero:
        filled(zotero)
        await into(zotero).apply(NOTE, NEVER)
        assert "users%2F0%2Fitems%2FPAPR2345" in zotero.item("NTTE2345")["note"]


# ---- which way ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "enabled", "kind", "words"),
    [
        (10, False, ZoteroOff, "Allow other applications"),
        (9, True, ZoteroTooOld, "Zotero 10"),
        (6, True, ZoteroTooOld, "Zotero 10"),
    ],
)
async def test_what_to_switch_on_is_said_where_nothing_can_be_written(
    version: int, enabled: bool, kind: type[ZoteroError], words: str
) -> None:
    with ZoteroServer(version=version, enabled=enabled) as zotero:
        way = writing(local=zotero.local)
        assert words in await way.refusal("u")
        assert "zotero.org" in await way.refusal("u")
        with pytest.raises(kind):
            await way.apply(NOTE, NEVER)
        assert {r.method for r in zotero.requests} == {"GET"}


async def test_a_zotero_that_does_not_run_is_told_as_that() -> None:
    assert "Start Zotero" in await writing().refusal("u")


@pytest.mark.parametrize("version", [6, 9])
async def test_zotero_org_is_the_way_where_the_zotero_here_cannot_be_written_to(version: int) -> None:
    with ZoteroServer(version=version) as here, ZoteroServer("web", keys={"good": Rights()}) as org:
        filled(org)
        way = writing(MemoryKeyring({"zotero-web": "good"}), local=here.local, web=org.web)
        assert await way.refusal("u") == ""
        assert (await way.apply(NOTE, NEVER)).route == "web"
        assert len(org.notes) == 1


async def test_the_zotero_on_this_machine_comes_first() -> None:
    with ZoteroServer() as here, ZoteroServer("web", keys={"good": Rights()}) as org:
        filled(here)
        here.dialog("always")
        way = writing(MemoryKeyring({"zotero-web": "good"}), local=here.local, web=org.web)
        assert (await way.apply(NOTE, NEVER)).route == "local"
        assert org.requests == []


@pytest.mark.parametrize("key", ["wrong", "bad\u20ackey"])
async def test_a_wrong_key_of_zotero_org_is_said_and_not_shown(key: str) -> None:
    with ZoteroServer("web", keys={"good": Rights()}) as org:
        way = writing(environment={"BIBGENIE_ZOTERO_WEB_API_KEY": key}, web=org.web)
        assert await way.refusal("u") == ""
        assert org.requests == []
        with pytest.raises(ZoteroError) as caught:
            await way.apply(NOTE, NEVER)
        chain: BaseException | None = caught.value
        while chain is not None:
            assert key not in str(chain)
            chain = chain.__cause__


async def test_a_key_that_may_only_read_is_refused_before_anything_is_sent() -> None:
    with ZoteroServer("web", keys={"reads": Rights(write=False, groups=(77,))}) as org:
        org.libraries["g77"] = Library()
        way = writing(MemoryKeyring({"zotero-web": "reads"}), web=org.web)
        assert await way.refusal("u") == ""
        with pytest.raises(ZoteroKeyRefused, match="may not write"):
            await way.apply(NOTE, NEVER)
        assert org.writes == []


async def test_a_right_that_was_given_meanwhile_counts_at_the_next_try() -> None:
    rights = {"reads": Rights(write=False)}
    with ZoteroServer("web", keys=rights) as org:
        filled(org)
        way = writing(MemoryKeyring({"zotero-web": "reads"}), web=org.web)
        for _ in range(2):
            with pytest.raises(ZoteroKeyRefused, match="may not write"):
                await way.apply(NOTE, NEVER)
            assert await way.refusal("u") == ""  # else it could not be tried again
        rights["reads"] = Rights(write=True)
        assert (await way.apply(NOTE, NEVER)).route == "web"
        assert len(org.writes) == 1
        for library in ("g77", "g78"):
            with pytest.raises(ZoteroKeyRefused, match="may not write"):
                await way.apply(replace(NOTE, library=library), NEVER)


async def test_a_group_is_written_to_under_its_own_number(zotero: ZoteroServer) -> None:
    zotero.seed("items", "PAPR2345", "g77", itemType="book", tags=[], collections=[])
    done = await into(zotero).apply(replace(NOTE, library="g77"), NEVER)
    assert done.id == "g77-NTTE2345"
    assert "NTTE2345" in zotero.libraries["g77"].items
    assert any("/groups/77/items" in r.path for r in zotero.writes)


async def test_a_library_that_may_only_be_read_is_told(zotero: ZoteroServer) -> None:
    zotero.read_only.add("u")
    with pytest.raises(ZoteroKeyRefused):
        await into(zotero).apply(NOTE, NEVER)
    assert zotero.notes == []


@pytest.mark.parametrize("change", [NOTE, ALONE, TAGS, FILED, replace(ALONE, collection="")])
async def test_another_account_than_that_of_the_library_is_never_written_to(
    zotero: ZoteroServer, change: Change
) -> None:
    way = into(zotero)
    with pytest.raises(ZoteroError, match="another account"):
        await way.apply(change, NEVER, home=Home(12))
    assert zotero.writes == []
    assert (await way.apply(change, NEVER, home=Home(4711))).route == zotero.place


async def test_a_library_read_from_zotero_org_is_written_there_though_a_zotero_runs_here() -> None:
    with ZoteroServer() as here, ZoteroServer("web", keys={"good": Rights()}) as org:
        filled(org)
        way = writing(MemoryKeyring({"zotero-web": "good"}), local=here.local, web=org.web)
        assert (await way.apply(NOTE, NEVER, home=Home(4711, web=True))).route == "web"
        assert here.requests == []
        without = writing(local=here.local, web=org.web)
        assert "no key of zotero.org" in await without.refusal("u", Home(4711, web=True))


# ---- waiting --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503])
async def test_a_server_that_asks_to_wait_is_not_waited_for_in_a_thread(
    zotero: ZoteroServer, status: int
) -> None:
    way = into(zotero)
    assert await way.refusal("u") == ""
    zotero.answer_next = (status, {"Retry-After": "120"}, "Too many requests")
    with pytest.raises(ZoteroBusy) as caught:
        await way.apply(NOTE, NEVER)
    assert caught.value.retry_after == 120
    assert zotero.writes == []


async def test_a_long_backoff_ends_the_attempt_with_the_time_to_wait(zotero: ZoteroServer) -> None:
    zotero.backoff = 60
    with pytest.raises(ZoteroBusy, match=r"60|59"):
        await into(zotero).apply(NOTE, NEVER)
    assert zotero.writes == []


async def test_every_request_to_this_machine_is_one_that_zotero_takes() -> None:
    with ZoteroServer() as zotero:
        filled(zotero)
        await into(zotero).apply(NOTE, NEVER)
        for request in zotero.requests:
            assert request.headers["host"] == f"127.0.0.1:{zotero.port}"
            assert not request.headers["user-agent"].startswith("Mozilla/")
            assert "origin" not in request.headers
        for write in zotero.writes:
            assert write.headers["zotero-server-id"] == "server-one"


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"User-Agent": "Mozilla/5.0"}])
def test_the_server_of_these_tests_rejects_what_zotero_rejects(headers: dict[str, str]) -> None:
    with ZoteroServer() as zotero:
        request = urllib.request.Request(f"{zotero.local}/", headers={"User-Agent": "x", **headers})
        with pytest.raises(HTTPError) as caught:
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=5)
        caught.value.close()
        assert caught.value.code == 400
