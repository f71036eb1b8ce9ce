"""What a checkpoint says that the one before it on the branch did not: of the newest one, or of another that
is chosen from a list."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame

from bibgenie_desktop.gui.components import Dropdown, Menu, column, label, row
from bibgenie_desktop.gui.docks.checkpoints import Changes, CheckpointLine
from bibgenie_desktop.gui.tr import tr


class ChangesCard(QFrame):
    """Hidden while there is nothing to compare."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("changesCard")
        self._lines: tuple[CheckpointLine, ...] = ()
        self._chosen = ""
        self._shown: CheckpointLine | None = None
        self._changes: Changes | None = None
        self._head = label("", "strong", wrap=True)
        self._choose = Dropdown("", object_name="chooseCheckpoint")
        self._choose.clicked.connect(self._on_choose)
        self._column = column(self._head, row(self._choose, None), spacing=6, margins=(16, 12, 16, 12))
        self.setLayout(self._column)
        self.hide()

    def show_checkpoints(self, lines: Sequence[CheckpointLine]) -> None:
        """The newest first; those without one before them have nothing to compare."""
        self._lines = tuple(line for line in lines if line.changes is not None)
        if all(line.id != self._chosen for line in self._lines):
            self._chosen = ""
        self._choose.setVisible(len(self._lines) > 1)
        self.setVisible(bool(self._lines))
        if self._lines:
            self._show(next((x for x in self._lines if x.id == self._chosen), self._lines[0]))

    def _show(self, line: CheckpointLine) -> None:
        newest = line.id == self._lines[0].id
        self._head.setText(
            tr("Changes in the newest checkpoint") if newest else tr("Changes in an earlier checkpoint")
        )
        self._choose.setText(_name(line))
        self._choose.setAccessibleName(tr("Compared: {0}, with the one before it").format(_name(line)))
        if self._shown == line:
            return
        self._shown = line
        if self._changes is not None:
            self._column.removeWidget(self._changes)
            self._changes.hide()
            self._changes.deleteLater()
        self._changes = Changes(line.changes or ())
        self._column.addWidget(self._changes)

    def _on_choose(self) -> None:
        menu = Menu(self)
        for line in self._lines:
            icon = "check" if line == self._shown else ""
            menu.entry(_name(line), icon=icon, object_name=f"compare:{line.id}").setData(line.id)
        menu.triggered.connect(self._on_chosen)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._choose.mapToGlobal(self._choose.rect().bottomLeft()))

    def _on_chosen(self, action: QAction) -> None:
        self._chosen = str(action.data())
        self.show_checkpoints(self._lines)


def _name(line: CheckpointLine) -> str:
    return f"{line.title} · {line.when}"
