"""The row below an answer: versions, actions, facts. And the small floating row over one's own message.

Buttons are made when they are first needed: most messages that pass by are never touched.
"""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QToolButton, QWidget

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

    def __init__(self, row_id: str, kind: str, names: tuple[Action, ...], intents: Intents) -> None:
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
            button = icon_button(icon, tip, size=26, object_name=object_name)
            button.clicked.connect(lambda _checked=False, name=name: self._on_clicked(name))
            self._buttons[name] = button
            layout.addWidget(button)
        more = icon_button("more", tr("More"), size=26, object_name="moreButton")
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
    """Versions and facts; actions appear on hover, on keyboard focus, and for the newest answer."""

    def __init__(
        self, row_id: str, siblings: Siblings | None, meta: str, badge: str, tone: str, intents: Intents
    ) -> None:
        super().__init__()
        self._row_id, self._intents = row_id, intents
        self._actions: Actions | None = None
        self._facts = Elided(meta, "small", "3")
        self._facts.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._row: QBoxLayout = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(gap(2))
        if siblings is not None:
            self._row.addWidget(switcher(row_id, siblings, intents))
        self._place = self._row.count()
        if badge:
            self._row.addWidget(label(badge, badge=tone))
        self._row.addWidget(self._facts, 1)
        self._facts.setVisible(True)
        fixed(self, height=28)

    def reveal(self, shown: bool) -> None:
        """Show or hide the actions; their room stays."""
        if shown and self._actions is None:
            names: tuple[Action, ...] = ("copy", "quote", "fork", "retry")
            self._actions = Actions(self._row_id, "assistant", names, self._intents)
            self._row.insertWidget(self._place, self._actions)
        if self._actions is not None:
            if shown and self._actions.isHidden():
                self._actions.refresh()
            self._actions.setVisible(shown)

    def refresh(self) -> None:
        if self._actions is not None:
            self._actions.refresh()
