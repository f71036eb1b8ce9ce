"""What people paste as a provider's address."""

# A row of a table stays one line.
# ruff: noqa: E501

from __future__ import annotations

import pytest

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.providers.addresses import DEFAULTS, base_url, chat_base_url
from bibgenie_desktop.providers.http_provider import joined


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


@pytest.mark.parametrize(
    ("kind", "typed", "base"),
    [
        ("openai-chat", "https://me.openai.azure.com/", "https://me.openai.azure.com/openai/v1"),
        ("openai-chat", "https://me.openai.azure.com/openai/v1/chat/completions", "https://me.openai.azure.com/openai/v1"),
        ("openai-chat", "https://me.openai.azure.com/openai/deployments/gpt4/chat/completions?api-version=2024-06-01", "https://me.openai.azure.com/openai/deployments/gpt4?api-version=2024-06-01"),
        ("openai-chat", "https://me.openai.azure.com/openai/deployments/gpt4", "https://me.openai.azure.com/openai/deployments/gpt4?api-version=2024-10-21"),
        ("openai-chat", "https://platform.openai.com/api-keys", "https://api.openai.com/v1"),
        ("openai-chat", "https://openrouter.ai/settings/keys", "https://openrouter.ai/api/v1"),
        ("openai-chat", "console.groq.com/keys", "https://api.groq.com/openai/v1"),
        ("openai-chat", "https://api.z.ai", "https://api.z.ai/api/paas/v4"),
        ("openai-chat", "https://api.z.ai/api/coding/paas/v4/", "https://api.z.ai/api/coding/paas/v4"),
        ("openai-chat", "https://generativelanguage.googleapis.com/v1beta/openai/", "https://generativelanguage.googleapis.com/v1beta/openai"),
        ("openai-chat", "http://0.0.0.0:8080", "http://127.0.0.1:8080/v1"),
        ("openai-responses", "https://api.openai.com/v1/responses", "https://api.openai.com/v1"),
        ("openai-responses", "", "https://api.openai.com/v1"),
        ("anthropic", "", "https://api.anthropic.com/v1"),
        ("anthropic", "https://api.anthropic.com", "https://api.anthropic.com/v1"),
        ("anthropic", "https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1"),
        ("anthropic", "https://api.anthropic.com/v1/messages/count_tokens", "https://api.anthropic.com/v1"),
        ("anthropic", "https://console.anthropic.com/settings/keys", "https://api.anthropic.com/v1"),
        ("anthropic", "https://api.deepseek.com/anthropic", "https://api.deepseek.com/anthropic/v1"),
        ("anthropic", "https://api.z.ai/api/anthropic/", "https://api.z.ai/api/anthropic/v1"),
        ("anthropic", "localhost:8080", "http://localhost:8080/v1"),
        ("gemini", "", "https://generativelanguage.googleapis.com/v1beta"),
        ("gemini", "generativelanguage.googleapis.com", "https://generativelanguage.googleapis.com/v1beta"),
        ("gemini", "https://generativelanguage.googleapis.com/v1", "https://generativelanguage.googleapis.com/v1beta"),
        ("gemini", "https://generativelanguage.googleapis.com/v1beta/openai/", "https://generativelanguage.googleapis.com/v1beta"),
        ("gemini", "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent?key=AIzaSECRET", "https://generativelanguage.googleapis.com/v1beta"),
        ("gemini", "https://aistudio.google.com/app/apikey", "https://generativelanguage.googleapis.com/v1beta"),
        ("ollama", "", "http://localhost:11434"),
        ("ollama", "localhost", "http://localhost:11434"),
        ("ollama", "localhost:11434/v1", "http://localhost:11434"),
        ("ollama", "http://127.0.0.1:11434/api/chat", "http://127.0.0.1:11434"),
        ("ollama", "0.0.0.0:11434", "http://127.0.0.1:11434"),
        ("ollama", "http://192.168.1.7:11434/", "http://192.168.1.7:11434"),
        ("ollama", "https://ollama.com", "https://ollama.com"),
        ("ollama", "https://lab.example/ollama/api", "https://lab.example/ollama"),
    ],
)  # fmt: skip
def test_what_people_paste_becomes_the_base_of_its_kind(kind: str, typed: str, base: str) -> None:
    assert base_url(kind, typed) == base
    assert base_url(kind, base) == base


def test_every_kind_has_a_place_to_begin_with() -> None:
    assert {kind: base_url(kind, " ") for kind in DEFAULTS} == DEFAULTS


def test_unknown_kind_is_named() -> None:
    with pytest.raises(UserError, match="no kind of provider “claude”"):
        base_url("claude", "https://host")


def test_key_in_a_pasted_address_is_not_repeated() -> None:
    with pytest.raises(UserError) as caught:
        base_url("gemini", "ht tp://host?key=AIzaSECRET")
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("base", "path", "whole"),
    [
        ("https://h/v1", "/messages", "https://h/v1/messages"),
        ("https://h/d/gpt4?api-version=1", "/chat/completions", "https://h/d/gpt4/chat/completions?api-version=1"),
        ("https://h/v1beta", "/models/m:x?alt=sse", "https://h/v1beta/models/m:x?alt=sse"),
        ("https://h/v1?a=1", "/m?b=2", "https://h/v1/m?a=1&b=2"),
    ],
)  # fmt: skip
def test_query_of_a_base_comes_after_the_path(base: str, path: str, whole: str) -> None:
    assert joined(base, path) == whole
