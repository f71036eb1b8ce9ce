"""Changes to a Zotero library as values: a new note, tags of an item, its collections; and what was done.

They are plain JSON as well, for the journal. Nothing here writes.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from bibgenie_desktop.domain.numbers import whole_number
from bibgenie_desktop.zotero.notes.note_markdown import note_markdown

KEY_LETTERS: Final = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"
Kind: TypeAlias = Literal["note", "tags", "collection"]
RouteName: TypeAlias = Literal["local", "web"]


@dataclass(frozen=True, slots=True)
class NoteChange:
    """A new note: under the item `parent`, else alone, in `collection` where one is named.

    `html` is made from `markdown`. `key` is the note's own key, chosen before anything is sent: sent twice it
    makes one note.
    """

    library: str
    markdown: str
    html: str
    parent: str = ""
    collection: str = ""
    key: str = ""

    @property
    def kind(self) -> Kind:
        return "note"


@dataclass(frozen=True, slots=True)
class TagsChange:
    """Tags that an item gets and loses."""

    library: str
    item: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        return "tags"


@dataclass(frozen=True, slots=True)
class CollectionChange:
    """Collections, by key, that an item enters and leaves."""

    library: str
    item: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        return "collection"


Change: TypeAlias = NoteChange | TagsChange | CollectionChange


@dataclass(frozen=True, slots=True)
class Done:
    """What was really changed: `key` is the new note, or the item.

    `added` and `removed` are without what was so before; `automatic`: those of the removed tags that Zotero
    had set itself. `digest` tells whether a note was changed since. `already`: nothing had to be written.
    `user_id` is the account that has it, 0 where that is not known. `trashed`: a note that lies in the trash.
    `gone`: what was to be taken back is not there any more.
    """

    route: RouteName
    library: str
    key: str
    version: int = 0
    server_id: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    automatic: tuple[str, ...] = ()
    digest: str = ""
    already: bool = False
    user_id: int = 0
    trashed: bool = False
    gone: bool = False

    @property
    def id(self) -> str:
        return f"{self.library}-{self.key}"


@dataclass(frozen=True, slots=True)
class Home:
    """Whose library a change is about: the account's number, 0 where it is not known.

    `web`: it was read from zotero.org, and is written there.
    """

    user_id: int = 0
    web: bool = False


def home_of(account: str, *, web: bool) -> Home:
    """Of how addresses name the account: `users/12`."""
    number = account.removeprefix("users/")
    return Home(whole_number(number) or 0, web)


def new_key() -> str:
    """A key such as Zotero gives its items."""
    return "".join(secrets.choice(KEY_LETTERS) for _ in range(8))


def with_key(change: Change, key: str = "") -> Change:
    """The change with the key its note will have."""
    return replace(change, key=change.key or key or new_key()) if isinstance(change, NoteChange) else change


def digest_of(html: str) -> str:
    """Of the words of a note, whatever Zotero's editor does to the tags and blank lines around them."""
    words = " ".join(note_markdown(html, "u").split())
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:32]


def change_to_json(change: Change) -> dict[str, Any]:
    return {"kind": change.kind, **asdict(change)}


def change_from_json(data: Mapping[str, Any]) -> Change:
    """Raises `ValueError` for what is no change."""
    given = {k: v for k, v in data.items() if k != "kind"}
    try:
        match data.get("kind"):
            case "note":
                return NoteChange(**given)
            case "tags":
                return TagsChange(**_tuples(given))
            case "collection":
                return CollectionChange(**_tuples(given))
    except TypeError as error:
        raise ValueError("not a change") from error
    raise ValueError("not a change")


def done_to_json(done: Done) -> dict[str, Any]:
    return {k: v for k, v in asdict(done).items() if v or k == "version"}


def done_from_json(data: Mapping[str, Any]) -> Done:
    """Raises `ValueError` for what tells nothing."""
    try:
        return Done(**_tuples(data))
    except TypeError as error:
        raise ValueError("not a result") from error


def _tuples(data: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
