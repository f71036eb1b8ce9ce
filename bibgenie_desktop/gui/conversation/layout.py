"""Where rows stand in the window: a pure walk from an anchor, measuring only what is seen."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Anchor:
    """A row and where its top is, from the upper edge of the window."""

    index: int
    y: float


@dataclass(frozen=True, slots=True)
class Frame:
    """The window the rows are seen through. `pad`: room before the first and after the last row."""

    height: float
    pad: float
    gap: float


def walk(
    anchor: Anchor | None, count: int, frame: Frame, measure: Callable[[int], float]
) -> dict[int, float]:
    """Tops of the rows that are seen, in order. Without an anchor the last row stands at the lower edge.

    Never leaves empty room below the last row or above the first when there is something to fill it; rows
    that do not fill the window stand at its upper edge.
    """
    if count == 0:
        return {}
    if anchor is None:
        last = count - 1
        anchor = Anchor(last, frame.height - frame.pad - measure(last))
    low = high = min(anchor.index, count - 1)
    tops = {low: anchor.y}

    def down() -> None:
        nonlocal high
        while high < count - 1 and tops[high] + measure(high) + frame.gap < frame.height:
            tops[high + 1] = tops[high] + measure(high) + frame.gap
            high += 1

    def up() -> None:
        nonlocal low
        while low > 0 and tops[low] > 0:
            tops[low - 1] = tops[low] - frame.gap - measure(low - 1)
            low -= 1

    def shift(by: float) -> None:
        for index in tops:
            tops[index] += by

    down()
    if high == count - 1:
        empty = frame.height - frame.pad - (tops[high] + measure(high))
        if empty > 0:
            shift(empty)
    up()
    if low == 0 and tops[0] > frame.pad:
        shift(frame.pad - tops[0])
        down()
    return {
        index: tops[index]
        for index in range(low, high + 1)
        if tops[index] + measure(index) >= 0 and tops[index] <= frame.height
    }
