"""The CSL processor with what it lacks for libraries in many scripts.

Names without capitals have no initials and stay whole, Chinese, Japanese and Korean names are written family
name first without a blank, pages in Roman numerals can be several, and the files of styles are read without
their entities. Imported only when something is formatted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

from citeproc import PRIMARY_DIALECTS, model
from citeproc.frontend import CitationStylesStyle
from citeproc.model import CitationStylesElement
from lxml import etree

from bibgenie_desktop.zotero.model.folding import is_cjk

_CSL: Final = "http://purl.org/net/xbiblio/csl"
_SEVERAL: Final = re.compile(
    r"\b(?:[a-z]{0,2}\d+|[ivxlcdm]+)\s*(?:[-\u2010-\u2015,;&]|\band\b|\bund\b|\bet\b)\s*"
    r"(?:[a-z]{0,2}\d+|[ivxlcdm]+)\b",
    re.IGNORECASE,
)
_KATAKANA: Final = re.compile("[\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f]+")


def has_locale(locale: str) -> bool:
    """Whether there are words of a language, perhaps of another country."""
    return locale.partition("-")[0] in PRIMARY_DIALECTS


def initials(given: str, mark: str, hyphens: bool) -> str:
    """Given names shortened to what they begin with, where that is a capital letter."""
    text = unicodedata.normalize("NFC", given)
    words = (text if hyphens else text.replace("-", " ")).replace(".", " ").split()
    if not any(_capital(word) for word in words):
        return given
    shown, letters = "", ""
    for word in words:
        if short := _capital(word):
            after = [_letter(part) for part in word.split("-")[1:] if part]
            letters += "-".join([short + mark.rstrip(), *(a.upper() + mark.rstrip() for a in after if a)])
            letters += mark[len(mark.rstrip()) :]
        else:  # a particle, or a name of a script without capitals
            shown, letters = f"{shown}{letters} {word} ", ""
    return " ".join(f"{shown}{letters}".split())


def _letter(word: str) -> str:
    return next((c for c in word if c.isalpha()), "")


def _capital(word: str) -> str:
    letter = _letter(word)
    return letter if letter.isupper() or letter.istitle() else ""


@dataclass(frozen=True, slots=True)
class _Whole:
    """A name that is written as one, in the form in which the processor takes names."""

    text: str

    def parts(self) -> tuple[str | None, str, None, None, None]:
        return None, self.text, None, None, None


class _Name(model.Name):  # type: ignore[misc]
    def initialize(self, given: str, mark: str, context: Any) -> str:
        return initials(given, mark, bool(self.get_option("initialize-with-hyphen", context)))

    def process(
        self, item: Any, variable: str, context: Any = None, sort_options: Any = None, **more: Any
    ) -> Any:
        names = item.reference.get(variable, [])
        if self.get_option("form", context, sort_options) == "long":
            names = [_as_written(name) for name in names]
        shown = SimpleNamespace(reference={variable: names})
        return super().process(shown, variable, context=context, sort_options=sort_options, **more)


class _NamePart(model.Name_Part):  # type: ignore[misc]
    def format_part(self, given: str | None, family: str | None) -> Any:
        """A part that a name does not have is left alone."""
        if (given if self.get("name") == "given" else family) is None:
            return given, family
        return super().format_part(given, family)


class _Label(model.Label):  # type: ignore[misc]
    def _is_plural(self, item: Any) -> bool:
        variable = str(self.get("variable"))
        if variable == "locator":
            value = str(item.locator.identifier)
        else:
            value = str(item.reference.get(variable.replace("-", "_"), ""))
        if variable.startswith("number-of"):
            return value.strip().isdigit() and int(value) > 1
        return self.RE_MULTIPLE_NUMBERS.search(value) is not None or _SEVERAL.search(value) is not None


class Program(CitationStylesStyle):  # type: ignore[misc]
    """A style that is ready to run. `file` is a path or bytes to read from."""

    def __init__(self, file: Any, locale: str | None) -> None:
        lookup = etree.ElementNamespaceClassLookup()
        classes = lookup.get_namespace(_CSL)
        classes[None] = CitationStylesElement
        for known in CitationStylesElement.__subclasses__():
            classes[known.__name__.replace("_", "-").lower()] = known
        classes["name"], classes["name-part"], classes["label"] = _Name, _NamePart, _Label
        self.parser = etree.XMLParser(
            remove_comments=True, no_network=True, resolve_entities=False, load_dtd=False
        )
        self.parser.set_element_class_lookup(lookup)
        self.xml = etree.parse(file, self.parser)
        self.root = self.xml.getroot()
        for names in self.root.iter(f"{{{_CSL}}}names"):
            if names.find(f"{{{_CSL}}}name") is None and names.getparent().tag != f"{{{_CSL}}}substitute":
                names.insert(0, self.parser.makeelement(f"{{{_CSL}}}name"))
        self.root.set_locale_list(locale or self.root.get("default-locale", "en-US"), validate=False)


def _as_written(name: Any) -> Any:
    given, family, *rest = name.parts()
    parts: Sequence[str] = (given or "", family or "")
    if not all(is_cjk(p) for p in parts) or any(rest) or all(_KATAKANA.fullmatch(p) for p in parts):
        return name
    return _Whole(f"{family}{given}")
