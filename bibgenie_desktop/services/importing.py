"""Reads back what `export --format json` wrote. Everything is checked, nothing in the file is trusted."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast, get_args

from bibgenie_desktop.domain.codec import (
    InvalidContent,
    draft_from_json,
    ledger_from_json,
    loads,
    parts_from_json,
    usage_from_json,
)
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.ids import MessageId, TreeId
from bibgenie_desktop.domain.messages import (
    AssistantMessage,
    Checkpoint,
    Message,
    Status,
    Trigger,
    UserMessage,
)
from bibgenie_desktop.domain.parts import Part, ToolPart
from bibgenie_desktop.services.export.whole import FORMAT, VERSION
from bibgenie_desktop.services.images import MOST_BYTES
from bibgenie_desktop.storage.importing import WholeConversation
from bibgenie_desktop.storage.values import Blob, StoredDraft

MOST_FILE_BYTES: Final = 500_000_000
MIMES: Final = ("image/png", "image/jpeg")
"""What pictures are kept as."""
UNDER_WAY: Final = "The answer was under way when this was exported."
OPEN_CALL: Final = "This call had no result when this was exported."
_ELSEWHERE: Final = TreeId("elsewhere")
_MOST: Final = 1 << 53


class NotImported(UserError):
    """A file that is no conversation, or not one that can be taken."""


def looks_exported(beginning: bytes) -> bool:
    """Whether a file may be such an export, by its first bytes."""
    return f'"{FORMAT}"'.encode() in beginning[:500]


def read_export(data: bytes) -> WholeConversation:
    """For a thread: takes a while for a long conversation. Raises `NotImported`."""
    if len(data) > MOST_FILE_BYTES:
        raise NotImported("This file is too large to be imported.", "At most 500 MB can be.")
    try:
        value = loads(data.decode("utf-8"))
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise NotImported("This file is no exported conversation.", "Choose one that ends in .json.")
        version = value.get("version")
        if not isinstance(version, int) or version > VERSION:
            raise NotImported(
                "This file was exported by a newer version.", "Update BibGenie, then import it."
            )
        if value.get("broken"):
            raise NotImported(
                "This conversation was damaged when it was exported.",
                "Copy its readable part into a new session there, and export that.",
            )
        return _whole(value)
    except InvalidContent as error:
        raise NotImported("This file is damaged.", error.reason) from error
    except UnicodeDecodeError as error:
        raise NotImported("This file is damaged.", "It is not UTF-8 text.") from error


def _whole(value: Mapping[str, Any]) -> WholeConversation:
    session = _object(value, "session")
    messages = [_message(_as_object(each, "A message")) for each in _list(value, "messages")]
    leaf = _optional_text(session, "leaf_id")
    leaf_id = MessageId(leaf) if leaf is not None else None
    pending = value.get("pending_reply")
    if pending is not None:
        ended = _ended(_as_object(pending, "The answer under way"), messages)
        messages.append(ended)
        leaf_id = ended.id if leaf_id in (None, ended.parent_id) else leaf_id
    return WholeConversation(
        title=_text(session, "title"),
        model=_text(session, "model"),
        leaf_id=leaf_id,
        messages=tuple(messages),
        drafts=tuple(_draft(_as_object(each, "A draft")) for each in _list(value, "drafts")),
        blobs=tuple(_blob(_as_object(each, "A picture")) for each in _list(value, "blobs")),
    )


def _message(value: Mapping[str, Any]) -> Message:
    id, parent = MessageId(_text(value, "id")), _optional_text(value, "parent_id")
    depth, created_at = _number(value, "depth"), _number(value, "created_at")
    kind = _text(value, "kind")
    if kind == "user":
        above = MessageId(parent) if parent is not None else None
        return UserMessage(id, _ELSEWHERE, above, depth, parts_from_json(value.get("parts")), created_at)
    if parent is None:
        raise InvalidContent("An answer or a summary has no message before it.")
    if kind == "assistant":
        return AssistantMessage(
            id=id,
            tree_id=_ELSEWHERE,
            parent_id=MessageId(parent),
            depth=depth,
            parts=parts_from_json(value.get("parts")),
            status=cast(Status, _one_of(value, "status", get_args(Status))),
            model=_text(value, "model"),
            usage=usage_from_json(value.get("usage")),
            created_at=created_at,
            error=_text(value, "error"),
        )
    if kind == "checkpoint":
        kept = _optional_text(value, "first_kept_id")
        return Checkpoint(
            id=id,
            tree_id=_ELSEWHERE,
            parent_id=MessageId(parent),
            depth=depth,
            first_kept_id=MessageId(kept) if kept is not None else None,
            summary=_text(value, "summary"),
            ledger=ledger_from_json(value.get("ledger")),
            ledger_projected=_text(value, "ledger_projected"),
            trigger=cast(Trigger, _one_of(value, "trigger", get_args(Trigger))),
            head_leaf_id=MessageId(_text(value, "head_leaf_id")),
            head_revision=_number(value, "head_revision"),
            tokens_before=_number(value, "tokens_before"),
            tokens_after=_number(value, "tokens_after"),
            model=_text(value, "model"),
            created_at=created_at,
            imported=True,
            usage=usage_from_json(value.get("usage")),
        )
    raise InvalidContent(f"A message is of the unknown kind “{kind[:40]}”.")


def _ended(value: Mapping[str, Any], messages: list[Message]) -> AssistantMessage:
    """The answer under way as one that was interrupted."""
    parent = MessageId(_text(value, "parent_id"))
    asked = next((message for message in messages if message.id == parent), None)
    if asked is None:
        raise InvalidContent("The answer under way belongs to no message.")
    parts = parts_from_json(value.get("parts"), unfinished=True)
    return AssistantMessage(
        id=MessageId(_text(value, "message_id")),
        tree_id=_ELSEWHERE,
        parent_id=parent,
        depth=asked.depth + 1,
        parts=tuple(map(_closed, parts)),
        status="interrupted",
        model=_text(value, "model"),
        usage=usage_from_json(value.get("usage")),
        created_at=_number(value, "updated_at"),
        error=UNDER_WAY,
    )


def _closed(part: Part) -> Part:
    if not isinstance(part, ToolPart) or part.state != "pending":
        return part
    return replace(part, state="interrupted", result=OPEN_CALL, sent=OPEN_CALL)


def _draft(value: Mapping[str, Any]) -> StoredDraft:
    edits = _optional_text(value, "edits_message_id")
    draft = draft_from_json(value.get("content"))
    return StoredDraft(MessageId(edits) if edits is not None else None, draft, _number(value, "updated_at"))


def _blob(value: Mapping[str, Any]) -> Blob:
    try:
        data = base64.b64decode(_text(value, "data"), validate=True)
    except binascii.Error as error:
        raise InvalidContent("A picture is not coded as it should be.") from error
    name = _text(value, "sha256")
    if hashlib.sha256(data).hexdigest() != name:
        raise InvalidContent("A picture is not the one its name says.")
    if len(data) > MOST_BYTES:
        raise InvalidContent("A picture is larger than any this application keeps.")
    mime = _one_of(value, "mime", MIMES)
    return Blob(name, mime, data, _number(value, "width"), _number(value, "height"))


# Fields


def _as_object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidContent(f"{what} is not an object.")
    return value


def _object(source: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return _as_object(source.get(key), f"The field “{key}”")


def _list(source: Mapping[str, Any], key: str) -> list[object]:
    value = source.get(key, [])
    if not isinstance(value, list):
        raise InvalidContent(f"The field “{key}” is not a list.")
    return value


def _text(source: Mapping[str, Any], key: str) -> str:
    value = source.get(key)
    if not isinstance(value, str):
        raise InvalidContent(f"The field “{key}” is missing or not text.")
    return value


def _optional_text(source: Mapping[str, Any], key: str) -> str | None:
    return None if source.get(key) is None else _text(source, key)


def _number(source: Mapping[str, Any], key: str) -> int:
    value = source.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _MOST:
        raise InvalidContent(f"The field “{key}” is missing or not a whole number.")
    return value


def _one_of(source: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    value = _text(source, key)
    if value not in allowed:
        raise InvalidContent(f"The field “{key}” has the unknown value “{value[:40]}”.")
    return value
