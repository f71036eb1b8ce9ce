"""Room for something that opens and closes: `Fold` uncovers its content from above, without haste and
without a jump.
"""

from typing import Final

from PySide6.QtCore import QEasingCurve, QEvent, QSize, QVariantAnimation, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from bibgenie_desktop.gui.theme import current

FOLD_MS: Final = 120


class Fold(QWidget):
    """As high as its content when open, of no height when closed. Its content may be set or changed later."""

    moved = Signal()
    """The height is another one: one step of opening or closing."""

    def __init__(self, content: QWidget | None = None, *, opened: bool = False) -> None:
        super().__init__()
        self._content: QWidget | None = None
        self._open = opened
        self._share = 1.0 if opened else 0.0
        self._motion = QVariantAnimation(self)
        self._motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._motion.valueChanged.connect(self._on_value_changed)
        self._motion.finished.connect(self._on_finished)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        if content is not None:
            self.set_content(content)
        self.setVisible(opened)

    @property
    def is_open(self) -> bool:
        """Whether it is open or about to be."""
        return self._open

    @property
    def content(self) -> QWidget | None:
        return self._content

    def set_content(self, content: QWidget | None) -> None:
        """Take another content; the one before goes."""
        if self._content is not None:
            self._content.hide()
            self._content.deleteLater()
        self._content = content
        if content is not None:
            content.setParent(self)
            content.show()
            self._arrange()
        self.updateGeometry()

    def set_open(self, opened: bool, *, animated: bool = False) -> None:
        """Open or close; `animated`: as a motion, or at once where motion is not wanted."""
        if opened == self._open:
            return
        self._open = opened
        self._motion.stop()
        parent = self.parentWidget()
        seen = animated and parent is not None and parent.isVisible()
        duration = current().duration(FOLD_MS) if seen else 0
        if not duration:
            self._share = 1.0 if opened else 0.0
            self.setVisible(opened)
            self.updateGeometry()
            if animated:
                self.moved.emit()
            return
        self.show()
        # While it is set up it would already speak, and whoever opens it may not be ready for `moved`.
        self._motion.blockSignals(True)
        self._motion.setDuration(duration)
        self._motion.setStartValue(self._share)
        self._motion.setEndValue(1.0 if opened else 0.0)
        self._motion.start()
        self._motion.blockSignals(False)

    def _on_value_changed(self, share: float) -> None:
        self._share = share
        self.updateGeometry()
        self.moved.emit()

    def _on_finished(self) -> None:
        if not self._open:
            self.hide()
            self.moved.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._motion.state() == QVariantAnimation.State.Running:
            self._motion.stop()
            self._share = 1.0 if self._open else 0.0

    # size

    def _whole(self, width: int) -> int:
        content = self._content
        if content is None:
            return 0
        return content.heightForWidth(width) if content.hasHeightForWidth() else content.sizeHint().height()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return round(self._whole(width) * self._share)

    def sizeHint(self) -> QSize:
        wide = self._content.sizeHint().width() if self._content is not None else 0
        return QSize(wide, self.heightForWidth(max(1, self.width() or wide)))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._content.minimumSizeHint().width() if self._content is not None else 0, 0)

    def _arrange(self) -> None:
        if self._content is not None:
            self._content.setGeometry(0, 0, self.width(), self._whole(self.width()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange()
            self.updateGeometry()
        return super().event(event)
