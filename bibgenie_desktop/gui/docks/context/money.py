"""What the session cost: one line, and folded below it where the tokens and the money went."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QWidget

from bibgenie_desktop.gui.components import Elided, box, column, label, push, row
from bibgenie_desktop.gui.docks.context.values import CostView
from bibgenie_desktop.gui.theme import icons
from bibgenie_desktop.gui.tr import tr


class CostCard(QFrame):
    """Shows a `CostView`; stays open or folded as the person left it."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("costCard")
        self._view: CostView | None = None
        self._head = push("", "fold", icon="chevron-right", role="text3", object_name="costHead")
        self._head.setCheckable(True)
        self._head.toggled.connect(self._on_toggled)
        self._cache = label("", "fine", "3", wrap=True)
        self._cache.setObjectName("cacheLine")
        self._body: QFrame | None = None
        self._column = column(row(self._head, None), self._cache, spacing=4, margins=(16, 8, 16, 10))
        self.setLayout(self._column)
        self.hide()

    @property
    def title(self) -> str:
        return self._head.text()

    def show_cost(self, view: CostView | None) -> None:
        if view == self._view:
            return
        self._view = view
        self.setVisible(view is not None)
        if view is None:
            return
        self._head.setText(view.title)
        self._head.setAccessibleName(tr("{0}. Details").format(view.title))
        self._cache.setText(view.cache)
        self._cache.setVisible(bool(view.cache))
        self._show_body()

    def _on_toggled(self, opened: bool) -> None:
        self._head.setIcon(icons.icon("chevron-down" if opened else "chevron-right", "text3"))
        self._show_body()

    def _show_body(self) -> None:
        if self._body is not None:
            self._column.removeWidget(self._body)
            self._body.hide()
            self._body.deleteLater()
            self._body = None
        view = self._view
        if view is None or not self._head.isChecked():
            return
        parts: list[QWidget] = [_line(*pair) for pair in view.kinds]
        if view.models:
            parts.append(label(tr("By model"), "caption", "2"))
            parts += [_line(*pair) for pair in view.models]
        parts += [label(note, "fine", "3", wrap=True) for note in view.notes]
        self._body = box(column(*parts, spacing=4, margins=(12, 10, 12, 10)), card="sunken")
        self._column.insertWidget(1, self._body)


def _line(name: str, figure: str) -> QFrame:
    line = box(row(Elided(name, "small"), label(figure, "small", "2"), spacing=8, grow=0))
    line.setAccessibleName(f"{name}: {figure}")
    return line
