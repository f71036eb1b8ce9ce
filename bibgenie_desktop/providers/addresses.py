"""Base URLs of providers: what people paste, made into the one form that the codecs append their path to."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.net.trust import is_loopback

DEFAULTS = {
    "openai-chat": "https://api.openai.com/v1",
    "openai-responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta",
    "ollama": "http://localhost:11434",
}
"""Where a provider of a kind is when nothing is said."""

_SITES = {
    # The pages where people get their keys, and the interfaces they belong to.
    "openai.com": "api.openai.com",
    "platform.openai.com": "api.openai.com",
    "console.anthropic.com": "api.anthropic.com",
    "platform.claude.com": "api.anthropic.com",
    "claude.ai": "api.anthropic.com",
    "aistudio.google.com": "generativelanguage.googleapis.com",
    "console.groq.com": "api.groq.com",
    "console.mistral.ai": "api.mistral.ai",
    "platform.deepseek.com": "api.deepseek.com",
    "console.x.ai": "api.x.ai",
}
_ROOTS = {
    "openrouter.ai": "/api/v1",
    "api.groq.com": "/openai/v1",
    "api.deepseek.com": "",
    "api.z.ai": "/api/paas/v4",
    "open.bigmodel.cn": "/api/paas/v4",
    "api.fireworks.ai": "/inference/v1",
    "generativelanguage.googleapis.com": "/v1beta/openai",
}
_AZURE = (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com")
_AZURE_VERSION = "2024-10-21"
_OPENAI_ENDS = r"/(chat/completions|completions|responses|embeddings|models)$"
_ANTHROPIC_ENDS = r"/(messages(/count_tokens|/batches)?|complete|models)$"
_GEMINI_ENDS = r"/(openai(/.*)?|(models|tunedModels)(/.*)?)$"
_OLLAMA_ENDS = r"/(api(/.*)?|v1(/.*)?)$"


def base_url(kind: str, typed: str) -> str:
    """The base of a provider of this kind; its default where nothing is typed. Raises `UserError`."""
    default = DEFAULTS.get(kind)
    if default is None:
        raise UserError(
            f"There is no kind of provider “{kind}”.", f"The kinds are {', '.join(sorted(DEFAULTS))}."
        )
    text = typed.strip() or default
    match kind:
        case "anthropic":
            return _anthropic(text)
        case "gemini":
            return _gemini(text)
        case "ollama":
            return _ollama(text)
    return chat_base_url(text)


def chat_base_url(typed: str) -> str:
    """The base of endpoints like OpenAI's: no endpoint, query or slash at its end; `/v1` where no path is
    given.

    Azure's older addresses name the deployment and keep their `api-version`.
    """
    origin, host, path, query = _parts(typed)
    path = _without(path, _OPENAI_ENDS)
    if host.endswith(_AZURE):
        if not re.search(r"/deployments/[^/]+$", path):
            return f"{origin}/openai/v1"
        version = dict(parse_qsl(query)).get("api-version", _AZURE_VERSION)
        return f"{origin}{path}?api-version={version}"
    if host == "openrouter.ai" and not path.startswith("/api/"):
        path = ""
    return f"{origin}{path or _ROOTS.get(host, '/v1')}"


def _anthropic(typed: str) -> str:
    origin, host, path, _ = _parts(typed)
    path = _without(path, _ANTHROPIC_ENDS)
    if host == "api.deepseek.com" and not path:
        path = "/anthropic"
    return f"{origin}{path}" if re.search(r"/v[0-9]+$", path) else f"{origin}{path}/v1"


def _gemini(typed: str) -> str:
    origin, host, path, _ = _parts(typed)
    path = _without(path, _GEMINI_ENDS)
    # The first version of Google's interface knows no system instruction and no thoughts.
    if not path or (host.endswith("googleapis.com") and path == "/v1"):
        path = "/v1beta"
    return f"{origin}{path}"


def _ollama(typed: str) -> str:
    origin, host, path, _ = _parts(typed)
    if origin.startswith("http://") and not re.search(r":[0-9]+$", origin) and is_loopback(host):
        origin += ":11434"
    return f"{origin}{_without(path, _OLLAMA_ENDS)}"


def _without(path: str, ends: str) -> str:
    return re.sub(ends, "", path, flags=re.IGNORECASE).rstrip("/")


def _parts(typed: str) -> tuple[str, str, str, str]:
    """(scheme, host and port; host; path without slashes at its end; query) of what was typed."""
    text = typed.strip().strip("\"'<>").strip()
    if text and not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text):
        scheme = "http" if is_loopback(_host(f"//{text}")) or _host(f"//{text}") == "0.0.0.0" else "https"
        text = f"{scheme}://{text}"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise _not_an_address(typed) from error
    host = (parts.hostname or "").lower().removesuffix(".")
    if parts.scheme.lower() not in {"http", "https"} or not host or re.search(r"\s", parts.netloc):
        raise _not_an_address(typed)
    path = re.sub(r"/{2,}", "/", parts.path).rstrip("/")
    if (site := _SITES.get(host.removeprefix("www."))) is not None:
        host, path = site, ""
    if host == "0.0.0.0":  # where a server listens, not where it is reached
        host = "127.0.0.1"
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme.lower()}://{shown}{f':{port}' if port else ''}", host, path, parts.query


def _host(text: str) -> str:
    try:
        return urlsplit(text).hostname or ""
    except ValueError:
        return ""


def _not_an_address(typed: str) -> UserError:
    # Without the query: some people paste an address that holds their key.
    shown = typed.strip().partition("?")[0][:80] or "(nothing)"
    return UserError(f"“{shown}” is not a web address.", "It looks like https://host/v1 .")
