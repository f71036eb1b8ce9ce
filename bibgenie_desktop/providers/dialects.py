"""Where servers of the Chat Completions interface differ, as data, chosen by their address.

A server that is not listed gets the plain form, which nearly all of them accept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from bibgenie_desktop.domain.models import ModelProfile, ReasoningReplay
from bibgenie_desktop.net.trust import is_loopback

ReasoningForm = Literal["reasoning_content", "reasoning", "thinking", "details"]
"""How reasoning goes back: as a field of that name, as a piece of the content (Mistral), or only as the
details that the server itself sent."""


@dataclass(frozen=True, slots=True)
class ChatDialect:
    """One way to speak Chat Completions."""

    name: str = "plain"
    max_tokens_key: str = "max_tokens"
    asks_for_usage: bool = True
    """`stream_options`: strict servers refuse fields they do not know, and report usage without being
    asked."""
    merge_neighbours: bool = False
    """For chat templates that demand strict alternation of user and assistant."""
    key_header: Literal["Authorization", "api-key"] = "Authorization"
    refuses_large_limits: bool = False
    """Refuses an output limit above what the model can write, so that a guess would be worse than none."""
    reasoning_as: ReasoningForm = "reasoning_content"
    echo: ReasoningReplay = "none"
    """The least that the server demands back; a model's profile may ask for more."""
    asks_to_reason: tuple[tuple[str, Mapping[str, object]], ...] = ()
    """Fields that make a model think which does so only when told."""
    pictures_in_results: bool = False
    """Takes pictures inside a tool's result, and no words of the person right behind one."""
    never_echo: str = ""
    """Models (a pattern) that refuse their reasoning whatever the profile says."""

    def replay(self, profile: ModelProfile) -> ReasoningReplay:
        if self.never_echo and re.search(self.never_echo, profile.model, re.IGNORECASE):
            return "none"
        return self.echo if profile.replays_reasoning == "none" else profile.replays_reasoning


PLAIN = ChatDialect()

_OPENAI = ChatDialect("openai", max_tokens_key="max_completion_tokens", refuses_large_limits=True)
_THINKING = (("thinking", {"type": "enabled"}),)
_ZAI = ChatDialect("zai", refuses_large_limits=True, asks_to_reason=_THINKING)
_HOSTS: dict[str, ChatDialect] = {
    "api.openai.com": _OPENAI,
    "openrouter.ai": ChatDialect(
        "openrouter",
        reasoning_as="details",
        echo="turn",
        asks_to_reason=(("reasoning", {"enabled": True}),),
    ),
    # Thinking with tools: the next step is refused without the reasoning of the ones before. The first R1
    # refuses the field itself.
    "api.deepseek.com": ChatDialect(
        "deepseek",
        refuses_large_limits=True,
        echo="turn",
        never_echo=r"\br1\b",
        asks_to_reason=_THINKING,
    ),
    "api.mistral.ai": ChatDialect(
        "mistral", asks_for_usage=False, reasoning_as="thinking", pictures_in_results=True
    ),
    "api.groq.com": ChatDialect("groq", refuses_large_limits=True, reasoning_as="reasoning"),
    "api.x.ai": ChatDialect("xai"),
    "api.z.ai": _ZAI,
    "open.bigmodel.cn": _ZAI,
}
_AZURE = replace(_OPENAI, name="azure", key_header="api-key")
_AZURE_HOSTS = (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com")
_LOCAL_PORTS: dict[int, ChatDialect] = {
    # Their chat templates come with the model; those of Gemma and Mistral refuse two user messages in a row.
    1234: ChatDialect("lm-studio", merge_neighbours=True),
    8000: ChatDialect("vllm", merge_neighbours=True),
    8080: ChatDialect("llama.cpp", merge_neighbours=True),
    11434: ChatDialect("ollama", merge_neighbours=True, reasoning_as="reasoning"),
}


def dialect_of(base_url: str) -> ChatDialect:
    try:
        parts = urlsplit(base_url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return PLAIN
    if host.endswith(_AZURE_HOSTS):
        return _AZURE
    if is_loopback(host):
        return _LOCAL_PORTS.get(port or 0, PLAIN)
    return _HOSTS.get(host.removeprefix("www."), PLAIN)
