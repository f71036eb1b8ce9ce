"""What people paste as a provider's address."""

from __future__ import annotations

import pytest

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.providers.addresses import chat_base_url


@pytest.mark.parametrize(
    ("typed", "base"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("api.openai.com/v1/", "https://api.openai.com/v1"),
        (" 'https://API.OpenAI.com/v1/chat/completions?x=1#y' ", "https://api.openai.com/v1"),
        ("https://openrouter.ai", "https://openrouter.ai/api/v1"),
        ("https://openrouter.ai/api/v1/models", "https://openrouter.ai/api/v1"),
        ("https://api.deepseek.com/", "https://api.deepseek.com"),
        ("localhost:1234", "http://localhost:1234/v1"),
        ("127.0.0.1:8080/v1/chat/completions/", "http://127.0.0.1:8080/v1"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
        ("http://lab.example:8000//v1//", "http://lab.example:8000/v1"),
        ("https://host/proxy/openai/v1/responses", "https://host/proxy/openai/v1"),
    ],
)
def test_address_is_brought_into_one_form(typed: str, base: str) -> None:
    assert chat_base_url(typed) == base
    assert chat_base_url(base) == base


@pytest.mark.parametrize(
    "typed", ["", "  ", "ftp://host/v1", "https://", "https://ho st/v1", "http://host:port", "http://[::1"]
)
def test_what_is_no_address_is_named(typed: str) -> None:
    with pytest.raises(UserError, match="is not a web address"):
        chat_base_url(typed)
