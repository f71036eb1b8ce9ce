"""What stands between messages: checkpoints, the mark of the verbatim part, and messages that cannot be
shown.
"""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from bibgenie_desktop.gui.components import Elided, Glyph, box, column, icon_button, label, push, row, rule
from bibgenie_desktop.gui.conversation.intents import Surroundings
from bibgenie_desktop.gui.conversation.message import MessageWidget
from bibgenie_desktop.gui.conversation.rows import CheckpointRow, PlaceholderRow, VerbatimRow, WidgetRow
from bibgenie_desktop.gui.theme import current, gap, icons
from bibgenie_desktop.gui.tr import plural, tr

SHOWN_FIRST = 4


class CheckpointMessage(MessageWidget):
    """A line through the column with one button; open, it shows the sections of the summary."""

    kind = "checkpoint"

    def __init__(self, row_value: CheckpointRow, surroundings: Surroundings) -> None:
        super().__init__(row_value, surroundings)
        self._checkpoint = row_value
        self._all = self.fold_state("all", False)
        self._button = push(
            row_value.title, "quiet", icon="compact", dense=True, object_name="checkpointToggle"
        )
        self._button.setToolTip(tr("The model now works from a summary of what stands above"))
        self._chevron = icon_button("chevron-down", tr("Show summary"), size=22, role="text3")
        self._button.clicked.connect(self._on_clicked)
        self._chevron.clicked.connect(self._on_clicked)
        head = row(rule(), self._button, self._chevron, rule(), spacing=0)
        self._column = QVBoxLayout()
        self._column.setSpacing(gap(10))
        self._column.addLayout(head)
        self._body: QWidget | None = None
        self.set_content(self._column)
        self._show_body(self.fold_state("summary", False))

    def kind_name(self) -> str:
        return tr("checkpoint: {0}").format(self._checkpoint.title)

    @property
    def is_open(self) -> bool:
        return self._body is not None

    def toggle_fold(self) -> bool:
        opened = self._body is None
        self._shared.folds[f"{self.row_id}/summary"] = opened
        self._show_body(opened)
        self._shared.intents.checkpoint_toggled.emit(self.row_id, opened)
        self.size_changed.emit(self.row_id)
        return True

    def _on_clicked(self) -> None:
        self.toggle_fold()

    def _on_all_clicked(self) -> None:
        self._all = True
        self._shared.folds[f"{self.row_id}/all"] = True
        self._show_body(True)
        self.size_changed.emit(self.row_id)

    def _on_compare_clicked(self) -> None:
        self._shared.intents.compare_requested.emit(self.row_id)

    def _show_body(self, opened: bool) -> None:
        if self._body is not None:
            self._column.removeWidget(self._body)
            self._body.hide()
            self._body.deleteLater()
            self._body = None
        self._chevron.setIcon(icons.icon("chevron-up" if opened else "chevron-down", "text3"))
        tip = tr("Hide summary") if opened else tr("Show summary")
        self._chevron.setToolTip(tip)
        self._chevron.setAccessibleName(tip)
        if opened:
            self._body = self._make_body()
            self._column.addWidget(self._body)

    def _make_body(self) -> QWidget:
        body = column(spacing=10, margins=(18, 16, 18, 12))
        filled = [(t, x) for t, x in self._checkpoint.sections if x.strip()]
        shown = filled if self._all else filled[:SHOWN_FIRST]
        for title, text in shown:
            words = label(text, wrap=True)
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            body.addLayout(column(label(title, "caption", "2"), words, spacing=2))
        facts = tr("{0} of {1} sections").format(len(shown), len(self._checkpoint.sections))
        kept = plural(self._checkpoint.resources, tr("{0} resource kept"), tr("{0} resources kept"))
        foot = row(Elided(f"{facts} · {kept}", "small", "3"), spacing=4)
        if self._checkpoint.can_compare:
            compare = push(tr("Compare with previous"), "quiet", dense=True)
            compare.clicked.connect(self._on_compare_clicked)
            foot.addWidget(compare)
        if len(shown) < len(filled):
            more = push(tr("Show all"), "quiet", dense=True)
            more.clicked.connect(self._on_all_clicked)
            foot.addWidget(more)
        body.addLayout(foot)
        return box(body, card="sunken")

    def plain_text(self) -> str:
        parts = [self._checkpoint.title, *(f"{t}\n{x}" for t, x in self._checkpoint.sections)]
        return "\n\n".join(parts)

    def is_held(self) -> bool:
        return super().is_held() or any(w.hasSelectedText() for w in self.findChildren(QLabel))


class VerbatimMark(MessageWidget):
    """Dashed mark in the older text: from here on the model reads word for word."""

    kind = "mark"

    def __init__(self, row_value: VerbatimRow, surroundings: Surroundings) -> None:
        super().__init__(row_value, surroundings)
        self._text = label(tr("Kept word for word from here"), "fine", "3")
        self.set_content(row(None, self._text))

    def set_position(self, number: int, total: int) -> None:
        self.setAccessibleName(self._text.text())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QPen(current().color("line_strong"), 1, Qt.PenStyle.DashLine))
        end = self._text.geometry().left() - gap(10)
        painter.drawLine(gap(8), self.height() // 2, end, self.height() // 2)
        painter.end()
        super().paintEvent(event)


class PlaceholderMessage(MessageWidget):
    """A message that cannot be shown, and why."""

    kind = "damaged"

    def __init__(self, row_value: PlaceholderRow, surroundings: Surroundings) -> None:
        super().__init__(row_value, surroundings)
        words = label(row_value.reason, "small", "2", wrap=True)
        body = row(Glyph("warn", "bad", 16), words, margins=(14, 10, 14, 10), spacing=8, grow=1)
        self.set_content(column(box(body, card="bad")))

    def kind_name(self) -> str:
        return tr("cannot be shown")


class CustomMessage(MessageWidget):
    """Whatever a `WidgetRow` makes."""

    kind = "widget"

    def __init__(self, row_value: WidgetRow, surroundings: Surroundings) -> None:
        super().__init__(row_value, surroundings)
        self._name = row_value.name
        self.set_content(column(row_value.make()))

    def kind_name(self) -> str:
        return self._name or tr("card")
