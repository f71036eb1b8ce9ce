"""The sessions list: reading it, and everything that can be done to a session from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.ids import SessionId
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.gui.session_rows import LineState, lines_of, untitled
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.services.naming import within_quotes
from bibgenie_desktop.services.workspace import SessionRow, Workspace

MINUTE_MS = 60_000
PAUSE_MS = 200
"""How long typing must pause before messages are searched."""

OF_STATE: Mapping[SessionState, LineState] = {
    SessionState.PREFLIGHT: "streaming",
    SessionState.STREAMING: "streaming",
    SessionState.AWAITING_APPROVAL: "streaming",
    SessionState.COMPACTING: "compacting",
    SessionState.READ_ONLY: "damaged",
}


class SessionsPresenter(QObject):
    lines_changed = Signal(object, str, str)
    """Lines, the session in front, and what to say where there are none."""
    open_requested = Signal(str)
    title_changed = Signal(str, str)
    """The name of the session in front, and where it was forked from."""
    trashed = Signal(str, str)
    """Id and title of a session that has just gone to the trash."""
    failed = Signal(object)
    trash_shown = Signal(bool)
    only_changed = Signal(str)
    """Which sessions the list is limited to, in words; empty: all."""

    def __init__(self, workspace: Workspace, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace, self._tasks = workspace, tasks
        self._rows: tuple[SessionRow, ...] = ()
        self._front = ""
        self._words = ""
        self._said: Mapping[SessionId, str] = {}
        """Sessions found by what their messages say."""
        self._trash = False
        self._only: frozenset[str] | None = None
        self._again = False
        self._reading = False
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._on_pause)
        self._minute = QTimer(self)  # "5 min" grows old by itself
        self._minute.setInterval(MINUTE_MS)
        self._minute.timeout.connect(self._emit)
        self._minute.start()

    def close(self) -> None:
        self._minute.stop()
        self._pause.stop()

    @property
    def rows(self) -> tuple[SessionRow, ...]:
        return self._rows

    def row(self, session_id: str) -> SessionRow | None:
        return next((r for r in self._rows if r.session.id == session_id), None)

    def title_of(self, session_id: str) -> str:
        row = self.row(session_id)
        return untitled(row.session.title if row is not None else "")

    # -- reading

    def refresh(self) -> None:
        """The list may be another one now. Many wishes at once are one reading."""
        if self._reading:
            self._again = True
            return
        self._reading = True
        self._tasks.start(self._read(), "sessions")

    async def _read(self) -> None:
        try:
            self._again = True
            while self._again:
                self._again = False
                self._rows = tuple(await self._workspace.sessions(trashed=self._trash))
        finally:
            self._reading = False
        self._emit()

    def show_front(self, session_id: str) -> None:
        self._front = session_id
        self._emit()

    def redraw(self) -> None:
        """Only the state of open sessions has changed."""
        self._emit()

    def filter(self, words: str) -> None:
        self._words = words
        self._said = {}
        self._emit()
        self._pause.stop()
        if words.strip():
            self._pause.start()

    def _on_pause(self) -> None:
        self._tasks.start(self._search(self._words), "search in messages")

    async def _search(self, words: str) -> None:
        """What messages say is looked through after a pause in typing, in every session."""
        found = await self._workspace.search.find(words)
        if words == self._words:
            self._said = found
            self._emit()

    def show_only(self, ids: Sequence[str] | None, words: str = "") -> None:
        """Limits the list to some sessions; None shows all again."""
        self._only = frozenset(ids) if ids is not None else None
        self.only_changed.emit(words if ids is not None else "")
        self._emit()

    def show_all(self) -> None:
        self.show_only(None)

    def show_trash(self, shown: bool) -> None:
        if shown != self._trash:
            self._trash = shown
            self.trash_shown.emit(shown)
            self.refresh()

    def _emit(self) -> None:
        states: dict[SessionId, LineState] = {}
        for chat in self._workspace.open_chats():
            found = OF_STATE.get(chat.state)
            if found is not None:
                states[chat.session_id] = found
        now = self._workspace.clock()
        rows = [r for r in self._rows if self._only is None or r.session.id in self._only]
        lines = lines_of(rows, states, now, words=self._words, said=self._said, trashed=self._trash)
        if self._words:
            empty = tr("No session has these words in its title or its messages.")
        elif self._only is not None:
            empty = tr("No session used it.")
        else:
            empty = tr("The trash is empty.") if self._trash else ""
        self.lines_changed.emit(lines, self._front, empty)
        row = self.row(self._front)
        if row is not None:
            self.title_changed.emit(untitled(row.session.title), self._origin(row))

    def _origin(self, row: SessionRow) -> str:
        if row.session.origin_session_id is None:
            return ""
        origin = self.row(row.session.origin_session_id)
        if origin is None:
            return ""
        return tr("Forked from “{0}”").format(within_quotes(untitled(origin.session.title)))

    # -- wishes

    def choose(self, session_id: str) -> None:
        row = self.row(session_id)
        if row is not None and row.session.trashed_at is None:
            self.open_requested.emit(session_id)

    def new(self) -> None:
        self._tasks.start(self._new(), "new session")

    async def _new(self) -> None:
        self.show_trash(False)
        self.show_all()
        session = await self.make_new()
        self.open_requested.emit(session)

    async def make_new(self) -> str:
        """An empty session: one that is still unused, or a new one."""
        for row in await self._workspace.sessions():
            s = row.session
            if s.leaf_id is None and not row.has_draft and not row.pending and not s.title:
                return s.id
        session = await self._workspace.new_session()
        self.refresh()
        return session.id

    def rename(self, session_id: str, title: str) -> None:
        title = " ".join(title.split())
        if title:
            self._do(self._workspace.rename(SessionId(session_id), title), "rename")

    def pin(self, session_id: str, pinned: bool) -> None:
        self._do(self._workspace.pin(SessionId(session_id), pinned), "pin")

    def trash(self, session_id: str) -> None:
        self._tasks.start(self._to_trash(SessionId(session_id)), "trash")

    async def _to_trash(self, session_id: SessionId) -> None:
        title = self.title_of(session_id)
        try:
            await self._workspace.trash(session_id)
        except UserError as error:
            self.failed.emit(error)
            return
        self.trashed.emit(session_id, title)
        self.refresh()
        if session_id == self._front:
            left = [r for r in await self._workspace.sessions() if r.session.id != session_id]
            self.open_requested.emit(left[0].session.id if left else await self.make_new())

    def restore(self, session_id: str) -> None:
        self._tasks.start(self._restore(SessionId(session_id)), "restore")

    async def _restore(self, session_id: SessionId) -> None:
        await self._workspace.restore(session_id)
        self.show_trash(False)
        self.refresh()
        self.open_requested.emit(session_id)

    def _do(self, work: object, name: str) -> None:
        self._tasks.start(self._then_refresh(work), name)

    async def _then_refresh(self, work: object) -> None:
        try:
            await work  # type: ignore[misc]
        except UserError as error:
            self.failed.emit(error)
        self.refresh()
