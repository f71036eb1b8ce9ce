"""The process that opens documents, so that a file which crashes or hangs the parser costs one answer only.

It reads one JSON request a line on standard input and answers each with one JSON line on standard output; it
knows pypdfium2 and nothing of Zotero. Documents without pages are read by `book_reader`, in the same process.
`documents` starts it, waits for it and ends it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, BinaryIO

import pypdfium2
import pypdfium2.raw as pdfium

from bibgenie_desktop.zotero.files import book_reader
from bibgenie_desktop.zotero.files.page_drawing import drawing_of
from bibgenie_desktop.zotero.files.pdf_outline import outline_of

MEMORY_LIMIT = 2 << 30
"""Address space the process may use; PDFium needs about 50 MB for ordinary files."""
FILE_LIMIT = 2 << 30
PAGE_LIMIT = 200_000
"""Characters kept of one page: fifty times a dense page, so only broken or hostile files are cut."""
REPLY_LIMIT = 2_000_000
"""Characters in one answer; the caller asks again for the pages that did not fit."""
SCAN_PAGES = 40
"""Pages looked at to tell a scan from a document with some empty pages."""

_BREAK = re.compile(r"[\x02\ufffe\u00ad]\s*\n")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_ASCII_CONTROL = {code: None for code in range(128) if _CONTROL.match(chr(code))}
_LIGATURES = {
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
    0xFB05: "st",
    0xFB06: "st",
}


class Refused(Exception):
    """The file cannot be read; the only argument is a word of the protocol."""


class Reader:
    """Keeps the last file open: pages of one document are asked for one after another."""

    def __init__(self) -> None:
        self._name: tuple[str, int, int] | None = None
        self._document: Any = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["op"] in ("sections", "section"):
            return self._from_book(request)
        document = self._open(str(request["path"]))
        total = len(document)
        match request["op"]:
            case "info":
                labels = [_label(document, i) for i in range(total)]
                return {"pages": total, "labels": labels if any(labels) else []}
            case "text":
                first, last = max(0, int(request["first"])), min(total - 1, int(request["last"]))
                return {"pages": total, "texts": self._texts(first, last)}
            case "image":
                return drawing_of(document, request)
            case "outline":
                return outline_of(document, self._page, clean)
            case "scan":
                step = max(1, total // SCAN_PAGES)
                return {"has_text": any(self._has_text(i) for i in range(0, total, step))}
        raise Refused("request")

    def _from_book(self, request: dict[str, Any]) -> dict[str, Any]:
        name = self._look(str(request["path"]))
        try:
            if name != self._name or not isinstance(self._document, book_reader.Book):
                self.close()
                self._document = book_reader.open_book(Path(name[0]))
                self._name = name
            found: dict[str, Any] = _cleaned(book_reader.answer(self._document, request))
        except book_reader.Unreadable as error:
            raise Refused(str(error)) from error
        except OSError as error:
            raise Refused("denied") from error
        return found

    def _look(self, path: str) -> tuple[str, int, int]:
        try:
            stat = Path(path).stat()
        except OSError as error:
            raise Refused("missing" if isinstance(error, FileNotFoundError) else "denied") from error
        if stat.st_size > FILE_LIMIT:
            raise Refused("giant")
        if stat.st_size == 0:
            raise Refused("empty")
        return path, stat.st_size, stat.st_mtime_ns

    def _open(self, path: str) -> Any:
        name = self._look(path)
        if name == self._name and not isinstance(self._document, book_reader.Book):
            return self._document
        self.close()
        try:
            self._document = pypdfium2.PdfDocument(path)
            pages = len(self._document)
        except pypdfium2.PdfiumError as error:
            code = getattr(error, "err_code", None)
            locked = code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY) or "assword" in str(error)
            raise Refused("encrypted" if locked else "corrupt") from error
        except OSError as error:
            raise Refused("denied") from error
        if pages == 0:
            raise Refused("corrupt")
        self._name = name
        return self._document

    def close(self) -> None:
        document, self._document, self._name = self._document, None, None
        if document is not None:
            document.close()

    def _texts(self, first: int, last: int) -> list[list[Any]]:
        texts: list[list[Any]] = []
        room = REPLY_LIMIT
        for index in range(first, last + 1):
            text = self._page(index)
            room -= len(text)
            if room < 0 and texts:
                break
            texts.append([index, _label(self._document, index), text])
        return texts

    def _page(self, index: int) -> str:
        try:
            page = self._document[index]
            try:
                words = page.get_textpage()
                try:
                    return clean(words.get_text_range(count=min(words.count_chars(), PAGE_LIMIT)))
                finally:
                    words.close()
            finally:
                page.close()
        except pypdfium2.PdfiumError:
            return ""  # one broken page must not hide the others

    def _has_text(self, index: int) -> bool:
        return any(c.isalnum() for c in self._page(index))


def _cleaned(value: Any) -> Any:
    """All texts of an answer without what JSON or a database would refuse."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(v) for v in value]
    return {k: _cleaned(v) for k, v in value.items()} if isinstance(value, dict) else value


def clean(text: str) -> str:
    """Text with plain line ends, whole letters, and no character that JSON or a database would refuse."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():
        if "\x02" in text:
            text = _BREAK.sub("-\n", text)
        return text.translate(_ASCII_CONTROL)
    text = _BREAK.sub("-\n", text).translate(_LIGATURES)
    text = _CONTROL.sub("", text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # halves of characters
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _label(document: Any, index: int) -> str:
    try:
        return clean(document.get_page_label(index) or "").strip()
    except pypdfium2.PdfiumError:
        return ""


def limit_memory() -> None:
    """Where the system can, keep a hostile file from taking all memory; and leave no core files behind."""
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until the input ends."""
    reader = Reader()
    for line in requests:
        answer: dict[str, Any]
        try:
            answer = reader.answer(json.loads(line))
        except Refused as error:
            answer = {"error": str(error)}
        except MemoryError:
            reader.close()
            answer = {"error": "memory"}
        except (ValueError, KeyError, TypeError, pypdfium2.PdfiumError):
            answer = {"error": "corrupt"}
        answers.write(json.dumps(answer).encode("ascii") + b"\n")
        answers.flush()
    reader.close()


def main() -> int:
    limit_memory()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the parser prints must not stand between two answers
    serve(sys.stdin.buffer, answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
