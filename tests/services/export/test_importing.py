"""What was exported comes back as it was, also beside itself; what breaks a rule is refused as a whole."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Session
from bibgenie_desktop.domain.parts import Draft, TextPart, ToolPart, images_of
from bibgenie_desktop.services.export import gather, write
from bibgenie_desktop.services.importing import looks_exported, read_export
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.values import NotFound
from tests.harness import Soak
from tests.services.export.paths import SHOWN, SHOWN_BYTES, told
from tests.storage.helpers import MODEL, conversation, database, opened, reply_id


def exported(store: Store, session: Session) -> str:
    return write(gather(store, session.id), "json")


def taken(store: Store, text: str) -> Session:
    return store.import_whole(read_export(text.encode()))


def shape(text: str) -> Any:
    """An export without what names and dates give: two of the same conversation are equal in it."""
    whole = json.loads(text)
    ids = {m["id"]: f"m{n}" for n, m in enumerate(whole["messages"])}
    ids |= {whole["session"]["id"]: "session", whole["session"]["tree_id"]: "tree"}
    for old, new in ids.items():
        text = text.replace(old, new)
    whole = json.loads(text)
    for key in ("created_at", "updated_at", "branch_revision"):
        whole["session"].pop(key)
    for draft in whole["drafts"]:
        draft.pop("updated_at")
    for message in whole["messages"]:
        message.pop("imported", None)
    return whole


def test_conversation_comes_into_another_database_as_it_was(tmp_path: Path) -> None:
    with opened(database(tmp_path / "a")) as origin:
        session = told(origin)
        text = exported(origin, session)
        nodes = origin.nodes(session.tree_id)
    with opened(database(tmp_path / "b"), start=100_000) as store:
        copy = taken(store, text)
        assert (copy.title, copy.model, copy.leaf_id) == (session.title, session.model, session.leaf_id)
        got = store.nodes(copy.tree_id)
        marked = [replace(n, imported=True) if isinstance(n, Checkpoint) else n for n in nodes]  # type: ignore[type-var]
        assert list(got) == [replace(n, tree_id=copy.tree_id) for n in marked]  # type: ignore[type-var]
        assert store.blob(SHOWN.images[0].blob).data == SHOWN_BYTES
        assert store.draft(copy.id) == Draft("a thought")
        assert shape(exported(store, copy)) == shape(text)
        assert store.check_session(copy.id) is None


def test_conversation_beside_itself_gets_names_of_its_own(tmp_path: Path) -> None:
    with opened(database(tmp_path)) as store:
        session = told(store)
        text = exported(store, session)
        before = {n.id for n in store.nodes(session.tree_id)}
        copy = taken(store, text)
        after = {n.id for n in store.nodes(copy.tree_id)}
        assert len(after) == len(before)
        assert not before & after
        assert shape(exported(store, copy)) == shape(text)
        again = taken(store, exported(store, copy))
        assert shape(exported(store, again)) == shape(text)
        assert exported(store, session) == text
        sent = store.send(copy.id, copy.head, (TextPart("And now?"),), reply_id(store), MODEL)
        assert sent[0].branch_revision == 1


def test_answer_under_way_comes_back_as_interrupted(tmp_path: Path) -> None:
    with opened(database(tmp_path)) as store:
        session, _, _ = conversation(store, 1)
        _, _, _ = store.send(session.id, session.head, (TextPart("More?"),), reply_id(store), MODEL)
        parts = (TextPart("so far"), ToolPart("c1", "search_items", {}, "pending"))
        store.save_pending(session.id, parts, ())
        copy = taken(store, exported(store, session))
        assert copy.leaf_id is not None
        answer = store.path_to(copy.leaf_id)[-1]
        assert isinstance(answer, AssistantMessage)
        assert (answer.status, answer.parts[0]) == ("interrupted", TextPart("so far"))
        assert isinstance(answer.parts[1], ToolPart)
        assert (answer.parts[1].state, answer.parts[1].sent) == (
            "interrupted",
            "This call had no result when this was exported.",
        )


def at(*path: Any) -> Callable[[Any, Any], None]:
    def put(whole: Any, value: Any) -> None:
        for key in path[:-1]:
            whole = whole[key]
        whole[path[-1]] = value

    return put


@pytest.mark.parametrize(
    ("change", "value", "said"),
    [
        (at("format"), "recipe", "no exported conversation"),
        (at("version"), 2, "newer version"),
        (at("version"), None, "newer version"),
        (at("broken"), [{"id": "x"}], "damaged when it was exported"),
        (at("session"), None, "session"),
        (at("messages"), {}, "not a list"),
        (at("messages", 1, "kind"), "oracle", "oracle"),
        (at("messages", 0, "parts"), [{"type": "hologram"}], "hologram"),
        (at("messages", 1, "status"), "asleep", "asleep"),
        (at("messages", 1, "parent_id"), None, "no message before it"),
        (at("messages", 1, "parent_id"), "elsewhere", "missing from the file"),
        (at("messages", 1, "depth"), 7, "not at the place"),
        (at("messages", 1, "depth"), -1, "depth"),
        (at("messages", 1, "created_at"), "now", "created_at"),
        (at("session", "leaf_id"), "elsewhere", "missing from the file"),
        (at("blobs", 0, "data"), base64.b64encode(b"other").decode(), "not the one its name says"),
        (at("blobs", 0, "data"), "%%%", "not coded"),
        (at("blobs", 0, "mime"), "text/html", "text/html"),
        (at("drafts", 0, "content"), 5, "draft"),
    ],
)
def test_file_that_breaks_a_rule_is_refused_and_nothing_is_written(
    tmp_path: Path, change: Callable[[Any, Any], None], value: Any, said: str
) -> None:
    with opened(database(tmp_path)) as store:
        whole = json.loads(exported(store, told(store)))
        change(whole, value)
        count = len(store.sessions())
        with pytest.raises(UserError, match=said):
            taken(store, json.dumps(whole))
        assert len(store.sessions()) == count


def test_boundary_behind_an_earlier_one_and_a_circle_are_refused(tmp_path: Path) -> None:
    with opened(database(tmp_path)) as store:
        whole = json.loads(exported(store, told(store)))
        point = next(m for m in whole["messages"] if m["kind"] == "checkpoint")
        foreign = next(m for m in whole["messages"] if m["kind"] == "user" and m["depth"] > point["depth"])
        point["first_kept_id"] = foreign["id"]
        with pytest.raises(UserError, match="cannot be imported"):
            taken(store, json.dumps(whole))
        whole = json.loads(exported(store, told(store)))
        first, second = whole["messages"][0], whole["messages"][1]
        first["parent_id"], first["depth"] = second["id"], 2
        with pytest.raises(UserError, match="cannot be imported"):
            taken(store, json.dumps(whole))
        whole["messages"].append(whole["messages"][2])
        with pytest.raises(UserError, match="same id"):
            taken(store, json.dumps(whole))


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b'{"format": 1e999}', b"[" * 5_000])
def test_what_is_no_export_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(UserError):
        read_export(data)
    assert not looks_exported(data)


def test_pictures_of_answers_and_drafts_are_all_there(tmp_path: Path) -> None:
    with opened(database(tmp_path / "a")) as origin:
        text = exported(origin, told(origin))
    assert looks_exported(text.encode())
    with opened(database(tmp_path / "b"), start=100_000) as store:
        copy = taken(store, text)
        parts = [p for n in store.nodes(copy.tree_id) if not isinstance(n, Checkpoint) for p in n.parts]  # type: ignore[union-attr]
        hashes = [image.blob for image in images_of(parts)]
        assert len(hashes) == 2
        for one in hashes:
            assert store.blob(one).data.startswith(b"\x89PNG")
        with pytest.raises(NotFound):
            store.blob("ab" * 32)


def test_mutated_exports_are_taken_whole_or_refused(tmp_path: Path, soak: Soak) -> None:
    with opened(database(tmp_path)) as store:
        text = exported(store, told(store)).encode()
        for seed in soak.seeds(150, 5_000):
            rng = random.Random(seed)
            data = bytearray(text)
            for _ in range(rng.choice((1, 2, 5))):
                at = rng.randrange(len(data))
                data[at : at + rng.choice((0, 1, 3))] = rng.choice(
                    (b"", b"1", b'"', b"null", b"-", rng.randbytes(1))
                )
            count = len(store.sessions())
            try:
                copy = store.import_whole(read_export(bytes(data)))
            except UserError:
                assert len(store.sessions()) == count, seed
            else:
                assert store.check_session(copy.id) is None, seed
