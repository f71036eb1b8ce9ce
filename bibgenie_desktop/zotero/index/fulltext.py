"""Bringing the words of all documents, notes and annotations into the index, in the background.

Zotero's own extract of a file is used where there is one; where it is missing, the file is read in a worker
process of its own, so that a person's reading never waits. What was done stays done: the next run goes on.
"""

from __future__ import annotations

import asyncio
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.zotero.files.attachments import IMPORTED_FILE, IMPORTED_URL, Files
from bibgenie_desktop.zotero.files.books import Books
from bibgenie_desktop.zotero.files.documents import Documents
from bibgenie_desktop.zotero.index.overview import readable_attachments, readable_count
from bibgenie_desktop.zotero.index.texts_file import Document, TextsFile
from bibgenie_desktop.zotero.model.library import Attachment, Contents
from bibgenie_desktop.zotero.notes.note_text import note_text

CACHE: Final = ".zotero-ft-cache"
MOST_CHARS: Final = 5_000_000
MOST_PAGES: Final = 2_000
_BATCH: Final = 200
_NOTES: Final = 1_000
_WRITTEN: Final = 8_000_000
"""Characters that are written at once."""
_MANY: Final = 5_000
"""Documents that are written at once, however short."""
_PAGES_AT_ONCE: Final = 50
_MARKS: Final = ":annotations"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the library's files the index holds. `unreadable` have no text that can be had."""

    attachments: int
    indexed: int
    unreadable: int
    running: bool


class FullText:
    """One run at a time. `executor` is the thread that writes the index."""

    def __init__(
        self, index: TextsFile, files: Files, documents: Documents, executor: ThreadPoolExecutor
    ) -> None:
        self._index = index
        self._files = files
        self._documents = documents
        self._executor = executor

    async def run(self, contents: Contents, progress: Callable[[Coverage], None]) -> None:
        """Make the index current for these contents. Can be cancelled between any two files."""
        loop = asyncio.get_running_loop()

        def begin() -> tuple[int, dict[str, str]]:
            known = self._index.documents()
            if gone := [full_id for full_id in known if not _belongs(full_id, contents)]:
                self._index.drop_documents(gone)
                known = self._index.documents()
            return readable_count(contents), known

        total, known = await loop.run_in_executor(self._executor, begin)
        had, had_not = await loop.run_in_executor(self._executor, self._index.counted)

        def say(*, running: bool = True) -> None:
            """What was there already is there while it is being compared."""
            if running:
                progress(Coverage(total, max(done, had), max(unreadable, had_not), running=True))
            else:
                progress(Coverage(total, done, unreadable, running=False))

        done = unreadable = 0
        say()
        await self._small_texts(contents, known)
        wanted = readable_attachments(contents)
        caches = _Caches(self._files, self._index, known)
        try:
            while batch := await loop.run_in_executor(self._executor, lambda: list(islice(wanted, _BATCH))):
                slow, failed = await loop.run_in_executor(self._executor, caches.take, batch)
                done += len(batch) - len(slow) - failed
                unreadable += failed
                for attachment, path, stamp in slow:
                    document = await self._from_file(attachment, path, stamp)
                    await loop.run_in_executor(self._executor, self._index.put_documents, [document])
                    done += document.source != "none"
                    unreadable += document.source == "none"
                    say()
                say()
        except asyncio.CancelledError:
            self._executor.submit(caches.write)  # what was read is not read again
            raise
        await loop.run_in_executor(self._executor, caches.write)
        say(running=False)

    async def _small_texts(self, contents: Contents, known: dict[str, str]) -> None:
        """Notes, and the annotations of each attachment together."""
        loop = asyncio.get_running_loop()

        all_notes = iter(contents.notes.values())

        def notes() -> bool:
            """Some of them; whether there may be more."""
            found = []
            some = list(islice(all_notes, _NOTES))
            for note in some:
                stamp = f"n{zlib.crc32(note.html.encode('utf-8', 'replace'))}"
                if known.get(_note_id(note.id)) != stamp:
                    text = f"{note.title}\n{note_text(note).markdown}"
                    owner = note.item_id or note.id
                    found.append(Document(_note_id(note.id), owner, "note", stamp, "note", text[:MOST_CHARS]))
            if found:
                self._index.put_documents(found)
            return bool(some)

        while await loop.run_in_executor(self._executor, notes):
            pass

        def marks() -> list[Document]:
            texts: dict[str, list[str]] = {}
            owners: dict[str, str] = {}
            for a in contents.annotations.values():
                if a.text or a.comment:
                    owners[a.attachment_id] = a.item_id
                    texts.setdefault(a.attachment_id, []).append(f"{a.id} {a.text}\n{a.comment}".strip())
            found = []
            for attachment_id, lines in texts.items():
                text = "\f".join(lines)[:MOST_CHARS]
                stamp = f"a{zlib.crc32(text.encode('utf-8', 'replace'))}"
                if known.get(attachment_id + _MARKS) != stamp:
                    owner = owners[attachment_id]
                    found.append(
                        Document(attachment_id + _MARKS, owner, "annotations", stamp, "annotations", text)
                    )
            return found

        made = await loop.run_in_executor(self._executor, marks)
        for start in range(0, len(made), _MANY):
            part = made[start : start + _MANY]
            await loop.run_in_executor(self._executor, self._index.put_documents, part)

    async def _from_file(self, attachment: Attachment, path: Path, stamp: str) -> Document:
        try:
            text = await self._text_of(attachment, path)
        except DocumentUnreadable:
            return _document(attachment, f"!{stamp}", "none", "")
        return _document(attachment, stamp, "file", text)

    async def _text_of(self, attachment: Attachment, path: Path) -> str:
        documents = self._documents
        if attachment.kind != "pdf":
            return await self._sections(path)
        pages = min(MOST_PAGES, await documents.page_count(path))
        texts: list[str] = []
        size = 0
        while len(texts) < pages and size < MOST_CHARS:
            last = min(pages, len(texts) + _PAGES_AT_ONCE) - 1
            for page in await documents.pages_text(path, len(texts), last):
                texts.append(page.text.replace("\f", " "))
                size += len(page.text)
        return "\f".join(texts)

    async def _sections(self, path: Path) -> str:
        books = Books(self._documents)
        texts: list[str] = []
        size, total = 0, 1
        while len(texts) < total and size < MOST_CHARS:
            section = await books.section(path, len(texts))
            total = section.sections
            texts.append(section.text.replace("\f", " "))
            size += len(section.text)
        if not any(t.strip() for t in texts):
            raise DocumentUnreadable("This document has no text.", "")
        return "\f".join(texts)


