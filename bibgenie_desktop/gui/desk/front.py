"""The session in front: its rows, what may be done with them, and the tools above them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from bibgenie_desktop.domain.states import Action
from bibgenie_desktop.domain.topology import Placeholder
from bibgenie_desktop.gui.conversation.rows import AnswerRow, Row, UserRow
from bibgenie_desktop.gui.desk.announcing import Announcing
from bibgenie_desktop.gui.desk.writing import Writing
from bibgenie_desktop.gui.dialogs import WholeTextDialog
from bibgenie_desktop.gui.presenters.chat import ChatPresenter
from bibgenie_desktop.gui.presenters.conversation import Conversation
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.gui.window import MainWindow


class Front(QObject):
    """Shows what the chat presenter says and hands on what the person wishes."""

    retry_with_requested = Signal(str)

    def __init__(self, window: MainWindow, chats: ChatPresenter, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._chats, self._view = window, chats, window.conversation
        self._places: dict[str, tuple[str, int] | None] = {}
        self._shown = ""
        self._ids: list[str] = []
        self._sibling = ""
        """The version that is about to give way to another one."""
        self.writing = Writing(window, chats, self)
        self.announcing = Announcing(window, chats, self)
        self._view.set_allowed(self._chats.allowed)
        self._view.set_is_newest(self._chats.is_newest)
        self._connect()

    def _connect(self) -> None:
        chats, view = self._chats, self._view
        chats.shown.connect(self._on_shown)
        chats.rows_changed.connect(self._on_rows_changed)
        chats.row_changed.connect(self._on_row_changed)
        chats.state_changed.connect(self.refresh)
        chats.progress_changed.connect(self._on_progress_changed)
        view.retry_requested.connect(self._on_retry_requested)
        view.retry_with_requested.connect(self.retry_with_requested)
        view.go_on_requested.connect(self._on_go_on_requested)
        view.edit_requested.connect(self._on_edit_requested)
        view.sibling_requested.connect(self._on_sibling_requested)
        view.fork_requested.connect(chats.fork)
        view.older_requested.connect(chats.load_older)
        view.quote_requested.connect(self._window.composer.quote)
        view.notice.connect(self._on_view_notice)
        view.whole_text_requested.connect(self._on_whole_text_requested)
        self.announcing.send_anyway_requested.connect(self.writing.send_anyway)
        self.announcing.edit_requested.connect(self.writing.edit_last)
        self._window.escaped.connect(self._on_escaped)

    # -- rows

    def _on_shown(self, conversation: Conversation) -> None:
        if self._shown and self._ids:
            self._places[self._shown] = self._view.place()
        self._shown, self._ids = conversation.id, []

    def _on_rows_changed(self, rows: list[Row]) -> None:
        """The same beginning with more at its end is appended, so that nothing jumps."""
        ids = [r.id for r in rows]
        before, self._ids = self._ids, ids
        older = self._older()
        if before and ids[: len(before)] == before:
            shown = {r.id: r for r in self._view.rows}
            for row in rows:
                if shown.get(row.id) != row:
                    self._view.update_row(row)
        elif before and ids[-len(before) :] == before:
            self._view.prepend(rows[: len(rows) - len(before)], older=older)
        else:
            keep = next((i for i in before if i in set(ids)), "") if before else ""
            fresh = not before
            version = self._version_of(before, ids)
            if version:
                self._view.set_rows(rows, older=older, keep=self._sibling, keep_as=version)
                self._sibling = ""
            else:
                following = fresh or self._view.is_following
                self._view.set_rows(rows, older=older, keep="" if following else keep)
            if fresh:
                self._view.restore(self._places.pop(self._shown, None))
        front = self._chats.front
        self._window.show_welcome(front is not None and front.empty and front.chat.damaged is None)

    def _version_of(self, before: list[str], ids: list[str]) -> str:
        """The row that stands where the version stood that was switched away from; empty: none was."""
        if not self._sibling or self._sibling in ids or self._sibling not in before:
            return ""
        places = {id: place for place, id in enumerate(ids)}
        above = before[: before.index(self._sibling)]
        place = next((places[id] + 1 for id in reversed(above) if id in places), 0)
        return ids[place] if place < len(ids) else ""

    def _older(self) -> int:
        """How many messages come before the first one that is loaded."""
        front = self._chats.front
        if front is None or front.at_beginning or not front.entries:
            return 0
        first = front.entries[0]
        return 0 if isinstance(first, Placeholder) else first.depth

    def _on_row_changed(self, row: Row) -> None:
        """While an answer grows only its text goes the short way."""
        known = next((r for r in reversed(self._view.rows) if r.id == row.id), None)
        if isinstance(row, AnswerRow) and isinstance(known, AnswerRow) and row.streaming:
            same = (known.steps, known.tool_summary, known.reasoning) == (
                row.steps,
                row.tool_summary,
                row.reasoning,
            )
            if same:
                self._view.stream(row.text)
                return
        if known is not None:
            self._view.update_row(row)

    # -- state

    def refresh(self) -> None:
        """Everything that depends on what is allowed now."""
        chats, window = self._chats, self._window
        chat = chats.chat
        if chat is None:
            return
        self.writing.refresh()
        front = chats.front
        label = front.model_label(chat.session.model) if front is not None else ""
        window.toolbar.show_model(label, chats.refusal(Action.CHOOSE_MODEL))
        builtin = chat.session.model.startswith("builtin/")
        said = tr("Finds and quotes passages. No model, no network, no key.")
        other = tr("Answers come from this model; another one can be chosen above.")
        window.welcome.show_model(label, said if builtin else other)
        window.toolbar.show_compact(chats.refusal(Action.COMPACT))
        window.welcome.show_reason(chats.refusal(Action.SEND))
        self._view.refresh_actions()
        self.announcing.refresh()

    def _on_progress_changed(self, _progress: object) -> None:
        self.refresh()

    def _on_escaped(self) -> None:
        """The topmost thing first, then an edit, then what runs."""
        chats = self._chats
        if self.announcing.dismiss() or self.writing.leave_edit():
            return
        if chats.refusal(Action.STOP) is None:
            chats.stop()
        elif chats.refusal(Action.CANCEL) is None:
            chats.cancel()

    # -- messages

    def _on_retry_requested(self, row_id: str) -> None:
        if not self._chats.is_newest(row_id):
            self._window.toast(
                tr("Retrying as a new branch"),
                tr("What followed this answer is kept and stays in Branches."),
                tone="accent",
            )
        self._chats.retry(row_id)

    def _on_go_on_requested(self, _row_id: str) -> None:
        self._window.composer.flush_draft()  # what was typed just now counts as well
        if not self._chats.go_on():
            said = tr("Send what you are writing: the model goes on from what it has found.")
            self._window.toast(tr("There is a text in the composer"), said, tone="accent")

    def _on_sibling_requested(self, row_id: str, _step: int) -> None:
        self._sibling = row_id

    def _on_edit_requested(self, row_id: str) -> None:
        self._window.composer.flush_draft()  # it comes back after the edit
        self._chats.edit(row_id)

    def _on_whole_text_requested(self, row_id: str) -> None:
        row = next((r for r in self._view.rows if r.id == row_id), None)
        if isinstance(row, UserRow | AnswerRow):
            WholeTextDialog(row.text, self._window).open()

    def _on_view_notice(self, words: str) -> None:
        self._window.toast(words)
