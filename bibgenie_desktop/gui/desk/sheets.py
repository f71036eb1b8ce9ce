"""The sheet of models with their verdicts, for the session in front or for one answer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from bibgenie_desktop.domain.states import Action
from bibgenie_desktop.gui.popovers.models import ModelSwitcher
from bibgenie_desktop.gui.presenters.chat import ChatPresenter
from bibgenie_desktop.gui.presenters.context import ContextPresenter
from bibgenie_desktop.gui.tr import thousands, tr
from bibgenie_desktop.gui.window import MainWindow
from bibgenie_desktop.services.planner import Verdict


class Sheets(QObject):
    """One at a time; each goes away by itself."""

    manage_requested = Signal()

    def __init__(
        self,
        window: MainWindow,
        context: ContextPresenter,
        chats: ChatPresenter,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._window, self._context, self._chats = window, context, chats
        self._retry = ""
        context.verdicts_ready.connect(self._on_verdicts_ready)

    def ask_models(self) -> None:
        """The sheet opens as soon as every model was asked."""
        self._retry = ""
        self._context.ask_verdicts()

    def ask_models_for_retry(self, row_id: str) -> None:
        """Choosing then retries that answer with the model, for this answer only."""
        self._retry = row_id
        self._context.ask_verdicts()

    def _on_verdicts_ready(self, verdicts: Sequence[Verdict]) -> None:
        chat = self._chats.chat
        if chat is None or self._chats.refusal(Action.CHOOSE_MODEL) is not None or not verdicts:
            return
        own = [v.occupancy for v in verdicts if v.profile.ref == chat.session.model]
        size = thousands((own or [v.occupancy for v in verdicts])[0], 1)
        retry = self._retry
        sheet = ModelSwitcher(
            verdicts,
            chat.session.model,
            self._window,
            title=tr("Retry with another model, for this answer only") if retry else "",
            foot="" if retry else tr("Checked with your draft: {0} tokens").format(size),
            warning=self._context.model_warning,
        )
        sheet.setProperty("retry", retry)
        sheet.model_chosen.connect(self._on_model_chosen)
        sheet.manage_requested.connect(self.manage_requested)
        sheet.open_below(self._window.toolbar.switcher, "right")

    def _on_model_chosen(self, ref: str) -> None:
        sender = self.sender()
        retry = str(sender.property("retry") or "") if sender is not None else ""
        if retry:
            self._chats.retry(retry, ref)
        else:
            self._chats.choose_model(ref)
