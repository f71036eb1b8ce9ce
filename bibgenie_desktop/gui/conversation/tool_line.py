"""All tool steps of a turn in one line, which opens into a list of steps."""

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from bibgenie_desktop.gui.components import Elided, Fold, Glyph, Spinner, column, label, push, row
from bibgenie_desktop.gui.conversation.rows import StepView
from bibgenie_desktop.gui.pictures.frame import PictureFrame
from bibgenie_desktop.gui.pictures.thumbnails import Thumbnails
from bibgenie_desktop.gui.theme import current, gap, icons
from bibgenie_desktop.gui.tr import tr

SEEN_WIDEST, SEEN_HIGHEST = 160.0, 120.0


class ToolLine(QWidget):
    """Folded: a sentence.

    Open: what was asked, and the result at the right; the running step has the spinner.
    """

    toggled = Signal(bool)
    picture_opened = Signal(str, str)

    def __init__(
        self,
        summary: str,
        steps: tuple[StepView, ...],
        *,
        opened: bool,
        thumbnails: Thumbnails | None = None,
    ) -> None:
        super().__init__()
        self._thumbnails = thumbnails
        self._steps: tuple[StepView, ...] = ()
        self._words: QLabel | None = None
        self._head = push(summary, "fold", icon="chevron-right", role="text3", object_name="toolLine")
        self._head.clicked.connect(self._on_clicked)
        steps_list = QWidget()
        self._rows = QVBoxLayout(steps_list)
        self._rows.setContentsMargins(0, gap(2), 0, 0)
        self._rows.setSpacing(gap(2))
        self.fold = Fold(steps_list)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(row(self._head, None))
        layout.addWidget(self.fold)
        self.show_steps(summary, steps)
        self.open(opened)

    def add_text(self, words: QLabel) -> None:
        """Show words below the line instead of steps."""
        self._words = words
        words.setContentsMargins(gap(20), 0, 0, 0)
        self._rows.addWidget(words)

    def set_text(self, text: str) -> None:
        if self._words is not None:
            self._words.setText(text)

    @property
    def is_open(self) -> bool:
        return self.fold.is_open

    def show_steps(self, summary: str, steps: tuple[StepView, ...]) -> None:
        """Show other steps; those that are the same stay as they are."""
        self._head.setText(summary)
        if self._words is not None:
            return
        same = 0
        while same < min(len(steps), len(self._steps)) and steps[same] == self._steps[same]:
            same += 1
        while self._rows.count() > same:
            item = self._rows.takeAt(same)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for step in steps[same:]:
            self._rows.addWidget(self._step(step))
        self._steps = steps

    def _step(self, step: StepView) -> QWidget:
        """The line, and below it what was looked at."""
        line = step_line(step)
        if not step.pictures:
            return line
        frames = [
            PictureFrame(p, self._thumbnails, widest=SEEN_WIDEST, highest=SEEN_HIGHEST) for p in step.pictures
        ]
        for frame in frames:
            frame.opened.connect(self.picture_opened)
        whole = QWidget()
        whole.setLayout(column(line, row(*frames, None, margins=(43, 2, 8, 6)), spacing=0))
        return whole

    def open(self, opened: bool, *, animated: bool = False) -> None:
        """Fold or unfold without announcing it."""
        self.fold.set_open(opened, animated=animated)
        self._head.setIcon(icons.icon("chevron-down" if opened else "chevron-right", "text3"))
        state = tr("open") if opened else tr("folded")
        self._head.setAccessibleName(f"{self._head.text()}, {state}")

    def toggle(self) -> None:
        self.open(not self.is_open, animated=True)
        self.toggled.emit(self.is_open)

    def _on_clicked(self) -> None:
        self.toggle()

    def minimumSizeHint(self) -> QSize:
        return QSize(1, super().minimumSizeHint().height())


def step_line(step: StepView) -> QWidget:
    """One step: sign, what was asked, result."""
    running = step.state == "running"
    role = "bad" if step.state == "error" else "text3"
    sign: QWidget = Spinner() if running else Glyph("warn" if step.state == "error" else step.glyph, role, 15)
    result = step.result
    if running and not result and current().reduced_motion:
        result = tr("running")
    words = Elided(step.text, "small", "2")
    line = QWidget()
    line.setLayout(row(sign, words, label(result, "small", "3"), margins=(20, 1, 8, 1), spacing=8))
    line.setAccessibleName(f"{step.text}. {result or step.state}")
    return line
