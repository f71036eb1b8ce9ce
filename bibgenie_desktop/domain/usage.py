"""What one request to a model used, in tokens.

Occupancy and billing are two things: this record is one request; a turn with tools has several.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Usage:
    """One request.

    `input_total` holds cached and cache-written tokens once; `output_total` holds `reasoning`. `complete` is
    False for a request that failed or was cut off.
    """

    provider: str
    base_url: str
    model: str
    input_total: int
    output_total: int
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    source: Literal["provider", "estimate"] = "provider"
    complete: bool = True
    step: int = 0
    """Which request of its turn this was, as the parts count them."""
    cost: float | None = None
    """US dollars, where the provider itself said what it charged."""

    @property
    def refused(self) -> bool:
        """Nothing came of it: it was refused, or ended before its first word. Nobody charges that."""
        nothing = not self.complete and self.source == "estimate" and not self.output_total
        return nothing and self.cost is None
