"""A short report above the composer that something was done, with Undo instead of a question before."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from bibgenie_desktop.gui.components.banner import Banner, Tone
from bibgenie_desktop.gui.components.buttons import push
from bibgenie_desktop.gui.tr import tr

SHOWN_MS = 10_000


class Toast(Banner):
    """Goes away by itself; the clock stands still while the pointer or the focus is on it."""

    action_requested = Signal()
    dismissed = Signal()

    def __init__(
        self,
        title: str,
        text: str = "",
        *,
        tone: Tone = "ok",
        icon: str = "",
        action: str = "",
        shown_ms: int = SHOWN_MS,
    ) -> None:
        self._action = push(action or tr("Undo"), "quiet", dense=True)
        self._dismiss = push(tr("Dismiss"), "quiet", dense=True)
        super().__init__(tone, title, text, [self._action, self._dismiss], icon=icon)
        self._action.setVisible(bool(action))
        self._action.clicked.connect(self._on_action_clicked)
        self._dismiss.clicked.connect(self.dismissed)
        for button in (self._action, self._dismiss):
            button.installEventFilter(self)
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.setInterval(shown_ms)
        self._clock.timeout.connect(self.dismissed)
        self._clock.start()

    @property
    def is_counting(self) -> bool:
        return self._clock.isActive()

    def _on_action_clicked(self) -> None:
        self.action_requested.emit()
        self.dismissed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn:
            self._clock.stop()
        elif event.type() == QEvent.Type.FocusOut:
            self._clock.start()
        return super().eventFilter(watched, event)

    def enterEvent(self, event: QEnterEvent) -> None:
        self._clock.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        if not (self._action.hasFocus() or self._dismiss.hasFocus()):
            self._clock.start()
        super().leaveEvent(event)


class ToastArea(QFrame):
    """The place for toasts: takes no room when there is nothing to say, and shows one at a time."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._toast: Toast | None = None
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    @property
    def toast(self) -> Toast | None:
        return self._toast

    def show_toast(
        self,
        title: str,
        text: str = "",
        *,
        tone: Tone = "ok",
        icon: str = "",
        action: str = "",
        on_action: Callable[[], object] | None = None,
        shown_ms: int = SHOWN_MS,
    ) -> Toast:
        """Replace what is shown. `action` (such as "Undo") appears only together with `on_action`."""
        self.clear()
        toast = Toast(
            title, text, tone=tone, icon=icon, action=action if on_action else "", shown_ms=shown_ms
        )
        if on_action is not None:
            toast.action_requested.connect(on_action)
        toast.dismissed.connect(self.clear)
        self._toast = toast
        self._layout.addWidget(toast)
        self.show()
        return toast

    def clear(self) -> None:
        """Take the toast away."""
        toast, self._toast = self._toast, None
        if toast is not None:
            self._layout.removeWidget(toast)
            toast.hide()
            toast.deleteLater()
        self.hide()
