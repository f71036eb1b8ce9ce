"""The sheet of models: each with what sending to it would mean now. Choosing one only reports."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QWidget

from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.gui.components import (
    Elided,
    Glyph,
    Popover,
    box,
    column,
    fixed,
    label,
    push,
    repolish,
    row,
    rule,
)
from bibgenie_desktop.gui.components.find_field import FindField
from bibgenie_desktop.gui.docks.panel import scrolling
from bibgenie_desktop.gui.theme import px
from bibgenie_desktop.gui.tr import NARROW, number, percent, thousands, tr
from bibgenie_desktop.services.planner import Verdict

BUILTIN = "builtin"


def verdict_words(verdict: Verdict) -> tuple[str, str, str]:
    """(icon, tone, words) of a verdict."""
    share = verdict.occupancy / verdict.safe_limit if verdict.safe_limit else 0.0
    if verdict.kind == "too_big":
        return "close", "bad", tr("Too big by {0}").format(number(verdict.overshoot))
    if verdict.kind == "would_compact":
        return "compact", "warn", tr("Would compact")
    if verdict.profile.window_source == "assumed":
        return "info", "2", tr("Assumed window · {0}").format(percent(share))
    return "check", "ok", tr("Fits · {0}").format(percent(share))


def model_facts(profile: ModelProfile) -> str:
    window = thousands(profile.window)
    said = [tr("{0} assumed").format(window) if profile.window_source == "assumed" else window]
    if profile.provider == BUILTIN:
        said.append(tr("no model, no network"))
    else:
        said += [tr("images")] if profile.vision else []
        said += [tr("tools")] if profile.tools else []
    return " · ".join(said)


class ModelLine(QFrame):
    """A model that can be chosen by click or Enter."""

    chosen = Signal(str)

    def __init__(self, verdict: Verdict, *, current: bool) -> None:
        super().__init__()
        profile = verdict.profile
        self.ref = profile.ref
        self.words = f"{profile.label} {profile.provider} {profile.model}".casefold()
        icon, tone, said = verdict_words(verdict)
        words = column(
            Elided(profile.label, "strong" if current else ""),
            Elided(model_facts(profile), "small", "3"),
            spacing=0,
        )
        mark: QWidget = Glyph("check", "accent", 16) if current else fixed(QWidget(), 16, 16)
        glyph = Glyph(icon, "text2" if tone == "2" else tone, 14)
        self.setLayout(
            row(mark, words, glyph, label(said, "small", tone), margins=(8, 5, 12, 5), spacing=8, grow=1)
        )
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setObjectName(f"model:{profile.ref}")
        chosen = tr("in use") if current else ""
        spoken = ", ".join(t for t in (profile.label, chosen, model_facts(profile), said) if t)
        self.setAccessibleName(spoken.replace(NARROW, " "))

    def enterEvent(self, event: object) -> None:
        repolish(self, card="hover")

    def leaveEvent(self, event: object) -> None:
        repolish(self, card="hover" if self.hasFocus() else "")

    def focusInEvent(self, event: object) -> None:
        repolish(self, card="hover")

    def focusOutEvent(self, event: object) -> None:
        repolish(self, card="")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.chosen.emit(self.ref)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.ref)
        elif event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.focusNextPrevChild(event.key() == Qt.Key.Key_Down)
        else:
            super().keyPressEvent(event)


class ModelSwitcher(Popover):
    """`model_chosen` carries `provider/model`; the sheet then closes. `warning` says what choosing costs."""

    model_chosen = Signal(str)
    manage_requested = Signal()

    def __init__(
        self,
        verdicts: Sequence[Verdict],
        current: str,
        parent: QWidget,
        *,
        title: str = "",
        foot: str = "",
        warning: str = "",
    ) -> None:
        self._find = FindField(tr("Find a model"))
        self._lines: list[ModelLine] = []
        self._heads: list[tuple[QWidget, list[ModelLine]]] = []
        listed = column(margins=(6, 2, 6, 6), spacing=0)
        groups: dict[str, list[Verdict]] = {}
        for verdict in verdicts:
            groups.setdefault(verdict.profile.provider, []).append(verdict)
        for provider, group in groups.items():
            head = box(row(label(_group_name(provider), "caption", "3"), margins=(10, 8, 10, 2)))
            listed.addWidget(head)
            lines = [ModelLine(v, current=v.profile.ref == current) for v in group]
            for line in lines:
                listed.addWidget(line)
            self._heads.append((head, lines))
            self._lines += lines
        inner = box(listed)
        area = scrolling(inner)
        inner.setProperty("surface", "raised")
        area.setFixedHeight(min(listed.sizeHint().height(), px(420)))
        entries: list[QWidget] = [rule(), area]
        if title:
            entries.insert(0, box(row(label(title, "strong", wrap=True), margins=(14, 10, 14, 2))))
        if warning:
            said = label(warning, "small", "2", wrap=True)
            said.setObjectName("cacheWarning")
            glyph = column(Glyph("info", "text3", 14), None, margins=(0, 2, 0, 0))
            entries += [rule(), box(row(glyph, said, margins=(14, 8, 14, 6), spacing=8, grow=1))]
        self._manage = push(tr("Manage…"), "link", dense=True, object_name="manageModels")
        if foot:
            foot_line = row(Elided(foot, "small", "2"), self._manage, margins=(14, 6, 14, 8), grow=0)
            entries += [rule(), box(foot_line)]
        else:
            self._manage.setParent(self._find)
            self._manage.hide()
        search = box(row(Glyph("search", "text3", 16), self._find, margins=(12, 8, 12, 8), spacing=8))
        entries.insert(1 if title else 0, search)
        super().__init__(column(*entries, spacing=0), 400, parent)
        self.setObjectName("modelPopover")
        for line in self._lines:
            line.chosen.connect(self._on_chosen)
        self._find.textChanged.connect(self._on_text_changed)
        self._find.returnPressed.connect(self._on_return_pressed)
        self._find.stepped.connect(self._on_stepped)
        self._manage.clicked.connect(self._on_manage)
        self._find.setFocus()

    def line(self, ref: str) -> ModelLine | None:
        return next((x for x in self._lines if x.ref == ref), None)

    def _shown(self) -> list[ModelLine]:
        return [x for x in self._lines if not x.isHidden()]

    def _on_text_changed(self, text: str) -> None:
        words = text.casefold().split()
        for head, lines in self._heads:
            for line in lines:
                line.setVisible(all(w in line.words for w in words))
            head.setVisible(any(not x.isHidden() for x in lines))

    def _on_return_pressed(self) -> None:
        shown = self._shown()
        if shown:
            self._on_chosen(shown[0].ref)

    def _on_stepped(self, step: int) -> None:
        shown = self._shown()
        if shown and step > 0:
            shown[0].setFocus(Qt.FocusReason.TabFocusReason)

    def _on_manage(self) -> None:
        self.close()
        self.manage_requested.emit()

    def _on_chosen(self, ref: str) -> None:
        self.model_chosen.emit(ref)
        self.close()


def _group_name(provider: str) -> str:
    return "BibGenie" if provider == BUILTIN else provider
