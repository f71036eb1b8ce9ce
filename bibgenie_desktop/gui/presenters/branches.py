"""What the branch navigator shows of the session in front: its tree, where it stands, other sessions."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.messages import Checkpoint
from bibgenie_desktop.domain.states import Action
from bibgenie_desktop.gui.docks.outline import Marks, Tree, in_sight, outline_rows
from bibgenie_desktop.gui.presenters.transcript import checkpoint_title
from bibgenie_desktop.gui.session_rows import untitled
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.workspace import Workspace


class BranchesPresenter(QObject):
    """Reads the tree again, at most a few times a second, whenever it may have grown."""

    rows_changed = Signal(object, object, object)
    """Rows, the time now, and why one cannot switch (None: one can)."""
    tree_changed = Signal(object)
    """The `Tree` that was read, for whoever counts versions."""
    session_requested = Signal(str)
    archived_changed = Signal(int, bool)
    """How many branches are archived, and whether they are shown."""
    archived = Signal(str)
    """A branch was just put out of sight: where it begins."""
    failed = Signal(object)

    def __init__(self, workspace: Workspace, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace, self._tasks = workspace, tasks
        self._chat: Chat | None = None
        self._tree = Tree(())
        self._words = ""
        self._unfolded: set[MessageId] = set()
        self._editing: MessageId | None = None
        self._others: dict[MessageId, tuple[str, ...]] = {}
        self._ids: dict[str, SessionId] = {}
        self._archived: frozenset[MessageId] = frozenset()
        self._all_shown = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(40)
        self._timer.timeout.connect(self._on_timeout)

    @property
    def tree(self) -> Tree:
        return self._tree

    def show_chat(self, chat: Chat) -> None:
        if chat is not self._chat:
            self._unfolded.clear()
            self._tree = Tree(())
        self._chat = chat
        self.refresh()

    def refresh(self) -> None:
        """The tree may be another one now."""
        if self._chat is not None and not self._timer.isActive():
            self._timer.start()

    def redraw(self) -> None:
        """Only marks have changed: leaf, state, what is being edited."""
        self._emit()

    def show_editing(self, message_id: MessageId | None) -> None:
        self._editing = message_id
        self._emit()

    def search(self, words: str) -> None:
        self._words = words
        self._emit()

    def toggle_fold(self, message_id: str) -> None:
        self._unfolded ^= {MessageId(message_id)}
        self._emit()

    def open_session(self, title: str) -> None:
        found = self._ids.get(title)
        if found is not None:
            self.session_requested.emit(found)

    # -- out of sight

    def toggle_archived(self) -> None:
        self._all_shown = not self._all_shown
        self.refresh()

    def archive(self, message_id: str) -> None:
        if self._chat is not None:
            self._tasks.start(self._archive(self._chat, MessageId(message_id)), "archive a branch")

    async def _archive(self, chat: Chat, message_id: MessageId) -> None:
        try:
            await self._workspace.archive(chat, message_id)
        except UserError as error:
            self.failed.emit(error)
            return
        self.archived.emit(message_id)
        self.refresh()

    def bring_back(self, message_id: str) -> None:
        self._tasks.start(self._bring_back(MessageId(message_id)), "bring a branch back")

    async def _bring_back(self, message_id: MessageId) -> None:
        try:
            await self._workspace.bring_back(message_id)
        except UserError as error:
            self.failed.emit(error)
        self.refresh()

    # -- reading

    def _on_timeout(self) -> None:
        if self._chat is not None:
            self._tasks.start(self._read(self._chat), "branches")

    async def _read(self, chat: Chat) -> None:
        nodes = await self._workspace.outline(chat)
        rows = await self._workspace.sessions()
        archived = await self._workspace.archived(chat)
        if chat is not self._chat:
            return
        whole = Tree(nodes)
        path = whole.path_to(chat.session.leaf_id)
        self._archived = archived - path
        self._tree = whole if self._all_shown else Tree(in_sight(nodes, archived, path))
        self.archived_changed.emit(len(self._archived), self._all_shown)
        others: dict[MessageId, list[str]] = {}
        for row in rows:
            session = row.session
            if session.tree_id != chat.session.tree_id or session.id == chat.session_id:
                continue
            if session.leaf_id is not None:
                title = untitled(session.title)
                others.setdefault(session.leaf_id, []).append(title)
                self._ids[title] = session.id
        self._others = {leaf: tuple(titles) for leaf, titles in others.items()}
        self.tree_changed.emit(self._tree)
        self._emit()

    def _emit(self) -> None:
        chat = self._chat
        if chat is None:
            return
        leaf = chat.session.leaf_id
        marks = Marks(
            leaf=leaf,
            path=self._tree.path_to(leaf),
            pending=chat.pending.parent_id if chat.pending is not None else None,
            editing=self._editing,
            sessions=self._others,
            unfolded=frozenset(self._unfolded),
            titles={m.id: checkpoint_title(m) for m in chat.path if isinstance(m, Checkpoint)},
            archived=self._archived,
        )
        rows = outline_rows(self._tree, marks, self._words)
        self.rows_changed.emit(rows, self._workspace.clock(), chat.refusal(Action.SWITCH_BRANCH))
