"""HTTP errors of providers as sentences: the right kind, the figures, and nothing that must stay secret."""

# A row of a table stays one line.
# ruff: noqa: E501

from __future__ import annotations

import json
from typing import Any

import pytest

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
from bibgenie_desktop.providers.errors import http_error, overflow_figures


def error(status: int, body: Any, **headers: str) -> ProviderError:
    content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return http_error(status, named, content, "lab", secret="sk-verysecret")


def said(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, said("x", code="context_length_exceeded"), ContextOverflow),
        (400, said("x", type="exceed_context_size_error", n_ctx=8192), ContextOverflow),
        (413, said("Prompt contains 9 tokens, too large for model with 8 maximum context length"), ContextOverflow),
        (422, said("Please reduce the length of the messages or completion"), ContextOverflow),
        (400, said("tokens to keep from the initial prompt is greater than the context length"), ContextOverflow),
        (400, said("the prompt is longer than the context length currently available to the model"), ContextOverflow),
        (400, {"object": "error", "message": "This model's maximum context length is 4096 tokens."}, ContextOverflow),
        (400, said("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length"), ContextOverflow),
        (400, said("context_length_exceeded"), ContextOverflow),
        (413, {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}, ProviderError),
        (413, said("Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000", type="tokens", code="rate_limit_exceeded"), RateLimited),
        (400, said("Limit 8000 tokens per minute: too large for model x"), ProviderError),
        (429, said("x", code="context_length_exceeded"), RateLimited),
        (429, said("quota", status="RESOURCE_EXHAUSTED", details=[{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]), QuotaExceeded),
        (400, said("Your credit balance is too low", type="billing_error"), QuotaExceeded),
        (429, said("Limit 30000 tokens per minute; please reduce the length of the messages"), RateLimited),
        (401, said("Incorrect API key provided", code="invalid_api_key"), AuthError),
        (400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid. Pass one."}}, AuthError),
        (403, said("not allowed"), AuthError),
        (402, said("Insufficient credits"), QuotaExceeded),
        (429, said("You exceeded your current quota", type="insufficient_quota", code="insufficient_quota"), QuotaExceeded),
        (429, said("slow down"), RateLimited),
        (429, "", RateLimited),
        (503, said("Loading model", type="unavailable_error", code=503), Overloaded),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, Overloaded),
        (400, said("filtered", code="content_filter"), ContentFiltered),
        (404, said("The model `x` does not exist", code="model_not_found"), ProviderError),
        (500, said("image input is not supported - hint: use mmproj"), ProviderError),
        (407, said("Proxy Authentication Required"), Unreachable),
        (408, said("timed out"), Overloaded),
        (500, said("oops"), BadAnswer),
        (400, said("Invalid 'temperature'"), ProviderError),
        (422, {"detail": [{"loc": ["body", "tools"], "msg": "Extra inputs are not permitted", "input": "TEXT"}]}, ProviderError),
        (502, "<html><body>Bad gateway</body></html>", Unreachable),
        (200 + 102, "", Unreachable),
        (400, "not json", ProviderError),
        (413, "", ProviderError),
    ],
)  # fmt: skip
def test_kind_of_error_is_recognised(status: int, body: Any, kind: type[ProviderError]) -> None:
    found = error(status, body)
    assert type(found) is kind
    assert found.title.endswith((".", ")", "…")) or "It says" in found.title
    assert found.advice


@pytest.mark.parametrize(
    ("message", "window", "requested"),
    [
        ("This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.", 128_000, 140_000),
        ("This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (39000 of text)", 32_768, 40_000),
        ("prompt is too long: 205351 tokens > 200000 maximum", 200_000, 205_351),
        ("The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", 1_048_575, 1_196_265),
        ("maximum prompt length is 131072 but the request contains 537812 tokens", 131_072, 537_812),
        ("exceeded model token limit: 8192 (requested: 9000)", 8_192, 9_000),
        ("Prompt contains 40,000 tokens and is too large for model with 32,768 maximum context length", 32_768, 40_000),
        ("request (12031 tokens) exceeds the available context size (8192 tokens), try increasing it", 8_192, 12_031),
        ("This model's maximum context length is 4096 tokens.", 4_096, None),
        ("context window exceeds limit", None, None),
        ("Prompt exceeds max length", None, None),
        ("Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192", 8_192, 9_000),
        ("The prompt is too long: 9000, model maximum context length: 8191", 8_191, 9_000),
        ("Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens", 4_096, 5_000),
        ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease", 200_000, 190_000),
        ("tokens to keep from the initial prompt is greater than the context length (n_keep: 5000>= n_ctx: 4096)", 4_096, 5_000),
        ("`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens", 8_193, 9_000),
    ],
)  # fmt: skip
def test_figures_of_an_overflow_are_read(message: str, window: int | None, requested: int | None) -> None:
    assert overflow_figures(message) == (window, requested)
    found = error(400, said(message))
    assert isinstance(found, ContextOverflow)
    assert (found.window, found.requested) == (window, requested)
    if window:
        assert f"{window:,}" in found.title


def test_waiting_time_is_told() -> None:
    found = error(429, said("slow"), retry_after="12")
    assert isinstance(found, RateLimited)
    assert found.retry_after == 12
    assert "12 seconds" in found.advice


def test_a_key_never_enters_the_sentence() -> None:
    found = error(400, said("bad header Bearer sk-verysecret and sk-otherKey12345678 and AIzaSyA1234567890"))
    assert "secret" not in str(found)
    assert "otherKey" not in str(found)
    assert "AIzaSy" not in str(found)


def test_a_validation_report_does_not_echo_the_input() -> None:
    found = error(422, {"detail": [{"loc": ["body", "messages"], "msg": "bad", "input": "my whole thesis"}]})
    assert "body.messages: bad" in found.title
    assert "thesis" not in str(found)


def test_long_words_of_a_provider_are_cut() -> None:
    assert len(error(400, said("x " * 5_000)).title) < 300


def test_long_and_odd_messages_do_not_hold_anything_up() -> None:
    for message in ("1," * 2_000_000, "maximum context length is " * 100_000, "9 tokens " * 500_000):
        assert isinstance(error(400, said(message)), ProviderError)


@pytest.mark.parametrize(
    ("seconds", "told"), [("12", "12 seconds"), ("600", "10 minutes"), ("86400", "24 hours")]
)
def test_long_waits_are_told_in_larger_units(seconds: str, told: str) -> None:
    assert told in error(429, said("slow"), retry_after=seconds).advice


def test_busy_provider_may_say_how_long() -> None:
    found = error(529, said("Overloaded", type="overloaded_error"), retry_after="4")
    assert isinstance(found, Overloaded)
    assert found.retry_after == 4


def test_without_a_key_the_provider_is_said_to_want_one() -> None:
    refused = b'{"error": {"message": "You did not provide an API key."}}'
    missing = http_error(401, {}, refused, "lab")
    wrong = http_error(401, {}, refused, "lab", secret="sk-x")
    assert "wants a key, and none is set" in missing.title
    assert "does not accept the key" in wrong.title
