"""All presenters of one window, and every connection between them and its parts."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.gui.desk.cache_watch import CacheWatch
from bibgenie_desktop.gui.desk.context import ContextDesk
from bibgenie_desktop.gui.desk.front import Front
from bibgenie_desktop.gui.desk.later import Later
from bibgenie_desktop.gui.desk.library import LibraryDesk
from bibgenie_desktop.gui.desk.opening import Opening, open_with_system
from bibgenie_desktop.gui.desk.proposing import Proposing
from bibgenie_desktop.gui.desk.settings import Adjustable, SettingsDesk
from bibgenie_desktop.gui.desk.sheets import Sheets
from bibgenie_desktop.gui.dialogs import RenameDialog
from bibgenie_desktop.gui.docks.outline import Tree
from bibgenie_desktop.gui.presenters.branches import BranchesPresenter
from bibgenie_desktop.gui.presenters.chat import ChatPresenter
from bibgenie_desktop.gui.presenters.context import ContextPresenter
from bibgenie_desktop.gui.presenters.conversation import Conversation
from bibgenie_desktop.gui.presenters.imports import Imports
from bibgenie_desktop.gui.presenters.library import WATCH, Libraries, LibraryPresenter
from bibgenie_desktop.gui.presenters.sessions import SessionsPresenter
from bibgenie_desktop.gui.presenters.sources import used_sources
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.gui.window import MainWindow
from bibgenie_desktop.services.naming import within_quotes
from bibgenie_desktop.services.workspace import Workspace


class Desk(QObject):
    """Made once for a window; `start` shows the newest session."""

    def __init__(
        self,
        window: MainWindow,
        workspace: Workspace,
        libraries: Libraries,
        tasks: Tasks,
        *,
        open_link: Callable[[str], bool] = open_with_system,
        keep_appearance: Callable[[object], None] | None = None,
        adjustable: Adjustable | None = None,
    ) -> None:
        super().__init__(window)
        self.window, self.workspace, self.tasks = window, workspace, tasks
        self.chats = ChatPresenter(workspace, tasks, self)
        self.sessions = SessionsPresenter(workspace, tasks, self)
        self.branches = BranchesPresenter(workspace, tasks, self)
        self.context = ContextPresenter(workspace, tasks, self)
        self.library = LibraryPresenter(workspace, libraries, tasks, self)
        self.front = Front(window, self.chats, self)
        self.imports = Imports(workspace, tasks, self)
        self.context_desk = ContextDesk(window, self.context, self.chats, self.front, self)
        self.cache_watch = CacheWatch(window, workspace, self.chats, self.context, tasks, self)
        self.opening = Opening(window, workspace, self.chats, tasks, open_link, self)
        self.proposing = Proposing(window, self.chats, self.front.writing, self.opening, tasks, self)
        self.sheets = Sheets(window, self.context, self.chats, self)
        self.settings = SettingsDesk(
            window, workspace, adjustable, self.library, tasks, keep_appearance, self
        )
        self.library_desk = LibraryDesk(
            window,
            workspace,
            self.library,
            self.chats,
            self.sessions,
            self.front.writing,
            self.opening,
            tasks,
            self,
        )
        self._connect_chat()
        self._connect_sessions()
        self._connect_docks()
        self._connect_library()
        self._connect_settings()

    # -- beginning and end

    async def start(self) -> None:
        """Shows the session that was used last, or an empty one."""
        self.library.start()
        rows = await self.workspace.sessions()
        used = max(rows, key=lambda r: r.updated, default=None)
        session = used.session.id if used is not None else await self.sessions.make_new()
        self.sessions.refresh()
        self.open_session(session)
        self.window.composer.focus_text()
        self.tasks.start(self.workspace.search.update(), "index of messages")

    async def finish(self) -> None:
        """Ends what runs, and keeps what was being written."""
        self.window.composer.flush_draft()
        await self.chats.drafts.flush()
        for chat in self.workspace.open_chats():
            chat.stop()
            chat.cancel()
        self.library.texts.halt()  # it goes on at the next start
        await self.tasks.settle(3.0, but=WATCH)
        await self.tasks.cancel_all()
        await self.chats.drafts.flush()
        for chat in self.workspace.open_chats():
            await self.chats.drafts.keep_queue(chat)
        self.close()

    def close(self) -> None:
        """Stops every clock of the presenters."""
        self.chats.close()
        self.sessions.close()
        self.library.close()
        self.library_desk.close()

    # -- connections

    def _connect_chat(self) -> None:
        chats, window = self.chats, self.window
        chats.about_to_show.connect(window.composer.flush_draft)
        chats.shown.connect(self._on_shown)
        chats.tree_may_have_grown.connect(self.branches.refresh)
        chats.state_changed.connect(self.branches.redraw)
        chats.sessions_may_have_changed.connect(self.sessions.refresh)
        chats.rows_changed.connect(self._on_rows_changed)
        chats.forked.connect(self._on_forked)
        chats.failed.connect(self.show_error)
        self.front.writing.conversation_offered.connect(self.imports.take)
        self.imports.imported.connect(self._on_imported)
        self.imports.failed.connect(self.show_error)
        self.opening.failed.connect(self.show_error)
        chats.drafts.editing_changed.connect(self.branches.show_editing)
        window.conversation.sibling_requested.connect(self._on_sibling_requested)
        self.front.announcing.models_requested.connect(self.sheets.ask_models)
        self.front.retry_with_requested.connect(self.sheets.ask_models_for_retry)
        window.toolbar.models_requested.connect(self.sheets.ask_models)

    def _connect_sessions(self) -> None:
        sessions, window, listed = self.sessions, self.window, self.window.sidebar.list
        sessions.lines_changed.connect(window.sidebar.show_lines)
        sessions.open_requested.connect(self.open_session)
        sessions.title_changed.connect(self._on_title_changed)
        sessions.trashed.connect(self._on_trashed)
        sessions.failed.connect(self.show_error)
        sessions.trash_shown.connect(window.sidebar.show_trash)
        window.new_requested.connect(sessions.new)
        window.sidebar.new_requested.connect(sessions.new)
        window.sidebar.filter_changed.connect(sessions.filter)
        window.sidebar.trash_toggled.connect(sessions.show_trash)
        window.toolbar.rename_requested.connect(self._on_rename_front)
        listed.session_chosen.connect(self._on_session_chosen)
        listed.rename_requested.connect(self._on_rename_requested)
        listed.pin_requested.connect(sessions.pin)
        listed.trash_requested.connect(sessions.trash)
        listed.restore_requested.connect(sessions.restore)

    def _connect_docks(self) -> None:
        branches, window = self.branches, self.window
        branches.rows_changed.connect(window.branches.show_rows)
        branches.tree_changed.connect(self._on_tree_changed)
        branches.session_requested.connect(self.open_session)
        branches.archived_changed.connect(window.branches.show_archived)
        branches.archived.connect(self._on_archived)
        branches.failed.connect(self.show_error)
        window.branches.archive_requested.connect(branches.archive)
        window.branches.bring_back_requested.connect(branches.bring_back)
        window.branches.archived_toggled.connect(branches.toggle_archived)
        window.branches.go_requested.connect(self._on_go_requested)
        window.branches.fold_toggled.connect(branches.toggle_fold)
        window.branches.search_changed.connect(branches.search)
        window.branches.session_requested.connect(branches.open_session)
        self.context.failed.connect(self.show_error)

    def _connect_library(self) -> None:
        library, window = self.library, self.window
        library.line_changed.connect(window.sidebar.show_library)
        library.card_changed.connect(window.welcome.show_library)
        library.facts_changed.connect(window.library.show_facts)
        library.starters_changed.connect(window.welcome.show_starters)
        library.library_changed.connect(self.chats.library_changed)
        library.library_changed.connect(self.context.refresh)
        library.library_changed.connect(self.cache_watch.library_changed)
        library.failed.connect(self.show_error)
        window.sidebar.refresh_requested.connect(library.refresh)
        window.library.refresh_requested.connect(library.refresh)
        window.library.choose_requested.connect(self._on_folder_requested)
        self.library_desk.failed.connect(self.show_error)
        window.welcome.library_chosen.connect(library.choose)
        window.welcome.folder_requested.connect(self._on_folder_requested)

    def _connect_settings(self) -> None:
        settings, window = self.settings, self.window
        window.sidebar.settings_requested.connect(settings.open)
        window.settings_requested.connect(settings.open)
        window.welcome.provider_requested.connect(settings.open)
        self.sheets.manage_requested.connect(settings.open)
        settings.link_requested.connect(self.opening.open_at_once)
        settings.folder_requested.connect(self._on_folder_requested)
        if settings.web is not None:
            window.welcome.web_requested.connect(settings.web.open)
        settings.providers_changed.connect(self.front.refresh)

    # -- sessions

    def open_session(self, session_id: str) -> None:
        self.window.composer.flush_draft()
        self.chats.show(session_id)

    def _on_session_chosen(self, session_id: str) -> None:
        self.window.bottom.toasts.clear()  # what it spoke of is not in front any more
        self.sessions.choose(session_id)

    def _on_shown(self, conversation: Conversation) -> None:
        self.sessions.show_front(conversation.id)
        self.sessions.refresh()
        self.branches.show_chat(conversation.chat)
        self.context_desk.show(conversation)

    def _on_title_changed(self, title: str, origin: str) -> None:
        self.window.toolbar.show_title(title, origin)
        self.window.setWindowTitle(f"{title} – BibGenie")

    def _on_rename_front(self) -> None:
        if self.chats.chat is not None:
            self._on_rename_requested(self.chats.chat.session_id)

    def _on_rename_requested(self, session_id: str) -> None:
        dialog = RenameDialog(self.sessions.title_of(session_id), self.window)
        dialog.setProperty("session", session_id)
        dialog.named.connect(self._on_named)
        dialog.open()

    def _on_named(self, title: str) -> None:
        sender = self.sender()
        if sender is not None:
            self.sessions.rename(str(sender.property("session")), title)

    def _on_trashed(self, session_id: str, title: str) -> None:
        self.window.toast(
            tr("“{0}” is in the trash.").format(within_quotes(title)),
            action=tr("Undo"),
            on_action=Later(self.sessions.restore, session_id),
        )

    def _on_imported(self, session_id: str, title: str) -> None:
        self.open_session(session_id)
        self.window.toast(
            tr("“{0}” was imported. You are in it.").format(title),
            action=tr("Undo"),
            on_action=Later(self.sessions.trash, session_id),
        )

    def _on_forked(self, session_id: str) -> None:
        origin = self.chats.chat.session_id if self.chats.chat is not None else ""
        self.open_session(session_id)
        self.window.toast(
            tr("Forked. You are in the new session."),
            action=tr("Undo"),
            on_action=Later(self._undo_fork, session_id, origin),
        )

    def _undo_fork(self, session_id: str, origin: str) -> None:
        if origin:
            self.open_session(origin)
        self.sessions.trash(session_id)

    # -- branches and context

    def _on_go_requested(self, message_id: str) -> None:
        """There: another branch, or a place on this one."""
        if not self.window.conversation.scroll_to(message_id):
            self.chats.switch_to(message_id)

    def _on_archived(self, message_id: str) -> None:
        self.window.toast(
            tr("Branch archived"),
            tr("It is out of sight and keeps every message."),
            action=tr("Undo"),
            on_action=Later(self.branches.bring_back, message_id),
        )

    def _on_tree_changed(self, tree: Tree) -> None:
        self.chats.take_tree(tree)

    def _on_sibling_requested(self, row_id: str, step: int) -> None:
        self.chats.switch_version(row_id, step, self.branches.tree)

    def _on_rows_changed(self, _rows: object) -> None:
        if self.chats.front is not None:
            self.window.library.show_sources(used_sources(self.chats.front.entries))

    # -- links and libraries

    def _on_folder_requested(self) -> None:
        dialog = QFileDialog(self.settings.front, tr("Choose Zotero's data directory"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self.library.choose)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    # -- what went wrong

    def show_error(self, error: UserError) -> None:
        self.window.toast(error.title, error.advice, tone="warn")
