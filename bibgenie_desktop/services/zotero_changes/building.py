"""From a model's words, or the person's, to a change: checked against the library, and as a card.

Whatever does not fit is a sentence that says what would.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, get_args

from bibgenie_desktop.domain.citations import citations_in
from bibgenie_desktop.domain.locators import split_id
from bibgenie_desktop.domain.mend import mended_text
from bibgenie_desktop.services.tools.arguments import BadArguments
from bibgenie_desktop.services.tools.base import Card
from bibgenie_desktop.services.tools.targets import unknown_id
from bibgenie_desktop.services.zotero_changes.lines import shown_lines, signed, split_list, visible
from bibgenie_desktop.services.zotero_changes.naming import LibraryNaming
from bibgenie_desktop.zotero.model.library import Collection, Contents, Item, Library
from bibgenie_desktop.zotero.model.links import item_label
from bibgenie_desktop.zotero.online.changes import Change, CollectionChange, Kind, NoteChange, TagsChange
from bibgenie_desktop.zotero.online.note_html import MOST, note_html
from bibgenie_desktop.zotero.service import ZoteroLibrary

KINDS: Final = get_args(Kind)
LONGEST_TAG: Final = 255
_SHOWN: Final = 12


class ChangeBuilder:
    """Belongs to one library."""

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    @property
    def _contents(self) -> Contents:
        return self._library.contents

    def change(self, kind: str, target: str, content: str) -> Change:
        """Raises `BadArguments`. `target` is an id; of a note also a collection's or a library's."""
        content = mended_text(content)
        if kind not in KINDS:
            raise BadArguments(f"kind is one of: {', '.join(KINDS)}.")
        if not content.strip():
            raise BadArguments("content is missing: the note's Markdown, or one tag or collection a line.")
        if kind == "note":
            return self._note(target.strip(), content.strip())
        item = self._item(target.strip())
        add, remove = signed(content)
        if kind == "tags":
            return self._tags(item, add, remove)
        return self._filed(item, add, remove)

    def one_a_line(self, kind: str, content: str) -> str:
        """A model's text with each name on a line of its own, where it has listed them with commas."""
        if kind not in ("tags", "collection"):
            return content
        contents = self._contents
        known = {t.name for i in contents.items.values() for t in i.tags} if kind == "tags" else set()
        return split_list(
            content, known | {name for c in contents.collections for name in (c.name, c.display)}
        )

    def card(self, kind: str, target: str, content: str, change: Change) -> Card:
        """What the person is shown: the question, where, and exactly what would be written."""
        match change:
            case NoteChange():
                title, where = "Save this note in Zotero?", self._place(change)
                return Card(title, where, change.markdown, "note", target, library=change.library)
            case TagsChange():
                title = "Change tags in Zotero?" if change.remove else "Add tags in Zotero?"
                where, lines = self._named(change), shown_lines(mended_text(content))
                return Card(
                    title, where, lines, "tags", target, change.add, change.remove, library=change.library
                )
            case CollectionChange():
                title = "Change collections in Zotero?" if change.remove else "Add to a collection in Zotero?"
                names = {c.id.partition("-")[2]: c.display for c in self._contents.collections}
                return Card(
                    title,
                    self._named(change),
                    shown_lines(mended_text(content)),
                    "collection",
                    target,
                    tuple(names[k] for k in change.add),
                    tuple(names[k] for k in change.remove),
                    library=change.library,
                )

    # -- notes

    def _note(self, target: str, content: str) -> NoteChange:
        library, parent, collection = self._home(target)
        naming = LibraryNaming(self._library)
        unknown = [c.id for c in citations_in(content) if naming.cited(c.id, c.page, c.quote) is None]
        if unknown:
            said = " ".join(unknown_id(self._library, i) for i in dict.fromkeys(unknown))
            raise BadArguments(f"The note cites what is not there. {said}")
        html = note_html(content, naming)
        if len(html) > MOST:
            raise BadArguments(f"The note is too long: {len(html):,} of {MOST:,} characters. Shorten it.")
        return NoteChange(library.id, content, html, parent, collection)

    def _home(self, target: str) -> tuple[Library, str, str]:
        """Library, parent item and collection of a note, the last two empty where it has none."""
        for library in self._contents.libraries:
            if target in (library.id, library.name):
                return library, "", ""
        for collection in self._contents.collections:
            if collection.id == target and not collection.trashed:
                return collection.library, "", collection.id.partition("-")[2]
        if not target:
            raise BadArguments(
                "target is missing: an item's id, a collection's id, or a library (u, g12345)."
            )
        item = self._item(target)
        if item.type == "attachment":
            return item.library, "", ""
        return item.library, item.key, ""

    def _place(self, change: NoteChange) -> str:
        library = next(lib for lib in self._contents.libraries if lib.id == change.library)
        if change.parent:
            item = self._contents.items[f"{change.library}-{change.parent}"]
            return f"Child note of {item_label(item)}: {item.title}"
        if change.collection:
            found = next(
                c for c in self._contents.collections if c.id == f"{change.library}-{change.collection}"
            )
            return f"A note of its own in {found.display} ({library.name})"
        return f"A note of its own in {library.name}"

    # -- items, tags, collections

    def _item(self, target: str) -> Item:
        """The work that an id means; of an attachment the work it belongs to."""
        parts = split_id(target)
        contents = self._contents
        full_id = f"{parts[0]}-{parts[1]}" if parts else target
        attachment = contents.attachments.get(full_id)
        item = contents.items.get(attachment.item_id if attachment else full_id)
        if item is None:
            raise BadArguments(unknown_id(self._library, target))
        return item

    def _named(self, change: TagsChange | CollectionChange) -> str:
        item = self._contents.items[f"{change.library}-{change.item}"]
        return f"{item_label(item)}: {item.title}"

    def _tags(self, item: Item, add: Sequence[str], remove: Sequence[str]) -> TagsChange:
        has = {t.name for t in item.tags}
        # Tags of Zotero may hold signs that cannot be seen: they are meant by what is seen of them.
        seen = {visible(name): name for name in sorted(has)}
        add, remove = ([n if n in has else seen.get(n, n) for n in names] for names in (add, remove))
        long = [t for t in (*add, *remove) if len(t) > LONGEST_TAG]
        if long:
            raise BadArguments(
                f"A tag has at most {LONGEST_TAG} characters: {long[0][:60]}… has {len(long[0])}."
            )
        absent = [t for t in remove if t not in has]
        if absent:
            raise BadArguments(
                f"{item.id} does not have: {', '.join(absent)}. Its tags: {_listed(sorted(has))}."
            )
        new = tuple(t for t in add if t not in has)
        if not new and not remove:
            raise BadArguments(f"{item.id} has these tags already.")
        return TagsChange(item.library.id, item.key, new, tuple(remove))

    def _filed(self, item: Item, add: Sequence[str], remove: Sequence[str]) -> CollectionChange:
        entering = [self._collection(name, item.library) for name in add]
        leaving = [self._collection(name, item.library) for name in remove]
        has = {c.id: c for c in item.collections}
        absent = [c.display for c in leaving if c.id not in has]
        if absent:
            where = _listed([c.display for c in has.values()])
            raise BadArguments(f"{item.id} is not in: {', '.join(absent)}. Its collections: {where}.")
        new = [c for c in entering if c.id not in has]
        if not new and not leaving:
            raise BadArguments(f"{item.id} is in these collections already.")
        return CollectionChange(
            item.library.id,
            item.key,
            tuple(c.id.partition("-")[2] for c in new),
            tuple(c.id.partition("-")[2] for c in leaving),
        )

    def _collection(self, name: str, library: Library) -> Collection:
        """By id, path or name, in the library of the item."""
        here = [c for c in self._contents.collections if c.library.id == library.id and not c.trashed]
        plain = " / ".join(part.strip() for part in name.split("/")).casefold()
        exact = [c for c in here if c.id == name] or [c for c in here if c.display.casefold() == plain]
        found = exact or [c for c in here if c.name.casefold() == name.strip().casefold()]
        if len(found) == 1:
            return found[0]
        if found:
            same = _listed([f"{c.display} ({c.id})" for c in found])
            raise BadArguments(f"There are several collections {name[:80]!r}: {same}.")
        raise BadArguments(
            f"There is no collection {name[:80]!r} in {library.name}; new ones are made in Zotero. "
            f"There are: {_listed(sorted(c.display for c in here))}."
        )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown or "none"
