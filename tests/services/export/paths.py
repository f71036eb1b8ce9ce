"""A conversation with everything an export has to show, as values and in a real store."""

from __future__ import annotations

from hashlib import sha256

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.locators import Locator, Resource
from bibgenie_desktop.domain.messages import Session
from bibgenie_desktop.domain.parts import (
    Draft,
    ImagePart,
    Part,
    ReasoningPart,
    ResourcePart,
    TextPart,
    ToolPart,
)
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.storage.store import Store
from tests.storage.helpers import MODEL, compacted, reply_id, turn

PAGE = Resource(Locator("u", "pdf", "AAAA2222", "BBBB3333", page_index=3, page_label="218"), "Hu 2020: Sleep")
ITEM = Resource(Locator("g77", "item", "CCCC4444"), "Rasch 2013: Memory")
MARK = '[[u-BBBB3333 p.4 "sleep helps"]]'
SHOWN_BYTES = b"\x89PNG page 4"
SHOWN = ToolPart(
    "c3",
    "view_page",
    {"attachment_id": "u-BBBB3333", "page": "4"},
    "done",
    0,
    sent="Page 4 is shown.",
    note="p. 218",
    images=(ImagePart(sha256(SHOWN_BYTES).hexdigest(), "Hu 2020, p. 218", "image/png", 909, 1286),),
)
ANSWER: tuple[Part, ...] = (
    ReasoningPart("the hidden thought", 0, {"signature": "c2lnbmVk"}),
    TextPart("Looking.", 0),
    ToolPart(
        "c1",
        "search_items",
        {"query": "sleep `now`"},
        "done",
        0,
        result="whole",
        sent="cut",
        resources=(PAGE, ITEM),
        note="2 items",
    ),
    SHOWN,
    ToolPart("c2", "read_document", {"id": "u-XXXX2222"}, "error", 0, result="no", sent="no"),
    TextPart(f"It **helps** {MARK}, see [[g77-CCCC4444]] and [[u-BBBB3333 p.2]].", 1),
)
USAGE = (
    Usage("local", "http://127.0.0.1:1/v1", "model:1b", 100, 20, cache_read=40),
    Usage("local", "http://127.0.0.1:1/v1", "model:1b", 180, 30, step=1),
)


def told(store: Store) -> Session:
    """Two branches, a checkpoint, a picture, an attached resource, a failed answer, a draft."""
    session = store.create_session("Sleep & <memory>", MODEL)
    picture = store.put_blob(b"\x89PNG picture", "image/png", 4, 3)
    store.put_blob(SHOWN_BYTES, "image/png", 909, 1286)
    question = (
        ImagePart(picture, "figure <1>.png", "image/png", 4, 3),
        ResourcePart(PAGE.locator, "Hu 2020", "the page's text"),
        TextPart("Does *sleep* help?\n\n<script>alert(1)</script> [x](javascript:alert(2))"),
    )
    session, asked, _ = store.send(session.id, session.head, question, reply_id(store), MODEL)
    ended = store.finish(session.id, "complete", "", ANSWER, USAGE)
    session, _, second = turn(store, ended.session, "And naps?", "```\nleft open", "stopped")
    session, _ = compacted(store, session, second, None)
    session, _, _ = turn(store, session, "Thanks", "Welcome 😀")
    store.retry(session.id, session.head, asked.id, MessageId(reply_id(store)), "other/model")
    failed = store.finish(session.id, "failed", "The provider is down.", (), ())
    session = store.switch(session.id, failed.session.head, session.leaf_id or MessageId(""))
    store.save_draft(session.id, None, Draft("a thought"))
    return store.session(session.id)
