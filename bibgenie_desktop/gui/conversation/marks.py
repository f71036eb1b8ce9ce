"""What stands between messages: the mark of the verbatim part, messages that cannot be shown, and cards."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from bibgenie_desktop.gui.components import Glyph, box, column, label, row
from bibgenie_desktop.gui.conversation.intents import Surroundings
from bibgenie_desktop.gui.conversation.message import MessageWidget
from bibgenie_desktop.gui.conversation.rows import PlaceholderRow, VerbatimRow, WidgetRow
from bibgenie_desktop.gui.theme import current, gap
from bibgenie_desktop.gui.tr import tr


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
        self._inner: QWidget = row_value.make()
        self.set_content(column(self._inner))

    def kind_name(self) -> str:
        return self._name or tr("card")

    def is_held(self) -> bool:
        """The widget itself may say that something in it would be lost (`is_held`)."""
        asked = getattr(self._inner, "is_held", None)
        return super().is_held() or bool(asked is not None and asked())
