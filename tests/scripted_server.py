"""A scripted OpenAI-compatible server on loopback: real HTTP, deterministic, for sync and async tests alike.

    with ScriptedServer() as server:
        server.script(text("Hello ", "there", usage=(12, 2)), tool_calls(("search_items", {"query": "soil"})))
        ... a client with base URL server.base_url ...
        assert server.bodies[0]["messages"][-1]["content"] == "Hi"

Replies are used in the order they were scripted; `reply_with` answers whatever is not scripted. A request
that finds neither gets a 500 and makes the `with` block fail. The same server also plays a plain HTTP proxy
(requests then arrive with a whole URL as `path`).
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal

POLL_SECONDS = 0.02

Ending = Literal["done", "silent", "cut"]


@dataclass(frozen=True)
class Reply:
    """One answer: `chunks` are written one by one, `delay` seconds apart.

    `hold` stops after `hold_after` chunks until the event is set. `ending`: `done` closes the body properly,
    `silent` too (for bodies without a last event), `cut` breaks the connection in the middle of the body.
    """

    status: int = 200
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: tuple[bytes, ...] = ()
    delay: float = 0.0
    hold: threading.Event | None = None
    hold_after: int = 0
    ending: Ending = "done"

    def held(self, event: threading.Event, after: int = 0) -> Reply:
        """The same reply that waits for `event` after `after` chunks (0: before the status line)."""
        return replace(self, hold=event, hold_after=after)

    def slow(self, delay: float) -> Reply:
        return replace(self, delay=delay)


@dataclass(frozen=True)
class Received:
    """A request as it arrived. `body` is the parsed JSON, `raw` its bytes; header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: Any


Usage = tuple[int, int] | Mapping[str, Any] | None


def sse(payload: Mapping[str, Any] | str) -> bytes:
    data = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
    return f"data: {data}\n\n".encode()


