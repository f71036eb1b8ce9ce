"""Reading a model's arguments: tolerant of form, strict about names, with errors that teach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

S = TypeVar("S", bound=str)


class BadArguments(Exception):
    """A sentence for the model: what is wrong and what would be right."""


class Arguments:
    """The arguments of one call. Absent, null and empty text mean the same; numbers may come as text."""

    def __init__(self, given: Mapping[str, Any], known: Iterable[str]) -> None:
        names = list(known)
        if not isinstance(given, Mapping):
            raise BadArguments(f"Arguments are a JSON object with: {', '.join(names)}.")
        unknown = [str(n) for n in given if n not in names]
        if unknown:
            raise BadArguments(f"Unknown argument {', '.join(unknown)}. Valid: {', '.join(names)}.")
        self._given = {n: v for n, v in given.items() if v is not None and v != ""}

    def text(self, name: str) -> str:
        value = self._given.get(name, "")
        if isinstance(value, bool | dict | list):
            raise BadArguments(f"{name} is a text.")
        return str(value).strip()

    def required(self, *names: str) -> str:
        """The first of these that is given."""
        for name in names:
            if value := self.text(name):
                return value
        raise BadArguments(f"{names[0]} is missing.")

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """A whole number, pulled into its range."""
        number = self.optional_integer(name)
        return default if number is None else min(high, max(low, number))

    def optional_integer(self, name: str) -> int | None:
        value = self._given.get(name)
        if value is None:
            return None
        if isinstance(value, bool):
            raise BadArguments(f"{name} is a whole number.")
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise BadArguments(f"{name} is a whole number, not {str(value)[:40]!r}.") from None
        if number != number or abs(number) > 1e9 or number != int(number):
            raise BadArguments(f"{name} is a whole number.")
        return int(number)

    def flag(self, name: str) -> bool | None:
        value = self._given.get(name)
        if value is None or isinstance(value, bool):
            return value
        match str(value).strip().lower():
            case "true" | "yes" | "1":
                return True
            case "false" | "no" | "0":
                return False
        raise BadArguments(f"{name} is true or false.")

    def choice(self, name: str, options: Sequence[S], default: S) -> S:
        value = self.text(name).lower()
        if not value:
            return default
        for option in options:
            if option == value:
                return option
        raise BadArguments(f"{name} is one of: {', '.join(options)}.")

    def texts(self, name: str, most: int) -> tuple[str, ...]:
        """A list of texts; a single text is a list of one."""
        value = self._given.get(name, ())
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list | tuple) or any(isinstance(v, dict | list | bool) for v in value):
            raise BadArguments(f"{name} is a list of texts.")
        texts = tuple(dict.fromkeys(str(v).strip() for v in value if v is not None and str(v).strip()))
        if len(texts) > most:
            raise BadArguments(f"{name} takes at most {most} entries, not {len(texts)}.")
        return texts
