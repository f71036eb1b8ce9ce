"""A web library for tests: the server's libraries, an account on this computer, and what it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bibgenie_desktop.net.blocking import BlockingHttp
from bibgenie_desktop.zotero.files.documents import Documents
from bibgenie_desktop.zotero.model.library import Contents
from bibgenie_desktop.zotero.online.web_account import WebAccount
from bibgenie_desktop.zotero.online.web_library import WebLibrary
from bibgenie_desktop.zotero.online.web_progress import SyncProgress
from bibgenie_desktop.zotero.online.web_source import WebSource
from bibgenie_desktop.zotero.online.web_sync import Synced
from tests.zotero.helpers import now
from tests.zotero.online.web_json import USER
from tests.zotero.online.web_json import WebLibrary as ServedLibrary
from tests.zotero.online.web_server import KEY, WebServer


def HTTP() -> BlockingHttp:
    """Connections to loopback; without certificates, whose reading would take most of a test's time."""
    return BlockingHttp(local=True)


def hasty() -> BlockingHttp:
    """Connections that notice within a second when something comes too slowly."""
    return BlockingHttp(local=True, window=0.4)


def account_in(
    folder: Path, address: str, user_id: int = USER, http: Any = HTTP, **options: Any
) -> WebAccount:
    return WebAccount(folder / "web", user_id, http, now, address=address, first_wait=0.01, **options)


def sync(
    account: WebAccount,
    key: str = KEY,
    progress: Callable[[SyncProgress], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Synced:
    return account.sync(key, cancelled, progress)


def contents_in(account: WebAccount) -> Contents:
    """What a start without a network shows."""
    source = WebSource(account)
    try:
        return source.read(source.take(lambda: False, None), None)
    finally:
        source.close()


def web_library(account: WebAccount, key: str = KEY, **options: Any) -> WebLibrary:
    async def keys() -> str | None:
        return key or None

    return WebLibrary(account, keys, Documents(), now, **options)


def comparable(contents: Contents) -> dict[str, Any]:
    """Without what zotero.org does not tell (counted pages), and in one order."""

    def attachment(a: Any) -> Any:
        return replace(a, pages=None)

    return {
        "libraries": contents.libraries,
        "items": {
            id: replace(
                i,
                attachments=tuple(attachment(a) for a in i.attachments),
                tags=tuple(sorted(i.tags, key=lambda t: t.name)),
                collections=tuple(sorted(i.collections, key=lambda c: c.id)),
            )
            for id, i in contents.items.items()
        },
        "attachments": {id: attachment(a) for id, a in contents.attachments.items()},
        "collections": sorted(contents.collections, key=lambda c: c.id),
        "notes": {id: replace(n, title="") for id, n in contents.notes.items()},
        "annotations": contents.annotations,
        "related": {id: sorted(of) for id, of in contents.related.items()},
        "copies": {id: sorted(of) for id, of in contents.copies.items()},
        "colors": contents.tag_colors,
        "searches": contents.saved_searches,
        "trashed": contents.trashed,
    }


def many(count: int) -> dict[str, ServedLibrary]:
    """A library of articles with keys in order, oldest first."""
    letters = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"
    library = ServedLibrary("")
    for n in range(count):
        key = "KEY" + "".join(letters[n // 33**p % 33] for p in range(4, -1, -1))
        data = {
            "itemType": "journalArticle",
            "title": f"Work {n}",
            "dateAdded": f"2020-01-01T00:{n // 60 % 60:02}:{n % 60:02}Z",
            "date": "2020",
        }
        library.put("items", key, data, {"parsedDate": "2020"})
    return {"u": library}


def keys_of(org: WebServer, library: str = "u") -> list[str]:
    return list(org.libraries[library].items)
