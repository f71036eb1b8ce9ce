"""Documents that consist of sections instead of pages: EPUB, web pages, plain text, DOCX and ODT.

Runs in the worker process. Nothing is ever unpacked to disk, no entity or reference is followed, and every
archive, entry and text has a limit, so that a hostile file ends in one word of the protocol.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from bibgenie_desktop.zotero.notes.markup import pieces

MOST_ENTRIES: Final = 20_000
MOST_BYTES: Final = 30 << 20
"""Of one entry of an archive, unpacked; and of a file that is no archive."""
MOST_SECTIONS: Final = 5_000
MOST_CHARS: Final = 4_000_000
"""Of one section, with the ways to its paragraphs."""
MOST_COUNTED: Final = 400
COUNTED_BYTES: Final = 64 << 20
"""Of all sections of an archive, unpacked: a larger one is not read only to say how long its sections are."""
KEPT_CHARS: Final = 20_000_000

_BLOCKS: Final = frozenset(
    {"p", "div", "section", "article", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ul", "ol", "dl", "dt", "dd"}
    | {"table", "tr", "blockquote", "pre", "figure", "figcaption", "header", "footer", "aside", "nav", "main"}
    | {"body", "hr", "address"}
)
_UNSHOWN: Final = frozenset({"head", "title", "noscript", "template"})
_CHARSET: Final = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?([A-Za-z0-9_.:-]{2,40})""")


class Unreadable(Exception):
    """The only argument is a word of the protocol, as of `pdf_worker.Refused`."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph. `path` is the way to its element by CFI steps, empty outside EPUB."""

    path: str
    text: str


@dataclass(slots=True)
class Section:
    href: str
    title: str
    step: str = ""
    """The beginning of the CFIs of this section, `/6/4`."""


@dataclass(slots=True)
class Book:
    """An open document. `blocks` reads a section when it is first asked for."""

    path: Path
    sections: list[Section] = field(default_factory=list)
    _archive: zipfile.ZipFile | None = None
    _kind: str = "text"
    _known: dict[int, list[Block]] = field(default_factory=dict)
    _kept: int = 0

    def blocks(self, index: int) -> list[Block]:
        if index not in self._known:
            found = self._read(index)
            self._kept += sum(len(b.text) for b in found)
            if self._kept > KEPT_CHARS:
                self._known.clear()
                self._kept = 0
            self._known[index] = found
        return self._known[index]

    def countable(self) -> bool:
        """Whether all sections may be read to say how long they are."""
        if self._archive is None:
            return True
        sizes = (self._archive.getinfo(s.href).file_size for s in self.sections)
        return len(self.sections) <= MOST_COUNTED and sum(sizes) <= COUNTED_BYTES

    def close(self) -> None:
        if self._archive is not None:
            self._archive.close()

    def _read(self, index: int) -> list[Block]:
        if self._kind == "text":
            text = _decoded(_whole(self.path)).replace("\r\n", "\n").replace("\r", "\n")
            return [
                Block("", part.strip("\n"))
                for part in re.split(r"\n\s*\n", text[:MOST_CHARS])
                if part.strip()
            ]
        if self._kind == "html":
            return blocks_of(_decoded(_whole(self.path)), paths=False)
        assert self._archive is not None
        source = _decoded(_entry(self._archive, self.sections[index].href))
        if self._kind in ("docx", "odt"):
            return _office(source)
        return blocks_of(source, paths=True)


