"""A checkpoint in the conversation: a line through the column that opens to the summary, statement by
statement.
"""

import html
import re
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from bibgenie_desktop.gui.components import Elided, Fold, box, column, icon_button, label, push, row, rule
from bibgenie_desktop.gui.conversation.intents import Surroundings
from bibgenie_desktop.gui.conversation.message import MessageWidget
from bibgenie_desktop.gui.conversation.rows import CheckpointRow
from bibgenie_desktop.gui.conversation.statements import Statement, mark_words, statements_of
from bibgenie_desktop.gui.render.source import MARKER
from bibgenie_desktop.gui.theme import current, gap, icons
from bibgenie_desktop.gui.tr import plural, tr

SHOWN_FIRST: Final = 4
"""So many sections with content are shown before one asks for all."""
QUIET: Final = re.compile(rf"{MARKER.pattern}|\b(?:u|g\d{{1,12}})-[A-Z0-9]{{8}}\b")

Section = tuple[str, tuple[Statement, ...]]


class CheckpointMessage(MessageWidget):
    """A line through the column with one button; open, it shows the sections of the summary."""

    kind = "checkpoint"

    def __init__(self, row_value: CheckpointRow, surroundings: Surroundings) -> None:
        super().__init__(row_value, surroundings)
        self._checkpoint = row_value
        self._button = push(
            row_value.title, "quiet", icon="compact", dense=True, object_name="checkpointToggle"
        )
        self._button.setToolTip(tr("The model now works from a summary of what stands above"))
        self._chevron = icon_button("chevron-down", tr("Show summary"), size=22, role="text3")
        self._button.clicked.connect(self._on_clicked)
        self._chevron.clicked.connect(self._on_clicked)
        self._fold = self.connect_fold(Fold())
        self._rest: Fold | None = None
        self._more = push(tr("Show all"), "quiet", dense=True, object_name="showAllSections")
        self._more.clicked.connect(self._on_all_clicked)
        layout = QVBoxLayout()
        layout.setSpacing(0)
        layout.addLayout(row(rule(), self._button, self._chevron, rule(), spacing=0))
        layout.addWidget(self._fold)
        self.set_content(layout)
        self._open(self.fold_state("summary", False), animated=False)

    def kind_name(self) -> str:
        return tr("checkpoint: {0}").format(self._checkpoint.title)

    @property
    def is_open(self) -> bool:
        return self._fold.is_open

    def toggle_fold(self) -> bool:
        opened = not self._fold.is_open
        self._shared.folds[f"{self.row_id}/summary"] = opened
        self._open(opened, animated=True)
        self._shared.intents.checkpoint_toggled.emit(self.row_id, opened)
        self.size_changed.emit(self.row_id)
        return True

    def _on_clicked(self) -> None:
        self.toggle_fold()

    def _on_all_clicked(self) -> None:
        self._shared.folds[f"{self.row_id}/all"] = True
        self._more.hide()
        if self._rest is not None:
            self._rest.set_open(True, animated=True)
        self.size_changed.emit(self.row_id)

    def _on_compare_clicked(self) -> None:
        self._shared.intents.compare_requested.emit(self.row_id)

    def _open(self, opened: bool, *, animated: bool) -> None:
        if opened and self._fold.content is None:
            self._fold.set_content(self._make_body())
        self._fold.set_open(opened, animated=animated)
        self._chevron.setIcon(icons.icon("chevron-up" if opened else "chevron-down", "text3"))
        tip = tr("Hide summary") if opened else tr("Show summary")
        self._chevron.setToolTip(tip)
        self._chevron.setAccessibleName(tip)

    def _make_body(self) -> QWidget:
        sections: list[Section] = [(t, statements_of(x)) for t, x in self._checkpoint.sections]
        filled = sum(bool(said) for _, said in sections)
        cut, seen = len(sections), 0
        for place, (_, said) in enumerate(sections):
            seen += bool(said)
            if seen == SHOWN_FIRST:
                cut = place + 1
                break
        words = _mark_column([s for _, said in sections for s in said])
        body = column(spacing=10, margins=(18, 16, 18, 12))
        body.addLayout(_sections(sections[:cut], words))
        if sections[cut:]:
            everything = self.fold_state("all", False)
            rest = QWidget()
            rest.setLayout(_sections(sections[cut:], words))
            self._rest = self.connect_fold(Fold(rest, opened=everything))
            body.addWidget(self._rest)
            self._more.setVisible(not everything)
        else:
            self._more.hide()
        facts = tr("{0} of {1} sections").format(filled, len(sections))
        kept = plural(self._checkpoint.resources, tr("{0} resource kept"), tr("{0} resources kept"))
        foot = row(Elided(f"{facts} · {kept}", "small", "3"), spacing=4)
        if self._checkpoint.can_compare:
            compare = push(tr("Compare with previous"), "quiet", dense=True)
            compare.clicked.connect(self._on_compare_clicked)
            foot.addWidget(compare)
        foot.addWidget(self._more)
        body.addLayout(foot)
        return box(column(box(body, card="sunken"), margins=(0, 10, 0, 0)))

    def plain_text(self) -> str:
        parts = [self._checkpoint.title, *(f"{t}\n{x}" for t, x in self._checkpoint.sections)]
        return "\n\n".join(parts)

    def selected_text(self) -> str:
        """Of one statement after the other."""
        chosen = [w.selectedText() for w in self.findChildren(QLabel) if w.hasSelectedText()]
        return "\n".join(text.replace("\u2029", "\n") for text in chosen)

    def is_held(self) -> bool:
        return super().is_held() or any(w.hasSelectedText() for w in self.findChildren(QLabel))


