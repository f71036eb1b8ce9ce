"""A call with its arguments, for a button that lives longer than the moment."""

from __future__ import annotations

from collections.abc import Callable


class Later:
    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self._function, self._arguments = function, arguments

    def __call__(self) -> None:
        self._function(*self._arguments)
