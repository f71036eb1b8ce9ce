"""Citations and references on their way out: to the clipboard in a style, or into a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QLocale, QMimeData, QObject, Signal
from PySide6.QtGui import QGuiApplication, QTextDocument
from PySide6.QtWidgets import QFileDialog

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.gui.conversation.copying import readable_markdown
from bibgenie_desktop.gui.conversation.rows import AnswerRow, UserRow
from bibgenie_desktop.gui.desk.later import Later
from bibgenie_desktop.gui.popovers.styles import StyleChooser
from bibgenie_desktop.gui.presenters.chat import ChatPresenter
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import plural, tr
from bibgenie_desktop.gui.window import MainWindow
from bibgenie_desktop.services.library.library_room import LibraryRoom
from bibgenie_desktop.services.library.referencing import STYLED, SUFFIXES, Form, StyleName, Written
from bibgenie_desktop.services.workspace import Workspace

KEPT_STYLE = "citation_style"


class ReferencingDesk(QObject):
    """The style that was chosen last is used until another one is."""

    failed = Signal(object)

    def __init__(
        self, window: MainWindow, workspace: Workspace, chats: ChatPresenter, tasks: Tasks, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._window, self._workspace, self._chats, self._tasks = window, workspace, chats, tasks
        self._style = window.kept(KEPT_STYLE)
        self._titles: dict[str, str] = {}
        self._after: Callable[[], object] | None = None
        window.conversation.copy_requested.connect(self._on_copy_requested)
        window.library.bibliography_requested.connect(self._on_bibliography_requested)

    # -- styles

    def choose_style(self, title: str, after: Callable[[], object] | None = None) -> None:
        """Asks for a style; `after` is done with it."""
        room = self._workspace.room
        if room is not None:
            self._after = after
            self._tasks.start(self._ask_style(room, title), "citation styles")

    async def _ask_style(self, room: LibraryRoom, title: str) -> None:
        styles = await room.referencing.styles()
        sheet = StyleChooser(styles, self._style, title, self._window)
        sheet.style_chosen.connect(self._on_style_chosen)
        self._titles = {s.id: s.title for s in styles}
        sheet.open_centred(self._window)

    def _on_style_chosen(self, style: str) -> None:
        self._style = style
        self._window.keep(KEPT_STYLE, style)
        self._window.library.show_style(self._titles.get(style, ""))
        after, self._after = self._after, None
        if after is not None:
            after()
        else:
            self._window.toast(tr("Citations are copied in the style “{0}”.").format(self._titles[style]))

    async def show_style(self) -> None:
        """Tells the dock the name of the style in use; one that is not installed any more is forgotten."""
        room = self._workspace.room
        styles: Sequence[StyleName] = await room.referencing.styles() if room is not None else ()
        names = {s.id: s.title for s in styles}
        if names and self._style not in names:
            self._style = styles[0].id
        self._window.library.show_style(names.get(self._style, ""))

    # -- works

    def copy(self, ids: Sequence[str], form: Form) -> None:
        self._start(self._copy(tuple(ids), form))

    async def _copy(self, ids: Sequence[str], form: Form) -> None:
        written = await self._room().referencing.write(ids, form, self._style, _locale())
        if not written.text:
            self._window.toast(tr("Not copied"), tr("This item has no citation key."), tone="accent")
            return
        self._put(written)

    def _on_bibliography_requested(self, form: Form, into_file: bool) -> None:
        if form in STYLED:
            title = tr("Style of the bibliography")
            self.choose_style(title, Later(self.bibliography, form, into_file))
        else:
            self.bibliography(form, into_file)

    def bibliography(self, form: Form, into_file: bool) -> None:
        """Of all works that the conversation in front used."""
        self._start(self._bibliography(form, into_file))

    async def _bibliography(self, form: Form, into_file: bool) -> None:
        chat, room = self._chats.chat, self._room()
        ids = await room.used_by(chat.session_id) if chat is not None else ()
        if not ids:
            said = tr("This conversation has not used a work of the library in use.")
            self._window.toast(tr("No bibliography"), said, tone="accent")
            return
        written = await room.referencing.write(ids, form, self._style, _locale())
        if into_file:
            self._ask_file(written.text, SUFFIXES[form])
        else:
            self._put(written)

    def _ask_file(self, text: str, suffix: str) -> None:
        dialog = QFileDialog(self._window, tr("Save the bibliography"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(suffix)
        dialog.setNameFilter(f"*.{suffix}")
        dialog.selectFile(f"{tr('Bibliography')}.{suffix}")
        dialog.setProperty("text", text)
        dialog.fileSelected.connect(self._on_file_selected)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _on_file_selected(self, path: str) -> None:
        sender = self.sender()
        if sender is not None:
            self._start(self._write_file(Path(path), str(sender.property("text"))))

    async def _write_file(self, path: Path, text: str) -> None:
        try:
            await asyncio.to_thread(path.write_text, text, "utf-8")
        except OSError as error:
            raise UserError(
                tr("The file could not be written ({0}).").format(error.strerror or error),
                tr("Choose another place."),
            ) from error
        self._window.toast(tr("Saved"), str(path))

    # -- answers

    def _on_copy_requested(self, row_id: str, form: str) -> None:
        row = next((r for r in self._window.conversation.rows if r.id == row_id), None)
        if not isinstance(row, UserRow | AnswerRow):
            return
        if isinstance(row, UserRow) or self._workspace.room is None:
            self._put(Written(_with_labels(row)))
        elif form == "cite_as":
            self.choose_style(tr("Copy with citations as"), Later(self.copy_cited, row))
        else:
            self.copy_cited(row)

    def copy_cited(self, row: AnswerRow) -> None:
        self._start(self._copy_cited(row))

    async def _copy_cited(self, row: AnswerRow) -> None:
        written = await self._room().referencing.cited(row.text, self._style, _locale())
        document = QTextDocument()
        document.setMarkdown(written.text)
        self._put(Written(written.text, document.toHtml(), written.missing))

    # -- helpers

    def _room(self) -> LibraryRoom:
        room = self._workspace.room
        if room is None:
            raise UserError(tr("No Zotero library is in use."), tr("Choose one on the first page."))
        return room

    def _put(self, written: Written) -> None:
        data = QMimeData()
        data.setText(written.text)
        if written.html:
            data.setHtml(written.html)
        QGuiApplication.clipboard().setMimeData(data)
        lost = plural(
            written.missing,
            tr("{0} source is not in the library in use."),
            tr("{0} sources are not in the library in use."),
        )
        self._window.toast(tr("Copied"), lost if written.missing else "")

    def _start(self, work: Coroutine[Any, Any, Any]) -> None:
        self._tasks.start(self._guarded(work), "references")

    async def _guarded(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            await work
        except UserError as error:
            self.failed.emit(error)


def _with_labels(row: UserRow | AnswerRow) -> str:
    """Citations by their labels, and the works they name below: for a conversation without its library."""
    text = readable_markdown(row)
    if isinstance(row, AnswerRow):
        works = dict.fromkeys(f"{v.byline}. {v.title}." for v in row.citations.values() if v.title)
        if works:
            text += "\n\n" + "\n".join(f"- {work}" for work in works)
    return text


def _locale() -> str:
    return QLocale().name().replace("_", "-")
