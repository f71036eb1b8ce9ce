"""The database's versions, oldest first. A released migration is never edited; a change is a new one.

The list is written out so that a frozen build needs no directory listing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from bibgenie_desktop.storage.migrations import m0001_initial, m0002_estimates, m0003_journal

Execute: TypeAlias = Callable[[str], object]
Migration: TypeAlias = tuple[str, Callable[[Execute], None]]
"""A name, which the database records, and what it does inside its transaction."""

MIGRATIONS: tuple[Migration, ...] = (
    ("m0001_initial", m0001_initial.apply),
    ("m0002_estimates", m0002_estimates.apply),
    ("m0003_journal", m0003_journal.apply),
)
