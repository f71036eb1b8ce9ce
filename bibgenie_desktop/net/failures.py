"""What a failed connection means to a person; of the request nothing is told but the name of its host."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import httpx

from bibgenie_desktop.domain.errors import BadAnswer, ProviderError, StreamCut, Unreachable
from bibgenie_desktop.net.trust import is_loopback

CHECK_CONNECTION = "Check the internet connection and the provider's address, then try again."


def unreachable(error: httpx.HTTPError, host: str, connect: float, idle: float) -> ProviderError:
    causes = tuple(_causes(error))
    match error:
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return Unreachable(f"{host} did not answer within {connect:g} seconds.", CHECK_CONNECTION)
        case httpx.TimeoutException():
            return Unreachable(f"{host} sent nothing for {idle:g} seconds.", "Try again in a moment.")
        case httpx.ProxyError():
            return Unreachable(
                f"The proxy refused to connect to {host}.", "Check the proxy settings of this computer."
            )
        case httpx.UnsupportedProtocol():
            return Unreachable(
                "The provider's address is not a web address.", "It must start with https:// ."
            )
        case httpx.RemoteProtocolError() | httpx.ReadError() | httpx.WriteError():
            return Unreachable(f"{host} closed the connection without an answer.", "Try again in a moment.")
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return Unreachable(
            f"The certificate of {host} could not be verified.",
            "Nothing was sent. If a proxy or virus scanner stands in between, install its certificate.",
        )
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return Unreachable(f"No secure connection to {host} could be made.", "Is it an http:// address?")
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return Unreachable(f"The address {host} was not found.", CHECK_CONNECTION)
    if is_loopback(host.rpartition(":")[0] or host):
        return Unreachable(f"Nothing answers at {host}.", "Start the model server, or check its port.")
    return Unreachable(f"{host} could not be reached.", CHECK_CONNECTION)


def broken(error: httpx.HTTPError, host: str, idle: float) -> ProviderError:
    if isinstance(error, httpx.TimeoutException):
        return StreamCut(
            f"{host} stopped sending for {idle:g} seconds.", "What had arrived is kept; you can retry."
        )
    if isinstance(error, httpx.DecodingError):
        return BadAnswer(f"The answer of {host} could not be decoded.")
    return StreamCut(f"The connection to {host} broke off.", "What had arrived is kept; you can retry.")


def unusable_proxy(error: Exception, *, own: bool = False) -> Unreachable:
    """`own`: the one that is set for a provider. What is told does not show its address."""
    whose = "for this provider" if own else "on this computer"
    if isinstance(error, ImportError) or "socks" in str(error):  # what it would need is not installed
        title = f"The proxy set {whose} is a SOCKS proxy, which cannot be used."
    else:
        title = f"The proxy set {whose} cannot be used."
    if own:
        return Unreachable(title, "It looks like http://host:8080; check it in the settings.")
    return Unreachable(
        title,
        "Set one like http://host:8080 in HTTP_PROXY and HTTPS_PROXY or in the system's proxy settings, and "
        "take the other out of them and of ALL_PROXY.",
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__
