"""The person's preferences as values, and the rules that `config.toml` must follow.

Reading and writing the file is `config_file`'s work. Keys are never part of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast, get_args

from bibgenie_desktop.domain.entries import ModelEntry, ProviderEntry, ProviderKind
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.models import ReasoningReplay

Theme = Literal["system", "light", "dark"]

SMALLEST_WINDOW = 2_048
DEFAULT_MODEL = "builtin/assistant"
RESERVED_IDS = frozenset({"builtin"})
_NEEDS_ADDRESS = {"openai-chat"}

T = TypeVar("T")


class BadPreference(UserError):
    """A value in `config.toml` that cannot be meant; the title names where it stands."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """Everything `config.toml` can say; the defaults are those of an empty file."""

    providers: tuple[ProviderEntry, ...] = ()
    default_model: str = DEFAULT_MODEL
    zotero_dir: str = ""
    """A folder, `sample`, or `web:<user id>` for the library on zotero.org. Empty: none was chosen yet."""
    web_files_mb: int = 2_048
    """How much the files fetched from zotero.org may take together."""
    automatic_compaction: bool = True
    theme: Theme = "system"
    text_scale: int = 100
    """In percent, 80 to 200."""
    reading_font: str = ""
    """Empty: the application's own."""

    def provider(self, id: str) -> ProviderEntry | None:
        return next((entry for entry in self.providers if entry.id == id), None)


def read_preferences(document: Mapping[str, Any]) -> Preferences:
    """The preferences of a parsed file. Unknown names are left alone; a wrong value raises
    `BadPreference`."""
    defaults, zotero, compaction, appearance = (
        _table(document, name) for name in ("defaults", "zotero", "compaction", "appearance")
    )
    providers = tuple(
        read_provider(entry, f"[[provider]] no. {number}")
        for number, entry in enumerate(_tables(document, "provider", "[[provider]]"), 1)
    )
    ids = [entry.id for entry in providers]
    for id in ids:
        if ids.count(id) > 1:
            raise BadPreference(f"Two providers have the id “{id}”.", "Give each its own.")
    scale = _value(appearance, "text_scale", int, 100, "[appearance]")
    if not 80 <= scale <= 200:
        raise BadPreference(f"[appearance] text_scale is {scale}.", "It must be 80 to 200 (percent).")
    model = _value(defaults, "model", str, DEFAULT_MODEL, "[defaults]")
    if not all(model.partition("/")):
        raise BadPreference(f"[defaults] model is “{model}”.", "It must be of the form provider/model.")
    return Preferences(
        providers=providers,
        default_model=model,
        zotero_dir=_value(zotero, "data_dir", str, "", "[zotero]"),
        web_files_mb=_number(zotero, "web_files_mb", "[zotero]") or 2_048,
        automatic_compaction=_value(compaction, "automatic", bool, True, "[compaction]"),
        theme=cast("Theme", _choice(appearance, "theme", get_args(Theme), "system", "[appearance]")),
        text_scale=scale,
        reading_font=_value(appearance, "reading_font", str, "", "[appearance]"),
    )


def read_provider(entry: Mapping[str, Any], where: str) -> ProviderEntry:
    id = _value(entry, "id", str, "", where)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", id) or id in RESERVED_IDS:
        raise BadPreference(
            f"{where} has the id “{id}”.", "It needs one of letters, digits, dots, hyphens, not “builtin”."
        )
    where = f"The provider “{id}”"
    kind = _choice(entry, "kind", get_args(ProviderKind), "", where)
    base_url = _value(entry, "base_url", str, "", where).strip()
    if kind in _NEEDS_ADDRESS and not base_url:
        raise BadPreference(f"{where} has no base_url.", "It looks like https://host/v1 .")
    models = tuple(_read_model(model, where) for model in _tables(entry, "models", where))
    plain = _value(entry, "allow_plain_http", bool, False, where)
    proxy = _value(entry, "proxy", str, "", where).strip()
    if proxy and proxy != "direct" and not re.fullmatch(r"https?://[^/\s]+/?", proxy):
        raise BadPreference(f"{where} has a proxy that is no address.", "It looks like http://host:8080 .")
    return ProviderEntry(
        id=id,
        kind=cast("ProviderKind", kind),
        base_url=base_url,
        models=models,
        allow_plain_http=plain,
        proxy=proxy,
        ca_file=_value(entry, "ca_file", str, "", where).strip(),
    )


def _read_model(entry: Mapping[str, Any], where: str) -> ModelEntry:
    id = _value(entry, "id", str, "", where)
    if not id.strip():
        raise BadPreference(f"{where} lists a model without an id.", 'Write {id = "name"}.')
    where = f"{where}, model “{id}”"
    window = _number(entry, "context_window", where)
    if window is not None and window < SMALLEST_WINDOW:
        raise BadPreference(
            f"{where}: a context_window of {window:,} tokens is too small.",
            f"This application needs at least {SMALLEST_WINDOW:,}.",
        )
    replays: str | None = None
    if "replays_reasoning" in entry:
        replays = _choice(entry, "replays_reasoning", get_args(ReasoningReplay), "none", where)
    return ModelEntry(
        id=id,
        context_window=window,
        max_output=_number(entry, "max_output", where),
        vision=_flag(entry, "vision", where),
        tools=_flag(entry, "tools", where),
        name=_value(entry, "name", str, "", where),
        replays_reasoning=cast("ReasoningReplay | None", replays),
        reasoning=_flag(entry, "reasoning", where),
    )


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = document.get(name, {})
    if not isinstance(found, Mapping):
        raise BadPreference(f"“{name}” is not a section.", f"Write it as [{name}].")
    return found


def _tables(document: Mapping[str, Any], name: str, where: str) -> list[Mapping[str, Any]]:
    found = document.get(name, [])
    if isinstance(found, list) and all(isinstance(entry, Mapping) for entry in found):
        return list(found)
    advice = "Write [[provider]]." if name == "provider" else 'Write [{id = "name"}].'
    raise BadPreference(f"{where}: {name} is not a list of tables.", advice)


_WORDS = {str: "a text in quotes", bool: "true or false", int: "a whole number"}


def _value(table: Mapping[str, Any], name: str, kind: type[T], default: T, where: str) -> T:
    value = table.get(name, default)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadPreference(f"{where}: {name} has a wrong value.", f"It must be {_WORDS[kind]}.")
    return value


def _choice(table: Mapping[str, Any], name: str, choices: tuple[str, ...], default: str, where: str) -> str:
    value = _value(table, name, str, default, where)
    if value not in choices:
        raise BadPreference(f"{where}: {name} is “{value}”.", f"It must be one of {', '.join(choices)}.")
    return value


def _number(table: Mapping[str, Any], name: str, where: str) -> int | None:
    if name not in table:
        return None
    value = _value(table, name, int, 0, where)
    if value <= 0:
        raise BadPreference(f"{where}: {name} is {value}.", "It must be more than 0.")
    return value


def _flag(table: Mapping[str, Any], name: str, where: str) -> bool | None:
    return _value(table, name, bool, False, where) if name in table else None
