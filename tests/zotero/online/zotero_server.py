"""A server on loopback that behaves like Zotero's documented interfaces, for real clients.

    with ZoteroServer() as zotero:                    # the Zotero on this machine, version 10
        zotero.dialog("always")                        # what the person will say in its dialog
        ... a client with address zotero.local ...

    with ZoteroServer(place="web", keys={"K": Rights()}) as org:
        ... a client with address org.web and key K ...

Objects live in `libraries`, by `u` or `g<id>`; `seed` puts some there. `before_next_write` runs before
the next write is looked at: somebody who is faster.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

Answer = Literal["deny", "once", "always"]
Place = Literal["local", "web"]
_OBJECT = re.compile(r"/(users|groups)/(\d+)/(items|collections)(?:/(top|[A-Z0-9]{8})(?:/(children))?)?/?$")
KEY = re.compile(r"[2-9A-NP-Z]{8}$")


@dataclass(frozen=True)
class Rights:
    """What a key of zotero.org may do."""

    write: bool = True
    groups: tuple[int, ...] = ()


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Library:
    version: int = 1
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    collections: dict[str, dict[str, Any]] = field(default_factory=dict)


class ZoteroServer:
    """`version`: 10 can be written to, 7 to 9 only read, 6 has no interface. `user_id` 0: never synced."""

    def __init__(
        self,
        place: Place = "local",
        *,
        version: int = 10,
        enabled: bool = True,
        user_id: int = 4711,
        keys: dict[str, Rights] | None = None,
        chosen_keys: bool = True,
    ) -> None:
        self.place: Place = place
        self.version = version
        self.enabled = enabled
        self.user_id = user_id
        self.server_id = "server-one"
        self.chosen_keys = chosen_keys
        """Whether a new object may come with its key."""
        self.libraries: dict[str, Library] = {"u": Library()}
        self.requests: list[Received] = []
        self.asked: list[str] = []
        """The applications that asked for permission."""
        self.granted: dict[str, bool] = {}
        """Keys of the dialog that are good, and whether they stay so."""
        self.read_only: set[str] = set()
        self.refuse_next: tuple[int, str] | None = None
        """Code and message with which the next object is put among the `failed`."""
        self.answer_next: tuple[int, dict[str, str], str] | None = None
        """A whole answer in place of the next one."""
        self.backoff = 0
        self.cut_after_next_write = False
        """The next write is done, but its answer never arrives."""
        self.cut_before_next_write = False
        """The connection breaks before the next write is looked at."""
        self.say_after_next_write: int | None = None
        """The next write is done, and answered with this status all the same."""
        self.before_next_write: Callable[[], None] | None = None
        self._keys = keys or {}
        self._answers: list[Answer] = []
        self._dialog = threading.Condition()
        self._next = 0
        self._lock = threading.RLock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads = True
        self._http.zotero = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> ZoteroServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._dialog:
            self._answers.extend(["deny"] * 10)
            self._dialog.notify_all()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def local(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    @property
    def web(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    # -- what a test does

    def dialog(self, *answers: Answer) -> None:
        """What the person says, one answer for each dialog; without one the dialog stays open."""
        with self._dialog:
            self._answers.extend(answers)
            self._dialog.notify_all()

    def seed(self, kind: str, key: str, library: str = "u", **data: Any) -> None:
        with self._lock:
            where = self.libraries.setdefault(library, Library())
            where.version += 1
            store = where.items if kind == "items" else where.collections
            store[key] = {"key": key, "version": where.version, **data}

    def item(self, key: str, library: str = "u") -> dict[str, Any]:
        return self.libraries[library].items[key]

    @property
    def notes(self) -> list[dict[str, Any]]:
        return [
            i for lib in self.libraries.values() for i in lib.items.values() if i.get("itemType") == "note"
        ]

    @property
    def writes(self) -> list[Received]:
        return [r for r in self.requests if r.method != "GET" and "authorize" not in r.path]

    # -- what it does itself

    def ask(self, name: str) -> tuple[int, Any]:
        with self._dialog:
            self.asked.append(name)
            while not self._answers:
                self._dialog.wait(10)
            answer = self._answers.pop(0)
        if answer == "deny":
            return 403, "Denied"
        self._next += 1
        key = f"granted{self._next:025d}"
        self.granted[key] = answer == "always"
        return 200, {"key": key, "remember": answer == "always"}

    def touch(self, library: str) -> int:
        self.libraries[library].version += 1
        return self.libraries[library].version

    def shown(self, library: str, data: dict[str, Any]) -> dict[str, Any]:
        number = self.user_id if library == "u" else int(library[1:])
        kind = "user" if library == "u" else "group"
        return {
            "key": data["key"],
            "version": data["version"],
            "library": {"type": kind, "id": number, "name": "Somebody"},
            "links": {},
            "meta": {},
            "data": dict(data),
        }

    def next_key(self) -> str:
        self._next += 1
        return f"NEW{self._next:05d}".replace("0", "Z").replace("1", "Y")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Silent."""

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

    @property
    def zotero(self) -> ZoteroServer:
        found: ZoteroServer = self.server.zotero  # type: ignore[attr-defined]
        return found

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length) if length else b""
        body = json.loads(raw) if raw else None
        headers = {k.lower(): v for k, v in self.headers.items()}
        self.zotero.requests.append(Received(self.command, self.path, headers, body))
        if self.zotero.answer_next is not None:
            (status, more, text), self.zotero.answer_next = self.zotero.answer_next, None
            self._answer(status, text, more)
            return
        if self.zotero.place == "local":
            self._local(headers, body)
        else:
            self._web(headers, body)

    def _answer(self, status: int, body: Any, more: dict[str, str] | None = None) -> None:
        text = body if isinstance(body, str) else json.dumps(body)
        content = b"" if status == 204 else text.encode()
        self.send_response(status)
        kind = "text/plain" if isinstance(body, str) else "application/json"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Zotero-API-Version", "3")
        if self.zotero.place == "local" and self.zotero.version >= 10 and status != 400:
            self.send_header("Zotero-Server-ID", self.zotero.server_id)
        if self.zotero.backoff:
            self.send_header("Backoff", str(self.zotero.backoff))
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    # -- the Zotero on this machine

    def _local(self, headers: dict[str, str], body: Any) -> None:
        zotero = self.zotero
        host = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
        if host not in ("127.0.0.1", "localhost", "[::1]"):
            return self._answer(400, "Invalid Host header")
        if headers.get("user-agent", "").startswith("Mozilla/") and "zotero-allowed-request" not in headers:
            return self._answer(400, "Request not allowed")
        path = urlsplit(self.path).path
        if not path.startswith("/api/") or zotero.version < 7:
            return self._answer(404, "No endpoint found")
        if not zotero.enabled:
            return self._answer(403, "Local API is not enabled")
        if path == "/api/":
            return self._answer(200, "Nothing to see here.")
        if path == "/api/local/authorize" and zotero.version >= 10 and self.command == "POST":
            if self._wrong_server(headers):
                return None
            return self._answer(*zotero.ask(str((body or {}).get("appName"))))
        if path == "/api/itemFields":
            return self._answer(200, [{"field": "title"}, {"field": "date"}])
        found = _OBJECT.match(path.removeprefix("/api"))
        if found is None:
            return self._answer(404, "No endpoint found")
        if found[1] == "users" and int(found[2]) not in (0, zotero.user_id):
            return self._answer(400, "Only data for the logged-in user is available locally")
        library = "u" if found[1] == "users" else f"g{found[2]}"
        if library not in zotero.libraries:
            return self._answer(404, "Not found")
        if self.command == "GET":
            return self._read(library, found)
        if zotero.version < 10:
            return self._answer(405, "Method not allowed")
        if self._wrong_server(headers):
            return None
        key = headers.get("zotero-api-key", "")
        if not key:
            return self._answer(401, "API key required -- POST /api/local/authorize to obtain one")
        if key not in zotero.granted:
            return self._answer(401, "Invalid or expired API key")
        self._write(library, found, headers, body)
        return None

    def _wrong_server(self, headers: dict[str, str]) -> bool:
        given = headers.get("zotero-server-id")
        if given is None:
            self._answer(428, "Zotero-Server-ID not provided")
        elif given != self.zotero.server_id:
            self._answer(412, "Zotero-Server-ID does not match")
        return given != self.zotero.server_id

    # -- zotero.org

    def _web(self, headers: dict[str, str], body: Any) -> None:
        zotero = self.zotero
        key = headers.get("authorization", "").removeprefix("Bearer ")
        rights = zotero._keys.get(key)
        path = urlsplit(self.path).path
        if path == "/itemFields":
            return self._answer(200, [{"field": "title"}, {"field": "date"}])
        if rights is None:
            return self._answer(403, "Invalid key")
        if path == "/keys/current":
            groups = {str(g): {"library": True, "write": True} for g in rights.groups}
            access = {"user": {"library": True, "write": rights.write}, "groups": groups}
            return self._answer(
                200, {"key": key, "userID": zotero.user_id, "username": "somebody", "access": access}
            )
        found = _OBJECT.match(path)
        if found is None or (found[1] == "users" and int(found[2]) != zotero.user_id):
            return self._answer(404, "Not found")
        library = "u" if found[1] == "users" else f"g{found[2]}"
        if library not in zotero.libraries:
            return self._answer(404, "Not found")
        if self.command == "GET":
            return self._read(library, found)
        allowed = rights.write if library == "u" else int(library[1:]) in rights.groups
        if not allowed:
            return self._answer(403, "Write access denied")
        self._write(library, found, headers, body)
        return None

    # -- both

    def _read(self, library: str, found: re.Match[str]) -> None:
        zotero = self.zotero
        where = zotero.libraries[library]
        store = where.items if found[3] == "items" else where.collections
        version = {"Last-Modified-Version": str(where.version)}
        if found[4] and found[4] != "top" and not found[5]:
            data = store.get(found[4])
            if data is None:
                return self._answer(404, "Item does not exist")
            return self._answer(200, zotero.shown(library, data), version)
        wanted = parse_qs(urlsplit(self.path).query).get("itemType", [""])[0]
        chosen = [
            zotero.shown(library, d)
            for d in store.values()
            if (not wanted or d.get("itemType") == wanted)
            and (not found[5] or d.get("parentItem") == found[4])
            and (found[4] != "top" or not d.get("parentItem"))
            and not d.get("deleted")
        ]
        return self._answer(200, chosen, {**version, "Total-Results": str(len(chosen))})

    def _write(self, library: str, found: re.Match[str], headers: dict[str, str], body: Any) -> None:
        zotero = self.zotero
        with zotero._lock:
            if zotero.before_next_write is not None:
                first, zotero.before_next_write = zotero.before_next_write, None
                first()
            if zotero.cut_before_next_write:
                zotero.cut_before_next_write = False
                self._hang_up()
                return
            if library in zotero.read_only:
                self._answer(403, "Write access denied")
                return
            if self.command == "PATCH" and found[4]:
                self._patch(library, found, headers, body)
                return
            if self.command == "POST" and not found[4]:
                self._create(library, body)
                return
        self._answer(405, "Method not allowed")

    def _patch(self, library: str, found: re.Match[str], headers: dict[str, str], body: Any) -> None:
        where = self.zotero.libraries[library]
        store = where.items if found[3] == "items" else where.collections
        data = store.get(found[4])
        if data is None:
            self._answer(404, "Item does not exist")
            return
        expected = headers.get("if-unmodified-since-version", body.get("version"))
        if expected is None:
            self._answer(428, "If-Unmodified-Since-Version not provided")
            return
        if int(expected) < data["version"]:
            self._answer(412, "Item has been modified since specified version")
            return
        data |= {k: v for k, v in body.items() if k not in ("key", "version")}
        data["version"] = self.zotero.touch(library)
        self._use_up()
        self._finish(204, "", {"Last-Modified-Version": str(data["version"])})

    def _create(self, library: str, body: Any) -> None:
        zotero = self.zotero
        where = zotero.libraries[library]
        answer: dict[str, Any] = {"successful": {}, "success": {}, "unchanged": {}, "failed": {}}
        for index, given in enumerate(body):
            refusal = self._refusal(where, given)
            if refusal is not None:
                answer["failed"][str(index)] = {"code": refusal[0], "message": refusal[1]}
                continue
            key = given.get("key") or zotero.next_key()
            version = zotero.touch(library)
            where.items[key] = {**given, "key": key, "version": version}
            answer["successful"][str(index)] = zotero.shown(library, where.items[key])
            answer["success"][str(index)] = key
        if answer["success"]:
            self._use_up()
        self._finish(200, answer, {"Last-Modified-Version": str(where.version)})

    def _refusal(self, where: Library, given: dict[str, Any]) -> tuple[int, str] | None:
        zotero = self.zotero
        if zotero.refuse_next is not None:
            refused, zotero.refuse_next = zotero.refuse_next, None
            return refused
        key = given.get("key")
        if key is not None:
            if not zotero.chosen_keys or not KEY.match(key):
                return 400, "'key' may not be given for a new item"
            if key in where.items and given.get("version") != where.items[key]["version"]:
                return 412, "Item has been modified since specified version"
            if "version" not in given:
                return 428, "Either If-Unmodified-Since-Version or object version must be provided"
        parent = given.get("parentItem")
        if parent and parent not in where.items:
            return 409, f"Parent item {parent} not found"
        if any(c not in where.collections for c in given.get("collections", ())):
            return 409, "Collection not found"
        if len(given.get("note", "")) > 250_000:
            return 413, "Note is too long"
        return None

    def _use_up(self) -> None:
        """A permission for one write is gone with the first that succeeds."""
        key = self.headers.get("Zotero-API-Key", "")
        if self.zotero.granted.get(key) is False:
            del self.zotero.granted[key]

    def _finish(self, status: int, body: Any, more: dict[str, str]) -> None:
        if self.zotero.cut_after_next_write:
            self.zotero.cut_after_next_write = False
            self._hang_up()
            return
        if self.zotero.say_after_next_write is not None:
            status, self.zotero.say_after_next_write = self.zotero.say_after_next_write, None
            self._answer(status, "Something went wrong", {"Retry-After": "1"} if status == 429 else {})
            return
        self._answer(status, body, more)

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.close()
