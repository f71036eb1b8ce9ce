"""References and citations through a CSL processor, with the styles that Zotero has installed.

Everything here blocks and runs in a worker thread. Which items are meant is the caller's business.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.zotero.citing import plain_style
from bibgenie_desktop.zotero.citing.csl import csl_item
from bibgenie_desktop.zotero.model.folding import key
from bibgenie_desktop.zotero.model.library import Item

_TITLE: Final = re.compile(r"<title[^>]*>([^<]*)</title>")
_PARENT: Final = re.compile(r"""<link\s[^>]*href=["']([^"']+)["'][^>]*rel=["']independent-parent["']""")
_PARENT_2: Final = re.compile(r"""<link\s[^>]*rel=["']independent-parent["'][^>]*href=["']([^"']+)["']""")
_HEAD: Final = 8_000
_LARGEST: Final = 2 << 20
_LEFT_OUT: Final = frozenset({"citation-key", "abstract", "note", "publisher-place-short"})


class UnknownStyle(Exception):
    """No installed style has this name; `names` are those that do, nearest first."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        super().__init__("unknown style")


@dataclass(frozen=True, slots=True)
class Style:
    """An installed style; `path` None for the one built in."""

    id: str
    title: str
    path: Path | None


@dataclass(frozen=True, slots=True)
class Formatted:
    """Citations and references of some items, as text and as HTML."""

    style: str
    text: str
    html: str


def installed_styles(data_dir: Path) -> tuple[Style, ...]:
    """The styles of a Zotero data directory by title, then the one built in."""
    found = []
    try:
        paths = sorted((data_dir / "styles").glob("*.csl"))
    except OSError:
        paths = []
    for path in paths[:2_000]:
        head = _read(path)[:_HEAD]
        match = _TITLE.search(head)
        found.append(Style(path.stem, match[1].strip() if match else path.stem, path))
    found.sort(key=lambda s: s.title.lower())
    return (*found, Style("author-date", plain_style.TITLE, None))


def find_style(name: str, styles: Sequence[Style]) -> Style:
    """The style of an id, title or address; without a name the first installed. Raises `UnknownStyle`."""
    if not name:
        return styles[0]
    wanted = key(name.rpartition("/")[2].removesuffix(".csl"))
    for style in styles:
        if wanted in (key(style.id), key(style.title)):
            return style
    partly = [s for s in styles if wanted and wanted in key(f"{s.title} {s.id}")]
    if len(partly) == 1:
        return partly[0]
    names = [s.title for s in partly or styles]
    near = difflib.get_close_matches(name, names, n=8, cutoff=0.3)
    raise UnknownStyle([*near, *(n for n in names if n not in near)][:12])


@dataclass(frozen=True, slots=True)
class CitedText:
    """The citations of a text in its order, and the references they lead to."""

    citations: tuple[str, ...]
    references: Formatted


Mark: TypeAlias = Sequence[tuple[Item, str]]
"""The works cited at one place, each with its page or empty."""


def format_items(
    items: Sequence[Item], style: Style, *, bibliography: bool, locale: str = "", locators: Sequence[str] = ()
) -> Formatted:
    """Raises `UserError` for a style that the processor cannot use."""
    with _processor(style):
        text, html = (
            _formatted(items, style, kind, bibliography, locale, locators) for kind in ("plain", "html")
        )
    return Formatted(style.title, text, html)


def format_text(marks: Sequence[Mark], style: Style, locale: str = "") -> CitedText:
    """Citations as they follow one another in a text, so that numbers and order are those of the text.

    Raises `UserError` for a style that the processor cannot use.
    """
    with _processor(style):
        (citations, text), (_, html) = (_cited(marks, style, kind, locale) for kind in ("plain", "html"))
    return CitedText(tuple(citations), Formatted(style.title, text, html))


@contextlib.contextmanager
def _processor(style: Style) -> Iterator[None]:
    """What may go wrong with a style becomes a sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the processor remarks on every field it does not know
            yield
    except ImportError as error:
        raise UserError("The CSL processor is not installed.", "Install BibGenie again.") from error
    except Exception as error:  # a style is a program of its own and fails in ways of its own
        raise UserError(
            f"The style “{style.title}” cannot be used ({type(error).__name__}).", "Choose another style."
        ) from error


def _formatted(
    items: Sequence[Item],
    style: Style,
    kind: str,
    bibliography: bool,
    locale: str,
    locators: Sequence[str],
) -> str:
    places = [*locators, *[""] * len(items)]
    made, (citation,) = _registered([list(zip(items, places, strict=False))], style, kind, locale)
    if not bibliography:
        return str(made.cite(citation, lambda _: None))
    made.sort()
    return "\n".join(_tidy(str(entry)) for entry in made.bibliography())


def _cited(marks: Sequence[Mark], style: Style, kind: str, locale: str) -> tuple[list[str], str]:
    made, citations = _registered(marks, style, kind, locale)
    made.sort()
    texts = [str(made.cite(citation, lambda _: None)) for citation in citations]
    return texts, "\n".join(_tidy(str(entry)) for entry in made.bibliography())


def _registered(marks: Sequence[Mark], style: Style, kind: str, locale: str) -> tuple[Any, list[Any]]:
    """The processor with all citations in their order."""
    from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
    from citeproc.source import Locator
    from citeproc.source.json import CiteProcJSON

    items = {item.id: item for mark in marks for item, _ in mark}
    names = {full_id: f"i{place}" for place, full_id in enumerate(items)}
    source = CiteProcJSON([_for_processor(item, names[item.id]) for item in items.values()])
    program = CitationStylesStyle(_source(style), locale=_locale(locale), validate=False)
    made = CitationStylesBibliography(program, source, getattr(formatter, kind))
    citations = [
        Citation(
            [
                CitationItem(names[item.id], **({"locator": Locator("page", place)} if place else {}))
                for item, place in mark
            ]
        )
        for mark in marks
    ]
    for citation in citations:
        made.register(citation)
    return made, citations


def _tidy(entry: str) -> str:
    return re.sub(r"\.\.(?!\.)", ".", entry)


def _for_processor(item: Item, name: str) -> Mapping[str, Any]:
    data = {k: v for k, v in csl_item(item).items() if k not in _LEFT_OUT}
    for field in ("issued", "accessed"):
        if "date-parts" not in data.get(field, {}):
            data.pop(field, None)
    return {**data, "id": name}


def _source(style: Style) -> Any:
    if style.path is None:
        return io.BytesIO(plain_style.CSL.encode())
    text = _read(style.path)
    parent = _PARENT.search(text[:_HEAD]) or _PARENT_2.search(text[:_HEAD])
    if parent is None:
        return str(style.path)
    name = re.sub(r"[^\w.-]", "", parent[1].rpartition("/")[2])
    for folder in (style.path.parent, style.path.parent / "hidden"):
        if name and (folder / f"{name}.csl").is_file():
            return str(folder / f"{name}.csl")
    raise FileNotFoundError(name)


def _locale(value: str) -> str | None:
    return value if re.fullmatch("[a-z]{2,3}(-[A-Z]{2})?", value) else None


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
