"""Markdown as the HTML that Zotero's notes are made of: its structure, formulas, citations and highlights.

The counterpart of `note_markdown`: what this writes is read back as the same note. Nothing is loaded
and nothing runs in it: no raw HTML, no pictures, links only to the web, to Zotero and to mail.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from markdown_it.token import Token

from bibgenie_desktop.zotero.notes.whole_words import tokens_of
from bibgenie_desktop.zotero.online.note_rules import Cited, Entry, Naming, note_parser

LINKS: Final = frozenset({"http", "https", "zotero", "mailto"})
SCHEMA: Final = 9
"""The version of note HTML that Zotero 7 and later write; newer ones read it."""
MOST: Final = 250_000
"""Characters that Zotero can sync in one note."""
_SPACES: Final = re.compile(r"[ \t]+")
_FIRST: Final = re.compile(r"<li><p>(.*?)</p>", re.DOTALL)
"""What stands first in a list item only because something empty before it went."""
_LINE_END: Final = re.compile(r" *<br> *")
_EMPTY: Final = re.compile(r"<(blockquote|h[1-6]|p|strong|em|s|li|ul|ol)(?: start=\"\d+\")?></\1>")
_UNESCAPED: Final = "!~*'()"
_TAGS: Final = {"strong": "strong", "em": "em", "s": "s"}
_BLOCKS: Final = frozenset({"ul", "ol", "li", "blockquote", "table", "tbody", "tr", "th", "td"})


def note_html(markdown: str, naming: Naming) -> str:
    """The HTML of a note. Citations of what `naming` does not know stay as they were written."""
    text = "".join(
        c for c in markdown.replace("\r\n", "\n") if c in "\n\t" or c.isprintable() or c > "\u00a0"
    )
    body = _Writer().blocks(tokens_of(note_parser(naming), text, {}))
    body = _LINE_END.sub("<br>", body)
    while (shorter := _EMPTY.sub("", body)) != body:
        body = shorter
    body = _FIRST.sub(r"<li>\1", body)
    return f'<div data-schema-version="{SCHEMA}">{body}</div>'


class _Writer:
    def __init__(self) -> None:
        self._first: list[bool] = []
        """For each open list item: nothing of it was written yet."""
        self._links: list[tuple[str, str]] = []
        """The target of each open link, and what is to be said after it."""
        self._open: Counter[str] = Counter()

    def blocks(self, tokens: Sequence[Token]) -> str:
        return "".join(self._block(token) for token in tokens)

    def _block(self, token: Token) -> str:
        match token.type:
            case "inline":
                return self._inline(token.children or ()).strip(" ")
            case "paragraph_open" | "paragraph_close":
                return self._paragraph(token)
            case "fence" | "code_block":
                self._written()
                content = token.content.removesuffix("\n")
                if " " in (info := token.info.strip()):  # words, and no language
                    content = f"{info}\n{content}"
                # HTML drops one line end right after the tag.
                return (
                    "<pre>"
                    + ("\n" if content.startswith("\n") else "")
                    + escape(content, quote=False)
                    + "</pre>"
                )
            case "formulas":
                self._written()
                return f'<pre class="math">$${escape(token.content, quote=False)}$$</pre>'
            case "hr":
                self._written()
                return "<hr>"
            case "heading_open" | "heading_close":
                self._written()
                return f"<{'/' if token.nesting < 0 else ''}{token.tag}>"
        return self._container(token)

    def _container(self, token: Token) -> str:
        if token.tag == "thead":
            return ""
        if token.tag == "table":
            self._written()
            return "<table><tbody>" if token.nesting > 0 else "</tbody></table>"
        if token.tag not in _BLOCKS or token.tag == "tbody":
            return ""
        if token.nesting < 0:
            if token.tag == "li":
                self._first.pop()
            return f"</{token.tag}>"
        if token.tag == "li":
            self._first.append(True)
        elif token.tag in ("ul", "ol", "blockquote"):
            self._written()
            if token.tag == "blockquote":
                self._first.append(False)
        start = token.attrGet("start")
        return f'<{token.tag} start="{int(start)}">' if token.tag == "ol" and start else f"<{token.tag}>"

    def _paragraph(self, token: Token) -> str:
        """The first words of a list item stand in it without a paragraph, in tight and loose lists alike."""
        if token.nesting > 0:
            bare = bool(self._first) and self._first[-1]
            token.meta["bare"] = bare
            self._bare = bare
            self._written()
            return "" if bare else "<p>"
        return "" if self._bare else "</p>"

    def _written(self) -> None:
        if self._first:
            self._first[-1] = False

    # -- words

    def _inline(self, tokens: Sequence[Token]) -> str:
        return _SPACES.sub(" ", "".join(self._piece(token) for token in tokens))

    def _piece(self, token: Token) -> str:
        match token.type:
            case "text" | "text_special":
                return escape(_SPACES.sub(" ", token.content), quote=False)
            case "softbreak":
                return " "
            case "hardbreak":
                return "<br>"
            case "code_inline":
                code = " ".join(token.content.split())
                return f"<code>{escape(code, quote=False)}</code>" if code else ""
            case "formula":
                return f'<span class="math">${escape(token.content, quote=False)}$</span>'
            case "raised":
                return f"<{token.tag}>{escape(token.content, quote=False)}</{token.tag}>"
            case "image":
                return escape(token.content or "image", quote=False)
            case "link_open":
                href, title = str(token.attrGet("href") or ""), str(token.attrGet("title") or "")
                target = _target(href)
                # What Zotero would not show, or not follow, stands in words after the link.
                self._links.append(
                    (target, " ".join(w for w in ("" if target else unquote(href), title) if w))
                )
                rel = ' rel="noopener noreferrer nofollow"'
                return f'<a href="{escape(target)}"{rel}>' if target else ""
            case "link_close":
                target, words = self._links.pop()
                return ("</a>" if target else "") + (f" ({escape(words, quote=False)})" if words else "")
            case "cite":
                return citation_span(token.meta["entries"])
            case "quoted":
                return _quoted(token.meta)
        name = _TAGS.get(token.tag, "")
        return self._emphasis(name, token.nesting) if name else escape(token.content, quote=False)

    def _emphasis(self, name: str, nesting: int) -> str:
        """Emphasis inside the same emphasis says nothing more."""
        self._open[name] += nesting
        if nesting > 0:
            return f"<{name}>" if self._open[name] == 1 else ""
        return f"</{name}>" if self._open[name] == 0 else ""


def citation_span(entries: Sequence[Entry]) -> str:
    """A citation as Zotero keeps it: which works and where as data, and words for the eye."""
    items: list[dict[str, Any]] = []
    words = []
    for entry in entries:
        item: dict[str, Any] = {"uris": [entry.cited.uri]}
        if entry.place:
            item |= {"locator": entry.place, "label": entry.kind}
        items.append(item)
        sign = {"page": "p.", "chapter": "ch.", "section": "sec."}[entry.kind]
        place = f", {sign} {entry.place}" if entry.place else ""
        words.append(f'<span class="citation-item">{escape(entry.cited.label + place, quote=False)}</span>')
    data = _data({"citationItems": items, "properties": {}})
    return f'<span class="citation" data-citation="{data}">({"; ".join(words)})</span>'


def _quoted(meta: dict[str, Any]) -> str:
    """Words of a document with where they stand; marked where the person has marked them there."""
    entry: Entry = meta["entries"][0]
    words = f"“{escape(meta['quote'], quote=False)}”"
    if entry.cited.annotation:
        mark = _annotation(entry.cited, entry.place)
        words = f'<span class="highlight" data-annotation="{mark}">{words}</span>'
    return f"{words} {citation_span([entry])}" if meta["cites"] else words


def _annotation(cited: Cited, place: str) -> str:
    item: dict[str, Any] = {"uris": [cited.uri]}
    if place:
        item |= {"locator": place}
    data: dict[str, Any] = {
        "attachmentURI": cited.attachment_uri,
        "annotationKey": cited.annotation,
        "color": cited.color,
        "pageLabel": place,
        "citationItem": item,
    }
    if cited.page_index is not None:
        data["position"] = {"pageIndex": cited.page_index, "rects": []}
    return _data(data)


def _data(value: dict[str, Any]) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return escape(quote(text, safe=_UNESCAPED))


def _target(href: str) -> str:
    """A link's target where it may be followed, else nothing. Parentheses would end it in Markdown."""
    try:
        allowed = urlsplit(href).scheme.lower() in LINKS
    except ValueError:
        allowed = False
    return href.replace("(", "%28").replace(")", "%29") if allowed else ""
