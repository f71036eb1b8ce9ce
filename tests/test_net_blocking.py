"""Connections for a library that blocks: loopback past any proxy, redirects to the same server only, no
sleeping for a server; and files that are fetched onto the disk."""

from __future__ import annotations

import contextlib
import gzip
import io
import socket
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest

from bibgenie_desktop.domain.errors import RateLimited, Unreachable
from bibgenie_desktop.net.blocking import PATIENCE, BlockingHttp
from bibgenie_desktop.net.limits import may_fetch_from, same_place

Answer = tuple[int, Mapping[str, str]] | tuple[int, Mapping[str, str], bytes]


@contextmanager
def answering(*answers: Answer) -> Iterator[tuple[str, list[str]]]:
    """A server that gives these answers one after another; its address, and the paths it was asked for."""
    waiting, asked = list(answers), []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            status, headers, *body = waiting.pop(0) if waiting else (200, {})
            content = body[0] if body else b""
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_CONNECT = do_GET

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


# -- proxies


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_computer_is_never_asked_through_a_proxy_by_a_client_for_others_either(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering() as (proxy, through), answering() as (address, asked):
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy)
        with BlockingHttp(local=False, seconds=2) as client:
            there = address.replace("127.0.0.1", host)
            assert client.get(f"{there}/x").status_code == 200
            assert client.download(f"{there}/y", {}, io.BytesIO(), 10).status == 200
        assert (through, asked) == ([], ["/x", "/y"])


def test_others_are_asked_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering((403, {})) as (proxy, asked):
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        with BlockingHttp(local=False, seconds=2) as client, pytest.raises(Unreachable):
            client.get("https://zotero.example/")
        assert asked == ["zotero.example:443"]


