"""Connections: proxies, loopback, TLS, time limits, and the sentences that failures become."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import socket
import ssl
import threading
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.errors import StreamCut, Unreachable
from bibgenie_desktop.net.client import DIRECT, SYSTEM, Http, Route
from bibgenie_desktop.net.trust import is_loopback
from tests.harness import NetworkBlocked, NetworkGuard
from tests.scripted_server import ScriptedServer, cut, raw, text


@asynccontextmanager
async def http(**options: float) -> AsyncIterator[Http]:
    client = Http(**options)  # type: ignore[arg-type]
    try:
        yield client
    finally:
        await client.aclose()


async def post(
    client: Http,
    url: str,
    *,
    plain: bool = False,
    headers: dict[str, str] | None = None,
    route: Route = SYSTEM,
) -> bytes:
    opened = client.post_stream(url, headers or {}, b"{}", allow_plain_http=plain, route=route)
    async with opened as response:
        return await response.read(1_000_000)


@contextmanager
def silent_server(greeting: bytes = b"") -> Iterator[int]:
    """Accepts connections, says `greeting` and nothing more."""
    listener = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()
    open_ones: list[socket.socket] = []

    def serve() -> None:
        while not done.is_set():
            connection, _ = listener.accept()
            open_ones.append(connection)
            if not done.is_set():
                connection.sendall(greeting)
                if greeting:
                    connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    port = listener.getsockname()[1]
    try:
        yield port
    finally:
        done.set()
        socket.create_connection(("127.0.0.1", port)).close()
        thread.join()
        for connection in open_ones:
            connection.close()
        listener.close()


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("a.localhost", True),
        ("localhost.example.org", False),
        ("192.168.1.5", False),
        ("0.0.0.0", False),
        ("127.0.0.1.example.org", False),
        ("", False),
    ],
)
def test_this_machine_is_recognised(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost"])
async def test_loopback_never_goes_through_a_proxy(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer() as proxy, ScriptedServer() as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
            monkeypatch.setenv(name, proxy.root_url)
        async with http() as client:
            if host == "127.0.0.2":  # reaches nobody: what counts is that the proxy is not asked
                with pytest.raises(Unreachable):
                    await post(client, f"http://{host}:{server.port}/v1")
            else:
                server.script(text("direct"))
                assert b"direct" in await post(client, f"http://{host}:{server.port}/v1")
        assert proxy.requests == []


async def test_others_go_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.root_url)
        proxy.script(text("through the proxy"))
        async with http() as client:
            assert b"through the proxy" in await post(client, "http://models.example/v1/chat", plain=True)
        assert [r.path for r in proxy.requests] == ["http://models.example/v1/chat"]


async def test_no_proxy_variable_is_respected(
    monkeypatch: pytest.MonkeyPatch, network_guard: NetworkGuard
) -> None:
    with ScriptedServer() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.root_url)
        monkeypatch.setenv("NO_PROXY", "models.invalid")
        async with http() as client:
            with pytest.raises(NetworkBlocked):
                await post(client, "http://models.invalid:9/v1", plain=True)
        assert proxy.requests == []
    assert network_guard.attempts == ["the address of models.invalid"]
    network_guard.attempts.clear()


async def test_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with silent_server(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n") as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        async with http() as client:
            with pytest.raises(Unreachable, match=r"proxy refused to connect to models\.example"):
                await post(client, "https://models.example/v1")


async def test_proxy_setting_that_cannot_be_used_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:1")
    async with http() as client:
        with pytest.raises(Unreachable, match="The proxy set on this computer"):
            await post(client, "https://models.example/v1")


async def test_provider_has_a_proxy_of_its_own_or_none(
    monkeypatch: pytest.MonkeyPatch, network_guard: NetworkGuard
) -> None:
    with ScriptedServer() as systems, ScriptedServer() as own, ScriptedServer() as local:
        monkeypatch.setenv("HTTP_PROXY", systems.root_url)
        own.script(text("through its own"))
        local.script(text("direct"))
        async with http() as client:
            url = "http://models.invalid:9/v1"
            assert b"its own" in await post(client, url, plain=True, route=Route(proxy=own.root_url))
            assert b"direct" in await post(client, f"{local.base_url}/x", route=Route(proxy=own.root_url))
            with pytest.raises(NetworkBlocked):
                await post(client, url, plain=True, route=Route(proxy=DIRECT))
        assert systems.requests == []
        assert [r.path for r in own.requests] == [url]
    network_guard.attempts.clear()


@pytest.mark.parametrize("proxy", ["gopher://me:hidden@127.0.0.1:1", "socks5://me:hidden@127.0.0.1:1"])
async def test_proxy_of_a_provider_that_cannot_be_used_is_a_sentence(proxy: str) -> None:
    async with http() as client:
        with pytest.raises(Unreachable, match="proxy set for this provider") as caught:
            await post(client, "https://models.example/v1", route=Route(proxy=proxy))
    assert "hidden" not in "".join(traceback.format_exception(caught.value)).replace(proxy, "")


async def test_certificates_of_an_institution_are_trusted_where_they_are_named(tmp_path: Path) -> None:
    authority, chain = certificates(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\ntrusted")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with server, http() as client:
        with pytest.raises(Unreachable, match="certificate"):
            await post(client, url)
        assert await post(client, url, route=Route(ca_file=str(authority))) == b"trusted"
        for unreadable in (tmp_path / "none.pem", tmp_path, chain.with_suffix(".txt")):
            with pytest.raises(Unreachable, match="certificate file set for this provider"):
                await post(client, url, route=Route(ca_file=str(unreadable)))


def certificates(folder: Path) -> tuple[Path, Path]:
    """An authority, and the certificate with key of a server at 127.0.0.1 that it vouches for."""
    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    def named(name: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])

    now = datetime.datetime.now(tz=datetime.UTC)
    root, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())

    def signed(name: str, public: Any, extension: x509.ExtensionType) -> bytes:
        built = (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named("An institution"))
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(extension, critical=True)
        )
        return built.sign(root, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    authority, chain = folder / "authority.pem", folder / "server.pem"
    authority.write_bytes(signed("An institution", root.public_key(), x509.BasicConstraints(True, None)))
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    chain.write_bytes(signed("server", key.public_key(), address) + private)
    chain.with_suffix(".txt").write_text("no certificate")
    return authority, chain


async def test_plain_http_stays_on_this_machine_unless_allowed() -> None:
    async with http() as client:
        with pytest.raises(Unreachable, match="without encryption"):
            await post(client, "http://192.168.1.5:11434/v1")


@pytest.mark.parametrize("url", ["ftp://host/v1", "host/v1", "", "http://", "http://[::1/v1"])
async def test_what_is_no_address_is_a_sentence(url: str) -> None:
    async with http() as client:
        with pytest.raises(Unreachable, match="not a web address"):
            await post(client, url)


async def test_server_that_is_not_there_is_named_by_host_only() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    async with http() as client:
        with pytest.raises(Unreachable, match=rf"Nothing answers at 127\.0\.0\.1:{port}") as caught:
            await post(client, f"http://me:hidden@127.0.0.1:{port}/secret/path")
    assert "hidden" not in str(caught.value)
    assert "secret" not in str(caught.value)


async def test_certificate_that_nobody_vouches_for_is_refused(tmp_path: object) -> None:
    with ScriptedServer() as server:
        async with http() as client:
            with pytest.raises(Unreachable, match=r"secure connection|certificate"):
                await post(client, f"https://127.0.0.1:{server.port}/v1")


async def test_server_that_never_answers_is_given_up() -> None:
    with silent_server() as port:
        async with http(local_idle_seconds=0.05) as client:
            with pytest.raises(Unreachable, match=r"sent nothing for 0\.05 seconds"):
                await post(client, f"http://127.0.0.1:{port}/v1")


async def test_server_that_hangs_up_is_a_sentence() -> None:
    with silent_server(b"\r\n") as port:
        async with http() as client:
            with pytest.raises(Unreachable, match="closed the connection without an answer"):
                await post(client, f"http://127.0.0.1:{port}/v1")


async def test_silence_within_an_answer_is_a_cut() -> None:
    with ScriptedServer() as server:
        server.script(text("a", "b").held(threading.Event(), after=2))
        async with http(local_idle_seconds=0.1) as client:
            with pytest.raises(StreamCut, match="stopped sending"):
                await post(client, server.base_url)


async def test_answer_that_breaks_off_is_a_cut_after_what_had_come() -> None:
    with ScriptedServer() as server:
        server.script(cut("so far"))
        async with http() as client:
            seen = b""
            async with client.post_stream(server.base_url, {}, b"{}") as response:
                with pytest.raises(StreamCut, match="broke off"):  # noqa: PT012
                    async for data in response.chunks():
                        seen += data
            assert b"so far" in seen


async def test_leaving_the_block_ends_the_request_at_the_server() -> None:
    with ScriptedServer() as server:
        server.script(text("a", "b").held(threading.Event(), after=2))
        async with http() as client:
            async with client.post_stream(server.base_url, {}, b"{}") as response:
                async for data in response.chunks():
                    assert b"assistant" in data
                    break
            server.wait_aborted()


async def test_no_more_is_read_than_asked_for() -> None:
    with ScriptedServer() as server:
        server.script(raw(*[b"x" * 1000] * 100))
        async with http() as client, client.post_stream(server.base_url, {}, b"{}") as response:
            assert await response.read(1500) == b"x" * 1500


async def test_redirects_are_not_followed() -> None:
    with ScriptedServer() as other, ScriptedServer() as server:
        redirect = raw(b"", status=307)
        server.script(type(redirect)(307, "text/html", {"Location": other.base_url}, ()))
        async with http() as client, client.post_stream(server.base_url, {}, b"{}") as response:
            assert response.status == 307
        assert other.requests == []


async def test_key_that_breaks_the_header_never_shows() -> None:
    key = "-".join(("sk", "hidden", "0123456789"))
    with ScriptedServer() as server:
        async with http() as client:
            with pytest.raises(Unreachable, match="could not be written") as caught:
                await post(client, server.base_url, headers={"Authorization": f"Bearer {key}\nx"})
    assert key not in "".join(traceback.format_exception(caught.value))


async def test_streams_are_not_asked_to_be_compressed() -> None:
    with ScriptedServer() as server:
        server.script(text("x"))
        async with http() as client:
            await post(client, server.base_url)
        assert server.requests[0].headers["accept-encoding"] == "identity"
        assert server.requests[0].headers["user-agent"] == "BibGenie"


async def test_one_connection_serves_several_requests() -> None:
    with ScriptedServer() as server:
        server.script(*[text("x")] * 3)
        async with http() as client:
            for _ in range(3):
                await post(client, server.base_url)
            assert len(server._http._connections) == 1
