"""The citation styles that Zotero has installed: their names, and what is wrong with those that are no use.

A style is looked at without running it: whether it is a style at all, whether the one it depends on is there,
and whether what it calls comes to an end.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.zotero.citing import plain_style
from bibgenie_desktop.zotero.model.folding import key

MOST_STYLES: Final = 2_000
_LARGEST: Final = 2 << 20
_MOST_CALLS: Final = 200_000
"""Elements that a style may come to in one reference, with its macros written out."""
_CSL: Final = "{http://purl.org/net/xbiblio/csl}"

NO_STYLE: Final = "this is no CSL style"
NO_XML: Final = "its file is damaged"
ENDLESS: Final = "it calls itself without end"
LARGE: Final = "its file is too large"
UNREAD: Final = "its file cannot be read"


class UnknownStyle(Exception):
    """No installed style has this name; `names` are those that can be used, nearest first."""

    def __init__(self, wanted: str, names: Sequence[str]) -> None:
        self.wanted, self.names = wanted, tuple(names)
        super().__init__("unknown style")

    @property
    def advice(self) -> str:
        return (
            f"There is no style “{self.wanted[:60]}” here. Installed: {'; '.join(self.names)}. More can be"
            " installed in Zotero: Settings → Cite → Get additional styles."
        )


@dataclass(frozen=True, slots=True)
class Style:
    """An installed style; `path` None for the one built in. `fault` says why it cannot be used, if so."""

    id: str
    title: str
    path: Path | None
    fault: str = ""


def installed_styles(data_dir: Path) -> tuple[Style, ...]:
    """The styles of a Zotero data directory by title, then the one built in."""
    try:
        paths = sorted((data_dir / "styles").glob("*.csl"))
    except OSError:
        paths = []
    found = [_looked_at(path) for path in paths[:MOST_STYLES]]
    found.sort(key=lambda s: s.title.lower())
    return (*found, Style("author-date", plain_style.TITLE, None))


def usable(styles: Sequence[Style]) -> tuple[Style, ...]:
    return tuple(s for s in styles if not s.fault)


def find_style(name: str, styles: Sequence[Style]) -> Style:
    """The style of an id, title or address; without a name the first that can be used.

    Raises `UnknownStyle`, and `UserError` for a style that cannot be used.
    """
    sound = usable(styles)
    if not name:
        return sound[0]
    wanted = key(name.rpartition("/")[2].removesuffix(".csl"))
    same = [s for s in styles if wanted in (key(s.id), key(s.title))]
    partly = same or [s for s in sound if wanted and wanted in key(f"{s.title} {s.id}")]
    if same or len(partly) == 1:
        chosen = next((s for s in partly if not s.fault), partly[0])
        if chosen.fault:
            raise unusable(chosen, chosen.fault)
        return chosen
    names = [s.title for s in partly or sound]
    near = difflib.get_close_matches(name, names, n=8, cutoff=0.3)
    raise UnknownStyle(name, [*near, *(n for n in names if n not in near)][:12])


def unusable(style: Style, fault: str) -> UserError:
    return UserError(
        f"The style “{style.title}” cannot be used: {fault}.",
        "Choose another style, or install this one again in Zotero.",
    )


def source_of(path: Path) -> Path:
    """The file with the rules of a style: its own or that of the one it depends on, whether there or not."""
    parent = _parent(_root(path))
    if not parent:
        return path
    folders = (path.parent, path.parent / "hidden")
    return next(
        (f / f"{parent}.csl" for f in folders if (f / f"{parent}.csl").is_file()), folders[0] / parent
    )


def _looked_at(path: Path) -> Style:
    try:
        root = _root(path)
        said = root.findtext(f"{_CSL}info/{_CSL}title") or root.findtext("info/title") or ""
        title = " ".join(said.split())[:200] or path.stem
        return Style(path.stem, title, path, _fault(path, root))
    except _Refused as error:
        return Style(path.stem, path.stem, path, str(error))


class _Refused(Exception):
    """The only argument says what is wrong."""


def _root(path: Path) -> Any:
    from lxml import etree  # as the processor does, only when styles are asked for

    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise _Refused(UNREAD) from error
    if len(data) > _LARGEST:
        raise _Refused(LARGE)
    try:
        root = etree.fromstring(
            data, etree.XMLParser(no_network=True, resolve_entities=False, load_dtd=False)
        )
    except (etree.XMLSyntaxError, ValueError) as error:
        raise _Refused(NO_XML) from error
    if root.tag.rpartition("}")[2] != "style":
        raise _Refused(NO_STYLE)
    return root


def _fault(path: Path, root: Any) -> str:
    if parent := _parent(root):
        own = source_of(path)
        if not own.is_file():
            return f"it depends on the style “{parent}”, which is not installed"
        rules = _root(own)
        return "it depends on a style that depends on another" if _parent(rules) else _fault_of_rules(rules)
    return _fault_of_rules(root)


def _fault_of_rules(root: Any) -> str:
    if root.find(f"{_CSL}citation/{_CSL}layout") is None:
        return NO_STYLE
    macros = {m.get("name", ""): m for m in root.iterchildren(f"{_CSL}macro")}
    known: dict[str, int] = {}
    for part in root.iterchildren(f"{_CSL}citation", f"{_CSL}bibliography"):
        size = 0
        for element in _elements(part):
            size += 1
            if name := element.get("macro"):
                if name not in macros:
                    return f"it calls “{name[:40]}”, which it does not have"
                size += _size(name, macros, known, ())
        if size > _MOST_CALLS:
            return ENDLESS
    return ""


def _size(name: str, macros: Mapping[str, Any], known: dict[str, int], above: tuple[str, ...]) -> int:
    """Elements of a macro with all that it calls; more than may be where it calls itself."""
    if name in above or len(above) > 100:
        return _MOST_CALLS + 1
    if name not in known:
        known[name] = 1 + sum(
            1 + (_size(e.get("macro"), macros, known, (*above, name)) if e.get("macro") in macros else 0)
            for e in _elements(macros[name])
        )
    return known[name]


def _elements(root: Any) -> Iterator[Any]:
    return (e for e in root.iterdescendants() if isinstance(e.tag, str))


def _parent(root: Any) -> str:
    """The id of the style that a dependent one takes its rules from."""
    for link in root.iter():
        if isinstance(link.tag, str) and link.tag.rpartition("}")[2] == "link":
            if link.get("rel") == "independent-parent":
                return re.sub(r"[^\w.-]", "", link.get("href", "").rpartition("/")[2]) or "?"
        elif link.tag == f"{_CSL}citation":
            break
    return ""
