"""The catalogue: which entry a model's name means, and when its price may be told."""

from __future__ import annotations

import json
from functools import cache

import pytest

from bibgenie_desktop.domain.entries import ProviderKind
from bibgenie_desktop.domain.prices import FREE
from bibgenie_desktop.providers.catalogue import Catalogue, read_catalogue
from bibgenie_desktop.settings.resources import resources_dir

OPENAI, ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com"
OPENROUTER, STRANGER = "https://openrouter.ai/api/v1", "https://llm.university.example/v1"


@cache
def catalogue() -> Catalogue:
    return read_catalogue(json.loads((resources_dir() / "catalogue.json").read_text("utf-8")))


@pytest.mark.parametrize(
    ("model", "base_url", "kind", "window", "priced"),
    [
        ("gpt-5-mini", OPENAI, "openai-chat", 400_000, True),
        ("gpt-5-mini-2025-08-07", OPENAI, "openai-responses", 400_000, True),
        ("claude-sonnet-4-5-20250929", "", "anthropic", 200_000, True),
        ("claude-sonnet-4-5@20250929", STRANGER, "anthropic", 200_000, False),
        ("models/gemini-2.5-pro", "", "gemini", 1_048_576, True),
        ("mistral-large", "https://api.mistral.ai/v1", "openai-chat", 262_144, True),
        ("anthropic/claude-haiku-4.5", OPENROUTER, "openai-chat", 200_000, True),
        ("anthropic/claude-opus-4.6", OPENROUTER, "openai-chat", 1_000_000, False),
        ("anthropic/claude-haiku-4.5", STRANGER, "openai-chat", 200_000, False),
        ("openai/gpt-oss-120b", "https://api.groq.com/openai/v1", "openai-chat", 131_072, True),
        ("GPT-4o:latest", OPENAI, "openai-chat", 128_000, True),
        ("claude-haiku-4.5:online", OPENROUTER, "openai-chat", 200_000, False),
        ("gpt-4.1-mini-tuned-by-us", OPENAI, "openai-chat", 1_047_576, False),
    ],
)
def test_name_finds_its_model_and_a_price_only_where_it_is_sure(
    model: str, base_url: str, kind: ProviderKind, window: int, priced: bool
) -> None:
    found = catalogue().find(model, base_url, kind)
    assert found is not None
    assert (found.id, found.window, found.prices is not None) == (model, window, priced)


@pytest.mark.parametrize("model", ["", "gpt-5.9", "gpt-50", "llama", "claude", "my-model", "/", ":"])
def test_unknown_name_is_not_taken_for_another(model: str) -> None:
    assert catalogue().find(model, OPENAI, "openai-chat") is None


def test_longest_beginning_wins() -> None:
    found = catalogue().find("gpt-5-mini-special", OPENAI, "openai-chat")
    assert found is not None
    assert (found.window, found.name, found.prices) == (400_000, "", None)
    longer = catalogue().find("gpt-4.1-nano-special", STRANGER, "openai-chat")
    assert longer is not None
    assert longer.max_output == 32_768


def test_free_models_cost_nothing() -> None:
    assert catalogue().prices("deepseek/deepseek-v4-flash:free", OPENROUTER) == FREE
    paid = catalogue().prices("deepseek/deepseek-v4-flash", OPENROUTER)
    assert paid is not None
    assert not paid.free


@pytest.mark.parametrize(
    ("model", "base_url", "kind", "replays"),
    [
        ("gpt-5", OPENAI, "openai-chat", "none"),
        ("gpt-5", OPENAI, "openai-responses", "turn"),
        ("gpt-4.1", OPENAI, "openai-responses", "none"),
        ("claude-opus-4-7", ANTHROPIC, "anthropic", "turn"),
        ("claude-opus-4-7", STRANGER, "anthropic", "turn"),
        ("anthropic/claude-opus-4.7", OPENROUTER, "openai-chat", "turn"),
        ("anthropic/claude-opus-4.6", OPENROUTER, "openai-chat", "turn"),
        ("deepseek-reasoner", "https://api.deepseek.com", "openai-chat", "turn"),
        ("deepseek-reasoner", STRANGER, "openai-chat", None),
    ],
)
def test_reasoning_goes_back_only_where_the_provider_is_known_to_take_it(
    model: str, base_url: str, kind: ProviderKind, replays: str | None
) -> None:
    found = catalogue().find(model, base_url, kind)
    assert found is not None
    assert found.replays_reasoning == replays


def test_committed_file_is_whole() -> None:
    whole = catalogue()
    assert 55 <= len(whole) <= 90
    assert whole.as_of >= "2026-05-21"
    for base_url in (OPENAI, ANTHROPIC, OPENROUTER, "https://api.mistral.ai", "https://api.x.ai/v1"):
        offered = whole.offered(base_url)
        assert offered
        for model in offered:
            assert model.window
            assert model.window >= 32_000
            assert model.prices is not None
            assert model.prices.output >= model.prices.input >= 0
            assert (model.prices.cache_read or 0) <= model.prices.input
    assert whole.offered(STRANGER) == ()


def test_figure_of_nothing_means_not_known() -> None:
    entry = {
        "provider": "x", "id": "m", "name": "M", "window": 0, "max_output": 0, "vision": False, "tools": True,
        "reasoning": False, "replays_reasoning": "none",
    }  # fmt: skip
    read = read_catalogue({"as_of": "", "providers": {"x": {"hosts": ["x.example"]}}, "models": [entry]})
    found = read.find("m", "https://x.example/v1")
    assert found is not None
    assert (found.window, found.max_output, found.prices) == (None, None, None)