class _Caches:
    """What Zotero has extracted, written many at a time. Used in the thread that writes."""

    def __init__(self, files: Files, index: TextsFile, known: Mapping[str, str]) -> None:
        self._files = files
        self._index = index
        self._known = known
        self._storage = str(files.storage)
        self._folders: frozenset[str] | None = None
        self._found: list[Document] = []
        self._size = 0

    def take(self, batch: Sequence[Attachment]) -> tuple[list[tuple[Attachment, Path, str]], int]:
        """Returns the files that are to be read themselves, and how many attachments have none."""
        folders = self._present()
        slow: list[tuple[Attachment, Path, str]] = []
        failed = 0
        for attachment in batch:
            known = self._known.get(attachment.id)
            folder = self._files.folder_name(attachment)
            here = folders is None or folder in folders
            cache = f"{self._storage}{os.sep}{folder}{os.sep}{CACHE}" if here else ""
            if here and (stamp := _stamp("c", cache)) is not None:
                if known == stamp:
                    continue
                text = read_cache(cache)
                if text.strip():
                    self._add(_document(attachment, stamp, "cache", text))
                    continue
            path = None
            if here or attachment.link_mode not in (IMPORTED_FILE, IMPORTED_URL):
                path = self._files.locate(attachment).path
            stamp = _stamp("f", path) if path is not None else None
            if path is None or stamp is None:
                failed += 1
                if known != "missing":
                    self._add(_document(attachment, "missing", "none", ""))
            elif known == stamp:
                continue
            elif known == f"!{stamp}":
                failed += 1
            else:
                slow.append((attachment, path, stamp))
        if slow:  # files take long, and what was found already is to be searched meanwhile
            self.write()
        return slow, failed

    def write(self) -> None:
        found, self._found, self._size = self._found, [], 0
        if found:
            self._index.put_documents(found)

    def _add(self, document: Document) -> None:
        self._found.append(document)
        self._size += len(document.text)
        if self._size > _WRITTEN or len(self._found) > _MANY:
            self.write()

    def _present(self) -> frozenset[str] | None:
        """The folders there are in Zotero's storage, so that none is asked for that is not there."""
        if self._folders is None:
            try:
                self._folders = self._files.folder_names()
            except OSError:
                return None
        return self._folders


def read_cache(path: str | Path) -> str:
    """The beginning of an extract, as far as texts are kept."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(MOST_CHARS).decode("utf-8", "replace")
    except OSError:
        return ""


def _document(attachment: Attachment, stamp: str, source: str, text: str) -> Document:
    return Document(attachment.id, attachment.item_id, "file", stamp, source, text[:MOST_CHARS])


def _stamp(sort: str, path: str | Path) -> str | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return f"{sort}{stat.st_mtime_ns}:{stat.st_size}"


def _note_id(full_id: str) -> str:
    return f"{full_id}:note"


def _belongs(full_id: str, contents: Contents) -> bool:
    """Whether the library still has what a text was made from."""
    bare, _, kind = full_id.partition(":")
    if kind == "note":
        return bare in contents.notes
    return bare in contents.attachments