@pytest.mark.parametrize(
    ("proxy", "words"),
    [
        ("socks5://me:hidden@127.0.0.1:1", "SOCKS proxy"),
        ("socks5h://me:hidden@127.0.0.1:1", "SOCKS proxy"),
        ("socks://me:hidden@127.0.0.1:1", "SOCKS proxy"),
        ("gopher://me:hidden@127.0.0.1:1", "cannot be used"),
        ("http://me:hidden@[::1", "cannot be used"),
        ("http://me:hidden@127.0.0.1:hidden", "cannot be used"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_a_sentence_that_says_what_to_do(
    proxy: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(Unreachable, match=words) as caught:
        BlockingHttp(local=False)
    assert "HTTPS_PROXY" in caught.value.advice
    assert "hidden" not in "".join(traceback.format_exception(caught.value))
    BlockingHttp(local=True).close()  # needs none


# -- being sent on


def sends_on(to: str, status: int = 302) -> Answer:
    return status, {"Location": to}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_question_is_sent_on_within_one_server_and_to_no_other(status: int) -> None:
    with answering() as (other, asked_other), answering() as (address, asked):
        with answering(sends_on("/b?c=1", status)) as (same, asked_same):
            with BlockingHttp(local=False) as client:
                assert client.get(f"{same}/a", headers={"Authorization": "x"}).status_code == 200
            assert asked_same == ["/a", "/b?c=1"]
        for to in (other, other.replace("127.0.0.1", "localhost"), "http://zotero.example/x", "file:///etc"):
            with (
                answering(sends_on(to, status)) as (first, _),
                BlockingHttp(local=False) as client,
                pytest.raises(Unreachable, match=r"sends on|without encryption"),
            ):
                client.get(f"{first}/a")
        assert (asked_other, asked, address != other) == ([], [], True)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_what_is_written_is_never_sent_on(status: int) -> None:
    with (
        answering(sends_on("/b", status)) as (address, asked),
        BlockingHttp(local=False) as client,
        pytest.raises(Unreachable, match="sends on"),
    ):
        client.post(f"{address}/a", content=b"x")
    assert asked == ["/a"]


def test_being_sent_in_a_circle_ends() -> None:
    circle = [sends_on("/a")] * 50
    with answering(*circle) as (address, asked), BlockingHttp(local=False) as client:
        with pytest.raises(Unreachable, match="sends on"):
            client.get(f"{address}/a")
        with pytest.raises(Unreachable, match="sends on"):
            client.download(f"{address}/a", {}, io.BytesIO(), 10)
        assert len(asked) < 20


@pytest.mark.parametrize("url", ["http://zotero.example/", "http://10.0.0.1/", "ftp://zotero.example/"])
def test_nothing_leaves_this_computer_without_encryption(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering() as (proxy, asked):
        monkeypatch.setenv("HTTP_PROXY", proxy)
        with BlockingHttp(local=False) as client:
            with pytest.raises(Unreachable, match="without encryption"):
                client.get(url)
            with pytest.raises(Unreachable, match="without encryption"):
                client.download(url, {}, io.BytesIO(), 10)
        assert asked == []


@pytest.mark.parametrize(
    ("asked", "sent_to", "may"),
    [
        ("https://api.zotero.org/a", "https://files.example/x", True),
        ("https://api.zotero.org/a", "https://api.zotero.org/x", True),
        ("https://api.zotero.org/a", "http://files.example/x", False),
        ("https://api.zotero.org/a", "https://127.0.0.1/x", False),
        ("https://api.zotero.org/a", "http://localhost:23119/api", False),
        ("https://api.zotero.org/a", "https://[::ffff:127.0.0.1]/x", False),
        ("https://api.zotero.org/a", "file:///etc/passwd", False),
        ("http://127.0.0.1:1/a", "http://127.0.0.1:2/x", True),
        ("http://127.0.0.1:1/a", "https://files.example/x", False),
    ],
)
def test_a_file_may_come_from_any_server_with_encryption(asked: str, sent_to: str, may: bool) -> None:
    assert may_fetch_from(httpx2.URL(asked), httpx2.URL(sent_to)) is may
    assert not same_place(httpx2.URL("https://api.zotero.org/"), httpx2.URL("http://api.zotero.org/"))


# -- files, and what does not end


def test_a_file_is_written_as_it_comes_and_the_key_goes_to_the_first_server_only() -> None:
    with answering((200, {}, b"content")) as (store, _):
        first = sends_on(f"{store}/file")
        with (
            answering((302, {**first[1], "Told": "yes"})) as (address, _),
            BlockingHttp(local=True) as client,
        ):
            sent: list[str] = []
            client.event_hooks["request"].append(lambda r: sent.append(r.headers.get("authorization", "")))
            file = io.BytesIO()
            sizes: list[int] = []
            done = client.download(f"{address}/a", {"Authorization": "secret"}, file, 7, sizes.append)
    assert (done.status, done.cut, file.getvalue(), sum(sizes)) == (200, False, b"content", 7)
    assert [h.get("told") for h in done.headers] == ["yes", None]
    assert sent == ["secret", ""]


def test_a_file_that_is_too_large_by_its_own_word_is_not_begun() -> None:
    with answering((200, {}, b"x" * 1_001)) as (address, _), BlockingHttp(local=True) as client:
        file = io.BytesIO()
        assert client.download(address, {}, file, 1_000).cut
        assert file.getvalue() == b""


@contextmanager
def endless(piece: bytes, pause: float, head: str = "200 OK") -> Iterator[str]:
    """A server that sends pieces until it is left."""
    listener = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def send(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.recv(4_096)
            connection.sendall(f"HTTP/1.1 {head}\r\nContent-Type: text/plain\r\n\r\n".encode())
            while not done.wait(pause):
                connection.sendall(piece)

    def serve() -> None:
        while True:
            connection, _ = listener.accept()
            if done.is_set():
                connection.close()
                return
            threads.append(threading.Thread(target=send, args=(connection,)))
            threads[-1].start()

    threads: list[threading.Thread] = [threading.Thread(target=serve)]
    threads[0].start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        done.set()
        socket.create_connection(listener.getsockname()).close()
        for thread in threads:
            thread.join()
        listener.close()


@pytest.mark.parametrize("head", ["200 OK", "404 Not Found"])
def test_an_answer_that_drips_is_given_up(head: str) -> None:
    with endless(b"x", 0.02, head) as url, BlockingHttp(local=True, window=0.3) as client:
        with pytest.raises(Unreachable, match="too slowly"):
            client.get(url)
        if head.startswith("200"):
            with pytest.raises(Unreachable, match="too slowly"):
                client.download(url, {}, io.BytesIO(), 1_000_000)


def test_an_answer_without_an_end_is_not_kept_in_memory() -> None:
    with endless(b"x" * (8 << 20), 0.0) as url, BlockingHttp(local=True) as client:
        with pytest.raises(Unreachable, match="more than can be an answer"):
            client.get(url)
        assert client.download(url, {}, io.BytesIO(), 1_000_000).cut


def test_what_comes_packed_counts_unpacked() -> None:
    packed = gzip.compress(b"x" * (200 << 20))
    answer = (200, {"Content-Encoding": "gzip"}, packed)
    with answering(answer, answer) as (address, _), BlockingHttp(local=True) as client:
        with pytest.raises(Unreachable, match="more than can be an answer"):
            client.get(address)
        assert client.download(address, {}, io.BytesIO(), 1_000_000).cut


def test_an_answer_that_came_packed_is_read_as_it_was() -> None:
    packed = gzip.compress('{"a": "ä"}'.encode())
    with (
        answering((200, {"Content-Encoding": "gzip", "Content-Type": "application/json"}, packed)) as (
            url,
            _,
        ),
        BlockingHttp(local=True) as client,
    ):
        assert client.get(url).json() == {"a": "ä"}
