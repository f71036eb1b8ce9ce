"""How long to wait, in all the ways in which providers say it."""

# A row of a table stays one line.
# ruff: noqa: E501

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bibgenie_desktop.providers.waiting import retry_after

NOW = datetime(2026, 10, 21, 7, 27, 30, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "7"}, {}, 7.0),
        ({"retry-after": "0.5"}, {}, 0.5),
        ({"retry-after": "1m30s"}, {}, 90.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, {}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, {}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT", "date": "Wed, 21 Oct 2026 07:27:50 GMT"}, {}, 10.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:00:00 GMT"}, {}, 0.0),
        ({}, {"details": [{"@type": "x"}, {"retryDelay": "34.4s"}]}, 34.4),
        ({}, {"details": [{"retryDelay": "34s"}, 5, None]}, 34.0),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-requests": "59", "x-ratelimit-remaining-tokens": "0"}, {}, 360.0),
        ({"x-ratelimit-reset-requests": "2m59.56s", "x-ratelimit-reset-tokens": "7.66s", "x-ratelimit-remaining-requests": "10", "x-ratelimit-remaining-tokens": "200"}, {}, 7.66),
        ({"x-ratelimit-reset-tokens": "120ms"}, {}, 0.12),
        ({"x-ratelimit-reset": str(int(NOW * 1000) + 4_000)}, {}, 4.0),
        ({"x-ratelimit-reset": str(int(NOW) + 4), "x-ratelimit-remaining": "0"}, {}, 4.0),
        ({"x-ratelimit-reset": "12"}, {}, 12.0),
        ({"anthropic-ratelimit-input-tokens-reset": "2026-10-21T07:28:30Z", "anthropic-ratelimit-input-tokens-remaining": "0", "anthropic-ratelimit-requests-reset": "2026-10-21T07:27:31Z", "anthropic-ratelimit-requests-remaining": "49"}, {}, 60.0),
        ({}, {"metadata": {"headers": {"X-RateLimit-Reset": str(int(NOW * 1000) + 9_000)}}}, 9.0),
        ({}, {"message": "Rate limit reached … Please try again in 6.2s. Visit …"}, 6.2),
        ({}, {"message": "Please try again in 2m3.5s."}, 123.5),
        ({}, {"message": "please try again in 120ms"}, 0.12),
        ({}, {"message": "Please retry after 20 seconds."}, 20.0),
        ({"retry-after": "5"}, {"message": "try again in 60s"}, 5.0),
        ({"retry-after": "99999999"}, {}, None),
        ({"retry-after": "-3"}, {}, None),
        ({"retry-after": "soon"}, {}, None),
        ({"retry-after": "nan"}, {}, None),
        ({"retry-after": "9" * 400}, {}, None),
        ({"x-ratelimit-reset-tokens": "never"}, {"details": "x", "metadata": 3}, None),
        ({}, {"message": 5, "details": {}}, None),
        ({}, {}, None),
    ],
)  # fmt: skip
def test_waiting_time_is_read(headers: dict[str, str], body: dict[str, Any], seconds: float | None) -> None:
    found = retry_after(headers, body, NOW)
    assert found == (seconds if seconds is None else pytest.approx(seconds, abs=0.01))


def test_point_in_time_needs_a_clock() -> None:
    assert retry_after({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, {}) is None
