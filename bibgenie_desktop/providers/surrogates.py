"""Halves of surrogate pairs in what servers send: no text in the database or on the wire can hold them."""

from __future__ import annotations

import re
from typing import Any

_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")


def mended(value: Any, source: str) -> Any:
    """A value read from the JSON `source`, half pairs in it replaced."""
    return _mended(value) if _ESCAPED.search(source) else value


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_mended(one) for one in value]
    if isinstance(value, dict):
        return {_mended(name): _mended(one) for name, one in value.items()}
    return value
