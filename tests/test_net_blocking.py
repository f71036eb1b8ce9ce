"""Connections for a library that blocks: loopback past any proxy, no redirects, no sleeping for a server."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bibgenie_desktop.domain.errors import RateLimited, Unreachable
from bibgenie_desktop.net.blocking import PATIENCE, BlockingHttp

Answer = tuple[int, Mapping[str, str]]


@contextmanager
def answering(*answers: Answer) -> Iterator[tuple[str, list[str]]]:
    """A server that gives these answers one after another; its address, and the paths it was asked for."""
    waiting, asked = list(answers), []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            status, headers = waiting.pop(0) if waiting else (200, {})
            self.send_response(status)
            for name, value in {**headers, "Content-Length": "0"}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_this_computer_is_asked_past_any_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with answering() as (address, asked), BlockingHttp(local=True, seconds=2) as client:
        assert client.get(f"{address}/x").status_code == 200
        assert asked == ["/x"]


def test_a_client_for_this_computer_asks_no_other() -> None:
    with BlockingHttp(local=True) as client, pytest.raises(Unreachable, match="not this computer"):
        client.get("http://zotero.example/")


def test_a_redirect_of_this_computer_is_not_followed() -> None:
    with (
        answering((302, {"Location": "http://127.0.0.1:9/"})) as (address, _),
        BlockingHttp(local=True) as client,
    ):
        assert client.get(address).status_code == 302


@pytest.mark.parametrize(
    ("status", "headers", "wanted"),
    [(429, {"Retry-After": "3600"}, 3600), (503, {"Backoff": "30"}, 30), (429, {}, None)],
)
def test_a_server_that_is_busy_is_not_waited_for(
    status: int, headers: dict[str, str], wanted: float | None
) -> None:
    with answering((status, headers)) as (address, _), BlockingHttp(local=True) as client:
        with pytest.raises(RateLimited) as caught:
            client.get(address)
        assert caught.value.retry_after == wanted


def test_a_wish_to_wait_is_kept_from_the_library_and_respected_before_the_next_request() -> None:
    with answering((200, {"Backoff": "1"})) as (address, asked), BlockingHttp(local=True) as client:
        assert "backoff" not in client.get(address).headers
        before = time.monotonic()
        client.get(address)
        assert time.monotonic() - before > 0.5
        assert len(asked) == 2


def test_a_long_wish_to_wait_is_told_and_not_slept_through() -> None:
    long = str(int(PATIENCE) + 50)
    with answering((200, {"Backoff": long})) as (address, asked), BlockingHttp(local=True) as client:
        client.get(address)
        with pytest.raises(RateLimited):
            client.get(address)
        assert len(asked) == 1


def test_a_pause_ends_when_the_application_does() -> None:
    stop = threading.Event()
    with (
        answering((200, {"Backoff": "9"})) as (address, asked),
        BlockingHttp(local=True, stop=stop) as client,
    ):
        client.get(address)
        stop.set()
        with pytest.raises(Unreachable, match="closing"):
            client.get(address)
        assert len(asked) == 1


def test_a_server_that_is_not_there_is_told_by_its_name_alone() -> None:
    with BlockingHttp(local=True) as client, pytest.raises(Unreachable) as caught:
        client.get("http://127.0.0.1:9/secret?key=abc", headers={"Authorization": "Bearer abc"})
    assert "127.0.0.1" in caught.value.text
    assert "abc" not in caught.value.text
    assert caught.value.__cause__ is None


def test_a_key_that_is_no_key_is_told_and_not_shown() -> None:
    with BlockingHttp(local=True) as client, pytest.raises(Unreachable) as caught:
        client.get("http://127.0.0.1:9/", headers={"Authorization": "Bearer a\u20acb"})
    assert "\u20ac" not in caught.value.text
