"""Browsing Zotero in the dock: what is listed now, the pages of it, the preview, the tags.

Of two wishes only the newer one is answered: an older reading is cancelled. Nothing is computed here beyond
the lines of the tree.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Final

from PySide6.QtCore import QObject, QTimer, Signal

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.gui.docks.library import ListHead, PlaceRow
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.services.library.browsing import Browsing, Listing, Order, Page, Place, Scope, TagRow
from bibgenie_desktop.services.library.library_room import LibraryRoom
from bibgenie_desktop.services.workspace import Workspace

TYPING_MS: Final = 160
ICONS: Final = {
    "recent": "clock",
    "all": "library",
    "library": "library",
    "collection": "folder",
    "unfiled": "filter",
}


class BrowserPresenter(QObject):
    places_changed = Signal(object, object)
    """The lines of the tree, and the place that is shown."""
    head_changed = Signal(object)
    list_changed = Signal(object, str)
    """The first page of another list, and the line to keep chosen if it is in it."""
    page_ready = Signal(object)
    details_changed = Signal(object)
    tags_ready = Signal(object, object)
    """The tags to choose from, and those chosen."""
    words_changed = Signal(str)
    failed = Signal(object)

    def __init__(self, workspace: Workspace, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace, self._tasks = workspace, tasks
        self._room: LibraryRoom | None = None
        self._state: object = None
        self._listing = Listing(Scope("recent"))
        self._places: tuple[Place, ...] = ()
        self._unfolded: set[Scope] = set()
        self._tag_rows: dict[str, TagRow] = {}
        self._item = ""
        self._total: int | None = None
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._words = ""
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_MS)
        self._typing.timeout.connect(self._on_typed)

    def close(self) -> None:
        self._typing.stop()

    @property
    def listing(self) -> Listing:
        return self._listing

    @property
    def room(self) -> LibraryRoom | None:
        """The library that is browsed."""
        return self._room

    @property
    def busy(self) -> bool:
        return any(not task.done() for task in self._running.values()) or self._typing.isActive()

    # -- the library

    def sync(self) -> None:
        """The library may be another one, or in another state. Cheap where it is not."""
        room = self._workspace.room
        state = room.browsing.state if room is not None else None
        if room is self._room and state is self._state:
            return
        another = room is not self._room
        self._room, self._state = room, state
        if another:
            self._forget()
        if room is None:
            self.head_changed.emit(ListHead("", None, None))
        elif state is None:
            self._begin("list", self._read_first(room.browsing))
        else:
            self._begin("tree", self._read_tree(room.browsing))
            self._read_list(keep=self._item)
            if self._item:
                self.choose_item(self._item)

    def _forget(self) -> None:
        """Nothing of an earlier library is shown any more."""
        for task in self._running.values():
            task.cancel()
        self._typing.stop()
        self._listing, self._words, self._item = Listing(Scope("recent")), "", ""
        self._places, self._unfolded, self._tag_rows, self._total = (), set(), {}, None
        self.words_changed.emit("")
        self.places_changed.emit((), self._listing.scope)
        self.list_changed.emit(Page(0, 0, ()), "")
        self.details_changed.emit(None)

    async def _read_first(self, browsing: Browsing) -> None:
        """What was changed last, until the library itself is there."""
        rows = await browsing.first()
        if browsing.state is None and self._room is not None and browsing is self._room.browsing:
            note = "" if rows else tr("The library is being read…")
            self.head_changed.emit(ListHead(tr("Changed last"), len(rows) or None, None, note=note))
            self.list_changed.emit(Page(len(rows), 0, rows), "")

    # -- the tree

    async def _read_tree(self, browsing: Browsing) -> None:
        self._places = await browsing.tree()
        if not self._unfolded:
            self._unfolded = {Scope("library", "u")}
        self._show_tree()

    def toggle(self, scope: Scope) -> None:
        self._unfolded ^= {scope}
        self._show_tree()

    def _show_tree(self) -> None:
        shown: list[PlaceRow] = []
        hidden: set[Scope] = set()
        for place in self._places:
            inside = place.parent is not None and (
                place.parent in hidden or place.parent not in self._unfolded
            )
            if inside:
                hidden.add(place.scope)
            else:
                unfolded = place.scope in self._unfolded
                shown.append(PlaceRow(place, place_name(place), ICONS[place.scope.kind], unfolded))
        self.places_changed.emit(tuple(shown), self._listing.scope)

    def go(self, scope: Scope) -> None:
        """Shows what lies in a place; the way to it unfolds."""
        parents = {p.scope: p.parent for p in self._places}
        above = parents.get(scope)
        while above is not None:
            self._unfolded.add(above)
            above = parents.get(above)
        if scope != self._listing.scope:
            self._listing = replace(self._listing, scope=scope)
            self._read_list()
        self._show_tree()

    # -- the list

    def search(self, words: str) -> None:
        """While it is typed; asked for when the person pauses."""
        self._words = words
        self._typing.start()

    def _on_typed(self) -> None:
        words = " ".join(self._words.split())
        if words != self._listing.words:
            # A new search begins with the best; without words the newest come first again.
            self._listing = replace(self._listing, words=words, order=None)
            self._read_list()

    def order(self, order: Order | None) -> None:
        self._listing = replace(self._listing, order=order)
        self._read_list(keep=self._item)

    def toggle_tag(self, name: str) -> None:
        tags = self._listing.tags
        tags = tuple(t for t in tags if t != name) if name in tags else (*tags, name)
        self._listing = replace(self._listing, tags=tags)
        self._read_list()

    def _read_list(self, keep: str = "") -> None:
        if self._room is not None and self._state is not None:
            self._begin("list", self._list(self._room.browsing, self._listing, keep))

    async def _list(self, browsing: Browsing, listing: Listing, keep: str) -> None:
        try:
            page = await browsing.page(_asked(listing), 0)
        except UserError as error:
            self.head_changed.emit(self._head(None, error.text))
            self.list_changed.emit(Page(0, 0, ()), "")
            return
        self._total = page.total
        self.head_changed.emit(self._head(page.total, self._note(page, listing)))
        self.list_changed.emit(page, keep)

    def more(self, offset: int) -> None:
        """A page that is about to be seen."""
        if self._room is not None and self._state is not None:
            work = self._page(self._room.browsing, self._listing, offset)
            self._tasks.start(work, "page of the library")

    async def _page(self, browsing: Browsing, listing: Listing, offset: int) -> None:
        try:
            page = await browsing.page(_asked(listing), offset)
        except UserError:
            return
        if listing == self._listing and page.total == self._total:
            self.page_ready.emit(page)

    def _head(self, total: int | None, note: str) -> ListHead:
        listing = self._listing
        scope = _asked(listing).scope
        place = next((p for p in self._places if p.scope == scope), None)
        name = place_name(place) if place is not None else _scope_name(scope)
        tags = tuple(self._tag_rows.get(t, TagRow(t, 0)) for t in listing.tags)
        return ListHead(name, total, listing.order, tags, note, bool(listing.words))

    def _note(self, page: Page, listing: Listing) -> str:
        if page.relaxed:
            return tr("Nothing has all these words; these have some of them.")
        if page.total:
            return ""
        if listing.words and listing.scope.kind not in ("all", "recent"):
            return tr("Nothing in this place has these words.")
        if listing.words:
            return tr("Nothing in the library has these words.")
        return tr("Nothing here has these tags.") if listing.tags else tr("Nothing lies here.")

    # -- tags and preview

    def ask_tags(self) -> None:
        if self._room is not None and self._state is not None:
            self._begin("tags", self._tags(self._room.browsing))

    async def _tags(self, browsing: Browsing) -> None:
        try:
            found = await browsing.tags(self._listing)
        except UserError as error:
            self.failed.emit(error)
            return
        self._tag_rows |= {t.name: t for t in found}
        self.tags_ready.emit(found, self._listing.tags)

    def choose_item(self, full_id: str) -> None:
        """Shows what an item holds; empty for none."""
        self._item = full_id
        if not full_id or self._room is None or self._state is None:
            self.details_changed.emit(None)
        else:
            self._begin("details", self._details(self._room, full_id))

    async def _details(self, room: LibraryRoom, full_id: str) -> None:
        details = await room.details.of(full_id)
        if full_id == self._item:
            self.details_changed.emit(details)

    def show_item(self, full_id: str) -> None:
        """An item that is asked for by name: found by its title, and chosen."""
        if self._room is not None and self._state is not None:
            self._begin("list", self._show_item(self._room, full_id))

    async def _show_item(self, room: LibraryRoom, full_id: str) -> None:
        row = await room.browsing.row(full_id)
        if row is None or row.icon == "note":  # a search looks for items only
            self.choose_item(full_id if row is not None else "")
            return
        self._words = " ".join(row.title.split())
        self._listing = Listing(Scope("library", full_id.partition("-")[0]), self._words)
        self.words_changed.emit(self._words)
        self._show_tree()
        await self._list(room.browsing, self._listing, full_id)
        self.choose_item(full_id)

    def _begin(self, what: str, work: Coroutine[Any, Any, Any]) -> None:
        before = self._running.get(what)
        if before is not None:
            before.cancel()
        task = self._tasks.start(work, f"library {what}")
        if task is not None:
            self._running[what] = task


def _asked(listing: Listing) -> Listing:
    """A search looks beyond what came last: “Recently added” is where one stands, not where one looks."""
    return (
        replace(listing, scope=Scope("all")) if listing.words and listing.scope.kind == "recent" else listing
    )


def place_name(place: Place) -> str:
    return place.name or _scope_name(place.scope)


def _scope_name(scope: Scope) -> str:
    names = {
        "recent": tr("Recently added"),
        "all": tr("All libraries"),
        "library": tr("My Library"),
        "unfiled": tr("Unfiled"),
    }
    return names.get(scope.kind, "")
