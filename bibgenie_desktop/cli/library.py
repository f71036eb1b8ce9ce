"""`inspect library`: what is read of Zotero, through a private copy that is gone when the command ends."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

from bibgenie_desktop.cli.reading import require_directory
from bibgenie_desktop.compose.libraries import candidates, chosen_library, index_folder, open_library
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.settings.config_file import ConfigFile
from bibgenie_desktop.settings.preferences import Preferences
from bibgenie_desktop.zotero.index.report import IndexReport, index_report
from bibgenie_desktop.zotero.local.discovery import Candidate
from bibgenie_desktop.zotero.service import LibraryStatus, ZoteroLibrary


def inspect_library(options: Options, private: Path) -> dict[str, Any]:
    """Raises `LibraryUnavailable`, and `UserError` where config.toml is needed and wrong."""
    candidate, chosen = _candidate(options)
    return asyncio.run(_read(options, candidate, private, chosen=chosen))


def _candidate(options: Options) -> tuple[Candidate, bool]:
    """The library in use, or the most likely one of this computer where none was chosen yet."""
    if options.named_library is not None:
        preferences = Preferences()  # what was named beats the settings, so they need not even be readable
    else:
        if options.data_dir is not None:
            require_directory(options.data)
        preferences = ConfigFile(options.data.config).load()
    if (candidate := chosen_library(options, preferences)) is not None:
        return candidate, True
    if found := candidates(options):
        return found[0], False
    raise LibraryUnavailable(
        "No Zotero library has been chosen, and none was found on this computer.",
        "Name its data directory with --zotero-dir.",
    )


async def _read(options: Options, candidate: Candidate, private: Path, *, chosen: bool) -> dict[str, Any]:
    library = open_library(candidate, private)
    try:
        await library.ensure_loaded()
        return _report(options, library, candidate, chosen=chosen)
    finally:
        await library.close()


def _index(report: IndexReport, status: LibraryStatus) -> dict[str, Any]:
    """What the application's own index holds; the command reads beside it and changes nothing in it."""
    present = report.taken_at > 0
    return {
        "kind": "file" if present else "none yet",
        "items": report.items,
        "texts": report.texts,
        "without_text": report.without_text,
        "taken_at": report.taken_at,
        "age_ms": max(0, status.taken_at + status.age_ms - report.taken_at) if present else 0,
        "bytes": report.bytes,
    }


def _report(
    options: Options, library: ZoteroLibrary, candidate: Candidate, *, chosen: bool
) -> dict[str, Any]:
    status, contents = library.status, library.contents
    items = Counter(item.library.id for item in library.items)
    attachments = Counter(a.library.id for a in contents.attachments.values())
    pdfs = Counter(a.library.id for a in contents.attachments.values() if a.kind == "pdf")
    collections = Counter(c.library.id for c in contents.collections if not c.trashed)
    return {
        "data_dir": str(status.data_dir.absolute()),
        "profile": candidate.profile,
        "chosen": chosen,
        "schema_version": status.userdata_version,
        "snapshot_taken_at": status.taken_at,
        "snapshot_age_ms": status.age_ms,
        "stale": status.stale,
        "notice": status.notice,
        "index": _index(index_report(index_folder(options, candidate)), status),
        "libraries": [
            {
                "id": one.id,
                "name": one.name,
                "items": items[one.id],
                "collections": collections[one.id],
                "attachments": attachments[one.id],
                "pdfs": pdfs[one.id],
            }
            for one in status.libraries
        ],
    }
