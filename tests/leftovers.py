"""Which Qt objects are alive and at work: running timers and threads, visible windows.

Looked for in the trees under the application and its top-level widgets only: an object that hangs nowhere
dies with its last Python reference. Walking all Python objects would find more and cost 0.1 s a test.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QThread, QTimer
from PySide6.QtWidgets import QApplication
from shiboken6 import getCppPointer


def live_qt_objects(app: QApplication) -> set[tuple[int, str]]:
    """Address and description of what is at work now, after deletions that were only put off."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    found: set[tuple[int, str]] = set()
    roots: list[QObject] = [app, *app.topLevelWidgets()]
    for root in roots:
        for timer in root.findChildren(QTimer):
            if timer.isActive():
                found.add((address(timer), f"timer {path(timer)}"))
        for thread in root.findChildren(QThread):
            if thread.isRunning():
                found.add((address(thread), f"thread {path(thread)}"))
    for window in app.topLevelWidgets():
        if window.isVisible() and window.windowType() != Qt.WindowType.ToolTip:
            found.add((address(window), f"window {path(window)}"))
    return found


def address(thing: QObject) -> int:
    """Identity of the object in C++: its Python wrapper may be a new one each time one asks."""
    return int(getCppPointer(thing)[0])


def path(thing: QObject) -> str:
    """Names from the outermost parent down, class names where there is no object name."""
    names: list[str] = []
    node: QObject | None = thing
    while node is not None:
        names.append(node.objectName() or type(node).__name__)
        node = node.parent()
    return "/".join(reversed(names))
