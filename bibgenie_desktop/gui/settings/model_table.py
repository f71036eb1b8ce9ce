"""The models of a provider: what each has room for and reads, a window of the person's own, and adding one
by its name."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCompleter, QFrame, QGridLayout, QLineEdit, QVBoxLayout, QWidget

from bibgenie_desktop.gui.components import Elided, fixed, icon_button, label, push, row
from bibgenie_desktop.gui.settings.values import ModelLine
from bibgenie_desktop.gui.theme import gap, lengths
from bibgenie_desktop.gui.tr import tr


class ModelTable(QFrame):
    """`window_set` carries a model and what was typed; empty takes the person's own figure back."""

    window_set = Signal(str, str)
    removed = Signal(str)
    added = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._lines: tuple[ModelLine, ...] = ()
        self._narrow = False
        self._grid: QFrame | None = None
        self._name = QLineEdit()
        self._name.setObjectName("modelName")
        self._name.setPlaceholderText(tr("Name of a model"))
        self._name.setAccessibleName(tr("Name of a model to add"))
        self._add = push(tr("Add model"), icon="plus", dense=True, object_name="addModel")
        self._add.setAutoDefault(False)
        self._add.setEnabled(False)
        self._empty = label(
            tr("No model is listed yet. Test the provider, or write the name of a model."),
            "small",
            "3",
            wrap=True,
        )
        self._whole = QVBoxLayout(self)
        self._whole.setContentsMargins(0, 0, 0, 0)
        self._whole.setProperty(lengths.SPACING, [8.0])
        lengths.scale_layout(self._whole, gap)
        self._whole.addWidget(self._empty)
        self._whole.addLayout(row(self._name, self._add, spacing=8, grow=0))
        self._name.textChanged.connect(self._on_name_changed)
        self._name.returnPressed.connect(self._on_add)
        self._add.clicked.connect(self._on_add)

    def set_narrow(self, narrow: bool) -> None:
        if narrow != self._narrow:
            self._narrow = narrow
            self._build()

    def show_models(self, lines: Sequence[ModelLine], offered: Sequence[str]) -> None:
        """`offered`: names that are suggested while one is typed."""
        completer = QCompleter(list(offered), self._name)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self._name.setCompleter(completer)  # the one before belongs to the field and goes
        if tuple(lines) != self._lines:
            self._lines = tuple(lines)
            self._build()

    def _build(self) -> None:
        focused = self.focusWidget()
        name = focused.objectName() if focused is not None and focused.hasFocus() else ""
        if self._grid is not None:
            self._whole.removeWidget(self._grid)
            self._grid.hide()
            self._grid.deleteLater()
            self._grid = None
        self._empty.setVisible(not self._lines)
        if not self._lines:
            return
        self._grid = self._table()
        self._whole.insertWidget(0, self._grid)
        again = self._grid.findChild(QWidget, name) if name else None
        if again is not None:
            again.setFocus(Qt.FocusReason.OtherFocusReason)

    def _table(self) -> QFrame:
        frame = QFrame()
        grid = QGridLayout(frame)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setProperty(lengths.SPACING, [10.0])
        lengths.scale_layout(grid, gap)
        heads = [tr("Model"), tr("Window")] + ([] if self._narrow else [tr("Output"), tr("Reads")])
        for place, head in enumerate(heads):
            grid.addWidget(label(head, "caption", "3"), 0, place)
        for number, line in enumerate(self._lines, 1):
            grid.addWidget(Elided(line.name, middle=True), number, 0)
            grid.addWidget(self._window_field(line), number, 1)
            if not self._narrow:
                grid.addWidget(label(line.output, tone="2"), number, 2)
                grid.addWidget(label(line.reads, tone="2"), number, 3)
            if line.assumed:
                badge = label(tr("assumed"), badge="warn")
                badge.setToolTip(
                    tr("Nobody said how large this window is. Write the right figure if you know it.")
                )
                grid.addWidget(badge, number, 4, Qt.AlignmentFlag.AlignVCenter)
            remove = icon_button(
                "close", tr("Do not list {0}").format(line.name), size=24, role="text3",
                object_name=f"unlist:{line.id}",
            )  # fmt: skip
            remove.setProperty("model", line.id)
            remove.clicked.connect(self._on_remove)
            grid.addWidget(remove, number, 5)
        grid.setColumnStretch(0, 1)
        return frame

    def _window_field(self, line: ModelLine) -> QLineEdit:
        field = QLineEdit(line.set_window)
        field.setPlaceholderText(line.window)
        field.setObjectName(f"window:{line.id}")
        field.setProperty("model", line.id)
        field.setAccessibleName(tr("Window of {0} in tokens, now {1}").format(line.name, line.window))
        field.setToolTip(tr("Tokens. Empty: what is known of the model, {0}.").format(line.window))
        fixed(field, 104)
        field.editingFinished.connect(self._on_window_edited)
        return field

    def _on_window_edited(self) -> None:
        field = self.sender()
        if not isinstance(field, QLineEdit):
            return
        model = str(field.property("model"))
        known = next((line.set_window for line in self._lines if line.id == model), "")
        if field.text().strip() != known:
            self.window_set.emit(model, field.text().strip())

    def _on_remove(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.removed.emit(str(sender.property("model")))

    def _on_name_changed(self, text: str) -> None:
        self._add.setEnabled(bool(text.strip()))

    def _on_add(self) -> None:
        name = self._name.text().strip()
        if name:
            self._name.clear()
            self.added.emit(name)
