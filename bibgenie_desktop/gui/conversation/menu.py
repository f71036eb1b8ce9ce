"""The context menu of a message: every action is there, and what cannot be done says why."""

from functools import partial

from PySide6.QtWidgets import QWidget

from bibgenie_desktop.gui.components import Menu
from bibgenie_desktop.gui.conversation.intents import Intents, reason_by_kind
from bibgenie_desktop.gui.conversation.message import MessageWidget, copy_to_clipboard
from bibgenie_desktop.gui.conversation.rows import Action
from bibgenie_desktop.gui.tr import tr

MESSAGES = ("user", "assistant", "checkpoint")


def message_menu(message: MessageWidget, intents: Intents, parent: QWidget) -> Menu:
    """Retry, Retry with…, Edit, Fork from here, Copy as…, Quote."""
    menu = Menu(parent)
    row_id, kind = message.row_id, message.kind
    selected = message.selected_text()

    def reason(action: Action) -> str | None:
        return reason_by_kind(action, kind) or intents.reason_against(action, row_id)

    if selected:
        menu.entry(tr("Copy selection"), lambda: copy_to_clipboard(selected), icon="copy")
        menu.entry(tr("Quote selection"), lambda: intents.quote_requested.emit(selected), icon="quote")
        menu.entry(
            tr("Never drop this"),
            lambda: intents.pin_requested.emit(selected),
            icon="pin",
            object_name="pinSelectionAction",
        )
        menu.addSeparator()
    if kind in MESSAGES:
        for action, text, icon, name in (
            ("retry", tr("Retry"), "retry", "retryAction"),
            ("retry_with", tr("Retry with…"), "retry", "retryWithAction"),
            ("edit", tr("Edit"), "edit", "editAction"),
            ("fork", tr("Fork from here"), "fork", "forkAction"),
        ):
            signal = getattr(intents, f"{action}_requested")
            menu.entry(
                text,
                partial(signal.emit, row_id),
                icon=icon,
                reason=reason(action),  # type: ignore[arg-type]
                object_name=name,
            )
        menu.addSeparator()
    copy = menu.submenu(tr("Copy as…"), icon="copy")
    copy.setObjectName("copyMenu")
    for form, text in (
        ("markdown", tr("Markdown")),
        ("plain", tr("Plain text")),
        ("citations", tr("With formatted citations")),
        ("cite_as", tr("With citations as…")),
    ):
        none = (
            tr("There is nothing cited in this message")
            if form == "cite_as" and kind != "assistant"
            else None
        )
        copy.entry(
            text, partial(intents.copy_requested.emit, row_id, form), reason=none, object_name=f"copy_{form}"
        )
    has_code = any(view.code_texts() for view in message.views())
    none = None if has_code else tr("There is no code in this message")
    copy.entry(
        tr("Code only"),
        lambda: intents.copy_requested.emit(row_id, "code"),
        reason=none,
        object_name="copy_code",
    )
    menu.entry(
        tr("Quote"),
        lambda: intents.copy_requested.emit(row_id, "quote"),
        icon="quote",
        reason=reason("quote"),
        object_name="quoteAction",
    )
    return menu