def chunk(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
    """One event of a chat completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return sse(
        {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice]}
    )


def _usage(usage: Usage) -> dict[str, Any] | None:
    if isinstance(usage, tuple):
        prompt, completion = usage
        return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return dict(usage) if usage is not None else None


def _tail(usage: Usage, finish: str) -> tuple[bytes, ...]:
    figures = _usage(usage)
    reported = () if figures is None else (sse({"id": "chatcmpl-1", "choices": [], "usage": figures}),)
    return (chunk({}, finish), *reported, sse("[DONE]"))


def text(*pieces: str, usage: Usage = None, finish: str = "stop", reasoning: Sequence[str] = ()) -> Reply:
    """An answer streamed in these pieces, after `reasoning_content` pieces if any."""
    thoughts = tuple(chunk({"reasoning_content": piece}) for piece in reasoning)
    words = tuple(chunk({"content": piece}) for piece in pieces)
    return Reply(
        chunks=(chunk({"role": "assistant", "content": ""}), *thoughts, *words, *_tail(usage, finish))
    )


def tool_calls(
    *calls: tuple[str, Mapping[str, Any] | str],
    say: str = "",
    usage: Usage = None,
    finish: str = "tool_calls",
) -> Reply:
    """Tool calls, arguments in two pieces each; `say` is text before them. Strings are sent as they are."""
    chunks = [chunk({"role": "assistant", "content": say or None})]
    for index, (name, arguments) in enumerate(calls):
        written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        half = len(written) // 2
        head = {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        chunks.append(chunk({"tool_calls": [head]}))
        chunks.extend(
            chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
            for piece in (written[:half], written[half:])
            if piece
        )
    return Reply(chunks=(*chunks, *_tail(usage, finish)))


def cut(*pieces: str, clean: bool = False) -> Reply:
    """An answer that breaks off after these pieces; `clean`: the body ends properly, but unfinished."""
    words = tuple(chunk({"content": piece}) for piece in pieces)
    return Reply(chunks=words, ending="silent" if clean else "cut")


def error(
    status: int,
    message: str = "",
    *,
    code: str | None = None,
    kind: str = "invalid_request_error",
    body: Mapping[str, Any] | str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """An HTTP error with OpenAI's JSON body, or with `body` as given."""
    payload = (
        body
        if body is not None
        else {"error": {"message": message, "type": kind, "param": None, "code": code}}
    )
    written = payload if isinstance(payload, str) else json.dumps(payload)
    return Reply(status, "application/json", headers or {}, (written.encode(),))


def completion(content: str, *, usage: Usage = None, finish: str = "stop") -> Reply:
    """A whole completion as one JSON object although a stream was asked for."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}
    payload = {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": _usage(usage)}
    return Reply(content_type="application/json", chunks=(json.dumps(payload).encode(),))


def html(
    status: int = 200, page: str = "<!DOCTYPE html><html><body>Sign in to the network</body></html>"
) -> Reply:
    """The page of a captive portal or a proxy."""
    return Reply(status, "text/html", {}, (page.encode(),))


def raw(
    *chunks: bytes, status: int = 200, content_type: str = "text/event-stream", ending: Ending = "done"
) -> Reply:
    return Reply(status, content_type, {}, chunks, ending=ending)


class ScriptedServer:
    """Use as a context manager; `base_url` ends in `/v1`. Safe to use from the test's thread meanwhile."""

    def __init__(self, models: Sequence[str] = ("scripted",)) -> None:
        self.requests: list[Received] = []
        self.models = tuple(models)
        self._replies: deque[Reply] = deque()
        self._dynamic: Callable[[Any], Reply] | None = None
        self._changed = threading.Condition()
        self._aborted = 0
        self._served = 0
        self._unscripted = 0
        self._closing = threading.Event()
        self._http = _Server(self)
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(POLL_SECONDS,), name="scripted-server"
        )

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def root_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.root_url}/v1"

    @property
    def bodies(self) -> list[Any]:
        """The parsed bodies of the requests so far."""
        return [request.body for request in self.requests]

    @property
    def aborted(self) -> bool:
        """Whether a client went away before its reply was whole."""
        return self._aborted > 0

    def script(self, *replies: Reply) -> None:
        """Add replies to the queue."""
        with self._changed:
            self._replies.extend(replies)

    def reply_with(self, answer: Callable[[Any], Reply]) -> None:
        """Answer requests that find an empty queue by a function of the parsed body."""
        self._dynamic = answer

    def wait_for_requests(self, count: int, timeout: float = 10.0) -> None:
        """Block until `count` requests have arrived (in async tests: through `asyncio.to_thread`)."""
        self._wait(lambda: len(self.requests) >= count, timeout, f"{count} requests")

    def wait_served(self, count: int, timeout: float = 10.0) -> None:
        """Block until `count` replies were written to their end."""
        self._wait(lambda: self._served >= count, timeout, f"{count} whole replies")

    def wait_aborted(self, timeout: float = 10.0) -> None:
        self._wait(lambda: self._aborted > 0, timeout, "a client that goes away")

    def _wait(self, met: Callable[[], bool], timeout: float, what: str) -> None:
        with self._changed:
            if not self._changed.wait_for(met, timeout):
                raise AssertionError(
                    f"waited {timeout} s in vain for {what}; {len(self.requests)} requests came"
                )

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.close_connections()
        self._http.server_close()
        self._thread.join()
        if kind is None and self._unscripted:
            raise AssertionError(f"{self._unscripted} requests came that had no scripted reply")

    # Called by the handler threads.

    def take(self, request: Received) -> Reply:
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
            if self._replies:
                return self._replies.popleft()
            if self._dynamic is None:
                self._unscripted += 1
                return error(500, "no reply is scripted for this request")
        return self._dynamic(request.body)

    def ended(self, *, whole: bool) -> None:
        with self._changed:
            if whole:
                self._served += 1
            elif not self._closing.is_set():
                self._aborted += 1
            self._changed.notify_all()

    @property
    def closing(self) -> bool:
        return self._closing.is_set()


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True

    def __init__(self, owner: ScriptedServer) -> None:
        self.owner = owner
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def opened(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.add(connection)

    def closed(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.discard(connection)

    def close_connections(self) -> None:
        with self._lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not self.owner.closing:
            super().handle_error(request, client_address)


class _ClientGone(Exception):
    pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.server.opened(self.connection)

    def finish(self) -> None:
        self.server.closed(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        listed = {
            "object": "list",
            "data": [{"id": name, "object": "model"} for name in self.server.owner.models],
        }
        payload = json.dumps(listed).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(content)
        except ValueError:
            body = None
        headers = {name.lower(): value for name, value in self.headers.items()}
        owner = self.server.owner
        reply = owner.take(Received(self.command, self.path, headers, content, body))
        try:
            self._write(reply)
        except (_ClientGone, ConnectionError):
            self.close_connection = True
            owner.ended(whole=False)
        else:
            owner.ended(whole=True)

    def _write(self, reply: Reply) -> None:
        if reply.hold is not None and reply.hold_after == 0:
            self._hold(reply.hold)
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for index, piece in enumerate(reply.chunks):
            if reply.hold is not None and index and index == reply.hold_after:
                self._hold(reply.hold)
            if reply.delay:
                self._pause(reply.delay)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        if reply.hold is not None and reply.hold_after >= len(reply.chunks) > 0:
            self._hold(reply.hold)
        if reply.ending == "cut":
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")

    def _hold(self, released: threading.Event) -> None:
        while not released.is_set():
            self._pause(POLL_SECONDS)

    def _pause(self, seconds: float) -> None:
        """Wait, noticing a client that closes its side meanwhile."""
        if self.server.owner.closing:
            raise _ClientGone
        readable, _, _ = select.select([self.connection], [], [], seconds)
        if readable and not self.connection.recv(1, socket.MSG_PEEK):
            raise _ClientGone
