"""What the settings can say of the Zotero on this computer, from real sockets."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bibgenie_desktop.zotero.online.liveness import Liveness, look_for_zotero


@contextlib.contextmanager
def zotero(*, api: int = 200, version: str = "10.0.1", ping: str = "Zotero is running") -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            ours = self.path == "/connector/ping"
            status, text = (200, ping) if ours else (api, "Local API is not enabled")
            self.send_response(status)
            if version:
                self.send_header("X-Zotero-Version", version)
            self.end_headers()
            self.wfile.write(text.encode())
            seen.append((self.command, self.path, self.headers["Host"], self.headers.get("User-Agent", "")))

        def log_message(self, *args: object) -> None:
            """Silent."""

    seen: list[tuple[str, str, str, str]] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
    for method, _, host, agent in seen:
        assert (method, host.partition(":")[0]) == ("GET", "127.0.0.1")
        assert not agent.startswith("Mozilla/")


@pytest.mark.parametrize(("api", "state"), [(200, "open"), (403, "off"), (404, "old"), (503, "off")])
def test_zotero_with_its_local_interface_in_every_state(api: int, state: str) -> None:
    with zotero(api=api) as port:
        assert look_for_zotero(port) == Liveness(state, "10.0.1", port)  # type: ignore[arg-type]


def test_closed_where_nothing_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert look_for_zotero(port).state == "closed"


def test_another_program_on_the_port_is_not_taken_for_zotero() -> None:
    with zotero(version="", ping="Hello") as port:
        assert look_for_zotero(port).state == "taken"


@pytest.mark.parametrize("words", [b"220 mail.example ESMTP\r\n", b"\x00\x01\x02\r\n\r\n", b""])
def test_a_program_that_speaks_something_else_is_another_one(words: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(words)

        thread = threading.Thread(target=serve)
        thread.start()
        assert look_for_zotero(server.getsockname()[1]).state == "taken"
        thread.join()


def test_something_that_never_answers_is_silent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert look_for_zotero(server.getsockname()[1], seconds=0.2).state == "silent"


def test_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with zotero() as port:
        assert look_for_zotero(port).state == "open"
