"""Says once, in passing, when what the person has just begun leaves the provider's warm prompt cache behind:
the edit of an earlier message, another branch, another set of tools. Nothing is asked: it can all be undone.
"""

from __future__ import annotations

from PySide6.QtCore import QObject

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import Checkpoint
from bibgenie_desktop.gui.desk.later import Later
from bibgenie_desktop.gui.presenters.chat import ChatPresenter
from bibgenie_desktop.gui.presenters.context import ContextPresenter
from bibgenie_desktop.gui.presenters.cost_words import branch_warning, edit_warning, tools_warning
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.gui.window import MainWindow
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.spending.prompt_cache import WarmCache
from bibgenie_desktop.services.workspace import Workspace


class CacheWatch(QObject):
    """Knows the cache of the branch in front as it was before it changed."""

    def __init__(
        self,
        window: MainWindow,
        workspace: Workspace,
        chats: ChatPresenter,
        context: ContextPresenter,
        tasks: Tasks,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._window, self._workspace = window, workspace
        self._chats, self._context, self._tasks = chats, context, tasks
        self._branch: tuple[str, MessageId | None, WarmCache | None] = ("", None, None)
        self._tools: object = None
        chats.shown.connect(self._remember)
        chats.context_may_have_changed.connect(self._remember)
        chats.branch_loaded.connect(self._on_branch_loaded)
        chats.drafts.editing_changed.connect(self._on_editing_changed)

    def _remember(self) -> None:
        chat = self._chats.chat
        if chat is not None:
            self._branch = (chat.session_id, chat.session.leaf_id, self._context.warm_of(chat))
            self._tools = self._workspace.cache_costs.tools

    def _on_branch_loaded(self) -> None:
        """The branch was switched: no answer and no checkpoint was added to the one before."""
        chat = self._chats.chat
        session, leaf, warm = self._branch
        if chat is None or warm is None or leaf is None or chat.session_id != session:
            return
        if chat.pending is not None or chat.undone or not chat.path:
            return
        end = chat.path[-1]
        if any(m.id == leaf for m in chat.path) or (isinstance(end, Checkpoint) and end.parent_id == leaf):
            return
        there = self._context.warm_of(chat)
        now = self._workspace.clock()
        if there is None or now >= there.until:
            self._tasks.start(self._say_branch(chat, warm, leaf), "cost of a branch")

    async def _say_branch(self, chat: Chat, warm: WarmCache, leaf: MessageId) -> None:
        tokens = await self._workspace.cache_costs.apart(chat, leaf)
        said = branch_warning(warm, self._workspace.clock(), tokens)
        if said and chat is self._chats.chat:
            self._window.toast(
                tr("Another branch"),
                said,
                tone="accent",
                action=tr("Go back"),
                on_action=Later(self._chats.switch_to, leaf),
            )

    def _on_editing_changed(self, message_id: str) -> None:
        chat, warm = self._chats.chat, self._context.warm
        if chat is None or warm is None or not message_id or self._chats.is_newest(message_id):
            return
        self._tasks.start(self._say_edit(chat, warm, MessageId(message_id)), "cost of an edit")

    async def _say_edit(self, chat: Chat, warm: WarmCache, question: MessageId) -> None:
        tokens = await self._workspace.cache_costs.before(chat, question)
        said = edit_warning(warm, self._workspace.clock(), tokens)
        if said and chat is self._chats.chat:
            self._window.toast(tr("Editing an earlier message"), said, tone="accent")

    def library_changed(self) -> None:
        """Another library may bring other tools."""
        before, self._tools = self._tools, self._workspace.cache_costs.tools
        said = tools_warning(self._context.warm, self._workspace.clock())
        if said and before is not None and before != self._tools:
            self._window.toast(tr("Other tools"), said, tone="accent")
