"""What the person wrote: tinted, full width of the column."""

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QEnterEvent, QPainter, QPaintEvent, QResizeEvent

from bibgenie_desktop.gui.components import Chip, Elided, Flow, column, label, row
from bibgenie_desktop.gui.conversation.footer import Actions, switcher
from bibgenie_desktop.gui.conversation.intents import Surroundings
from bibgenie_desktop.gui.conversation.message import BLEED, MessageWidget
from bibgenie_desktop.gui.conversation.rows import Action, UserRow
from bibgenie_desktop.gui.render.markdown_view import MarkdownView
from bibgenie_desktop.gui.theme import current, gap, px
from bibgenie_desktop.gui.tr import tr


class UserMessage(MessageWidget):
    """Chips of what is attached, then the text; actions float over the corner while the pointer is here."""

    kind = "user"

    def __init__(self, row_value: UserRow, surroundings: Surroundings) -> None:
        super().__init__(row_value, surroundings)
        self._user = row_value
        self._actions: Actions | None = None
        layout = column(spacing=8, margins=(16, 10, 16, 10))
        if row_value.attachments:
            chips = [
                Chip(a.text, a.icon, key=a.key, tip=a.tip, removable=False) for a in row_value.attachments
            ]
            layout.addLayout(Flow(chips))
        if row_value.text.strip():
            view = MarkdownView(row_value.text, math=surroundings.math, reading=False)
            layout.addWidget(self.connect_view(view))
        foot = []
        if row_value.siblings is not None:
            foot.append(switcher(row_value.id, row_value.siblings, surroundings.intents))
        if row_value.waiting:
            foot.append(label(tr("Waiting to be sent"), badge="accent"))
        if row_value.meta or foot:
            facts = Elided(row_value.meta, "small", "3")
            facts.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            layout.addLayout(row(*foot, facts, spacing=6))
        self.set_content(layout)

    def kind_name(self) -> str:
        return tr("you")

    def refresh_actions(self) -> None:
        if self._actions is not None:
            self._actions.refresh()

    def _reveal(self) -> None:
        shown = (self.underMouse() or self.hasFocus()) and not self._user.waiting
        if shown and self._actions is None:
            names: tuple[Action, ...] = ("edit", "copy") if self._user.can_edit else ("copy",)
            self._actions = Actions(self.row_id, self.kind, names, self._shared.intents)
            self._actions.setProperty("card", "true")
            self._actions.setParent(self)
        if self._actions is not None:
            if shown:
                self._actions.refresh()
                self._place_actions()
            self._actions.setVisible(shown)

    def _place_actions(self) -> None:
        if self._actions is not None:
            size = self._actions.sizeHint()
            right = self.width() - gap(BLEED) - px(8)
            self._actions.setGeometry(right - size.width(), px(2), size.width(), size.height())
            self._actions.raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_actions()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._reveal()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._reveal()

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self._reveal()
        return handled

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(current().color("bubble"))
        painter.setOpacity(0.6 if self._user.waiting else 1.0)
        bleed = gap(BLEED)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(bleed, 3, -bleed, -3), 10, 10)
        painter.end()
        super().paintEvent(event)