class StatementText(QLabel):
    """The words of a statement; keys and citation markers in them are quiet."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._words = text
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # the conversation's has more in it
        current().changed.connect(self._show_words)
        self._show_words()

    def _show_words(self) -> None:
        theme = current()
        look = f"color:{theme.colors.text3};font-size:{theme.font('small').pixelSize()}px"
        parts, at = [], 0
        for found in QUIET.finditer(self._words):
            parts.append(html.escape(self._words[at : found.start()]))
            parts.append(f'<span style="{look}">{html.escape(found[0].strip("[]"))}</span>')
            at = found.end()
        parts.append(html.escape(self._words[at:]))
        self.setText("".join(parts))


def _mark_column(statements: list[Statement]) -> int:
    """Room for the longest mark that occurs."""
    words = mark_words()
    used = [label(words[m][0], "fine", "3") for m in {s.mark for s in statements} if m]
    for mark in used:
        mark.ensurePolished()
    return max((mark.sizeHint().width() for mark in used), default=0)


def _sections(sections: list[Section], marks: int) -> QVBoxLayout:
    layout = QVBoxLayout()
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(gap(10))
    for title, statements in sections:
        if statements:
            layout.addLayout(_section(title, statements, marks))
        else:
            layout.addWidget(_empty_section(title))
    return layout


def _empty_section(title: str) -> QLabel:
    """On one line: that a section says nothing is worth no more."""
    dim = label("", "fine", "3", wrap=True)
    dim.setTextFormat(Qt.TextFormat.RichText)
    name, nothing = html.escape(title), html.escape(tr("Nothing recorded"))
    dim.setText(f'<span style="font-weight:600">{name}</span>&nbsp;&nbsp; {nothing}')
    return dim


def _section(title: str, statements: tuple[Statement, ...], marks: int) -> QGridLayout:
    """Caption, then one line a statement: its mark at the left, its words at the right."""
    grid, words = QGridLayout(), mark_words()
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setVerticalSpacing(gap(4))
    grid.setHorizontalSpacing(gap(10))
    grid.setColumnStretch(1, 1)
    grid.setColumnMinimumWidth(0, marks)
    grid.addWidget(label(title, "caption", "2", wrap=True), 0, 0, 1, 2)
    top = Qt.AlignmentFlag.AlignTop
    for place, statement in enumerate(statements, start=1):
        text = StatementText(statement.text)
        if statement.mark:
            name, meaning = words[statement.mark]
            mark = label(name, "fine", "3")
            mark.setContentsMargins(0, gap(2), 0, 0)
            mark.setToolTip(meaning)
            text.setAccessibleName(f"{name}: {statement.text}")
            grid.addWidget(mark, place, 0, top)
        if statement.depth:
            text.setContentsMargins(gap(14) * statement.depth, 0, 0, 0)
        grid.addWidget(text, place, 1)
    return grid
