"""Base URLs of providers: what people paste, made into the one form that the codecs append their path to."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.net import is_loopback

_ENDPOINTS = ("/chat/completions", "/completions", "/responses", "/embeddings", "/models")
_ROOTS = {"openrouter.ai": "/api/v1", "api.groq.com": "/openai/v1", "api.deepseek.com": ""}


def chat_base_url(typed: str) -> str:
    """The base of Chat Completions endpoints: no endpoint, query or slash at its end; `/v1` where no path
    is given."""
    text = typed.strip().strip("\"'<>").strip()
    if text and not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text):
        scheme = "http" if is_loopback(_host(f"//{text}")) else "https"
        text = f"{scheme}://{text}"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise _not_an_address(typed) from error
    host = (parts.hostname or "").lower()
    if parts.scheme.lower() not in {"http", "https"} or not host or re.search(r"\s", parts.netloc):
        raise _not_an_address(typed)
    path = re.sub(r"/{2,}", "/", parts.path).rstrip("/")
    for endpoint in _ENDPOINTS:
        if path.lower().endswith(endpoint):
            path = path[: -len(endpoint)].rstrip("/")
            break
    if not path:
        path = _ROOTS.get(host, "/v1")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme.lower()}://{shown}{f':{port}' if port else ''}{path}"


def _host(text: str) -> str:
    try:
        return urlsplit(text).hostname or ""
    except ValueError:
        return ""


def _not_an_address(typed: str) -> UserError:
    shown = typed.strip()[:80] or "(nothing)"
    return UserError(f"“{shown}” is not a web address.", "It looks like https://host/v1 .")
