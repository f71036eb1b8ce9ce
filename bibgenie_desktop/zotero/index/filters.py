"""The filters of a search: what they mean, and teaching errors for names that do not exist."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

from bibgenie_desktop.domain.errors import BibGenieError
from bibgenie_desktop.zotero.index.overview import item_tags, item_types
from bibgenie_desktop.zotero.model.fields import bare_doi
from bibgenie_desktop.zotero.model.folding import fold, is_cjk, key, words
from bibgenie_desktop.zotero.model.library import Collection, Contents, Item

_LISTED = 12
"""How many valid values an error names: enough to choose from, few enough to read."""


class UnknownValue(BibGenieError):
    """A filter names something the library does not have; `valid` are values it does have, nearest first."""

    def __init__(self, what: str, value: str, valid: Iterable[str], hint: str = "") -> None:
        self.what, self.value, self.hint = what, value, hint
        names = list(dict.fromkeys(valid))
        near = difflib.get_close_matches(value, names, n=_LISTED, cutoff=0.4) if len(names) > _LISTED else []
        self.valid = tuple([*near, *(n for n in names if n not in near)][:_LISTED])
        self.more = len(names) - len(self.valid)
        super().__init__(f"unknown {what}")


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions every hit meets. An item without a year never meets a range of years."""

    author: str = ""
    title: str = ""
    year_from: int | None = None
    year_to: int | None = None
    item_type: str = ""
    tags: tuple[str, ...] = ()
    tags_mode: Literal["all", "any"] = "all"
    collection: str = ""
    library: str = ""
    has_pdf: bool | None = None
    citekey: str = ""
    doi: str = ""
    unfiled: bool = False

    @property
    def empty(self) -> bool:
        return all(
            not getattr(self, f.name) for f in fields(self) if f.name not in ("tags_mode", "has_pdf")
        ) and (self.has_pdf is None)


ItemTest: TypeAlias = Callable[[Item], bool]


def compile_filters(filters: Filters, contents: Contents) -> tuple[ItemTest | None, str]:
    """(test of an item or None for all, the scope in words). Raises `UnknownValue`."""
    tests: list[Callable[[Item], bool]] = []
    scope: list[str] = []
    if filters.library:
        library = find_library(filters.library, contents)
        tests.append(lambda i: i.library.id == library)
        scope.append(f"library {library}")
    if filters.collection:
        chosen, name = find_collections(filters.collection, contents)
        tests.append(lambda i: any(c.id in chosen for c in i.collections))
        scope.append(f"collection “{name}” with its subcollections")
    if filters.item_type:
        kind = find_type(filters.item_type, contents)
        tests.append(lambda i: i.type == kind)
        scope.append(f"type {kind}")
    if filters.tags:
        tests.append(_tags(filters.tags, filters.tags_mode, contents))
        scope.append(f"tags ({filters.tags_mode}): {', '.join(filters.tags)}")
    if filters.year_from is not None or filters.year_to is not None:
        low, high = filters.year_from or 0, filters.year_to if filters.year_to is not None else 9999
        tests.append(lambda i: i.year is not None and low <= i.year <= high)
        scope.append(f"years {filters.year_from or '…'}–{filters.year_to or '…'}")
    if filters.has_pdf is not None:
        wanted = filters.has_pdf
        tests.append(lambda i: any(True for _ in i.pdfs) == wanted)
        scope.append("with a PDF" if wanted else "without a PDF")
    if filters.unfiled:
        tests.append(lambda i: not i.collections)
        scope.append("in no collection")
    if filters.author:
        tests.append(_words(filters.author, lambda i: " ".join(f"{c.name} {c.last}" for c in i.creators)))
        scope.append(f"author {filters.author}")
    if filters.title:
        tests.append(_words(filters.title, lambda i: i.title))
        scope.append(f"title {filters.title}")
    if filters.citekey:
        citekey = filters.citekey.strip().lstrip("@").lower()
        tests.append(lambda i: i.citekey.lower() == citekey)
        scope.append(f"citation key {filters.citekey}")
    if filters.doi:
        doi = bare_doi(filters.doi)
        tests.append(lambda i: bare_doi(i.doi) == doi)
        scope.append(f"DOI {doi}")
    if not tests:
        return None, "all libraries" if len(contents.libraries) > 1 else "the whole library"
    return (lambda item: all(test(item) for test in tests)), "; ".join(scope)


def _words(text: str, of: Callable[[Item], str]) -> Callable[[Item], bool]:
    needles = [w if is_cjk(w) else f" {w}" for w in words(text)]
    return lambda item: all(n in f" {fold(of(item))} " for n in needles)


def find_library(value: str, contents: Contents) -> str:
    """The id of a library named by id, group number or name. Raises `UnknownValue`."""
    wanted = value.strip()
    for library in contents.libraries:
        same_group = library.group_id is not None and wanted == str(library.group_id)
        if wanted == library.id or same_group or key(wanted) == key(library.name):
            return library.id
    raise UnknownValue("library", value, (f"{lib.id} ({lib.name})" for lib in contents.libraries))


def find_type(value: str, contents: Contents) -> str:
    """The name of an item type as the library spells it. Raises `UnknownValue`."""
    types = sorted(item_types(contents))
    wanted = value.replace(" ", "").replace("_", "").lower()
    for kind in types:
        if kind.lower() == wanted:
            return kind
    raise UnknownValue("item_type", value, types)


def _tags(values: tuple[str, ...], mode: str, contents: Contents) -> Callable[[Item], bool]:
    known = item_tags(contents)
    wanted = {key(v) for v in values}
    for value in values:
        if key(value) not in known:
            raise UnknownValue("tag", value, sorted(known.values(), key=str.lower))
    if mode == "any":
        return lambda item: not wanted.isdisjoint({key(t.name) for t in item.tags})
    return lambda item: wanted <= {key(t.name) for t in item.tags}


def find_collections(value: str, contents: Contents) -> tuple[frozenset[str], str]:
    """The ids of a collection and everything below it; found by key, by path, or by a name that is unique."""
    live = [c for c in contents.collections if not c.trashed]
    wanted, path = value.strip(), key(value)
    found = [c for c in live if wanted in (c.id, c.id.partition("-")[2])]
    found = found or [c for c in live if key(c.display) == path]
    found = found or [c for c in live if key(c.name) == path]
    if not found:
        trashed = any(
            key(c.display) == path or key(c.name) == path for c in contents.collections if c.trashed
        )
        hint = "A collection of this name is in Zotero's trash." if trashed else ""
        raise UnknownValue("collection", value, (f"{c.id} ({c.display})" for c in live), hint)
    return frozenset(c.id for top in found for c in live if _below(c, top)), found[0].display


def _below(collection: Collection, top: Collection) -> bool:
    same = collection.library == top.library
    return same and collection.path[: len(top.path)] == top.path
