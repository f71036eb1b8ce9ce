"""From `provider/model` to a profile: names with slashes and colons, and where the window is from."""

from __future__ import annotations

import pytest

from bibgenie_desktop.domain.entries import ModelEntry, ProviderEntry
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.settings.models import ConfiguredModels, is_nearby, split_ref
from bibgenie_desktop.settings.preferences import Preferences

BUILTIN = ModelProfile("builtin", "assistant", "", 32_768, "user")
CLOUD = ProviderEntry(
    "router",
    "openai-chat",
    "https://openrouter.ai/api/v1",
    (ModelEntry("qwen/qwen3:free", 40_000, 8_000, True, False, "Qwen", "turn"), ModelEntry("plain")),
)
LOCAL = ProviderEntry("lm", "openai-chat", "http://localhost:1234/v1", (ModelEntry("gemma3:12b"),))


def models(default: str = "builtin/assistant", learned: dict[str, int] | None = None) -> ConfiguredModels:
    return ConfiguredModels(Preferences((CLOUD, LOCAL), default), (BUILTIN,), learned or {})


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


@pytest.mark.parametrize(
    ("ref", "learned", "window", "source"),
    [
        ("router/qwen/qwen3:free", {"router/qwen/qwen3:free": 9_999}, 40_000, "user"),
        ("router/plain", {"router/plain": 9_999}, 9_999, "learned"),
        ("router/plain", {}, 32_768, "assumed"),
        ("router/not/listed", {}, 32_768, "assumed"),
        ("lm/gemma3:12b", {}, 8_192, "assumed"),
    ],
)
def test_window_set_by_the_person_wins(ref: str, learned: dict[str, int], window: int, source: str) -> None:
    profile = models(learned=learned).profile(ref)
    assert (profile.window, profile.window_source) == (window, source)


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
