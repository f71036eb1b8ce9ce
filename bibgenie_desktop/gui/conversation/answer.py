"""Answer on the bare canvas: tool line, text, what went wrong, then one row of actions and facts."""

from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from bibgenie_desktop.gui.components import Banner, Elided, Spinner, gate, label, push, row
from bibgenie_desktop.gui.components.banner import Tone
from bibgenie_desktop.gui.conversation.footer import Footer
from bibgenie_desktop.gui.conversation.intents import Surroundings
from bibgenie_desktop.gui.conversation.long_text import excerpt, is_long, shortened
from bibgenie_desktop.gui.conversation.message import MessageWidget
from bibgenie_desktop.gui.conversation.rows import AnswerRow, Row
from bibgenie_desktop.gui.conversation.streaming import StreamingText
from bibgenie_desktop.gui.conversation.tool_line import ToolLine
from bibgenie_desktop.gui.render.markdown_view import MarkdownView
from bibgenie_desktop.gui.theme import gap
from bibgenie_desktop.gui.tr import tr


class AnswerMessage(MessageWidget):
    """Shows an `AnswerRow`; while it streams, only what changed is touched."""

    kind = "assistant"

    def __init__(self, row: AnswerRow, surroundings: Surroundings) -> None:
        super().__init__(row, surroundings)
        self._answer = row
        self._newest = False
        self._tools: ToolLine | None = None
        self._thoughts: ToolLine | None = None
        self._waiting: QWidget | None = None
        self._stream: StreamingText | None = None
        self._view: MarkdownView | None = None
        self._banner: Banner | None = None
        self._retry: QPushButton | None = None
        self._go_on: QPushButton | None = None
        self._footer: Footer | None = None
        self._column = QVBoxLayout()
        self._column.setSpacing(gap(6))
        self._column.setContentsMargins(0, 0, 0, 0)
        self.set_content(self._column)
        self._build()

    def kind_name(self) -> str:
        return tr("assistant, being written") if self._answer.streaming else tr("assistant")

    # showing

    def _build(self) -> None:
        self._show_reasoning()
        self._show_tools()
        self._show_text()
        self._show_waiting()
        self._show_end()

    def update_row(self, row: Row) -> bool:
        if not isinstance(row, AnswerRow):
            return False
        before, self._answer, self._row = self._answer, row, row
        if row == before:
            return True
        if (row.reasoning, row.streaming) != (before.reasoning, before.streaming):
            self._show_reasoning()
        if (row.steps, row.tool_summary, row.streaming) != (
            before.steps,
            before.tool_summary,
            before.streaming,
        ):
            self._show_tools()
        if (row.text, row.citations, row.streaming) != (before.text, before.citations, before.streaming):
            self._show_text()
        self._show_waiting()
        self._show_end()
        return True

    def _show_reasoning(self) -> None:
        row = self._answer
        if not row.reasoning:
            return
        summary = tr("Thinking") if row.streaming and not row.text else tr("Thoughts")
        if self._thoughts is None:
            self._thoughts = ToolLine(summary, (), opened=False)
            self.connect_fold(self._thoughts.fold)
            words = label(excerpt(row.reasoning), "small", "2", wrap=True)
            words.setObjectName("reasoning")
            self._thoughts.add_text(words)
            self._thoughts.toggled.connect(self._on_thoughts_toggled)
            self._thoughts.open(self.fold_state("thoughts", False))
            self._column.insertWidget(0, self._thoughts)
        else:
            self._thoughts.show_steps(summary, ())
            self._thoughts.set_text(excerpt(row.reasoning))

    def _show_tools(self) -> None:
        row = self._answer
        if not row.steps:
            return
        summary = row.tool_summary or tr("Searching and reading")
        # Open while running; folds itself at the end, unless the person opened it.
        opened = self.fold_state("tools", row.streaming)
        if self._tools is None:
            shared = self._shared
            self._tools = ToolLine(summary, row.steps, opened=opened, thumbnails=shared.thumbnails)
            self._tools.picture_opened.connect(shared.intents.picture_requested)
            self.connect_fold(self._tools.fold)
            self._tools.toggled.connect(self._on_tools_toggled)
            self._column.insertWidget(1 if self._thoughts is not None else 0, self._tools)
        else:
            self._tools.show_steps(summary, row.steps)
            self._tools.open(opened, animated=True)

    def _show_text(self) -> None:
        row = self._answer
        if row.streaming:
            if self._view is not None:
                self._drop(self._view)
                self._view = None
            if row.text and self._stream is None:
                self._stream = StreamingText(self._make_view)
                self._column.insertWidget(self._text_place(), self._stream)
            if self._stream is not None:
                self._stream.set_text(row.text, row.citations)
            return
        if self._stream is not None:
            self._drop(self._stream)
            self._stream = None
        if self._view is None:
            self._view = self._make_view()
            self._column.insertWidget(self._text_place(), self._view)
            if is_long(row.text):
                self._column.insertWidget(self._text_place() + 1, self.make_whole_text_bar(row.text))
        shown = shortened(row.text)
        if self._view.text != shown or not self._view.shows(row.citations):
            self._view.set_text(shown, row.citations)
        self._view.setVisible(bool(row.text.strip()))

    def stream_text(self, text: str, row: AnswerRow) -> None:
        """The text so far, without looking at anything else."""
        first = not self._answer.text
        self._answer = self._row = row
        if self._stream is None or first:
            self._show_text()
            self._show_waiting()
        else:
            self._stream.set_text(text, row.citations)

    def _show_waiting(self) -> None:
        """Before the first word, a line says that something is going on."""
        row = self._answer
        running = any(step.state == "running" for step in row.steps)
        wanted = row.streaming and not row.text and not (running and self._tools and self._tools.is_open)
        if wanted and self._waiting is None:
            words = Elided(tr("Waiting for the answer…"), "small", "2")
            self._waiting = QWidget()
            self._waiting.setLayout(_spinner_row(words))
            self._column.insertWidget(self._text_place(), self._waiting)
        elif not wanted and self._waiting is not None:
            self._drop(self._waiting)
            self._waiting = None

    def _show_end(self) -> None:
        row = self._answer
        for part in (self._banner, self._footer):
            if part is not None:
                self._drop(part)
        self._banner = self._footer = self._retry = self._go_on = None
        if row.streaming:
            return
        if row.error_title:
            self._retry = push(tr("Retry"), dense=True, object_name="retryAnswer")
            gate(self._retry, self._shared.intents.reason_against("retry", row.id))
            self._retry.clicked.connect(self._on_retry_clicked)
            tone: Tone = "bad" if row.status == "failed" else "warn"
            buttons = [self._retry]
            if row.can_go_on:
                self._go_on = push(tr("Go on"), dense=True, object_name="goOn")
                gate(self._go_on, self._shared.intents.reason_against("go_on", row.id))
                self._go_on.clicked.connect(self._on_go_on_clicked)
                buttons.insert(0, self._go_on)
            self._banner = Banner(tone, row.error_title, row.error_advice, buttons)
            self._column.addWidget(self._banner)
        badge, tone_name = _status_badge(row)
        self._footer = Footer(
            row.id,
            self.kind,
            ("copy", "quote", "fork", "retry"),
            self._shared.intents,
            siblings=row.siblings,
            meta=row.meta,
            badge=badge,
            tone=tone_name,
        )
        self._footer.focus_moved.connect(self.reveal)
        self._column.addWidget(self._footer)
        self.reveal()

    def _text_place(self) -> int:
        return sum(part is not None for part in (self._thoughts, self._tools))

    def _make_view(self) -> MarkdownView:
        view = MarkdownView("", self._answer.citations, math=self._shared.math)
        return self.connect_view(view)

    def _drop(self, widget: QWidget) -> None:
        self._column.removeWidget(widget)
        widget.hide()
        widget.deleteLater()

    # folding, hovering

    def toggle_fold(self) -> bool:
        line = self._tools or self._thoughts
        if line is None:
            return False
        line.toggle()
        return True

    def _on_tools_toggled(self, opened: bool) -> None:
        self._shared.folds[f"{self.row_id}/tools"] = opened
        self._show_waiting()
        self.size_changed.emit(self.row_id)

    def _on_thoughts_toggled(self, opened: bool) -> None:
        self._shared.folds[f"{self.row_id}/thoughts"] = opened
        self.size_changed.emit(self.row_id)

    def _on_go_on_clicked(self) -> None:
        self._shared.intents.go_on_requested.emit(self.row_id)

    def _on_retry_clicked(self) -> None:
        self._shared.intents.retry_requested.emit(self.row_id)

    def show_as_newest(self, newest: bool) -> None:
        if newest != self._newest:
            self._newest = newest
            self.reveal()

    def refresh_actions(self) -> None:
        """What can be done may have changed."""
        if self._retry is not None:
            gate(self._retry, self._shared.intents.reason_against("retry", self.row_id))
        if self._go_on is not None:
            gate(self._go_on, self._shared.intents.reason_against("go_on", self.row_id))
        if self._footer is not None:
            self._footer.refresh()

    def reveal(self) -> None:
        if self._footer is not None:
            seen = self.underMouse() or self.hasFocus() or self._footer.holds_focus()
            self._footer.reveal(self._newest or seen)


def _spinner_row(words: QWidget):  # type: ignore[no-untyped-def]
    return row(Spinner(), words, margins=(2, 2, 8, 2), spacing=8)


def _status_badge(answer: AnswerRow) -> tuple[str, str]:
    if answer.error_title:
        return "", ""
    match answer.status:
        case "stopped":
            return tr("Stopped"), "true"
        case "interrupted":
            return tr("Interrupted"), "warn"
        case "failed":
            return tr("Failed"), "bad"
        case _:
            return "", ""
