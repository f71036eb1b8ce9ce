"""Makes the provider of a kind named in the settings. Each dialect enters here once."""

from __future__ import annotations

from contextlib import suppress

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.models import ModelProfile, ReasoningReplay
from bibgenie_desktop.net.client import SYSTEM, Http, Route
from bibgenie_desktop.providers.addresses import base_url as address_of
from bibgenie_desktop.providers.anthropic import AnthropicCodec
from bibgenie_desktop.providers.dialects import dialect_of
from bibgenie_desktop.providers.gemini import GeminiCodec
from bibgenie_desktop.providers.http_provider import Codec, HttpProvider, KeySource
from bibgenie_desktop.providers.ollama import OllamaCodec
from bibgenie_desktop.providers.openai_chat import ChatCodec
from bibgenie_desktop.providers.openai_responses import ResponsesCodec
from bibgenie_desktop.providers.retry import Backoff
from bibgenie_desktop.providers.wire import at_least_turn


def http_provider(
    kind: str,
    id: str,
    base_url: str,
    key: KeySource,
    http: Http,
    *,
    allow_plain_http: bool = False,
    route: Route = SYSTEM,
    backoff: Backoff | None = None,
) -> HttpProvider:
    """A provider of `kind` under `id`, at the kind's own address where `base_url` is empty.

    Raises `UserError` for a kind or an address that cannot be used.
    """
    address = address_of(kind, base_url)
    codec = codec_of(kind, address)
    return HttpProvider(
        id, address, key, http, codec, allow_plain_http=allow_plain_http, route=route, backoff=backoff
    )


def codec_of(kind: str, address: str) -> Codec:
    """The dialect of a kind of provider at a base URL."""
    match kind:
        case "openai-responses":
            return ResponsesCodec(api_key_header=dialect_of(address).key_header == "api-key")
        case "anthropic":
            return AnthropicCodec()
        case "gemini":
            return GeminiCodec()
        case "ollama":
            return OllamaCodec()
    return ChatCodec(dialect_of(address))


def replay_of(kind: str, address: str, profile: ModelProfile) -> ReasoningReplay:
    """Which reasoning a model really gets again: what its profile says, or more where its provider demands
    it. Sums over tokens should go by this. `address` may be as it was typed."""
    match kind:
        case "openai-responses" | "anthropic" | "gemini":
            return at_least_turn(profile.replays_reasoning)
        case "openai-chat":
            with suppress(UserError):
                address = address_of(kind, address)
            return dialect_of(address).replay(profile)
    return profile.replays_reasoning
