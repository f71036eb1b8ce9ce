"""A server on loopback that answers each path with a fixed JSON value; any other path gets a 404."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Any
"""A JSON value, bytes as they are, (status, value), or a function of the request's body."""


@dataclass
class Mapped:
    """`paths` may change while it runs; `seen` holds what was asked: method, path with query, headers."""

    paths: dict[str, Answer]
    root: str = ""
    seen: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)

    @property
    def asked(self) -> list[str]:
        return [path for _, path, _ in self.seen]


@contextmanager
def mapped(paths: Mapping[str, Answer]) -> Iterator[Mapped]:
    state = Mapped(dict(paths))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0))))

        def _answer(self, body: Any) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            state.seen.append((self.command, self.path, headers))
            found = state.paths.get(self.path.partition("?")[0], (404, {"error": "no such path"}))
            if isinstance(found, Callable):  # type: ignore[arg-type]
                found = found(body)
            status, value = found if isinstance(found, tuple) else (200, found)
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            kind = "text/html" if content[:1] == b"<" else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    state.root = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="mapped-server")
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
