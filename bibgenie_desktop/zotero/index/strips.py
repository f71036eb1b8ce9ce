"""Long answers of the index held as one text: all the ids or rows of which only a page is looked at.

A list of a hundred thousand takes many milliseconds to be made and to be thrown away, and nothing else runs
meanwhile; SQLite makes one text of them without holding the interpreter, and a piece of it is a slice.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar, overload

from bibgenie_desktop.zotero.index.state import IndexState

T = TypeVar("T")
_PAD: Final = "\x1f"
"""Fills an id up to the width of the longest."""
_PIECE: Final = 1_000
_WIDE: Final = 19
"""Digits of the largest number that SQLite has."""


class Answer(Sequence[T]):
    """Equal to whatever sequence has the same values in the same order."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(other) == len(self) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


class Strip(Answer[T]):
    """Entries of one width."""

    __slots__ = ("_size", "_text", "_width")

    def __init__(self, text: str, width: int) -> None:
        self._text, self._width = text, width
        self._size = len(text) // width if width else 0

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: Any) -> Any:
        text, width = self._text, self._width
        if isinstance(place, slice):
            places = range(self._size)[place]
            return [self._value(text[i * width : (i + 1) * width]) for i in places]
        at = range(self._size)[place]
        return self._value(text[at * width : (at + 1) * width])

    def __iter__(self) -> Iterator[T]:
        for start in range(0, self._size, _PIECE):
            yield from self[start : start + _PIECE]

    def __contains__(self, value: object) -> bool:
        return self._find(value) >= 0

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        place = self._find(value)
        if place < start or (stop is not None and place >= stop):
            raise ValueError(value)
        return place

    def _find(self, value: object) -> int:
        """Every value is there once at most."""
        wanted = self._written(value)
        if not self._width or len(wanted) != self._width:
            return -1
        at = self._text.find(wanted)
        while at >= 0 and at % self._width:
            at = self._text.find(wanted, at + 1)
        return at // self._width if at >= 0 else -1

    @abstractmethod
    def _value(self, entry: str) -> T: ...

    @abstractmethod
    def _written(self, value: object) -> str: ...


class Ids(Strip[str]):
    __slots__ = ()

    def _value(self, entry: str) -> str:
        return entry.rstrip(_PAD)

    def _written(self, value: object) -> str:
        return str(value).ljust(self._width, _PAD)


class Rows(Strip[int]):
    __slots__ = ()

    def _value(self, entry: str) -> int:
        return int(entry[:-1])

    def _written(self, value: object) -> str:
        return f"{value},".rjust(self._width)

    @property
    def json(self) -> str:
        """For SQLite's `json_each`."""
        return f"[{self._text[:-1]}]"


class Joined(Answer[str]):
    """One sequence after another, none of them copied."""

    __slots__ = ("_first", "_then")

    def __init__(self, first: Sequence[str], then: Sequence[str]) -> None:
        self._first, self._then = first, then

    def __len__(self) -> int:
        return len(self._first) + len(self._then)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: Any) -> Any:
        border = len(self._first)
        if isinstance(place, slice):
            return [self[i] for i in range(len(self))[place]]
        at = range(len(self))[place]
        return self._first[at] if at < border else self._then[at - border]


def ids_of(state: IndexState, question: str, values: Sequence[object] = (), *, table: str = "item") -> Ids:
    """The ids of a question, whose one column is called `x`, in its order."""
    width = _id_width(state, table)
    if not width:
        return Ids("", 0)
    pad = f"substr(x || '{_PAD * width}', 1, {width})"
    found = state.row(f"SELECT group_concat({pad}, '') FROM ({question})", values)
    return Ids(found[0] if found and found[0] else "", width)


def rows_of(state: IndexState, question: str, values: Sequence[object] = ()) -> Rows:
    """The rows of a question, whose one column is called `x`, in its order."""
    pad = f"substr('{' ' * _WIDE}' || x, -{_WIDE}) || ','"
    found = state.row(f"SELECT group_concat({pad}, '') FROM ({question})", values)
    return Rows(found[0] if found and found[0] else "", _WIDE + 1)


def strip_of(rows: Sequence[int]) -> Rows:
    return Rows("".join([f"{row},".rjust(_WIDE + 1) for row in rows]), _WIDE + 1)


def _id_width(state: IndexState, table: str) -> int:
    found = state.row(f"SELECT max(length(id)) FROM {table}")
    return int(found[0] or 0) if found else 0
