"""How far a model's own counts lie from our estimate, learned from what its provider reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

WEIGHT: Final = 0.3  # of the newest ratio in the moving average
LEAST, MOST = 0.6, 1.6  # beyond these a report says more about the provider than about its tokenizer
MARGIN: Final = 1.08  # above the smallest ratio seen: simulated, it keeps under-estimates rare and small
NEEDED: Final = 2  # reports before a calibration is used


@dataclass(frozen=True, slots=True)
class Calibration:
    """Of one model at one address. The factor applies to estimated parts only."""

    count: int = 0
    average: float = 1.0
    smallest: float = MOST

    @property
    def factor(self) -> float:
        """1 until enough was seen; never below a margin over the smallest ratio."""
        if self.count < NEEDED:
            return 1.0
        return min(MOST, max(LEAST, self.average, MARGIN * self.smallest))

    def after(self, reported: int, estimate: int) -> Calibration:
        """With one more request: its reported input and the uncalibrated estimate of the same request."""
        if reported <= 0 or estimate <= 0:
            return self
        ratio = min(MOST, max(LEAST, reported / estimate))
        average = ratio if self.count == 0 else (1 - WEIGHT) * self.average + WEIGHT * ratio
        return Calibration(self.count + 1, average, min(self.smallest, ratio))
