"""The JSON of a whole tree: read back, it is what was stored."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from bibgenie_desktop.domain.codec import (
    draft_from_json,
    ledger_from_json,
    parts_from_json,
    usage_from_json,
)
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Message, Session, UserMessage
from bibgenie_desktop.domain.parts import Draft, TextPart, ToolPart
from bibgenie_desktop.services.export import gather, write
from tests.services.export.paths import SHOWN, SHOWN_BYTES, told
from tests.storage.helpers import MODEL, conversation, damaged, database, opened, reply_id


def read_back(value: dict[str, Any], session: Session) -> Message:
    """The message that an entry describes; every field is taken from the file."""
    entry = {**value, "tree_id": session.tree_id}
    kind = entry.pop("kind")
    for name, decode in (
        ("parts", parts_from_json),
        ("usage", usage_from_json),
        ("ledger", ledger_from_json),
    ):
        if name in entry:
            entry[name] = decode(entry[name])
    made: dict[str, type[Message]] = {
        "user": UserMessage,
        "assistant": AssistantMessage,
        "checkpoint": Checkpoint,
    }
    return made[kind](**entry)


def test_every_node_of_every_branch_comes_back_as_it_was(tmp_path: Path) -> None:
    with opened(database(tmp_path)) as store:
        session = told(store)
        whole = json.loads(write(gather(store, session.id), "json"))
        nodes = store.nodes(session.tree_id)
        assert len(nodes) == 8
        assert [read_back(value, session) for value in whole["messages"]] == list(nodes)
        assert Session(**whole["session"]) == session
        assert (whole["format"], whole["version"], whole["broken"]) == ("bibgenie-conversation", 1, [])
        (draft,) = whole["drafts"]
        assert draft["edits_message_id"] is None
        assert draft_from_json(draft["content"]) == Draft("a thought")
        assert [base64.b64decode(b["data"]) for b in whole["blobs"]] == [b"\x89PNG picture", SHOWN_BYTES]
        attached, shown = whole["blobs"]
        assert (attached["mime"], attached["width"], attached["height"]) == ("image/png", 4, 3)
        assert shown["sha256"] == SHOWN.images[0].blob


def test_the_answer_under_way_is_in_it(tmp_path: Path) -> None:
    parts = (TextPart("so far"), ToolPart("c1", "search_items", {}, "pending"))
    with opened(database(tmp_path)) as store:
        session = store.create_session("", MODEL)
        _, asked, pending = store.send(session.id, session.head, (TextPart("q"),), reply_id(store), MODEL)
        store.save_pending(session.id, parts)
        found = json.loads(write(gather(store, session.id), "json"))["pending_reply"]
    assert (found["message_id"], found["parent_id"]) == (pending.message_id, asked.id)
    assert parts_from_json(found["parts"], unfinished=True) == parts


def test_a_node_that_cannot_be_read_is_named_and_costs_no_other(tmp_path: Path) -> None:
    path = database(tmp_path)
    with opened(path) as store:
        session, asked, _ = conversation(store, 2)
    damaged(path, ("UPDATE message SET parts = '{' WHERE id = ?", (asked[0].id,)))
    with opened(path) as store:
        whole = json.loads(write(gather(store, session.id), "json"))
    assert whole["broken"] == [
        {"id": asked[0].id, "parent_id": None, "reason": "The content is not readable JSON."}
    ]
    assert len(whole["messages"]) == 3


def test_a_fork_exports_the_tree_it_shares(tmp_path: Path) -> None:
    with opened(database(tmp_path)) as store:
        session, _, answers = conversation(store, 2)
        fork = store.fork(session.id, MessageId(answers[0].id), "fork")
        whole = json.loads(write(gather(store, fork.id), "json"))
    assert whole["session"]["leaf_id"] == answers[0].id
    assert whole["session"]["origin_session_id"] == session.id
    assert len(whole["messages"]) == 4
