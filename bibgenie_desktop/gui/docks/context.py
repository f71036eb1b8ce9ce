"""The Context dock: how full the next request is, by kind; what the model sees; the checkpoints so far and
what changed in the newest; what is pinned; and at its foot the dry run of a compaction.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QDialog, QFrame, QPlainTextEdit, QWidget

from bibgenie_desktop.domain.locators import LedgerEntry
from bibgenie_desktop.gui.components import (
    Elided,
    Glyph,
    StackMeter,
    box,
    column,
    fixed,
    label,
    push,
    repolish,
    row,
    rule,
)
from bibgenie_desktop.gui.docks.checkpoints import Changes, CheckpointLine, Point, ResourceLine
from bibgenie_desktop.gui.docks.panel import Panel, scrolling
from bibgenie_desktop.gui.docks.trial import Trial, TrialCard
from bibgenie_desktop.gui.theme import current, gap
from bibgenie_desktop.gui.tr import number, percent, thousands, tr


@dataclass(frozen=True, slots=True)
class SeenLine:
    """One message of the next request. `id` is empty for what is no message."""

    glyph: str
    text: str
    tokens: int
    id: str = ""
    role: str = "text3"


@dataclass(frozen=True, slots=True)
class ContextView:
    """The next request, measured. All figures are tokens; `parts` in the order of the meter's kinds."""

    used: int
    safe_limit: int
    trigger: int
    window: int
    reserve: int
    parts: tuple[int, int, int, int, int]
    source: str
    assumed: bool
    seen: tuple[SeenLine, ...]
    checkpoints: tuple[CheckpointLine, ...]
    reported: bool = False
    pins: tuple[LedgerEntry, ...] = ()
    spent: str = ""
    """What the session cost so far, in words; empty where nobody knows. Billing, not context."""

    @property
    def share(self) -> float:
        return self.used / self.safe_limit if self.safe_limit else 0.0


