"""Whether an answer of zotero.org has the form that its interface promises.

What has not is refused as a whole, since taken for nothing it would look as if there were nothing; a single
object that is odd in itself is left out or mended where it is stored. Pure functions that raise
`ZoteroUnclear`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from bibgenie_desktop.domain.locators import KEY
from bibgenie_desktop.zotero.online.errors import ZoteroUnclear
from bibgenie_desktop.zotero.online.web_tables import Kind
from bibgenie_desktop.zotero.online.web_values import number, part, said

KINDS: Final[tuple[Kind, ...]] = ("items", "collections", "searches")


def not_understood() -> ZoteroUnclear:
    return ZoteroUnclear("zotero.org gave an answer that could not be understood.", "Try again later.")


def objects(answer: object) -> tuple[Mapping[str, Any], ...]:
    """A list of items, collections or searches: each has a key and data."""
    found = _list(answer)
    if not all(isinstance(e, dict) and isinstance(e.get("key"), str) and _is_data(e) for e in found):
        raise not_understood()
    return tuple(found)


def groups(answer: object) -> list[tuple[str, str]]:
    """(id, name) of each group."""
    found = []
    for entry in _list(answer):
        if not isinstance(entry, dict) or not number(entry.get("id")) or not _is_data(entry):
            raise not_understood()
        group = number(entry.get("id"))
        found.append((f"g{group}", said(part(entry, "data").get("name")) or f"Group {group}"))
    return found


def versions(answer: object) -> dict[str, int]:
    """The version of each object by its key."""
    found = _dict(answer)
    if not all(isinstance(v, int) and not isinstance(v, bool) for v in found.values()):
        raise not_understood()
    proper = {key: max(1, number(version)) for key, version in found.items() if re.fullmatch(KEY, key)}
    if found and not proper:
        raise not_understood()
    return proper


def settings(answer: object) -> dict[str, object]:
    """The value of each setting by its name."""
    found = _dict(answer)
    if not all(isinstance(entry, dict) and "value" in entry for entry in found.values()):
        raise not_understood()
    return {name: entry["value"] for name, entry in found.items()}


def deleted(answer: object) -> tuple[dict[Kind, list[str]], list[str]]:
    """The keys of what is gone, by kind, and the names of settings that are."""
    if not isinstance(answer, dict) or not {"items", "collections"} <= answer.keys():
        raise not_understood()
    names = {of: _list(answer.get(of, [])) for of in (*KINDS, "settings")}
    if not all(isinstance(name, str) for listed in names.values() for name in listed):
        raise not_understood()
    return {kind: [k for k in names[kind] if re.fullmatch(KEY, k)] for kind in KINDS}, names["settings"]


def _is_data(entry: Mapping[str, Any]) -> bool:
    return isinstance(entry.get("data"), dict)


def _list(answer: object) -> list[Any]:
    if not isinstance(answer, list):
        raise not_understood()
    return answer


def _dict(answer: object) -> dict[str, Any]:
    """An object; an empty list is one without anything, as servers written in PHP give it."""
    if answer == []:
        return {}
    if not isinstance(answer, dict):
        raise not_understood()
    return answer
