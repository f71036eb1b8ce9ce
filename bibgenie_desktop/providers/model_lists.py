"""What the lists of models say that servers give out, each in its own form. Pure: JSON in, values out.

An entry of an unknown form is left out, a figure that cannot be true counts as not said. Models that only
embed, speak or paint are not offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bibgenie_desktop.domain.entries import KnownModel
from bibgenie_desktop.domain.prices import MILLION, Prices

_NO_CHAT = re.compile(
    r"embed|whisper|\btts\b|dall-e|moderation|transcribe|realtime|audio|davinci|babbage|sora|rerank|guard"
    r"|\bocr\b|orpheus|imagen|\bveo\b|-image|image-|live-translate|robotics|computer-use",
    re.IGNORECASE,
)
_WINDOWS = ("context_length", "context_window", "max_context_length", "max_input_tokens", "contextLength")
_OUTPUTS = ("max_completion_tokens", "max_output_tokens", "max_output_length", "max_tokens")
_MOST = 100_000_000


def openai_models(payload: object) -> tuple[KnownModel, ...]:
    """`/models` of the OpenAI interface, with what OpenRouter, Mistral, Groq, vLLM and others add."""
    listed = payload if isinstance(payload, list) else _list(payload, "data")
    return tuple(_openai(entry) for entry in _entries(listed) if _chats(entry))


def _openai(entry: Mapping[str, Any]) -> KnownModel:
    top, meta = _map(entry, "top_provider"), _map(entry, "meta")
    abilities, served = _map(entry, "capabilities"), _whole(entry.get("max_model_len"))
    window = least(*(_whole(entry.get(name)) for name in _WINDOWS), _whole(top.get("context_length")), served)
    vision, tools, reasoning = _flag(abilities, "vision"), _flag(abilities, "function_calling"), None
    inputs = _list(_map(entry, "architecture"), "input_modalities") or _list(entry, "input_modalities")
    if inputs:
        vision = "image" in inputs
    elif vision is None:
        vision = _flag(entry, "supports_image_in", "supports_image_input", "supports_vision")
    if isinstance(asked := entry.get("supported_parameters"), list):
        tools, reasoning = "tools" in asked, "reasoning" in asked
    elif tools is None:
        tools = _flag(entry, "supports_tools")
    outputs = (_whole(entry.get(name)) for name in _OUTPUTS)
    return KnownModel(
        id=str(entry["id"]),
        name=_text(entry, "name", "display_name"),
        window=window,
        max_output=_whole(top.get("max_completion_tokens")) or least(*outputs),
        vision=vision,
        tools=tools,
        reasoning=reasoning if reasoning is not None else _flag(abilities, "reasoning"),
        prices=_prices(entry.get("pricing")),
        trained=_whole(meta.get("n_ctx_train")),
        loaded=served is not None,
    )


def anthropic_models(payload: object) -> tuple[KnownModel, ...]:
    return tuple(
        KnownModel(
            id=str(entry["id"]),
            name=_text(entry, "display_name"),
            window=_whole(entry.get("max_input_tokens")),
            max_output=_whole(entry.get("max_tokens")),
            vision=_flag(_map(_map(entry, "capabilities"), "image_input"), "supported"),
            reasoning=_flag(_map(_map(entry, "capabilities"), "thinking"), "supported"),
        )
        for entry in _entries(_list(payload, "data"))
    )


def gemini_models(payload: object) -> tuple[KnownModel, ...]:
    found = []
    for entry in _entries(_list(payload, "models"), "name"):
        methods = entry.get("supportedGenerationMethods")
        if (isinstance(methods, list) and "generateContent" not in methods) or not _chats(entry, "name"):
            continue
        found.append(
            KnownModel(
                id=str(entry["name"]).removeprefix("models/"),
                name=_text(entry, "displayName"),
                window=_whole(entry.get("inputTokenLimit")),
                max_output=_whole(entry.get("outputTokenLimit")),
                reasoning=_flag(entry, "thinking"),
            )
        )
    return tuple(found)


def llama_cpp(models: Sequence[KnownModel], props: object) -> tuple[KnownModel, ...]:
    """The one model that llama.cpp serves, with what `/props` says of it as it is loaded."""
    settings = _map(props, "default_generation_settings")
    window = _whole(settings.get("n_ctx"))
    vision = _flag(_map(props, "modalities"), "vision")
    tools = _flag(_map(props, "chat_template_caps"), "supports_tools")
    return tuple(
        replace(m, window=least(window, m.trained), vision=vision, tools=tools, loaded=window is not None)
        for m in models
    )


def lm_studio(payload: object) -> tuple[KnownModel, ...]:
    """`/api/v0/models` or, since 0.4, `/api/v1/models`."""
    newer = _list(payload, "models")
    listed = _entries(newer, "key") if newer else _entries(_list(payload, "data"))
    found = []
    for entry in listed:
        if str(entry.get("type")) not in ("llm", "vlm") or not _chats(entry, "key" if newer else "id"):
            continue
        trained = _whole(entry.get("max_context_length"))
        loaded = _whole(entry.get("loaded_context_length")) if entry.get("state") != "not-loaded" else None
        for instance in _list(entry, "loaded_instances"):
            if isinstance(instance, Mapping):
                loaded = least(loaded, _whole(_map(instance, "config").get("context_length")))
        abilities = entry.get("capabilities")
        vision, tools = entry.get("type") == "vlm", None
        if isinstance(abilities, list):
            tools = "tool_use" in abilities
        elif isinstance(abilities, Mapping):
            vision = vision or bool(abilities.get("vision"))
            tools = _flag(abilities, "trained_for_tool_use")
        found.append(
            KnownModel(
                id=str(entry["key" if newer else "id"]),
                name=_text(entry, "display_name"),
                window=least(loaded, trained) if loaded else None,
                vision=vision,
                tools=tools,
                trained=trained,
                loaded=loaded is not None,
            )
        )
    return tuple(found)


def ollama_names(payload: object) -> tuple[str, ...]:
    """`/api/tags`."""
    names = (str(entry.get("model") or entry["name"]) for entry in _entries(_list(payload, "models"), "name"))
    return tuple(name for name in names if not _NO_CHAT.search(name))


def ollama_loaded(payload: object) -> Mapping[str, int]:
    """`/api/ps`: the windows of the models in memory."""
    found = {}
    for entry in _entries(_list(payload, "models"), "name"):
        if (window := _whole(entry.get("context_length"))) is not None:
            found[str(entry["name"])] = window
    return found


def ollama_model(name: str, show: object, loaded: int | None) -> KnownModel:
    """`/api/show`. What the model could have is not its window: the memory for it may not be there."""
    info = _map(show, "model_info")
    trained = least(*(_whole(value) for key, value in info.items() if key.endswith(".context_length")))
    set_up = re.search(r"^\s*num_ctx\s+(\d+)", str(_map_or_empty(show).get("parameters") or ""), re.MULTILINE)
    window = loaded or (_whole(int(set_up[1])) if set_up else None)
    abilities = _map_or_empty(show).get("capabilities")
    said = abilities if isinstance(abilities, list) else None
    return KnownModel(
        id=name,
        window=least(window, trained) if window else None,
        vision=None if said is None else "vision" in said,
        tools=None if said is None else "tools" in said,
        reasoning=None if said is None else "thinking" in said,
        trained=trained,
        loaded=loaded is not None,
    )


def owners(payload: object) -> frozenset[str]:
    """Who made the entries of a list: local servers give themselves away by it."""
    return frozenset(str(entry.get("owned_by") or "") for entry in _entries(_list(payload, "data")))


def least(*figures: int | None) -> int | None:
    """The smallest of the figures that are known."""
    return min((figure for figure in figures if figure is not None), default=None)


def _chats(entry: Mapping[str, Any], name: str = "id") -> bool:
    outputs = _list(_map(entry, "architecture"), "output_modalities")
    return not (
        _NO_CHAT.search(str(entry[name]))
        or (outputs and "text" not in outputs)
        or _map(entry, "capabilities").get("completion_chat") is False
        or str(entry.get("type") or "chat") in ("embedding", "embeddings", "image", "rerank", "moderation")
    )


def _prices(pricing: object) -> Prices | None:
    """OpenRouter's, in dollars for a token, as text."""
    if not isinstance(pricing, Mapping):
        return None
    figures: list[float | None] = []
    for name in ("prompt", "completion", "input_cache_read", "input_cache_write"):
        try:
            value = float(str(pricing[name])) * MILLION
        except (KeyError, ValueError):
            figures.append(None)
        else:
            figures.append(round(value, 6) if 0 <= value < MILLION else None)
    if figures[0] is None or figures[1] is None:
        return None
    return Prices(figures[0], figures[1], figures[2], figures[3])


def _entries(listed: Sequence[object], name: str = "id") -> Iterator[Mapping[str, Any]]:
    for entry in listed:
        if isinstance(entry, Mapping) and isinstance(entry.get(name), str) and entry[name]:
            yield entry


def _list(value: object, name: str) -> Sequence[Any]:
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, list) else ()


def _map(value: object, name: str) -> Mapping[str, Any]:
    return _map_or_empty(value.get(name) if isinstance(value, Mapping) else None)


def _map_or_empty(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 < value < _MOST else None


def _flag(value: Mapping[str, Any], *names: str) -> bool | None:
    return next((value[name] for name in names if isinstance(value.get(name), bool)), None)


def _text(value: Mapping[str, Any], *names: str) -> str:
    return next((str(value[name]) for name in names if isinstance(value.get(name), str)), "")
