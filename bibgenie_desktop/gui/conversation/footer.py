"""The row below a message: versions, actions, facts.

Buttons are made when they are first needed: most messages that pass by are never touched.
"""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QBoxLayout, QFrame, QHBoxLayout, QToolButton, QWidget

from bibgenie_desktop.gui.components import Elided, box, fixed, gate, icon_button, label, row
from bibgenie_desktop.gui.conversation.intents import Intents, reason_by_kind
from bibgenie_desktop.gui.conversation.rows import Action, Siblings
from bibgenie_desktop.gui.theme import gap
from bibgenie_desktop.gui.tr import tr


def switcher(row_id: str, siblings: Siblings, intents: Intents) -> QWidget:
    """‹ 2/3 › for a message that has other versions."""
    index, count = siblings
    text = label(f"{index}/{count}", "small", "2")
    text.setAccessibleName(tr("Version {0} of {1}").format(index, count))
    before = icon_button("chevron-left", tr("Previous version"), size=22)
    after = icon_button("chevron-right", tr("Next version"), size=22)
    gate(before, None if index > 1 else tr("This is the first version"))
    gate(after, None if index < count else tr("This is the last version"))
    before.clicked.connect(lambda: intents.sibling_requested.emit(row_id, -1))
    after.clicked.connect(lambda: intents.sibling_requested.emit(row_id, 1))
    return box(row(before, text, after, spacing=1), object_name="siblingSwitcher")


class Actions(QFrame):
    """Icon buttons for one message; each one is enabled when it can be used now."""

    def __init__(
        self, row_id: str, kind: str, names: tuple[Action, ...], intents: Intents, *, size: float = 26
    ) -> None:
        super().__init__()
        self._row_id, self._kind, self._intents = row_id, kind, intents
        self._buttons: dict[Action, QToolButton] = {}
        shown = {
            "copy": ("copy", tr("Copy"), "copyButton"),
            "quote": ("quote", tr("Quote in composer"), "quoteButton"),
            "fork": ("fork", tr("Fork from here"), "forkButton"),
            "retry": ("retry", tr("Retry"), "retryButton"),
            "edit": ("edit", tr("Edit"), "editButton"),
        }
        layout = row(spacing=2)
        for name in names:
            icon, tip, object_name = shown[name]
            button = icon_button(icon, tip, size=size, object_name=object_name)
            button.clicked.connect(lambda _checked=False, name=name: self._on_clicked(name))
            self._buttons[name] = button
            layout.addWidget(button)
        more = icon_button("more", tr("More"), size=size, object_name="moreButton")
        more.clicked.connect(lambda: intents.menu_requested.emit(row_id))
        layout.addWidget(more)
        self.setLayout(layout)
        self.refresh()

    def refresh(self) -> None:
        """Ask again what can be done."""
        for name, button in self._buttons.items():
            reason = reason_by_kind(name, self._kind)
            gate(button, reason or self._intents.reason_against(name, self._row_id))

    def _on_clicked(self, name: Action) -> None:
        if name == "copy":
            self._intents.copy_requested.emit(self._row_id, "markdown")
        elif name == "quote":
            self._intents.copy_requested.emit(self._row_id, "quote")
        elif name == "fork":
            self._intents.fork_requested.emit(self._row_id)
        elif name == "retry":
            self._intents.retry_requested.emit(self._row_id)
        elif name == "edit":
            self._intents.edit_requested.emit(self._row_id)


class Footer(QWidget):
    """Versions and facts; actions appear on hover, on keyboard focus, and for the newest answer.

    Below one's own message the facts come and go with the actions: the row stands where there is room anyway.
    """

    focus_moved = Signal()
    """The keyboard came to one of the buttons, or left it."""

    def __init__(
        self,
        row_id: str,
        kind: str,
        names: tuple[Action, ...],
        intents: Intents,
        *,
        siblings: Siblings | None = None,
        meta: str = "",
        badge: str = "",
        tone: str = "",
    ) -> None:
        super().__init__()
        self._row_id, self._kind, self._names, self._intents = row_id, kind, names, intents
        self._actions: Actions | None = None
        self._quiet = kind == "user"
        self._facts = Elided(meta, "small", "3")
        self._facts.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._row: QBoxLayout = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(gap(2))
        if siblings is not None:
            self._row.addWidget(switcher(row_id, siblings, intents))
        self._place = self._row.count()
        if badge:
            self._row.addWidget(label(badge, badge=tone), 0, Qt.AlignmentFlag.AlignVCenter)
        if self._quiet:
            self._row.addStretch(1)
        self._row.addWidget(self._facts, 1)
        self._facts.setVisible(not self._quiet)
        fixed(self, height=24 if self._quiet else 28)

    def reveal(self, shown: bool) -> None:
        """Show or hide what is not always there; its room stays."""
        if shown and self._actions is None and self._names:
            size = 24 if self._quiet else 26
            self._actions = Actions(self._row_id, self._kind, self._names, self._intents, size=size)
            self._row.insertWidget(self._place, self._actions)
            for button in self._actions.findChildren(QToolButton):
                button.installEventFilter(self)
        if self._actions is not None:
            if shown and self._actions.isHidden():
                self._actions.refresh()
            self._actions.setVisible(shown)
        if self._quiet:
            self._facts.setVisible(shown)

    def holds_focus(self) -> bool:
        """Whether one of the buttons has the keyboard focus."""
        focus = QApplication.focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.focus_moved.emit()
        return super().eventFilter(watched, event)

    def refresh(self) -> None:
        if self._actions is not None:
            self._actions.refresh()
