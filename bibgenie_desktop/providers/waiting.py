"""How long a provider asks to wait, in the many ways in which they say it: seconds until the next request is
welcome, None where none of them is used.

Headers first, then what the error object carries, then its words. Points in time are read against the
answer's own `date`, so that a wrong clock on this machine does not matter, else against `now`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

LONGEST: Final = 7 * 24 * 3600.0  # what lies beyond is no wait but a mistake
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LENGTH = re.compile(r"(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:ms|[smhd]))+")
_PIECE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|[smhd])")
_NUMBER = re.compile(r"[0-9]{1,13}(?:\.[0-9]{1,9})?")
_SAID = re.compile(
    r"(?:try again|retry) (?:in|after) ((?:[0-9.]{1,12} ?(?:ms|[smhd])(?![a-z]))+|[0-9.]{1,12})", re.I
)
_RESETS = re.compile(r"(?:x|anthropic)-ratelimit-(?:(reset)(?:-(.+))?|(.+)-reset)")
_MILLISECONDS_FROM: Final = 1e12  # a time in seconds of this size lies in the year 33658
_TIME_FROM: Final = 1e9  # a wait of this size would be 30 years


def retry_after(
    headers: Mapping[str, str], found: Mapping[str, Any], now: float | None = None
) -> float | None:
    """Seconds to wait."""
    clock = _time(headers.get("date", "")) or now
    for wait in _stated(headers, found, clock):
        if wait is not None and 0 <= wait <= LONGEST:
            return wait
    return None


def _stated(
    headers: Mapping[str, str], found: Mapping[str, Any], clock: float | None
) -> Iterator[float | None]:
    milliseconds = _wait(headers.get("retry-after-ms", ""), None)
    yield None if milliseconds is None else milliseconds / 1000
    yield _wait(headers.get("retry-after", ""), clock)
    details = found.get("details")
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        yield _wait(delay, clock)
    yield _wait(found.get("retry_after"), clock)
    yield _reset(headers, clock)
    metadata = found.get("metadata")
    inner = metadata.get("headers") if isinstance(metadata, dict) else None
    if isinstance(inner, dict):
        yield _reset({str(name).lower(): str(value) for name, value in inner.items()}, clock)
    message = found.get("message")
    if isinstance(message, str) and (said := _SAID.search(message[:2_000])):
        yield _wait(said[1].replace(" ", "").rstrip("."), clock)


def _reset(headers: Mapping[str, str], clock: float | None) -> float | None:
    """The end of the limit that is used up; where none says so, the one that ends first."""
    waits: list[float] = []
    used_up: list[float] = []
    for name, value in headers.items():
        match = _RESETS.fullmatch(name)
        wait = _wait(value, clock) if match else None
        if match is None or wait is None or wait < 0:
            continue
        waits.append(wait)
        kind = match[2] or match[3]
        stem = name.partition("ratelimit-")[0] + "ratelimit-"
        left = (f"{stem}remaining-{kind}", f"{stem}{kind}-remaining") if kind else (f"{stem}remaining",)
        if any(headers.get(remaining, "").strip() == "0" for remaining in left):
            used_up.append(wait)
    return max(used_up) if used_up else min(waits, default=None)


def _wait(value: object, clock: float | None) -> float | None:
    """`3`, `34.4s`, `2m59.5s`, `120ms`, a date, or a point in time as a number."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    text = value.strip() if isinstance(value, str) else ""
    if _NUMBER.fullmatch(text):
        number = float(text)
        if number < _TIME_FROM:
            return number
        moment: float | None = number / 1000 if number >= _MILLISECONDS_FROM else number
    elif _LENGTH.fullmatch(text):
        return sum(float(amount) * _UNITS[unit] for amount, unit in _PIECE.findall(text))
    else:
        moment = _time(text)
    return None if moment is None or clock is None else max(0.0, moment - clock)


def _time(text: str) -> float | None:
    """A date of HTTP or of RFC 3339 as seconds."""
    if not text or len(text) > 64:
        return None
    try:
        moment = datetime.fromisoformat(text) if text[:4].isdigit() else parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
