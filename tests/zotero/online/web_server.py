"""A server on loopback that behaves like the documented read interface of zotero.org, for real clients.

    with WebServer(web_libraries(SAMPLE)) as org:
        ... a client with address org.address and the key KEY ...

Faults are put in with `faults`: the next requests whose path matches get them, in this order.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import socket
import threading
import time
import zipfile
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.zotero.online.web_json import USER, WebLibrary

KEY = "P9xQ2kAbCdEfGhIjKlMnOpQr"


@dataclass
class Fault:
    """What happens in place of an answer. `status` 0: the connection is cut after half an answer."""

    path: str
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    after: int = 0
    """So many matching requests are answered first."""
    body: bytes | None = None
    """What is sent in place of what was asked for."""


class Gate:
    """Requests whose path ends with `path` are answered `after` times; the next one waits until it is opened.

    So a client stands at a known place, however fast or slow the machine is.
    """

    def __init__(self, path: str, after: int) -> None:
        self.path, self._left = path, after
        self.reached = threading.Event()
        self._opened = threading.Event()

    def open(self) -> None:
        self._opened.set()

    def pass_by(self, path: str, ended: threading.Event) -> None:
        if not path.endswith(self.path):
            return
        self._left -= 1
        if self._left < 0:
            self.reached.set()
            while not (self._opened.is_set() or ended.is_set()):
                self._opened.wait(0.05)


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]


class WebServer:
    def __init__(self, libraries: dict[str, WebLibrary]) -> None:
        self.libraries = libraries
        self.keys = {KEY: USER}
        self.hidden: set[str] = set()
        """Groups that the key may not read."""
        self.own_library = True
        self.backoff = 0
        self.slow = 0.0
        self.gate: Gate | None = None
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.trickle: tuple[str, bytes, float] | None = None
        """(which path, what, how often): from there such pieces come for ever, in place of a file."""
        self.between: Any = None
        """Called before each answer, with the path."""
        self.ended = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads = True
        self._http.org = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> WebServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.ended.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def asked(self, part: str) -> list[Request]:
        return [r for r in self.requests if part in r.path]

    def wait(self, seconds: float) -> bool:
        """True where the server ended meanwhile."""
        return self.ended.wait(seconds)


class _Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # head and body go out apart, and each would wait for the other
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Silent."""

    @property
    def org(self) -> WebServer:
        found: WebServer = self.server.org  # type: ignore[attr-defined]
        return found

    def do_POST(self) -> None:
        self.org.requests.append(Request(self.command, self.path, {}, {}))
        self._answer(405, "Method not allowed")

    do_PUT = do_PATCH = do_DELETE = do_POST

    def do_GET(self) -> None:
        org, url = self.org, urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        org.requests.append(Request("GET", url.path, query, headers))
        if org.slow:
            org.wait(org.slow)
        if org.gate is not None:
            org.gate.pass_by(url.path, org.ended)
        if org.between is not None:
            org.between(url.path)
        for fault in org.faults:
            if fault.path in url.path and fault.times:
                if fault.after:
                    fault.after -= 1
                    continue
                fault.times -= 1
                self._fail(fault)
                return
        if org.trickle is not None and org.trickle[0] in url.path:
            self._trickle(*org.trickle[1:])
            return
        if url.path.startswith("/stored/"):
            self._stored(url.path)
            return
        user = org.keys.get(headers.get("authorization", "").removeprefix("Bearer "))
        if user is None:
            self._answer(403, "Invalid key")
            return
        if url.path == "/keys/current":
            access: dict[str, Any] = {"groups": {"all": {"library": True, "write": False}}}
            if org.own_library:
                access["user"] = {"library": True, "files": True, "notes": True}
            told = {"key": "hidden", "userID": user, "username": "reader", "access": access}
            self._answer(200, told)
            return
        found = re.fullmatch(r"/(users|groups)/(\d+)/(.+)", url.path)
        if found is None:
            self._answer(404, "Not found")
        elif found[1] == "users" and int(found[2]) != user:
            self._answer(403, "Forbidden")
        elif found[1] == "users" and found[3] == "groups":
            self._groups(query)
        else:
            self._in_library("u" if found[1] == "users" else f"g{found[2]}", found[3], query, headers)

    # -- what is there

    def _groups(self, query: dict[str, str]) -> None:
        groups = [
            {"id": int(id[1:]), "version": 1, "data": {"id": int(id[1:]), "name": library.name}}
            for id, library in self.org.libraries.items()
            if id != "u"
        ]
        self._listed(groups, query, 0)

    def _in_library(self, id: str, rest: str, query: dict[str, str], headers: dict[str, str]) -> None:
        library = self.org.libraries.get(id)
        if library is None or (id == "u" and not self.org.own_library):
            self._answer(404, "Not found")
            return
        if id in self.org.hidden:
            self._answer(403, "Forbidden")
            return
        version = {"Last-Modified-Version": str(library.version)}
        if headers.get("if-modified-since-version") == str(library.version):
            self._answer(304, "")
            return
        since = int(query.get("since", 0))
        one = re.fullmatch(r"items/([A-Z0-9]{8})/(file|fulltext)", rest)
        if one is not None:
            self._one(id, library, one[1], one[2])
        elif rest == "deleted":
            gone: dict[str, list[str]] = {"items": [], "collections": [], "searches": [], "settings": []}
            for at, kind, key in library.deleted:
                if at > since:
                    gone[kind].append(key)
            self._answer(200, {**gone, "tags": []}, version)
        elif rest == "settings":
            changed = {k: v for k, v in library.settings.items() if v["version"] > since}
            self._answer(200, changed, version)
        elif rest in ("items", "items/top", "collections", "searches"):
            kind = rest.partition("/")[0]
            entries = [e for e in getattr(library, kind).values() if e["version"] > since]
            if kind == "items" and query.get("includeTrashed") != "1":
                entries = [e for e in entries if not e["data"].get("deleted")]
            if rest == "items/top":
                entries = [e for e in entries if "parentItem" not in e["data"]]
            if wanted := query.get("itemKey"):
                keys = wanted.split(",")
                assert len(keys) <= 50
                entries = [e for e in entries if e["key"] in keys]
            if query.get("format") == "versions":
                self._answer(200, {e["key"]: e["version"] for e in entries}, version)
                return
            if query.get("sort") == "dateAdded":
                entries.sort(key=lambda e: str(e["data"].get("dateAdded")))
            self._listed(entries, query, library.version)
        else:
            self._answer(404, "Not found")

    def _listed(self, entries: list[Any], query: dict[str, str], version: int) -> None:
        start, limit = int(query.get("start", 0)), min(100, int(query.get("limit", 25)))
        headers = {"Total-Results": str(len(entries)), "Last-Modified-Version": str(version)}
        if start + limit < len(entries):
            path = urlsplit(self.path).path
            there = urlencode({**query, "start": start + limit, "limit": limit})
            headers["Link"] = f'<{self.org.address}{path}?{there}>; rel="next"'
        self._answer(200, entries[start : start + limit], headers)

    def _one(self, id: str, library: WebLibrary, key: str, what: str) -> None:
        if what == "fulltext":
            if key in library.texts:
                self._answer(200, {"content": library.texts[key], "indexedPages": 1, "totalPages": 1})
            else:
                self._answer(404, "Not found")
        elif key not in library.files:
            self._answer(404, "Not found")
        else:
            packed = {"Zotero-File-Compressed": "Yes"} if key in library.packed else {}
            self._answer(302, "", {"Location": f"{self.org.address}/stored/{id}/{key}", **packed})

    def _stored(self, path: str) -> None:
        _, _, id, key = path.split("/")
        library = self.org.libraries[id]
        content = library.files[key]
        if key in library.packed:
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as archive:
                archive.writestr("style.css", "p {}")
                archive.writestr(library.items[key]["data"]["filename"], content)
            content = packed.getvalue()
        self._send(200, content, "application/octet-stream", {})

    # -- answering

    def _answer(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        text = body if isinstance(body, str) else json.dumps(body)
        kind = "text/plain" if isinstance(body, str) else "application/json"
        self._send(status, text.encode(), kind, headers or {})

    def _send(self, status: int, content: bytes, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        if "Content-Type" not in headers:
            self.send_header("Content-Type", kind)
        if status != 304:
            self.send_header("Content-Length", str(len(content)))
        if self.org.backoff:
            self.send_header("Backoff", str(self.org.backoff))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if status != 304:
            self.wfile.write(content)

    def _trickle(self, piece: bytes, pause: float) -> None:
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n")
        self.wfile.write(b"Content-Type: application/json\r\n\r\n" if piece != b"h" else b"X-Head: ")
        with contextlib.suppress(OSError):
            while not self.org.wait(pause):
                self.wfile.write(piece)
                self.wfile.flush()

    def _fail(self, fault: Fault) -> None:
        if fault.body is not None:
            self._send(fault.status, fault.body, "application/json", fault.headers)
            return
        if fault.status:
            self._answer(fault.status, "Fault", fault.headers)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(b'[{"key": ')
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True


def until(condition: Any, seconds: float = 10.0) -> None:
    """Waits for something that happens in another thread."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
