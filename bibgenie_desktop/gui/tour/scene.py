"""What the steps of the tour share: the window's parts, what was seen so far, and how to look things up."""

from __future__ import annotations

from typing import Any, Final, Protocol

from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QDialog, QToolButton, QWidget

from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.gui.conversation.rows import AnswerRow, CheckpointRow, CitationView, Row, UserRow
from bibgenie_desktop.gui.desk.desk import Desk
from bibgenie_desktop.gui.popovers.models import ModelSwitcher
from bibgenie_desktop.gui.session_rows import SessionLine
from bibgenie_desktop.gui.tour.hands import Hands, TourFailed
from bibgenie_desktop.gui.window import MainWindow

ANSWER_S: Final = 120.0
"""A model over the network may take its time."""

Told = tuple[str, str]
"""What a step did, and what it checked."""


class Stage(Protocol):
    """Where the tour plays: the window in front, and how to start the application anew on the same data."""

    @property
    def window(self) -> MainWindow: ...

    @property
    def desk(self) -> Desk: ...

    async def restart(self) -> None: ...


class Scene:
    """The state that steps hand on: questions, sessions, what was seen in passing."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.hands = Hands(stage.window)
        self.questions: list[str] = []
        self.origin = ""
        self.checkpoint = ""
        self.kept: QPixmap | None = None

    @property
    def window(self) -> MainWindow:
        return self.stage.window

    @property
    def desk(self) -> Desk:
        return self.stage.desk

    def take_picture(self) -> QPixmap:
        """What a step saw in passing, or the window as it is."""
        kept, self.kept = self.kept, None
        return kept if kept is not None else self.hands.picture()

    # -- what is there

    def rows(self) -> tuple[Row, ...]:
        return self.window.conversation.rows

    def answers(self) -> list[AnswerRow]:
        return [r for r in self.rows() if isinstance(r, AnswerRow)]

    def asked(self) -> list[UserRow]:
        return [r for r in self.rows() if isinstance(r, UserRow)]

    def checkpoints(self) -> list[CheckpointRow]:
        return [r for r in self.rows() if isinstance(r, CheckpointRow)]

    def is_idle(self) -> bool:
        return self.desk.chats.state is SessionState.IDLE

    async def answered(self, count: int) -> AnswerRow:
        """The newest answer, once there are so many and nothing runs any more."""
        await self.hands.until(
            lambda: self.is_idle() and len(self.answers()) >= count and not self.answers()[-1].streaming,
            "The question was not answered in time.",
            ANSWER_S,
        )
        newest = self.answers()[-1]
        if newest.status != "complete":
            raise TourFailed(
                f"The answer ended as {newest.status}: {newest.error_title} {newest.error_advice}"
            )
        return newest

    async def checked(self, answer_id: str) -> list[CitationView]:
        """The citations of an answer, once they were looked up."""

        def row() -> AnswerRow | None:
            return next((r for r in self.answers() if r.id == answer_id), None)

        def is_checked() -> bool:
            found = row()
            return found is not None and bool(found.citations)

        await self.hands.until(is_checked, "The answer has no citation that was looked up.")
        found = row()
        return list(found.citations.values()) if found is not None else []

    def ask(self, question: str) -> None:
        edit = self.window.composer.edit
        self.hands.type(edit, question)
        self.hands.press(edit, Qt.Key.Key_Return)

    def question(self, number: int) -> str:
        return self.questions[number % len(self.questions)]

    def message(self, row_id: str) -> QWidget:
        self.window.conversation.focus_row(row_id)
        found = self.window.conversation.message_widget(row_id)
        if found is None:
            raise TourFailed("A message of the conversation is not shown.")
        return found

    async def menu_entry(self, row_id: str, name: str) -> None:
        """Right click on a message, then an entry of its menu."""
        message = self.message(row_id)
        await self.hands.pause()
        view = self.window.conversation.viewport()
        inside = message.geometry().intersected(view.rect())
        menu = self.hands.context_menu(view, inside.center())
        self.hands.choose(menu, name)

    async def open_dock(self, name: str) -> None:
        if self.window.frame.dock_shown != name:
            self.hands.click(self.hands.find(QToolButton, f"{name}Toggle"))
            await self.hands.pause()
        if self.window.frame.dock_shown != name:
            raise TourFailed(f"The panel “{name}” did not open.")

    def lines(self) -> list[SessionLine]:
        return [x for x in self.window.sidebar.list.lines if isinstance(x, SessionLine)]

    def front(self) -> str:
        chat = self.desk.chats.chat
        return chat.session_id if chat is not None else ""

    def dialogs(self) -> list[QDialog]:
        return [d for d in self.window.findChildren(QDialog, "requestDialog") if d.isVisible()]

    def sheets(self) -> list[ModelSwitcher]:
        return [s for s in self.window.findChildren(ModelSwitcher) if s.isVisible()]

    async def body(self) -> dict[str, Any]:
        chat = self.desk.chats.chat
        if chat is None:
            raise TourFailed("No session is open.")
        return await self.desk.workspace.body(chat, self.desk.chats.drafts.now)


def verified(citations: list[CitationView]) -> str:
    """`2 of 3 citations`."""
    return f"{sum(c.state == 'verified' for c in citations)} of {len(citations)} citations"
