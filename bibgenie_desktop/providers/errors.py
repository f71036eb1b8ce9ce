"""What a provider's refusal means: HTTP status and body in, one `ProviderError` with a sentence for people
out.

Works for every dialect, and for error objects inside a stream. A provider's own words are quoted only
where nothing better is known, short, and never a key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from bibgenie_desktop.domain.errors import (
    AuthError,
    BadAnswer,
    ContentFiltered,
    ContextOverflow,
    Overloaded,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    Unreachable,
)
from bibgenie_desktop.domain.numbers import whole_number
from bibgenie_desktop.providers.waiting import retry_after

_OVERFLOW = re.compile(
    r"prompt is too long|exceeds? the (available )?context|maximum (context|prompt) length"
    r"|input token count.*exceeds|reduce the length of the (messages|prompt|input)"
    r"|exceed(ed|s)? (the )?(model )?token limit"
    r"|context window exceeds|greater than the context length|longer than the context length"
    r"|exceeds? the context (size|length)|longer than the (model's )?context|context size has been exceeded"
    r"|context[_ ]length[_ ]exceeded|too large for model|`?max_tokens`? exceed context limit"
    r"|`?max_new_tokens`? must be <=|input is too long|prompt too long|prompt exceeds max length"
    r"|too many tokens: |when context the overflows|current length is [0-9]+ while limit is",
    re.IGNORECASE | re.DOTALL,
)
_OVERFLOW_CODES = {"context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"}
_PER_MINUTE = re.compile(r"(tokens|requests) per (minute|hour|day)|\b(TPM|RPM|TPD|RPD)\b", re.IGNORECASE)
_RATE_CODES = {"rate_limit_exceeded", "rate_limit_error", "resource_exhausted", "rate_limited", "1302"}
_QUOTA_CODES = {"insufficient_quota", "billing_error", "insufficient_balance", "insufficient_credits"}
_FILTER_CODES = {"content_filter", "content_policy_violation", "data_inspection_failed"}
_PER_DAY = re.compile(r"per_?day", re.IGNORECASE)
_KEY_LIKE = re.compile(r"\b(?:sk|xai|gsk|AIza|pk|rk)[-_A-Za-z0-9*]{8,}")
MOST_WORDS = 2_000
"""Characters of a message that are looked at: what matters stands at its beginning."""
_NUMBER = r"([0-9][0-9,._ ]{0,14}[0-9]|[0-9])"
_MAXIMUM = rf"maximum (?:context|prompt) length (?:is|of) {_NUMBER}"
_PAIRS = (
    # (pattern, group of the window, group of the request)
    (rf"{_MAXIMUM}.*?(?:resulted in|requested(?: about)?|contains) {_NUMBER}", 1, 2),
    (rf"prompt is too long: {_NUMBER} tokens > {_NUMBER}", 2, 1),
    (rf"token count \({_NUMBER}\) exceeds .*?\({_NUMBER}\)", 2, 1),
    (rf"contains {_NUMBER} tokens.*?too large for model with {_NUMBER}", 2, 1),
    (rf"token limit: {_NUMBER} \(requested: {_NUMBER}\)", 1, 2),
    (rf"request \({_NUMBER} tokens\) exceeds .*?\({_NUMBER} tokens\)", 2, 1),
    (rf"exceed context limit: {_NUMBER} \+ {_NUMBER} > {_NUMBER}", 3, 1),
    (rf"n_keep:? *{_NUMBER} *>=? *n_ctx:? *{_NUMBER}", 2, 1),
    (rf"must be <= {_NUMBER}.*?given:? {_NUMBER}", 1, 2),
    (
        rf"{_NUMBER} (?:input )?tokens.{{0,80}}?context (?:window|length|size) (?:is|of) (?:only )?{_NUMBER}",
        2,
        1,
    ),
    (rf"current length is {_NUMBER} while limit is {_NUMBER}", 2, 1),
    (rf"prompt is too long: {_NUMBER},.{{0,40}}?context length: {_NUMBER}", 2, 1),
    (rf"keep the first {_NUMBER} tokens.{{0,80}}?context length of only {_NUMBER}", 2, 1),
    (_MAXIMUM, 1, 0),
)


def error_object(content: bytes) -> Mapping[str, Any] | None:
    """The error inside a JSON body, flattened to one mapping with `message`; None if it is no JSON object."""
    try:
        payload = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if isinstance(payload, list) and payload and isinstance(payload[0], dict):
        payload = payload[0]
    if not isinstance(payload, dict):
        return None
    found = payload.get("error", payload.get("detail", payload))
    if isinstance(found, str):
        return {"message": found}
    if isinstance(found, list):  # a validation report: which field, and what is wrong with it
        texts = [
            f"{'.'.join(map(str, d.get('loc', ())))}: {d.get('msg', '')}"
            for d in found
            if isinstance(d, dict)
        ]
        return {"message": "; ".join(texts)}
    return found if isinstance(found, dict) else None


def http_error(
    status: int,
    headers: Mapping[str, str],
    content: bytes,
    provider: str,
    *,
    secret: str = "",
    now: float | None = None,
) -> ProviderError:
    """The error of an answer whose status is not 200."""
    found = error_object(content)
    if found is None and _is_html(headers, content):
        return Unreachable(
            f"Something between this computer and “{provider}” answered instead of it (HTTP {status}).",
            "A proxy, a login page or a wrong address. Check the connection and the provider's address.",
            status=status,
        )
    error = classify(status, found or {}, provider, headers=headers, secret=secret, now=now)
    if status == 401 and not secret and isinstance(error, AuthError):
        return AuthError(
            f"“{provider}” wants a key, and none is set.", "Enter its key in the settings.", status=status
        )
    return error


def classify(
    status: int,
    found: Mapping[str, Any],
    provider: str,
    *,
    headers: Mapping[str, str] | None = None,
    secret: str = "",
    now: float | None = None,
) -> ProviderError:
    """The error that an error object says. `status` 0: it came within a stream without a number."""
    codes = {str(found.get(name) or "").lower() for name in ("code", "type", "status")}
    status = status or _status_in(found)
    message = _message(found)
    limited = status == 429 or bool(codes & _RATE_CODES)
    if not limited and status in {0, 200, 400, 413, 422} and _overflows(codes, message):
        return _overflow(status or 400, found, message)
    if codes & _FILTER_CODES or "content management policy" in message.lower():
        return ContentFiltered(
            f"The content filter of “{provider}” refused the request.",
            "Change the question, or choose another model.",
            status=status,
        )
    if (
        status == 401
        or codes & {"invalid_api_key", "authentication_error"}
        or "api key not valid" in message.lower()
    ):
        return AuthError(
            f"“{provider}” does not accept the key.", "Enter a valid key in the settings.", status=status
        )
    if status == 402 or codes & _QUOTA_CODES or "insufficient balance" in message.lower():
        return QuotaExceeded(
            f"The account at “{provider}” has no credit left.",
            "Add credit there, or choose another model.",
            status=status,
        )
    quoted = _quoted(message, secret)
    if status == 403 or "permission_error" in codes:
        return AuthError(
            f"“{provider}” does not allow this.{quoted}", "Check what the key may use.", status=status
        )
    if limited:
        return _rate_limited(found, headers or {}, provider, status or 429, now)
    if status == 404 or codes & {"model_not_found", "not_found_error"}:
        return ProviderError(
            f"“{provider}” does not know this model or address.{quoted}",
            "Check the model's name and the provider's address in the settings.",
            status=status,
        )
    if status in {500, 501} and "image input is not supported" in message:
        return ProviderError(
            "This model cannot read images.",
            "Remove the image, or choose a model with vision.",
            status=status,
        )
    if status == 407:
        return Unreachable(
            "The proxy of this computer wants a sign-in.",
            "Check the proxy settings: user and password belong into its address.",
            status=status,
        )
    if status in {408, 502, 503, 504, 520, 522, 524, 529} or codes & {
        "overloaded_error",
        "unavailable",
        "unavailable_error",
    }:
        return Overloaded(
            f"“{provider}” is busy or starting.{quoted}",
            "Try again in a moment.",
            status=status,
            retry_after=retry_after(headers or {}, found, now),
        )
    if 300 <= status < 400:
        return Unreachable(
            f"“{provider}” points to another address.",
            "Check the provider's address in the settings.",
            status=status,
        )
    if status == 0 or status >= 500:
        return BadAnswer(
            f"“{provider}” reported a fault of its own.{quoted}", "Try again in a moment.", status=status
        )
    return ProviderError(
        f"“{provider}” refused the request (HTTP {status}).{quoted}",
        "Check the model's settings, or choose another model.",
        status=status,
    )


def _overflows(codes: set[str], message: str) -> bool:
    """By code, else by words; allowances per minute are worded much like windows."""
    if codes & _OVERFLOW_CODES:
        return True
    return bool(_OVERFLOW.search(message)) and not _PER_MINUTE.search(message)


def _message(found: Mapping[str, Any]) -> str:
    message = found.get("message")
    metadata = found.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    return " ".join(part[:MOST_WORDS] for part in (message, raw) if isinstance(part, str))


def _quoted(message: str, secret: str) -> str:
    """The provider's own words as a short addition to a sentence."""
    words = " ".join(message.split())
    if secret:
        words = words.replace(secret, "…")
    words = _KEY_LIKE.sub("…", words)
    words = words if len(words) <= 200 else words[:199] + "…"
    return f" It says: {words}" if words else ""


