"""What all messages have in common: a place in the column, a focus ring, and a height for a width."""

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QGuiApplication, QPaintEvent
from PySide6.QtWidgets import QApplication, QFrame, QLayout, QWidget

from bibgenie_desktop.gui.components import Fold
from bibgenie_desktop.gui.components.focus import paint_focus_ring
from bibgenie_desktop.gui.conversation.intents import Surroundings
from bibgenie_desktop.gui.conversation.long_text import WholeTextBar
from bibgenie_desktop.gui.conversation.rows import Row
from bibgenie_desktop.gui.render.markdown_view import MarkdownView
from bibgenie_desktop.gui.theme import gap, lengths
from bibgenie_desktop.gui.tr import tr

BLEED = 8
"""How far a message reaches over the column at either side, for its focus ring."""


class MessageWidget(QFrame):
    """One row of the conversation. The view sets its geometry; there is no layout around it."""

    size_changed = Signal(str)
    fold_moved = Signal(str)
    """Something in it is opening or closing: one step of the motion."""
    kind = "message"

    def __init__(self, row: Row, surroundings: Surroundings) -> None:
        super().__init__()
        self._row, self._shared = row, surroundings
        self.setObjectName("message")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    @property
    def row(self) -> Row:
        return self._row

    @property
    def row_id(self) -> str:
        return self._row.id

    def set_content(self, layout: QLayout) -> None:
        """Take the content, inset by the bleed."""
        m, bleed = layout.contentsMargins(), gap(BLEED)
        layout.setContentsMargins(m.left() + bleed, m.top() + 3, m.right() + bleed, m.bottom() + 3)
        layout.setProperty(lengths.MARGINS, None)  # with another text size the message is laid out anew
        self.setLayout(layout)

    def update_row(self, row: Row) -> bool:
        """Show a changed row; False when the widget has to be built anew."""
        return row == self._row

    @property
    def overhang(self) -> int:
        """How far the widget reaches into the gap below it, beyond its height."""
        return 0

    def below_ring(self) -> int:
        """What stands below the focus ring."""
        return self.overhang

    def show_as_newest(self, newest: bool) -> None:
        """The newest answer shows its actions without being asked."""

    def toggle_fold(self) -> bool:
        """Open or close what can be folded; False when there is nothing."""
        return False

    def set_position(self, number: int, total: int) -> None:
        """Tell screen readers where in the conversation this stands."""
        name = tr("Message {0} of {1}, {2}").format(number, total, self.kind_name())
        if name != self.accessibleName():
            self.setAccessibleName(name)

    def kind_name(self) -> str:
        return tr("message")

    def height_at(self, width: int) -> int:
        """Height when the column gives it that width, bleed included."""
        layout = self.layout()
        if layout is None:
            return self.sizeHint().height()
        if layout.hasHeightForWidth():
            return max(1, layout.totalHeightForWidth(width))
        return max(1, layout.totalSizeHint().height())

    def views(self) -> list[MarkdownView]:
        """The texts of this message, in order."""
        shown = [view for view in self.findChildren(MarkdownView) if view.isVisibleTo(self)]
        return sorted(shown, key=lambda view: view.mapTo(self, QPoint(0, 0)).y())

    def selected_text(self) -> str:
        return "\n\n".join(text for view in self.views() if (text := view.selected_text()))

    def plain_text(self) -> str:
        """What the message says, without marks."""
        return "\n\n".join(view.plain_text().strip("\n") for view in self.views())

    def is_held(self) -> bool:
        """Whether the person has something in hand here, so that it must not be taken away."""
        focus = QApplication.focusWidget()
        if focus is not None and (focus is self or self.isAncestorOf(focus)):
            return True
        return any(view.textCursor().hasSelection() for view in self.views())

    def connect_view(self, view: MarkdownView) -> MarkdownView:
        """Report what happens in a text."""
        intents = self._shared.intents
        view.link_opened.connect(intents.link_opened)
        view.citation_opened.connect(intents.citation_opened)
        view.card_requested.connect(intents.card_requested)
        view.height_changed.connect(self._on_content_changed)
        view.code_copied.connect(self._on_code_copied)
        return view

    def make_whole_text_bar(self, text: str) -> WholeTextBar:
        """What stands below a text that is shown in part."""
        bar = WholeTextBar(len(text))
        bar.requested.connect(self._on_whole_text_requested)
        return bar

    def _on_whole_text_requested(self) -> None:
        self._shared.intents.whole_text_requested.emit(self.row_id)

    def connect_fold(self, fold: Fold) -> Fold:
        """Grow and shrink with a part that opens and closes."""
        fold.moved.connect(self._on_fold_moved)
        return fold

    def _on_fold_moved(self) -> None:
        # Layouts between the part and this widget hear of it only later; the column measures now.
        for fold in self.findChildren(Fold):
            widget: QWidget | None = fold
            while widget is not None and widget is not self:
                widget.updateGeometry()
                widget = widget.parentWidget()
        self.fold_moved.emit(self.row_id)

    def fold_state(self, part: str, default: bool) -> bool:
        return self._shared.folds.get(f"{self.row_id}/{part}", default)

    def _on_code_copied(self) -> None:
        self._shared.intents.notice.emit(tr("Copied"))

    def _on_content_changed(self) -> None:
        self.size_changed.emit(self.row_id)

    def reveal(self) -> None:
        """Show what only a message in hand shows: called when pointer or focus come and go."""

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self.size_changed.emit(self.row_id)
        return handled

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.reveal()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.reveal()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()
        self.reveal()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()
        self.reveal()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_focus_ring(self, 10, below=self.below_ring())


def copy_to_clipboard(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


def replace_widget(old: QWidget, new: QWidget, layout: QLayout) -> None:
    """Put a widget where another one was."""
    item = layout.replaceWidget(old, new)
    del item
    old.hide()
    old.deleteLater()