def open_book(path: Path) -> Book:
    """The document of a file, by what it holds and not by its name. Raises `Unreadable`."""
    with path.open("rb") as file:
        start = file.read(1024)
    if not start:
        raise Unreadable("empty")
    if start[:4] == b"PK\x03\x04":
        return _archived(path)
    if start[:4] == b"%PDF":
        raise Unreadable("corrupt")
    if re.search(rb"<(?:!doctype|html|head|body|meta|title|p|div)\b", start, re.IGNORECASE):
        return Book(path, [Section("", "")], _kind="html")
    if b"\x00" in start and start[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        raise Unreadable("unsupported")
    return Book(path, [Section("", "")], _kind="text")


def _archived(path: Path) -> Book:
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise Unreadable("corrupt") from error
    names = {i.filename for i in archive.infolist()}
    if len(names) > MOST_ENTRIES:
        archive.close()
        raise Unreadable("giant")
    try:
        if "word/document.xml" in names:
            return Book(path, [Section("word/document.xml", "")], archive, "docx")
        if "META-INF/container.xml" not in names and "content.xml" in names:
            return Book(path, [Section("content.xml", "")], archive, "odt")
        return Book(path, _spine(archive, names), archive, "epub")
    except BaseException:
        archive.close()
        raise


def _spine(archive: zipfile.ZipFile, names: set[str]) -> list[Section]:
    """The sections of an EPUB in reading order."""
    if "META-INF/container.xml" not in names:
        raise Unreadable("unsupported")
    container = pieces(_decoded(_entry(archive, "META-INF/container.xml")))
    roots = (
        p.attributes().get("full-path", "") for p in container if p.kind == "start" and p.name == "rootfile"
    )
    package = next((r for r in roots if r in names), "")
    if not package:
        raise Unreadable("corrupt")
    base = posixpath.dirname(package)
    manifest: dict[str, dict[str, str]] = {}
    spine: list[str] = []
    depth = children = spine_step = 0
    for piece in pieces(_decoded(_entry(archive, package))):
        if piece.kind == "start":
            if depth == 1:
                children += 1
                if piece.name == "spine":
                    spine_step = 2 * children
            if piece.name == "item":
                given = piece.attributes()
                manifest.setdefault(given.get("id", ""), given)
            elif piece.name == "itemref":
                spine.append(piece.attributes().get("idref", ""))
            depth += not piece.empty
        elif piece.kind == "end":
            depth = max(0, depth - 1)
    titles = _titles(archive, names, base, manifest)
    found = []
    for place, idref in enumerate(spine[:MOST_SECTIONS]):
        href = _resolved(base, manifest.get(idref, {}).get("href", ""))
        if href in names:
            found.append(Section(href, titles.get(href, ""), f"/{spine_step or 6}/{2 * (place + 1)}"))
    if not found:
        raise Unreadable("corrupt")
    return found


def _titles(
    archive: zipfile.ZipFile, names: set[str], base: str, manifest: dict[str, dict[str, str]]
) -> dict[str, str]:
    """The names of sections in the table of contents, where there is one."""
    found: dict[str, str] = {}
    for given in manifest.values():
        href = _resolved(base, given.get("href", ""))
        is_nav = "nav" in given.get("properties", "").split()
        if href not in names or not (is_nav or given.get("media-type") == "application/x-dtbncx+xml"):
            continue
        target, label = "", ""
        for piece in pieces(_decoded(_entry(archive, href))):
            if piece.kind == "text":
                label += piece.text
            elif piece.kind == "start" and piece.name in ("a", "navpoint", "text"):
                label = ""
                if piece.name == "a":
                    target = piece.attributes().get("href", "")
            elif piece.kind == "start" and piece.name == "content":
                target = piece.attributes().get("src", "")
                _name(found, posixpath.dirname(href), target, label)
            elif piece.kind == "end" and piece.name == "a":
                _name(found, posixpath.dirname(href), target, label)
    return found


def _name(found: dict[str, str], base: str, target: str, label: str) -> None:
    text = " ".join(label.split())[:200]
    if target and text:
        found.setdefault(_resolved(base, target), text)


def _resolved(base: str, href: str) -> str:
    """The name of an entry; one that leads out of the archive names nothing in it."""
    bare = unquote(href.partition("#")[0])
    return posixpath.normpath(posixpath.join(base, bare)) if bare else ""


def _entry(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        info = archive.getinfo(name)
        if info.flag_bits & 1:
            raise Unreadable("encrypted")
        if info.file_size > MOST_BYTES:
            raise Unreadable("giant")
        with archive.open(info) as file:
            data = file.read(MOST_BYTES + 1)
    except (
        KeyError,
        zipfile.BadZipFile,
        OSError,
        EOFError,
        zlib.error,
        NotImplementedError,
        ValueError,
    ) as error:
        raise Unreadable("corrupt") from error
    if len(data) > MOST_BYTES:
        raise Unreadable("giant")
    return data


def _whole(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise Unreadable("giant")
    return data


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    declared = _CHARSET.search(data[:4096])
    try:
        return data.decode(declared[1].decode("ascii") if declared else "cp1252", "replace")
    except (LookupError, ValueError):
        return data.decode("cp1252", "replace")


@dataclass(slots=True)
class _Text:
    """Collects blocks while walking through markup."""

    blocks: list[Block] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    path: str = ""
    size: int = 0

    def flush(self, path: str) -> None:
        text = re.sub(r"[ \t\r\f\v]*\n[ \t\r\f\v]*", "\n", "".join(self.held)).strip()
        if text:
            self.blocks.append(Block(self.path, text))
            self.size += len(self.path) + 8
        self.held = []
        self.path = path


def blocks_of(source: str, *, paths: bool) -> list[Block]:
    """The paragraphs of a page of markup, with the way to each where it is wanted."""
    out = _Text()
    stack: list[tuple[str, int]] = [("", 0)]
    hidden = verbatim = 0
    for piece in pieces(source):
        if piece.kind == "text":
            if not hidden:
                text = piece.text[: MOST_CHARS - out.size]
                out.held.append(text if verbatim else re.sub(r"\s+", " ", text))
                out.size += len(text)
            if out.size >= MOST_CHARS:
                break
            continue
        name = piece.name
        if piece.kind == "start":
            above, count = stack[-1]
            stack[-1] = (above, count + 1)
            if name == "br":
                out.held.append("\n")
                continue
            if name in _BLOCKS and not hidden:
                out.flush(_way(stack) if paths else "")
            if not piece.empty and len(stack) < 500:
                stack.append((name, 0))
                hidden += name in _UNSHOWN
                verbatim += name == "pre"
        elif any(open_name == name for open_name, _ in stack[-50:]):
            while len(stack) > 1:
                closed, _ = stack.pop()
                hidden -= closed in _UNSHOWN
                verbatim -= closed == "pre"
                if closed == name:
                    break
            if name in _BLOCKS and not hidden:
                out.flush(_way(stack) if paths else "")
    out.flush("")
    return out.blocks


def _way(stack: list[tuple[str, int]]) -> str:
    """CFI steps from the root element to the element that is begun: the second, fourth … child."""
    return "".join(f"/{2 * count}" for _, count in stack[1:] if count)


def _office(source: str) -> list[Block]:
    """The paragraphs of a DOCX or ODT."""
    blocks: list[Block] = []
    held: list[str] = []
    inside = size = 0
    for piece in pieces(source):
        if size >= MOST_CHARS:
            break
        if piece.kind == "text" and inside:
            held.append(piece.text[: MOST_CHARS - size])
            size += len(held[-1]) + 8
        elif piece.kind == "start":
            if piece.name == "t" or (piece.name in ("p", "h", "span") and not _is_word(source)):
                inside += not piece.empty
            elif piece.name in ("tab", "br", "line-break", "s", "cr"):
                held.append(" ")
        elif piece.kind == "end":
            if piece.name == "t" or (piece.name in ("p", "h", "span") and not _is_word(source)):
                inside = max(0, inside - 1)
            if piece.name in ("p", "h"):
                if text := "".join(held).strip():
                    blocks.append(Block("", text))
                held = []
    return blocks


def _is_word(source: str) -> bool:
    return source.find("<w:document", 0, 4096) >= 0


def title_of(blocks: list[Block]) -> str:
    """What a section without a name calls itself: its first short paragraph."""
    return next((b.text for b in blocks[:2] if len(b.text) <= 120 and "\n" not in b.text), "")


def answer(book: Book, request: dict[str, object]) -> dict[str, object]:
    """The answer to a question of the protocol."""
    match request["op"]:
        case "sections":
            rows = []
            counted = book.countable()
            for index, section in enumerate(book.sections):
                blocks = book.blocks(index) if counted else []
                chars = sum(len(b.text) + 2 for b in blocks)
                rows.append([section.href, section.title or title_of(blocks), chars, section.step])
            return {"sections": rows}
        case "section":
            index = int(str(request["index"]))
            if not 0 <= index < len(book.sections):
                raise Unreadable("range")
            section = book.sections[index]
            blocks = book.blocks(index)
            start = f"{section.step}!" if section.step else ""
            rows = [[f"epubcfi({start}{b.path})" if start and b.path else "", b.text] for b in blocks]
            return {
                "href": section.href,
                "title": section.title or title_of(blocks),
                "blocks": rows,
                "sections": len(book.sections),
            }
    raise Unreadable("request")
