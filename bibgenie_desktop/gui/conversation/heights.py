"""How high the rows are: measured where they were shown, estimated elsewhere."""

from bisect import bisect_right
from itertools import accumulate

from bibgenie_desktop.gui.conversation.rows import AnswerRow, CheckpointRow, Row, UserRow


def estimate(row: Row, width: float, em: float) -> float:
    """About how high a row will be, without laying it out."""
    per_line = max(10.0, width / (em * 0.47))
    match row:
        case UserRow():
            lines = len(row.text) / per_line + row.text.count("\n") + 1
            return em * 1.6 * lines + 24 + (34 if row.attachments else 0)
        case AnswerRow():
            lines = len(row.text) / per_line + row.text.count("\n") * 0.6 + 1
            return em * 1.7 * lines + 34 + (28 if row.steps else 0) + (56 if row.error_title else 0)
        case CheckpointRow():
            return 36.0
        case _:
            return 44.0


class Heights:
    """Heights of all rows and their sums; `gap` stands between rows."""

    def __init__(self, values: list[float], gap: float) -> None:
        self._values, self._gap = values, gap
        self._tops: list[float] | None = None

    @property
    def gap(self) -> float:
        return self._gap

    @gap.setter
    def gap(self, gap: float) -> None:
        self._gap = gap
        self._tops = None

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> float:
        return self._values[index]

    def set(self, index: int, height: float) -> None:
        if abs(self._values[index] - height) > 0.01:
            self._values[index] = height
            self._tops = None

    def append(self, height: float) -> None:
        self._values.append(height)
        self._tops = None

    def prepend(self, heights: list[float]) -> None:
        self._values[:0] = heights
        self._tops = None

    def remove(self, index: int) -> None:
        del self._values[index]
        self._tops = None

    def top(self, index: int) -> float:
        """Where a row begins, from the first row's top."""
        return self._sums()[index]

    def total(self) -> float:
        return max(0.0, self._sums()[-1] - self._gap) if self._values else 0.0

    def index_at(self, y: float) -> int:
        """The row at a height; the nearest one outside."""
        return min(len(self._values) - 1, max(0, bisect_right(self._sums(), y) - 1))

    def _sums(self) -> list[float]:
        if self._tops is None:
            self._tops = list(accumulate((v + self._gap for v in self._values), initial=0.0))
        return self._tops
