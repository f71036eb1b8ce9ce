"""Checkpoints and pins in the Context dock: what a checkpoint says, what changed against the one before,
which resources it keeps, and what can be done with it; and what is never dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QFrame, QPlainTextEdit, QPushButton, QToolButton, QVBoxLayout, QWidget

from bibgenie_desktop.domain.checkpoint import SECTIONS, SectionDiff
from bibgenie_desktop.domain.locators import LedgerEntry
from bibgenie_desktop.gui.components import Elided, box, column, gate, icon_button, label, push, row
from bibgenie_desktop.gui.conversation.statements import mark_words, statements_of
from bibgenie_desktop.gui.theme import icons, px
from bibgenie_desktop.gui.tr import plural, tr

MOST_RESOURCES = 40


@dataclass(frozen=True, slots=True)
class CheckpointLine:
    """A checkpoint of the path, the newest first. `in_use`: the model reads it; `at_end`: nothing follows
    it; `changes`: against the one before, None for the first."""

    id: str
    title: str
    when: str
    sections: tuple[tuple[str, str], ...]
    in_use: bool
    at_end: bool = False
    changes: tuple[SectionDiff, ...] | None = None
    resources: tuple[LedgerEntry, ...] = ()
    summary: str = ""


class Point(QFrame):
    """A checkpoint, folded."""

    undo_requested = Signal()
    revise_requested = Signal(str)
    """The text of the summary."""
    pin_requested = Signal(object)
    unpin_requested = Signal(object)

    def __init__(self, line: CheckpointLine, pins: Sequence[LedgerEntry]) -> None:
        super().__init__()
        self._line = line
        self._pins = tuple(pins)
        self._head = push(
            line.title, "fold", icon="chevron-right", role="text3", object_name="checkpointHead"
        )
        self._head.setCheckable(True)
        self._head.setAccessibleName(tr("{0}, {1} sections").format(line.title, len(line.sections)))
        state = label(tr("in use"), badge="accent") if line.in_use else label(line.when, "small", "3")
        self._undo = push(tr("Undo"), dense=True, object_name="undoCheckpoint")
        self._revise = push(tr("Revise summary…"), dense=True, object_name="reviseSummary")
        self._undo.clicked.connect(self.undo_requested)
        self._revise.clicked.connect(self._on_revise_clicked)
        self._body: QFrame | None = None
        self._column = column(row(self._head, None, state), spacing=4)
        if line.in_use:
            self._column.addLayout(row(self._undo, self._revise, None, spacing=6))
        self.setLayout(self._column)
        self._head.toggled.connect(self._on_toggled)

    @property
    def line(self) -> CheckpointLine:
        return self._line

    def show_reasons(self, undo: str | None, revise: str | None) -> None:
        behind = tr("Messages follow this checkpoint: only what stands at the end of a branch can be changed")
        gate(self._undo, undo if self._line.at_end else behind)
        gate(self._revise, revise if self._line.at_end else behind)

    def _on_revise_clicked(self) -> None:
        self.revise_requested.emit(self._line.summary)

    def _on_toggled(self, opened: bool) -> None:
        if self._body is None:
            self._body = self._make_body()
            self._column.addWidget(self._body)
        self._body.setVisible(opened)
        self._head.setIcon(icons.icon("chevron-down" if opened else "chevron-right", "text3"))

    def _make_body(self) -> QFrame:
        parts: list[QWidget] = []
        for name, text in self._line.sections:
            said = statements_of(text)
            words = mark_words()
            lines = [f"{words[s.mark][0]}: {s.text}" if s.mark else s.text for s in said]
            body = label("\n".join(lines) or tr("Nothing recorded"), "small", "" if lines else "3", wrap=True)
            body.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            parts.append(box(column(label(name, "caption", "2", wrap=True), body, spacing=1)))
        sections = box(column(*parts, spacing=8, margins=(12, 10, 12, 10)), card="sunken")
        return box(column(sections, self._make_resources(), spacing=8))

    def _make_resources(self) -> QFrame:
        listed = self._line.resources
        head = label(plural(len(listed), tr("{0} resource kept"), tr("{0} resources kept")), "caption", "2")
        lines: list[QWidget] = [head]
        for entry in listed[:MOST_RESOURCES]:
            line = ResourceLine(entry, entry_key(entry) in {entry_key(p) for p in self._pins})
            line.pin_requested.connect(self.pin_requested)
            line.unpin_requested.connect(self.unpin_requested)
            lines.append(line)
        if len(listed) > MOST_RESOURCES:
            lines.append(label(tr("and {0} more").format(len(listed) - MOST_RESOURCES), "small", "3"))
        return box(column(*lines, spacing=2))


class ResourceLine(QFrame):
    """Title, page, how often it was used; a pin that keeps it for good."""

    pin_requested = Signal(object)
    unpin_requested = Signal(object)

    def __init__(self, entry: LedgerEntry, pinned: bool) -> None:
        super().__init__()
        self._entry, self._pinned = entry, pinned
        words = entry.title or (entry.locator.id if entry.locator is not None else "")
        page = entry_page(entry)
        times = "" if entry.locator is None or not entry.count else f"{entry.count}×"
        tip = tr("Unpin: {0}") if pinned else tr("Never drop: {0}")
        self._pin: QToolButton = icon_button(
            "close" if pinned and entry.locator is None else "pin",
            tip.format(words),
            size=24,
            role="accent" if pinned else "text3",
            object_name="unpin" if pinned else "pin",
        )
        self._pin.clicked.connect(self._on_clicked)
        self.setLayout(
            row(
                Elided(words, "small"),
                label(" ".join(t for t in (page, times) if t), "small", "3"),
                self._pin,
                spacing=6,
                grow=0,
            )
        )
        self.setAccessibleName(", ".join(t for t in (words, page, times) if t))

    def _on_clicked(self) -> None:
        (self.unpin_requested if self._pinned else self.pin_requested).emit(self._entry)


class Changes(QFrame):
    """What the newest checkpoint says that the one before did not, and the other way round."""

    def __init__(self, changes: Sequence[SectionDiff]) -> None:
        super().__init__()
        self.setObjectName("checkpointChanges")
        layout = QVBoxLayout()
        layout.setContentsMargins(0, 0, 0, 0)
        same = 0
        for diff in changes:
            if not (diff.added or diff.removed):
                same += 1
                continue
            counts = [label(f"+{len(diff.added)}", badge="ok")] if diff.added else []
            counts += [label(f"−{len(diff.removed)}", badge="bad")] if diff.removed else []
            layout.addLayout(row(label(diff.name, "caption", "2", wrap=True), *counts, spacing=4, grow=0))
            for sign, tone, statements in (("+", "ok", diff.added), ("−", "bad", diff.removed)):
                for statement in statements:
                    layout.addWidget(_change(sign, tone, statement))
        if same:
            words = plural(same, tr("{0} section unchanged"), tr("{0} sections unchanged"))
            layout.addWidget(label(words, "small", "3"))
        self.setLayout(layout)


def _change(sign: str, tone: str, statement: str) -> QFrame:
    said = statements_of(statement)
    words = " ".join(s.text for s in said) or statement
    line = box(
        row(
            column(label(sign, "strong", tone), None),
            label(words, "small", wrap=True),
            spacing=8,
            margins=(10, 5, 10, 5),
            grow=1,
        ),
        card=tone,
    )
    line.setAccessibleName((tr("New: {0}") if sign == "+" else tr("Gone: {0}")).format(words))
    return line


class ReviseDialog(QDialog):
    """The summary as text. It closes when the new one is stored; what was changed goes only at a second Esc
    or Cancel."""

    revised = Signal(str)

    def __init__(self, summary: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("reviseDialog")
        self.setWindowTitle(tr("Revise the summary"))
        self._before, self._sure = summary, ""
        self.text = QPlainTextEdit(summary)
        self.text.setAccessibleName(tr("Summary"))
        self.text.setTabChangesFocus(True)
        self._fault = label("", "small", "bad", wrap=True)
        self._fault.setObjectName("reviseFault")
        self._fault.hide()
        self._save: QPushButton = push(tr("Use this summary"), "primary", object_name="useSummary")
        self._cancel = cancel = push(tr("Cancel"), "quiet", object_name="cancelRevise")
        said = tr(
            "It becomes a new checkpoint; the old one stays in Branches. All {0} sections must stay, and "
            "each statement keeps its mark: [user], [tool] or [inference]."
        ).format(len(SECTIONS))
        self.setLayout(
            column(
                label(tr("Revise the summary"), "title"),
                label(said, "small", "2", wrap=True),
                box(column(self.text, margins=(12, 10, 6, 10)), card="sunken"),
                self._fault,
                row(None, cancel, self._save),
                margins=(20, 16, 20, 16),
                spacing=10,
                grow=2,
            )
        )
        room = parent.window().size()
        self.resize(min(px(720), room.width() - 64), min(px(640), room.height() - 64))
        self._save.clicked.connect(self._on_save_clicked)
        cancel.clicked.connect(self.reject)

    def reject(self) -> None:
        """Esc, Cancel or the window's cross."""
        typed = self.text.toPlainText()
        if typed in (self._before, self._sure):
            super().reject()
            return
        self._sure = typed
        self._cancel.setText(tr("Discard changes"))
        self.say(tr("Your changes are not used yet. Once more, and they are gone."))

    def say(self, fault: str) -> None:
        """Why it cannot be used."""
        self._fault.setText(fault)
        self._fault.setVisible(bool(fault))
        self._save.setEnabled(True)

    def _on_save_clicked(self) -> None:
        self._save.setEnabled(False)
        self.revised.emit(self.text.toPlainText())


def entry_key(entry: LedgerEntry) -> tuple[str, int | None]:
    """What tells two entries of the lists apart."""
    if entry.locator is None:
        return entry.title, -1
    return entry.locator.id, entry.locator.page_index


def entry_page(entry: LedgerEntry) -> str:
    at = entry.locator
    if at is None or at.page_index is None:
        return ""
    return tr("p. {0}").format(at.page_label or at.page_index + 1)
