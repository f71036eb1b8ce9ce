"""The dock itself: its sections in their order, made anew only where they changed and can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from bibgenie_desktop.domain.locators import LedgerEntry
from bibgenie_desktop.gui.components import Elided, box, column, label, push, row, rule
from bibgenie_desktop.gui.docks.checkpoints import CheckpointLine, Point, ResourceLine
from bibgenie_desktop.gui.docks.context.changes import ChangesCard
from bibgenie_desktop.gui.docks.context.meter import MeterCard
from bibgenie_desktop.gui.docks.context.money import CostCard
from bibgenie_desktop.gui.docks.context.seen import seen_line, shortened
from bibgenie_desktop.gui.docks.context.values import ContextView
from bibgenie_desktop.gui.docks.panel import Panel, scrolling
from bibgenie_desktop.gui.docks.trial import Trial, TrialCard
from bibgenie_desktop.gui.theme import gap
from bibgenie_desktop.gui.tr import tr


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
        self._meter = MeterCard()
        self._cost = CostCard()
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
        self._changes = ChangesCard()
        self._pins = column(spacing=2)
        self._pins_box = box(
            column(label(tr("Never dropped"), "strong"), self._pins, spacing=6, margins=(16, 12, 16, 12))
        )
        self._edge = rule()
        self._cost_edge = rule()
        self._cost_edge.hide()
        self._trial = column(spacing=0)
        body = box(
            column(
                self._trial,
                self._meter,
                rule(),
                self._cost,
                self._cost_edge,
                seen,
                self._edge,
                self._changes,
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
        self._meter.show_context(view)
        self._cost.show_cost(view.cost)
        self._cost_edge.setVisible(view.cost is not None)
        self._edge.setVisible(bool(view.checkpoints))
        self._points_box.setVisible(bool(view.checkpoints))
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
            _replace(self._seen, [seen_line(line) for line in shortened(view.seen)])
        known = before is not None and before.pins == view.pins
        if before is None or not known or before.checkpoints != view.checkpoints:
            _replace(self._points, [self._point(line) for line in view.checkpoints])
            self._changes.show_checkpoints(view.checkpoints)
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


def _replace(layout: Any, widgets: Sequence[QWidget]) -> None:
    while layout.count():
        old = layout.takeAt(0).widget()
        if old is not None:
            old.hide()
            old.deleteLater()
    for widget in widgets:
        layout.addWidget(widget)
