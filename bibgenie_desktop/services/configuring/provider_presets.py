"""The services and servers that people commonly have, ready to be filled in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from bibgenie_desktop.domain.entries import ProviderKind


@dataclass(frozen=True, slots=True)
class Preset:
    """`key_page` is where people get their key. `note` is a sentence beside the form."""

    id: str
    name: str
    kind: ProviderKind
    base_url: str
    key: Literal["needed", "optional"] = "needed"
    key_page: str = ""
    note: str = ""


_LOCAL_NOTE = "Start its server first. Nothing leaves your computer, and it costs nothing."

PRESETS: Final = (
    Preset(
        "openai", "OpenAI", "openai-responses", "https://api.openai.com/v1",
        key_page="https://platform.openai.com/api-keys",
    ),
    Preset(
        "anthropic", "Anthropic", "anthropic", "https://api.anthropic.com/v1",
        key_page="https://console.anthropic.com/settings/keys",
    ),
    Preset(
        "gemini", "Google Gemini", "gemini", "https://generativelanguage.googleapis.com/v1beta",
        key_page="https://aistudio.google.com/apikey",
    ),
    Preset(
        "openrouter", "OpenRouter", "openai-chat", "https://openrouter.ai/api/v1",
        key_page="https://openrouter.ai/settings/keys", note="One key for the models of many providers.",
    ),
    Preset(
        "deepseek", "DeepSeek", "openai-chat", "https://api.deepseek.com",
        key_page="https://platform.deepseek.com/api_keys",
    ),
    Preset(
        "mistral", "Mistral", "openai-chat", "https://api.mistral.ai/v1",
        key_page="https://console.mistral.ai/api-keys",
    ),
    Preset(
        "groq", "Groq", "openai-chat", "https://api.groq.com/openai/v1",
        key_page="https://console.groq.com/keys",
    ),
    Preset("xai", "xAI", "openai-chat", "https://api.x.ai/v1", key_page="https://console.x.ai"),
    Preset("ollama", "Ollama", "ollama", "http://localhost:11434", "optional", note=_LOCAL_NOTE),
    Preset("lm-studio", "LM Studio", "openai-chat", "http://localhost:1234/v1", "optional", note=_LOCAL_NOTE),
    Preset("llama-cpp", "llama.cpp", "openai-chat", "http://localhost:8080/v1", "optional", note=_LOCAL_NOTE),
    Preset(
        "other", "Other (OpenAI-compatible)", "openai-chat", "", "optional",
        note="Paste the address that its documentation gives; a key only if it wants one.",
    ),
)  # fmt: skip


def preset(id: str) -> Preset:
    return next(entry for entry in PRESETS if entry.id == id)
