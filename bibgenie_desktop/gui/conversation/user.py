"""What the person wrote: tinted, full width of the column.

Versions, actions and time stand below the bubble, in the gap before the next message: no room is spent on
them, and nothing moves when they appear.
"""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent

from bibgenie_desktop.gui.components import Chip, Flow, column
from bibgenie_desktop.gui.conversation.footer import Footer
from bibgenie_desktop.gui.conversation.intents import Surroundings
from bibgenie_desktop.gui.conversation.long_text import is_long, shortened
from bibgenie_desktop.gui.conversation.message import BLEED, MessageWidget
from bibgenie_desktop.gui.conversation.rows import Action, AttachmentView, UserRow
from bibgenie_desktop.gui.pictures.frame import PictureFrame
from bibgenie_desktop.gui.render.markdown_view import MarkdownView
from bibgenie_desktop.gui.theme import current, gap
from bibgenie_desktop.gui.tr import tr

EDGE = 3
"""Between the bubble and the upper and lower edge of the message."""


class UserMessage(MessageWidget):
    """Chips of what is attached, then the text, in a bubble; below it the row of actions."""

    kind = "user"

    def __init__(self, row_value: UserRow, surroundings: Surroundings) -> None:
        super().__init__(row_value, surroundings)
        self._user = row_value
        layout = column(spacing=8, margins=(16, 9, 16, 9))
        pictures = [a for a in row_value.attachments if a.is_picture]
        others = [a for a in row_value.attachments if not a.is_picture]
        if pictures:
            layout.addLayout(Flow([self._picture(a) for a in pictures], spacing=8))
        if others:
            chips = [Chip(a.text, a.icon, key=a.key, tip=a.tip, removable=False) for a in others]
            layout.addLayout(Flow(chips))
        if row_value.text.strip():
            view = MarkdownView(shortened(row_value.text), math=surroundings.math, reading=False)
            layout.addWidget(self.connect_view(view))
            if is_long(row_value.text):
                layout.addWidget(self.make_whole_text_bar(row_value.text))
        self.set_content(layout)
        names: tuple[Action, ...] = ("edit", "copy") if row_value.can_edit else ("copy",)
        self._footer = Footer(
            row_value.id,
            self.kind,
            () if row_value.waiting else names,
            surroundings.intents,
            siblings=row_value.siblings,
            meta=row_value.meta,
            badge=tr("Waiting to be sent") if row_value.waiting else "",
            tone="accent",
        )
        self._footer.setParent(self)
        self._footer.focus_moved.connect(self.reveal)

    def _picture(self, view: AttachmentView) -> PictureFrame:
        frame = PictureFrame(view, self._shared.thumbnails)
        frame.opened.connect(self._shared.intents.picture_requested)
        return frame

    def kind_name(self) -> str:
        return tr("you")

    @property
    def overhang(self) -> int:
        return gap(24)

    def _more(self) -> int:
        """Room that the row of actions needs beyond the gap: none but with large text."""
        return max(0, self._footer.minimumHeight() - self.overhang - EDGE)

    def below_ring(self) -> int:
        return self._more() + self.overhang

    def height_at(self, width: int) -> int:
        layout, side, pad = self.layout(), gap(16) + gap(BLEED), gap(9) + EDGE
        if layout is not None:
            layout.setContentsMargins(side, pad, side, pad + self.below_ring())
        return super().height_at(width) - self.overhang

    def refresh_actions(self) -> None:
        self._footer.refresh()

    def reveal(self) -> None:
        self._footer.reveal(self.underMouse() or self.hasFocus() or self._footer.holds_focus())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Icons carry room of their own around them, words do not.
        left = gap(BLEED) + gap(16 if self._user.waiting else 10)
        right, high = gap(BLEED) + gap(16), self._footer.minimumHeight()
        self._footer.setGeometry(left, self.height() - high, max(1, self.width() - left - right), high)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(current().color("bubble"))
        painter.setOpacity(0.6 if self._user.waiting else 1.0)
        bleed, below = gap(BLEED), EDGE + self.below_ring()
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(bleed, EDGE, -bleed, -below), 10, 10)
        painter.end()
        super().paintEvent(event)
