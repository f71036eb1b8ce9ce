"""What is asked of zotero.org to read an account's libraries; every call is one request, and all are GET.

An answer that says to wait, a fault of the server and a missing connection come out as their own errors;
whether to try again is decided in `web_sync`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, TypeVar

from pyzotero import Zotero

from bibgenie_desktop.domain.errors import BibGenieError
from bibgenie_desktop.domain.numbers import whole_number
from bibgenie_desktop.zotero.online import web_answers
from bibgenie_desktop.zotero.online.client import WEB, MakeHttp, translated, web_client
from bibgenie_desktop.zotero.online.errors import ZoteroError, ZoteroKeyRefused, ZoteroMissing, ZoteroRefused
from bibgenie_desktop.zotero.online.web_tables import Kind
from bibgenie_desktop.zotero.online.web_values import said

PAGE: Final = 100
SOME: Final = 50
"""As many objects may be asked for by their keys."""

T = TypeVar("T")


class ServerFault(ZoteroError):
    """zotero.org failed at answering: the same request may work in a moment."""


@dataclass(frozen=True, slots=True)
class Page:
    """Objects of a library."""

    objects: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Gone:
    """What was deleted since a version."""

    keys: Mapping[Kind, Sequence[str]]
    settings: Sequence[str]


class WebReads:
    """One account, with one set of connections that `close` ends. One thread at a time; every call blocks."""

    def __init__(self, key: str, user_id: int, http: MakeHttp, *, address: str = WEB) -> None:
        self._key, self._user_id, self._address = key, user_id, address
        with translated("web"):
            self._http = http()
        self._clients: dict[str, Zotero] = {}
        self.newest = 0
        """The newest version of a library that was told since the versions of its items were asked for."""

    def close(self) -> None:
        self._clients.clear()
        self._http.close()

    def groups(self) -> tuple[tuple[str, str], ...]:
        """(id, name) of the groups of the account, as far as the key may see them."""
        client = self._client("u")
        pages = self._linked(client, lambda: client.groups(limit=PAGE))
        return tuple(group for page in pages for group in web_answers.groups(page))

    def item_versions(self, library: str, since: int) -> tuple[int, dict[str, int]] | None:
        """(version of the library, versions of the items changed since, by key); None: nothing changed."""
        client = self._client(library)
        if since:  # a library in which nothing was ever put has the version 0
            self._http.headers["If-Modified-Since-Version"] = str(since)
        try:
            found = self._ask(client, lambda: client.item_versions(since=since, includeTrashed=1))
        except _NotModified:
            return None
        finally:
            self._http.headers.pop("If-Modified-Since-Version", None)
        version = self._version(client)
        if version is None:
            raise web_answers.not_understood()
        self.newest = version
        return version, web_answers.versions(found)

    def items(self, library: str, since: int, start: int) -> Iterator[Page]:
        """The items changed since, oldest first, a page at a time."""
        client = self._client(library)
        how = {"since": since, "start": start, "limit": PAGE, "sort": "dateAdded", "direction": "asc"}
        return self._followed(client, lambda: client.items(includeTrashed=1, **how))

    def items_by_key(self, library: str, keys: Sequence[str]) -> Page:
        """At most `SOME` items."""
        client = self._client(library)
        wanted = ",".join(keys)
        found = self._ask(client, lambda: client.items(itemKey=wanted, includeTrashed=1, limit=PAGE))
        return Page(web_answers.objects(found))

    def collections(self, library: str, since: int) -> Iterator[Page]:
        client = self._client(library)
        how = {"since": since, "limit": PAGE, "includeTrashed": 1}
        return self._followed(client, lambda: client.collections(**how))

    def searches(self, library: str, since: int) -> Iterator[Page]:
        client = self._client(library)
        how = {"since": since, "limit": PAGE, "includeTrashed": 1}
        return self._followed(client, lambda: client.searches(**how))

    def settings(self, library: str, since: int) -> dict[str, object]:
        client = self._client(library)
        return web_answers.settings(self._ask(client, lambda: client.settings(since=since)))

    def deleted(self, library: str, since: int) -> Gone:
        client = self._client(library)
        return Gone(*web_answers.deleted(self._ask(client, lambda: client.deleted(since=since))))

    def count(self, library: str) -> int:
        """How many items on the top level a library has, without the trash."""
        client = self._client(library)
        return int(self._ask(client, client.num_items))

    # -- one attachment

    def fulltext(self, library: str, key: str) -> str:
        """The text that Zotero extracted from a file and synced; empty without one."""
        client = self._client(library)
        try:
            found = self._ask(client, lambda: client.fulltext_item(key))
        except ZoteroMissing:
            return ""
        return said(found.get("content")) if isinstance(found, dict) else ""

    def file(
        self, library: str, key: str, file: BinaryIO, limit: int, arrived: Callable[[int], None]
    ) -> tuple[bool, bool]:
        """Writes the content of a stored file: (whether it came in an archive, whether there was more).

        Raises `ZoteroMissing` where the server has none; of `arrived` see `BlockingHttp.download`.
        """
        client = self._client(library)
        # pyzotero's own call would take some kinds of files for answers, and would hold all of it in memory.
        url = f"{client.endpoint}/{client.library_type}/{client.library_id}/items/{key}/file"
        with translated("web"):
            done = self._http.download(url, client.default_headers(), file, limit, arrived)
        if done.status == 404:
            raise ZoteroMissing("zotero.org has no file for it.", "It was not synced, or lies elsewhere.")
        if done.status in (401, 403):
            raise ZoteroKeyRefused(
                "The key does not allow files to be read.", "Allow access to files for it on zotero.org."
            )
        if done.status != 200:
            raise _fault(done.status)
        packed = [headers.get("zotero-file-compressed", "") for headers in done.headers[:-1]]
        return "yes" in (told.lower() for told in packed), done.cut

    # -- asking

    def _client(self, library: str) -> Zotero:
        if library not in self._clients:
            self._clients[library] = web_client(
                self._key, lambda: self._http, library, self._user_id, address=self._address
            )
        return self._clients[library]

    def _followed(self, client: Zotero, first: Callable[[], Any]) -> Iterator[Page]:
        """A page of objects and those that its links lead to."""
        return (Page(web_answers.objects(answer)) for answer in self._linked(client, first))

    def _linked(self, client: Zotero, first: Callable[[], Any]) -> Iterator[Any]:
        yield self._ask(client, first)
        while (client.links or {}).get("next"):
            if not _stays(client):
                raise ZoteroRefused("zotero.org gave a link that leads in a circle.", "Try again later.")
            yield self._ask(client, client.follow)

    def _version(self, client: Zotero) -> int | None:
        return whole_number(_header(client, "last-modified-version"))

    def _ask(self, client: Zotero, call: Callable[[], T]) -> T:
        client.request = None
        client.url_params = None  # of a call that broke off
        try:
            with translated("web"):
                answer = call()
        except ZoteroError:
            status = client.request.status_code if client.request is not None else 0
            if status == 304:
                raise _NotModified from None
            if status >= 500:
                raise _fault(status) from None
            raise
        except BibGenieError:
            raise
        except Exception:  # noqa: BLE001 - answers of other sorts than JSON have parsers of their own
            raise web_answers.not_understood() from None
        if "json" not in _header(client, "content-type"):
            raise web_answers.not_understood()
        self.newest = max(self.newest, self._version(client) or 0)
        return answer


class _NotModified(Exception):
    """Nothing changed since the version that was asked about."""


def _header(client: Zotero, name: str) -> str:
    """Of the last answer; empty where it had none."""
    return str(client.request.headers.get(name, "")) if client.request is not None else ""


def _stays(client: Zotero) -> bool:
    """Whether the next page is another one than this."""
    starts = [
        re.search(r"[?&]start=(\d+)", (client.links or {}).get(name) or "") for name in ("self", "next")
    ]
    here, there = (int(found[1]) if found else 0 for found in starts)
    return there > here


def _fault(status: int) -> ZoteroError:
    if status >= 500:
        return ServerFault(f"zotero.org has a fault just now (error {status}).", "Try again in a moment.")
    return ZoteroRefused(f"zotero.org answered with the error {status}.", "Try again later.")