def _status_in(found: Mapping[str, Any]) -> int:
    for name in ("status_code", "code", "http_code"):
        value = found.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 300 <= value < 600:
            return value
    return 0


def _overflow(status: int, found: Mapping[str, Any], message: str) -> ContextOverflow:
    window, requested = _whole(found.get("n_ctx")), _whole(found.get("n_prompt_tokens"))
    if window is None:
        window, requested = overflow_figures(message)
    figures = f" It allows {window:,} tokens." if window else ""
    figures += f" The request had {requested:,}." if requested else ""
    return ContextOverflow(
        f"The conversation is larger than this model's window.{figures}",
        "Compact the conversation, shorten the message, or choose a model with a larger window.",
        status=status,
        window=window,
        requested=requested,
    )


def overflow_figures(message: str) -> tuple[int | None, int | None]:
    """(window, requested) as far as an overflow message names them."""
    for pattern, window, requested in _PAIRS:
        if match := re.search(pattern, message, re.IGNORECASE | re.DOTALL):
            return _whole(match[window]), _whole(match[requested]) if requested else None
    return None, None


def _whole(value: object) -> int | None:
    if isinstance(value, str):
        digits = re.sub(r"[,._ ]", "", value)
        value = whole_number(digits)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _rate_limited(
    found: Mapping[str, Any], headers: Mapping[str, str], provider: str, status: int, now: float | None
) -> ProviderError:
    if _PER_DAY.search(json.dumps(found.get("details", ""), default=str)[:10_000]):
        return QuotaExceeded(
            f"The daily allowance at “{provider}” is used up.",
            "Choose another model, or wait until tomorrow.",
            status=status,
        )
    after = retry_after(headers, found, now)
    wait = f"Try again in {_spoken(after)}." if after and after >= 1 else "Try again in a moment."
    if status == 413:  # the request alone is larger than what a minute allows: waiting does not help
        return RateLimited(
            f"“{provider}” allows this account fewer tokens a minute than this request has.",
            "Compact the conversation, or choose another model.",
            status=status,
        )
    return RateLimited(f"“{provider}” had too many requests.", wait, status=status, retry_after=after)


def _spoken(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    minutes = round(seconds / 60)
    return f"{minutes} minutes" if minutes < 120 else f"{round(minutes / 60)} hours"


def _is_html(headers: Mapping[str, str], content: bytes) -> bool:
    return "html" in headers.get("content-type", "") or content.lstrip()[:1] == b"<"