class Swatch(QWidget):
    """The colour of a kind, in the legend."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self._role = role
        fixed(self, 10, 10)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if self._role == "free":
            painter.setPen(QPen(current().color("outline"), 1))
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(current().color(self._role))
        painter.drawRoundedRect(area, 3, 3)


MOST_LINES = 60

KINDS = (
    ("kind_system", "System prompt"),
    ("kind_tools", "Tools"),
    ("kind_checkpoint", "Checkpoint"),
    ("kind_tail", "Recent messages"),
    ("kind_draft", "Draft"),
    ("free", "Free"),
    ("kind_reserve", "Reserve for the answer"),
)


class ContextPanel(Panel):
    request_requested = Signal()
    trial_requested = Signal()
    """What would Compact do?"""
    undo_requested = Signal()
    revise_requested = Signal(str)
    pin_requested = Signal(object)
    unpin_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__(tr("Context"), "contextPanel")
        self._used = label("", "title")
        self._of = label("", tone="2")
        self._share = label("", badge="accent")
        self._state = label("", "small", "2")
        self._state.setObjectName("meterState")
        self._spent = label("", "fine", "3", wrap=True)
        self._spent.setObjectName("spent")
        self._meter = StackMeter()
        self._starts = label("", "fine", "3", wrap=True)
        self._sizes = [label("", "small", "2") for _ in KINDS]
        legend = [
            row(Swatch(role), label(tr(name), "small"), None, size, spacing=8)
            for (role, name), size in zip(KINDS, self._sizes, strict=True)
        ]
        meter = column(
            row(self._used, self._of, None, self._state, self._share, spacing=6),
            self._meter,
            self._starts,
            *legend,
            self._spent,
            spacing=5,
            margins=(16, 0, 16, 12),
        )
        self._full = push(tr("Full request"), "link", object_name="fullRequest")
        self._full.clicked.connect(self.request_requested)
        self._seen = column(spacing=1)
        seen = column(
            row(label(tr("What the model sees"), "strong"), None, self._full),
            self._seen,
            spacing=4,
            margins=(16, 12, 16, 12),
        )
        self._points = column(spacing=8)
        self._points_box = box(
            column(label(tr("Checkpoints"), "strong"), self._points, spacing=6, margins=(16, 12, 16, 12))
        )
        self._changes = column(spacing=6)
        self._changes_box = box(
            column(
                label(tr("Changes in the newest checkpoint"), "strong", wrap=True),
                self._changes,
                spacing=6,
                margins=(16, 12, 16, 12),
            )
        )
        self._pins = column(spacing=2)
        self._pins_box = box(
            column(label(tr("Never dropped"), "strong"), self._pins, spacing=6, margins=(16, 12, 16, 12))
        )
        self._edge = rule()
        self._trial = column(spacing=0)
        body = box(
            column(
                self._trial,
                meter,
                rule(),
                seen,
                self._edge,
                self._changes_box,
                self._points_box,
                self._pins_box,
                None,
                spacing=0,
            )
        )
        self._area = scrolling(body)
        self.add(self._area, 1)
        self._try = push(tr("Try Compact"), icon="compact", dense=True, object_name="tryCompact")
        self._try.setToolTip(tr("Says what Compact would do; changes nothing and asks no model"))
        self._try.clicked.connect(self.trial_requested)
        self._frees = Elided("", "small", "2")
        self.add(rule())
        self.add(box(row(self._try, self._frees, spacing=8, margins=(12, 10, 12, 10), grow=1)))
        self._reasons: tuple[str | None, str | None] = (None, None)
        self._view: ContextView | None = None
        self._listed: ContextView | None = None

    def focus_first(self) -> None:
        self._full.setFocus()

    def show_context(self, view: ContextView) -> None:
        self._view = view
        self._used.setText(thousands(view.used, 1))
        self._of.setText(tr("of {0} tokens").format(thousands(view.safe_limit)))
        self._share.setText(percent(view.share))
        tone = "bad" if view.share > 1 else "warn" if view.used >= view.trigger else "accent"
        repolish(self._share, badge=tone)
        self._meter.set_values(view.parts, reserve=view.reserve, trigger=view.trigger, window=view.window)
        said = tr("Compaction starts at {0}").format(thousands(view.trigger))
        if view.assumed:
            said = tr("The window of this model is assumed: nothing is refused or compacted by itself.")
        self._starts.setText(f"{said}\n{view.source}")
        state = tr("Reported") if view.reported else tr("Estimated")
        self._state.setText(tr("Window assumed") if view.assumed else state)
        self._spent.setText(view.spent)
        self._spent.setVisible(bool(view.spent))
        free = max(0, view.safe_limit - view.used)
        for shown, size in zip(self._sizes, (*view.parts, free, view.reserve), strict=True):
            shown.setText(thousands(size, 1))
        self._edge.setVisible(bool(view.checkpoints))
        self._points_box.setVisible(bool(view.checkpoints))
        self._changes_box.setVisible(bool(view.checkpoints and view.checkpoints[0].changes))
        self._pins_box.setVisible(bool(view.pins))
        if self.isVisible():
            self._show_lists()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_lists()

    def _show_lists(self) -> None:
        """The lists are made anew only while they can be seen."""
        view, before = self._view, self._listed
        if view is None or view is before:
            return
        self._listed = view
        if before is None or before.seen != view.seen:
            _replace(self._seen, [_seen_line(line) for line in shortened(view.seen)])
        known = before is not None and before.pins == view.pins
        if before is None or not known or before.checkpoints != view.checkpoints:
            _replace(self._points, [self._point(line) for line in view.checkpoints])
            changes = view.checkpoints[0].changes if view.checkpoints else None
            _replace(self._changes, [Changes(changes)] if changes else [])
            self._show_reasons()
        if not known:
            _replace(self._pins, [self._pinned(entry) for entry in view.pins])

    def _point(self, line: CheckpointLine) -> Point:
        point = Point(line, self._view.pins if self._view is not None else ())
        point.undo_requested.connect(self.undo_requested)
        point.revise_requested.connect(self.revise_requested)
        point.pin_requested.connect(self.pin_requested)
        point.unpin_requested.connect(self.unpin_requested)
        return point

    def _pinned(self, entry: LedgerEntry) -> ResourceLine:
        line = ResourceLine(entry, pinned=True)
        line.unpin_requested.connect(self.unpin_requested)
        return line

    def show_reasons(self, undo: str | None, revise: str | None) -> None:
        """Why the checkpoint at the end cannot be taken back or revised now; None: it can."""
        self._reasons = (undo, revise)
        self._show_reasons()

    def _show_reasons(self) -> None:
        for place in range(self._points.count()):
            item = self._points.itemAt(place)
            point = item.widget() if item is not None else None
            if isinstance(point, Point):
                point.show_reasons(*self._reasons)

    @property
    def trial_words(self) -> str:
        """What stands beside the button."""
        return self._frees.text()

    def show_trial(self, trial: Trial | None) -> None:
        """What Compact would do; None puts the last answer away."""
        _replace(self._trial, [TrialCard(trial)] if trial is not None else [])
        self._trial.setContentsMargins(gap(12), 0, gap(12), gap(12) if trial is not None else 0)
        if trial is not None:
            self._area.verticalScrollBar().setValue(0)
        self._frees.setText(trial.frees() if trial is not None else "")


def shortened(lines: Sequence[SeenLine]) -> list[SeenLine]:
    """Beginning and end of a long list; what lies between is one line."""
    if len(lines) <= MOST_LINES:
        return list(lines)
    head, tail = 2, MOST_LINES - 3
    between = lines[head : len(lines) - tail]
    middle = SeenLine(
        "more", tr("{0} more messages").format(number(len(between))), sum(x.tokens for x in between)
    )
    return [*lines[:head], middle, *lines[len(lines) - tail :]]


def _replace(layout: Any, widgets: Sequence[QWidget]) -> None:
    while layout.count():
        old = layout.takeAt(0).widget()
        if old is not None:
            old.hide()
            old.deleteLater()
    for widget in widgets:
        layout.addWidget(widget)


def _seen_line(line: SeenLine) -> QFrame:
    parts = row(
        Glyph(line.glyph, line.role, 15),
        Elided(line.text, "small"),
        label(thousands(line.tokens, 1), "small", "3"),
        spacing=8,
        margins=(0, 3, 0, 3),
        grow=1,
    )
    frame = box(parts)
    frame.setAccessibleName(tr("{0}, {1} tokens").format(line.text, number(line.tokens)))
    return frame


class RequestDialog(QDialog):
    """The exact next request as JSON, to read and copy."""

    def __init__(self, body: Mapping[str, Any], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("requestDialog")
        self.setWindowTitle(tr("The next request"))
        text = QPlainTextEdit(json.dumps(body, ensure_ascii=False, indent=2))
        text.setReadOnly(True)
        text.setFont(current().font("small", mono=True))
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        close = push(tr("Close"), "primary")
        close.clicked.connect(self.accept)
        said = tr("This is sent, byte for byte, when you press Send now. Nothing has been sent.")
        self.setLayout(
            column(
                label(tr("The next request"), "title"),
                label(said, "small", "2", wrap=True),
                box(column(text, margins=(12, 10, 6, 10)), card="sunken"),
                row(None, close),
                margins=(20, 16, 20, 16),
                spacing=10,
                grow=2,
            )
        )
        self.text = text
        room = parent.window().size()
        self.resize(min(current().px(760), room.width() - 64), min(current().px(640), room.height() - 64))
