"""What the cards of proposals need of the window: links are opened, news goes into what is being written."""

from __future__ import annotations

from PySide6.QtCore import QObject

from bibgenie_desktop.domain.ids import SessionId
from bibgenie_desktop.domain.parts import ResourcePart
from bibgenie_desktop.gui.desk.opening import Opening
from bibgenie_desktop.gui.desk.writing import Writing
from bibgenie_desktop.gui.presenters.chat import ChatPresenter
from bibgenie_desktop.gui.presenters.conversation import Conversation
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.window import MainWindow


class Proposing(QObject):
    """Listens to the proposals of every session that was in front."""

    def __init__(
        self,
        window: MainWindow,
        chats: ChatPresenter,
        writing: Writing,
        opening: Opening,
        tasks: Tasks,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._window, self._chats, self._writing = window, chats, writing
        self._opening, self._tasks = opening, tasks
        self._known: set[str] = set()
        chats.shown.connect(self._on_shown)

    def _on_shown(self, conversation: Conversation) -> None:
        if conversation.id in self._known:
            return
        self._known.add(conversation.id)
        proposals = conversation.proposals
        proposals.show_requested.connect(self._opening.open_at_once)
        proposals.link_opened.connect(self._opening.ask_first)
        proposals.said.connect(self._on_said)
        proposals.news.connect(self._on_news)

    def _on_said(self, title: str, text: str) -> None:
        self._window.toast(title, text, tone="accent")

    def _on_news(self, session_id: str, part: ResourcePart) -> None:
        """Into the message being written; that of a session which is not in front lies in the database."""
        front = self._chats.front
        if front is not None and front.id == session_id:
            self._writing.attach([part])
            return
        self._tasks.start(self._chats.drafts.add(SessionId(session_id), None, (part,)), "news of a proposal")
