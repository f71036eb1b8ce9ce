"""How far a synchronisation is, as a value for those who show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Phase = Literal["account", "fetching", "waiting", "storing"]


@dataclass(frozen=True, slots=True)
class SyncProgress:
    """How far a synchronisation is: items of the present library, and libraries in all."""

    phase: Phase
    library: str = ""
    done: int = 0
    total: int = 0
    libraries_done: int = 0
    libraries: int = 0
    wait_s: float = 0.0
