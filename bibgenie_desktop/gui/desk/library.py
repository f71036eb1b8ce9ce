"""The library in the window: the dock's wishes, things of Zotero on their way into a question, mentions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import QObject, QPoint, QRect, Signal
from PySide6.QtGui import QTextCursor

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.parts import ResourcePart
from bibgenie_desktop.gui.conversation.message import copy_to_clipboard
from bibgenie_desktop.gui.desk.opening import Opening
from bibgenie_desktop.gui.desk.referencing import ReferencingDesk
from bibgenie_desktop.gui.desk.writing import Writing
from bibgenie_desktop.gui.popovers.mentions import MentionList
from bibgenie_desktop.gui.presenters.chat import ChatPresenter
from bibgenie_desktop.gui.presenters.library import LibraryPresenter
from bibgenie_desktop.gui.presenters.library_browser import BrowserPresenter
from bibgenie_desktop.gui.presenters.mentions import MentionsPresenter
from bibgenie_desktop.gui.presenters.sessions import SessionsPresenter
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import plural, tr
from bibgenie_desktop.gui.window import MainWindow
from bibgenie_desktop.services.library.attaching import Attached
from bibgenie_desktop.services.library.browsing import ItemRow
from bibgenie_desktop.services.library.library_room import LibraryRoom
from bibgenie_desktop.services.library.payloads import Payload
from bibgenie_desktop.services.library.referencing import Form
from bibgenie_desktop.services.workspace import Workspace

MOST_AT_ONCE = 30
"""Things that are attached in one go: more would be a library, not a question."""


class LibraryDesk(QObject):
    failed = Signal(object)

    def __init__(
        self,
        window: MainWindow,
        workspace: Workspace,
        library: LibraryPresenter,
        chats: ChatPresenter,
        sessions: SessionsPresenter,
        writing: Writing,
        opening: Opening,
        tasks: Tasks,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._window, self._workspace, self._tasks = window, workspace, tasks
        self._chats, self._sessions, self._writing, self._opening = chats, sessions, writing, opening
        self._composer = window.composer
        self.browser = BrowserPresenter(workspace, tasks, self)
        self.mentions = MentionsPresenter(workspace, tasks, self)
        self.referencing = ReferencingDesk(window, workspace, chats, tasks, self)
        self._sheet: MentionList | None = None
        self._pending: tuple[ResourcePart, ...] = ()
        self._connect_dock(library)
        self._connect_composer()

    def close(self) -> None:
        self.browser.close()
        self.mentions.close()

    def _connect_dock(self, library: LibraryPresenter) -> None:
        panel, browser, window = self._window.library, self.browser, self._window
        self._library = library
        library.facts_changed.connect(self._on_facts_changed)
        library.texts.changed.connect(panel.show_texts)
        panel.texts_cancelled.connect(library.texts.cancel)
        panel.texts_resumed.connect(library.texts.resume)
        window.sidebar.texts_cancelled.connect(library.texts.cancel)
        browser.places_changed.connect(panel.show_places)
        browser.head_changed.connect(panel.show_head)
        browser.list_changed.connect(panel.show_list)
        browser.page_ready.connect(panel.show_page)
        browser.details_changed.connect(panel.show_details)
        browser.tags_ready.connect(panel.ask_tags)
        browser.words_changed.connect(panel.show_words)
        browser.failed.connect(self.failed)
        self.referencing.failed.connect(self.failed)
        panel.search_changed.connect(browser.search)
        panel.place_chosen.connect(browser.go)
        panel.place_toggled.connect(browser.toggle)
        panel.order_chosen.connect(browser.order)
        panel.tags_requested.connect(browser.ask_tags)
        panel.tag_toggled.connect(browser.toggle_tag)
        panel.page_wanted.connect(browser.more)
        panel.item_chosen.connect(browser.choose_item)
        panel.item_requested.connect(self._on_item_requested)
        panel.wished.connect(self._on_wished)
        self._sessions.only_changed.connect(window.sidebar.show_only)
        window.sidebar.all_sessions_requested.connect(self._sessions.show_all)
        self._chats.shown.connect(self._on_session_shown)

    def _connect_composer(self) -> None:
        composer, mentions = self._composer, self.mentions
        composer.resources_dropped.connect(self._on_resources_dropped)
        composer.mention_requested.connect(self._on_mention_requested)
        composer.mention_changed.connect(mentions.follow)
        composer.mention_key.connect(self._on_mention_key)
        composer.edit.focus_changed.connect(self._on_focus_changed)
        mentions.found.connect(self._on_found)
        mentions.ended.connect(self._close_sheet)

    def _on_facts_changed(self, _facts: object) -> None:
        before = self.browser.room
        self.browser.sync()
        if self.browser.room is not before:
            self._library.texts.show()
            self._tasks.start(self.referencing.show_style(), "citation style")

    # -- wishes of the dock

    def _on_wished(self, what: str, ids: tuple[str, ...]) -> None:
        room = self._workspace.room
        if what == "link":
            self._opening.open_at_once(ids[0])
        elif what == "text":
            copy_to_clipboard(ids[0])
            self._window.toast(tr("Copied"))
        elif what == "style":
            self.referencing.choose_style(tr("Citation style for copies"))
        elif what.startswith("copy:"):
            self.referencing.copy(ids, cast("Form", what.removeprefix("copy:")))
        elif room is None:
            return
        elif what == "add":
            self._tasks.start(self._add(room, ids), "attach")
        elif what == "ask":
            self._tasks.start(self._ask(room, ids), "ask about an item")
        elif what == "open":
            self._tasks.start(self._open(room, ids[0]), "open in Zotero")
        elif what == "sessions":
            self._tasks.start(self._find_sessions(room, ids[0]), "sessions of an item")

    async def _add(self, room: LibraryRoom, ids: Sequence[str]) -> None:
        attached = await self._attached(room, ids)
        if attached is not None:
            self._writing.attach(attached.parts)

    async def _attached(self, room: LibraryRoom, ids: Sequence[str]) -> Attached | None:
        try:
            attached = await room.attaching.by_ids(ids[:MOST_AT_ONCE])
        except UserError as error:
            self.failed.emit(error)
            return None
        if len(ids) > MOST_AT_ONCE:
            said = tr("{0} of {1} were added: a question holds a few works, not a library.")
            self._window.toast(
                tr("Not everything was added"), said.format(MOST_AT_ONCE, len(ids)), tone="accent"
            )
        self._say_missing(attached)
        return attached

    async def _ask(self, room: LibraryRoom, ids: Sequence[str]) -> None:
        """In a session of its own, which is shown with the items attached."""
        attached = await self._attached(room, ids)
        if attached is None or not attached.parts:
            return
        session = await self._sessions.make_new()
        chat = self._chats.chat
        if chat is not None and chat.session_id == session:
            self._writing.attach(attached.parts)
        else:
            self._pending = attached.parts
            self._sessions.open_requested.emit(session)

    def _on_session_shown(self, _conversation: object) -> None:
        parts, self._pending = self._pending, ()
        if parts:
            self._writing.attach(parts)

    async def _open(self, room: LibraryRoom, full_id: str) -> None:
        details = await room.details.of(full_id)
        if details is not None and details.link:
            self._opening.open_at_once(details.link)

    async def _find_sessions(self, room: LibraryRoom, full_id: str) -> None:
        try:
            found = await room.sessions_using(full_id)
        except UserError as error:
            self.failed.emit(error)
            return
        row = await room.browsing.row(full_id)
        name = (row.label or row.title) if row is not None else full_id
        if not self._window.frame.side_shown:
            self._window.frame.open_side(True)
        self._sessions.show_trash(False)
        self._sessions.show_only(found, tr("Used “{0}”").format(name))

    def _on_item_requested(self, full_id: str) -> None:
        self._window.library.show_browsing()
        self.browser.show_item(full_id)

    # -- what is dropped or pasted

    def _on_resources_dropped(self, payload: Payload) -> None:
        self._tasks.start(self._take(payload), "attach what was dropped")

    async def _take(self, payload: Payload) -> None:
        room = self._workspace.room
        attached = Attached(())
        if room is not None:
            try:
                attached = await room.attaching.by_payload(payload)
            except UserError as error:
                self.failed.emit(error)
        if attached.parts:
            self._writing.attach(attached.parts)
            self._say_missing(attached)
        elif payload.text:
            self._composer.insert(payload.text)  # its words are all there is of it
        else:
            self._window.toast(
                tr("Not attached"), tr("The library in use does not have what was dropped."), tone="accent"
            )

    def _say_missing(self, attached: Attached) -> None:
        if attached.missing:
            said = plural(
                len(attached.missing),
                tr("{0} of them is not in the library in use."),
                tr("{0} of them are not in the library in use."),
            )
            self._window.toast(tr("Not everything was added"), said, tone="accent")

    # -- mentions

    def _on_mention_requested(self) -> None:
        """The button does what typing an @ does."""
        if self._sheet is not None:
            self.mentions.dismiss()
            return
        edit = self._composer.edit
        edit.setFocus()
        cursor = edit.textCursor()
        cursor.setPosition(cursor.selectionEnd())
        edit.setTextCursor(cursor)
        before = QTextCursor(cursor)
        before.movePosition(QTextCursor.MoveOperation.PreviousCharacter, QTextCursor.MoveMode.KeepAnchor)
        blank = before.selectedText().strip() != ""
        self._composer.insert(" @" if blank else "@")

    def _on_found(self, rows: Sequence[ItemRow], words: str) -> None:
        edit = self._composer.edit
        if not edit.hasFocus() or edit.is_composing:
            self._close_sheet()
            return
        if self._sheet is None:
            self._sheet = MentionList(self._window)
            self._sheet.item_chosen.connect(self._on_mentioned)
            self._sheet.dismissed.connect(self.mentions.dismiss)
            self._sheet.closed.connect(self._on_sheet_closed)
        edit.set_mention_open(bool(rows))
        self._sheet.show_rows(rows, words, self._place())

    def _place(self) -> QRect:
        """In line with the caret, over or under the whole composer."""
        caret = self._composer.mention_place()
        top = self._composer.mapToGlobal(QPoint(0, 0)).y()
        return QRect(caret.left(), top, caret.width(), self._composer.height())

    def _on_mention_key(self, key: int) -> None:
        if self._sheet is not None:
            self._sheet.press(key)

    def _on_mentioned(self, row: ItemRow) -> None:
        """A chip for the model, and words for people."""
        self._composer.edit.take_mention()
        self._composer.insert(f"{row.label or row.title} ")
        self._on_wished("add", (row.id,))

    def _on_focus_changed(self, focused: bool) -> None:
        if not focused:
            self._close_sheet()

    def _close_sheet(self) -> None:
        self._composer.edit.set_mention_open(False)
        sheet, self._sheet = self._sheet, None
        if sheet is not None:
            sheet.close()

    def _on_sheet_closed(self) -> None:
        self._sheet = None
        self._composer.edit.set_mention_open(False)
