"""References and citations through a CSL processor, with the styles that Zotero has installed.

Everything here blocks and runs in a worker thread. Which items are meant is the caller's business.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.zotero.citing import plain_style
from bibgenie_desktop.zotero.citing.csl import csl_item
from bibgenie_desktop.zotero.citing.styles import ENDLESS, Style, source_of, unusable, usable
from bibgenie_desktop.zotero.model.library import Creator, Item, Library

_LEFT_OUT: Final = frozenset({"citation-key", "abstract", "note", "publisher-place-short"})


@dataclass(frozen=True, slots=True)
class Formatted:
    """Citations and references of some items, as text and as HTML. `remark` says what was not as wished."""

    style: str
    text: str
    html: str
    remark: str = ""


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
        remark = _remark(locale)
    return Formatted(style.title, text, html, remark)


def format_text(marks: Sequence[Mark], style: Style, locale: str = "") -> CitedText:
    """Citations as they follow one another in a text, so that numbers and order are those of the text.

    Raises `UserError` for a style that the processor cannot use.
    """
    with _processor(style):
        (citations, text), (_, html) = (_cited(marks, style, kind, locale) for kind in ("plain", "html"))
    return CitedText(tuple(citations), Formatted(style.title, text, html))


def default_style(styles: Sequence[Style]) -> Style:
    """The first style that can be used; that is known only when it has written something."""
    fields = {
        "publicationTitle": "Journal",
        "volume": "1",
        "pages": "1–2",
        "publisher": "House",
        "place": "Town",
    }
    trial = Item(
        id="u-AAAAAAAA",
        key="AAAAAAAA",
        library=Library("u", "", None),
        type="journalArticle",
        title="Title",
        creators=(Creator("author", "Given", "Family", True),),
        year=2000,
        date="2000",
        sort_date="2000-01-02",
        citekey="",
        fields=fields,
        tags=(),
        collections=(),
        attachments=(),
        notes=0,
        added="",
        modified="",
    )
    for style in usable(styles):
        with contextlib.suppress(UserError):
            for bibliography in (False, True):
                format_items([trial], style, bibliography=bibliography)
            return style
    return styles[-1]


@contextlib.contextmanager
def _processor(style: Style) -> Iterator[None]:
    """What may go wrong with a style becomes a sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the processor remarks on every field it does not know
            yield
    except ImportError as error:
        raise UserError("The CSL processor is not installed.", "Install BibGenie again.") from error
    except UserError:
        raise
    except RecursionError as error:
        raise unusable(style, ENDLESS) from error
    except Exception as error:  # a style is a program of its own and fails in ways of its own
        raise unusable(style, "it asks for something that is not known here") from error


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
    return _references(made, style)


def _references(made: Any, style: Style) -> str:
    if not made.style.has_bibliography():
        raise unusable(style, "it has citations only, no references")
    made.sort()
    return "\n".join(_tidy(str(entry)) for entry in made.bibliography())


def _cited(marks: Sequence[Mark], style: Style, kind: str, locale: str) -> tuple[list[str], str]:
    made, citations = _registered(marks, style, kind, locale)
    if made.style.has_bibliography():
        made.sort()
    texts = [str(made.cite(citation, lambda _: None)) for citation in citations]
    return texts, _references(made, style) if made.style.has_bibliography() else ""


def _registered(marks: Sequence[Mark], style: Style, kind: str, locale: str) -> tuple[Any, list[Any]]:
    """The processor with all citations in their order."""
    from citeproc import Citation, CitationItem, CitationStylesBibliography, formatter
    from citeproc.source import Locator
    from citeproc.source.json import CiteProcJSON

    from bibgenie_desktop.zotero.citing.processor import Program

    items = {item.id: item for mark in marks for item, _ in mark}
    names = {full_id: f"i{place}" for place, full_id in enumerate(items)}
    source = CiteProcJSON([_for_processor(item, names[item.id]) for item in items.values()])
    program = Program(_source(style), _locale(locale))
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
    """Without the second of two stops, also where markup or a quotation mark stands between them."""
    entry = re.sub(r"\.\.(?!\.)", ".", entry)
    return re.sub(r"([?!](?:</?\w+>|[\"”’»])*)\.(?![\w.])", r"\1", entry).strip()


def _for_processor(item: Item, name: str) -> Mapping[str, Any]:
    data = {k: v for k, v in csl_item(item).items() if k not in _LEFT_OUT}
    for field in ("issued", "accessed"):
        if "date-parts" not in data.get(field, {}):
            data.pop(field, None)
    return {**data, "id": name}


def _source(style: Style) -> Any:
    return io.BytesIO(plain_style.CSL.encode()) if style.path is None else str(source_of(style.path))


def _locale(value: str) -> str | None:
    """The code of a language as the processor spells it, None where it does not know it."""
    from bibgenie_desktop.zotero.citing.processor import has_locale

    match = re.fullmatch("([A-Za-z]{2,3})(?:[-_]([A-Za-z]{2}))?", value.strip())
    if match is None:
        return None
    code = match[1].lower() + (f"-{match[2].upper()}" if match[2] else "")
    return code if has_locale(code) else None


def _remark(locale: str) -> str:
    if not locale or _locale(locale) is not None:
        return ""
    return f"There is no locale “{locale[:20]}”; the style's own language was used."
