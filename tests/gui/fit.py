"""Looks for text that does not get the room it needs, in any window."""

from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from bibgenie_desktop.gui.components import Elided


class LongTranslator(QTranslator):
    """A language a third longer than English, for finding what is too tight."""

    def isEmpty(self) -> bool:
        return False

    def translate(self, context: str, text: str, disambiguation: str | None = None, n: int = -1) -> str:
        return f"{text}{' ~~~' * max(1, round(len(text) * 0.33 / 4))}" if len(text) > 2 else text


def clipped(widget: QWidget) -> str:
    """Why a visible widget does not show all of its text, or nothing."""
    if isinstance(widget, Elided) or not widget.isVisible():
        return ""
    if not isinstance(widget, QLabel | QPushButton) or not widget.text():
        return ""
    if isinstance(widget, QLabel) and widget.wordWrap():
        need = widget.heightForWidth(widget.width())
        return f"height {widget.height()} < {need}" if need > widget.height() + 1 else ""
    need_size = widget.sizeHint()
    short = need_size.width() > widget.width() + 1 or need_size.height() > widget.height() + 1
    sizes = f"{widget.width()}x{widget.height()} < {need_size.width()}x{need_size.height()}"
    return sizes if short else ""


def clipped_texts(window: QWidget) -> list[str]:
    """Every label and button in a shown window that is cut, or that lies outside its window."""
    QApplication.processEvents()
    found = []
    for widget in window.findChildren(QWidget):
        reason = clipped(widget)
        if not reason and isinstance(widget, QPushButton | QLabel) and widget.isVisible() and widget.text():
            left = widget.mapTo(window, widget.rect().topLeft()).x()
            if left < 0 or left + widget.width() > window.width() + 1:
                reason = f"outside the window at {left}+{widget.width()} of {window.width()}"
        if reason:
            text = widget.text() if isinstance(widget, QPushButton | QLabel) else ""
            found.append(f"{type(widget).__name__} “{text[:40]}” {reason}")
    return found
