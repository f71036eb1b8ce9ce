"""Whom a connection may reach and trust: this machine, addresses, certificates."""

from __future__ import annotations

import ipaddress
import os
import ssl

import httpx

from bibgenie_desktop.domain.errors import Unreachable


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def verifying(ca_file: str = "") -> ssl.SSLContext:
    context = httpx.create_ssl_context()
    # The system's own authorities too: firms and universities install theirs there.
    context.load_default_certs()
    if ca_file:
        try:
            context.load_verify_locations(cafile=os.path.expanduser(ca_file))
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise Unreachable(
                "The certificate file set for this provider cannot be read.",
                "It must exist and hold certificates as text (PEM); check it in the settings.",
            ) from error
    return context


def trusting_nobody() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def parsed(url: str, allow_plain_http: bool) -> httpx.URL:
    try:
        target = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise Unreachable(
            "The provider's address is not a web address.", "Check it in the settings."
        ) from error
    if target.scheme not in {"http", "https"} or not target.host:
        raise Unreachable("The provider's address is not a web address.", "It must start with https:// .")
    if target.scheme == "http" and not allow_plain_http and not is_loopback(target.host):
        raise Unreachable(
            f"{shown(target)} would be reached without encryption.",
            "Use an https:// address, or allow plain http for this provider in the settings.",
        )
    return target


def shown(url: httpx.URL) -> str:
    host = f"[{url.host}]" if ":" in url.host else url.host
    return host if url.port is None else f"{host}:{url.port}"
