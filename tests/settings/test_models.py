"""From `provider/model` to a profile: names with slashes and colons, and where the window is from."""

from __future__ import annotations

import pytest

from bibgenie_desktop.domain.entries import KnownModel, ModelEntry, ProviderEntry
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.prices import FREE, Prices
from bibgenie_desktop.settings.models import ConfiguredModels, Said, is_nearby, profile_of, split_ref
from bibgenie_desktop.settings.preferences import Preferences

BUILTIN = ModelProfile("builtin", "assistant", "", 32_768, "user")
CLOUD = ProviderEntry(
    "router",
    "openai-chat",
    "https://openrouter.ai/api/v1",
    (ModelEntry("qwen/qwen3:free", 40_000, 8_000, True, False, "Qwen", "turn"), ModelEntry("plain")),
)
LOCAL = ProviderEntry("lm", "openai-chat", "http://localhost:1234/v1", (ModelEntry("gemma3:12b"),))


def models(default: str = "builtin/assistant", *said: Said) -> ConfiguredModels:
    return ConfiguredModels(Preferences((CLOUD, LOCAL), default), (BUILTIN,), lambda provider, model: said)


def test_reference_is_split_at_its_first_slash() -> None:
    assert split_ref("router/qwen/qwen3:free") == ("router", "qwen/qwen3:free")


def test_profile_has_what_the_person_set() -> None:
    profile = models().profile("router/qwen/qwen3:free")
    assert profile == ModelProfile(
        "router", "qwen/qwen3:free", CLOUD.base_url, 40_000, "user", 8_000, True, False, "Qwen", "turn"
    )
    assert profile.ref == "router/qwen/qwen3:free"


def test_all_models_can_be_found_by_their_reference() -> None:
    listed = models().all()
    assert [profile.ref for profile in listed] == [
        "router/qwen/qwen3:free", "router/plain", "lm/gemma3:12b", "builtin/assistant",
    ]  # fmt: skip
    assert all(models().profile(profile.ref) == profile for profile in listed)


LIST, BOOK = KnownModel("m", window=9_999), KnownModel("m", window=50_000)


@pytest.mark.parametrize(
    ("ref", "said", "window", "source"),
    [
        ("router/qwen/qwen3:free", (("provider", LIST), ("catalogue", BOOK)), 40_000, "user"),
        ("router/plain", (("provider", LIST), ("catalogue", BOOK)), 9_999, "provider"),
        ("router/plain", (("provider", KnownModel("m")), ("catalogue", BOOK)), 50_000, "catalogue"),
        ("router/plain", (("provider", KnownModel("m", window=1_024)),), 32_768, "assumed"),
        ("router/plain", (), 32_768, "assumed"),
        ("router/not/listed", (), 32_768, "assumed"),
        ("lm/gemma3:12b", (("provider", LIST),), 9_999, "provider"),
        ("lm/gemma3:12b", (("catalogue", BOOK),), 8_192, "assumed"),
        ("lm/gemma3:12b", (), 8_192, "assumed"),
    ],
)
def test_window_comes_from_whom_is_believed_most(
    ref: str, said: tuple[Said, ...], window: int, source: str
) -> None:
    profile = models("builtin/assistant", *said).profile(ref)
    assert (profile.window, profile.window_source) == (window, source)


def test_each_ability_comes_from_the_first_who_says_something_of_it() -> None:
    prices = Prices(1, 5)
    said: tuple[Said, ...] = (
        ("provider", KnownModel("m", window=9_999, tools=False)),
        ("catalogue", KnownModel("m", "Model M", 50_000, 4_000, True, True, True, "turn", prices)),
    )
    plain = models("builtin/assistant", *said).profile("router/plain")
    assert (plain.max_output, plain.vision, plain.tools) == (4_000, True, False)
    assert (plain.name, plain.replays_reasoning, plain.prices) == ("Model M", "turn", prices)
    assert not plain.reasoning  # costs output tokens: only when the person says so
    own = ModelEntry("own", vision=False, tools=True, replays_reasoning="none", reasoning=True)
    person = profile_of(CLOUD, own, said)
    assert (person.vision, person.tools, person.replays_reasoning, person.reasoning) == (
        False, True, "none", True,
    )  # fmt: skip


def test_models_nearby_cost_nothing_and_ollama_is_assumed_to_load_little() -> None:
    assert models().profile("lm/gemma3:12b").prices == FREE
    ollama = profile_of(ProviderEntry("o", "ollama", "http://localhost:11434"), ModelEntry("m"))
    assert (ollama.window, ollama.window_source, ollama.prices) == (4_096, "assumed", FREE)


@pytest.mark.parametrize("ref", ["gone/model", "router", "router/", "", "/x"])
def test_reference_that_leads_nowhere_is_a_sentence(ref: str) -> None:
    assert models().find(ref) is None
    with pytest.raises(UserError, match="cannot be used"):
        models().profile(ref)


def test_default_falls_back_to_the_built_in_model() -> None:
    assert models("lm/gemma3:12b").default == "lm/gemma3:12b"
    assert models("gone/model").default == "builtin/assistant"


@pytest.mark.parametrize(
    ("address", "nearby"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:8080", True),
        ("http://[::1]:8080", True),
        ("http://192.168.1.5:8000", True),
        ("http://gpu.local/v1", True),
        ("http://workstation:8000", True),
        ("localhost:1234", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8/v1", False),
        ("", False),
        ("http://[", False),
    ],
)
def test_nearby_servers_are_recognised(address: str, nearby: bool) -> None:
    assert is_nearby(address) is nearby
