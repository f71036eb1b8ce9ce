"""What the Library dock is shown: frozen values that presenters make."""

from __future__ import annotations

from dataclasses import dataclass

from bibgenie_desktop.services.library.browsing import Order, Place, TagRow


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """`missing`: no library is chosen, or it cannot be read; then there is nothing to browse."""

    title: str
    detail: str
    libraries: tuple[tuple[str, str], ...]
    busy: bool
    place: str = ""
    missing: bool = False


@dataclass(frozen=True, slots=True)
class UsedSource:
    """A work that this conversation used, and how often. `id` names its item where it is known."""

    title: str
    count: int
    pages: str = ""
    link: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """A line of the tree as it is shown."""

    place: Place
    name: str
    icon: str
    unfolded: bool = False


@dataclass(frozen=True, slots=True)
class ListHead:
    """What is said over the list. `note` takes the list's place where it is empty, or stands above it."""

    name: str
    total: int | None
    order: Order | None
    tags: tuple[TagRow, ...] = ()
    note: str = ""
    searching: bool = False


@dataclass(frozen=True, slots=True)
class Texts:
    """How far the texts of files are read. `share` is None where nothing runs."""

    words: str
    share: float | None = None
    can_resume: bool = False
