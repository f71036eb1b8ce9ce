"""What is known of common models before anybody is asked: windows, limits, abilities and prices.

A lookup over a committed list (`resources/catalogue.json`, made by `packaging/make_catalogue.py`). It is the
last source that is believed, above a mere assumption; prices are told only where the very model at its own
provider is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from bibgenie_desktop.domain.entries import KnownModel, ProviderKind
from bibgenie_desktop.domain.models import ReasoningReplay
from bibgenie_desktop.domain.prices import FREE, Prices

_DATE = re.compile(r"[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2})$")
_EDGES = "-:@_"  # a dot is none: a model "x.7" is not a kind of "x"
_HOME = {"anthropic": "anthropic", "gemini": "google"}
"""Whose interface a kind is: without an address, or at a proxy's, the same models are meant."""
_ROUTER = "openrouter"  # takes back whatever reasoning it sent, for every model
_CHAT_ONLY_COUNTED = {"openai", "google"}
"""Providers whose Chat Completions neither show reasoning nor take it back."""


@dataclass(frozen=True, slots=True)
class _Match:
    model: KnownModel
    provider: str
    exact: bool
    """The very model, not merely one whose name begins alike."""


class Catalogue:
    """Models by the provider that offers them. `as_of` is the day of the data."""

    def __init__(
        self,
        models: Iterable[tuple[str, KnownModel]],
        hosts: Mapping[str, str],
        as_of: str = "",
    ) -> None:
        self.as_of = as_of
        self._hosts = dict(hosts)
        self._models: dict[str, list[KnownModel]] = {}
        for provider, model in models:
            self._models.setdefault(provider, []).append(model)

    def __len__(self) -> int:
        return sum(map(len, self._models.values()))

    def provider_of(self, base_url: str, kind: ProviderKind | None = None) -> str | None:
        """Who answers at an address, as the catalogue names it; None for an address of somebody else."""
        host = _host(base_url)
        if host in self._hosts:
            return self._hosts[host]
        return _HOME.get(kind or "") if not host else None

    def offered(self, base_url: str, kind: ProviderKind | None = None) -> tuple[KnownModel, ...]:
        """The models worth offering at an address, the best first."""
        return tuple(self._models.get(self.provider_of(base_url, kind) or "", ()))

    def find(self, model: str, base_url: str = "", kind: ProviderKind | None = None) -> KnownModel | None:
        """What is known of a model at an address, under the id asked for; None where nothing is.

        A name is looked for as it is, then without the provider before it, a date or a tag behind it, then
        by the longest name it begins with.
        """
        home = self.provider_of(base_url, kind)
        match = self._match(model, home)
        if match is None:
            return None
        at_home = match.provider == home
        known = match.model
        replays: ReasoningReplay | None = known.replays_reasoning if at_home else None
        if kind == "openai-chat" and home in _CHAT_ONLY_COUNTED:
            replays = "none"
        elif home == _ROUTER and known.reasoning:
            replays = "turn"
        elif home is None and kind in ("anthropic", "gemini", "openai-responses"):
            replays = known.replays_reasoning
        return replace(
            known,
            id=model,
            name=known.name if match.exact else "",
            replays_reasoning=replays,
            prices=_prices(model, known, sure=match.exact and at_home),
        )

    def prices(self, model: str, base_url: str, kind: ProviderKind | None = None) -> Prices | None:
        """What a model costs at an address; None where that is not known for sure."""
        found = self.find(model, base_url, kind)
        return found.prices if found is not None else None

    def _match(self, model: str, home: str | None) -> _Match | None:
        order = ([home] if home else []) + [name for name in self._models if name != home]
        for form in _forms(model):
            for provider in order:
                for known in self._models.get(provider, ()):
                    if _plain(known.id) == form or (provider != home and _plain(_short(known.id)) == form):
                        return _Match(known, provider, exact=True)
        best: _Match | None = None
        length = 0
        for provider in order:
            for known in self._models.get(provider, ()):
                if len(known.id) > length and any(_begins(f, known.id) for f in _written(model)):
                    best, length = _Match(known, provider, exact=False), len(known.id)
        return best


def read_catalogue(document: Mapping[str, Any]) -> Catalogue:
    """The catalogue of a parsed file. A figure of 0 means: not known."""
    hosts = {host: provider for provider, entry in document["providers"].items() for host in entry["hosts"]}
    models = ((entry["provider"], _read(entry)) for entry in document["models"])
    return Catalogue(models, hosts, document["as_of"])


def _read(entry: Mapping[str, Any]) -> KnownModel:
    prices = None
    if "prices" in entry:
        longer = Prices(**entry["long_prices"]) if entry.get("long_prices") else None
        prices = Prices(**entry["prices"], long_from=entry.get("long_from", 0), long=longer)
    return KnownModel(
        id=entry["id"],
        name=entry["name"],
        window=entry["window"] or None,
        max_output=entry["max_output"] or None,
        vision=entry["vision"],
        tools=entry["tools"],
        reasoning=entry["reasoning"],
        replays_reasoning=entry["replays_reasoning"],
        prices=prices,
    )


def _prices(model: str, known: KnownModel, *, sure: bool) -> Prices | None:
    tag = _short(model).partition(":")[2]
    if tag == "free":
        return FREE
    return known.prices if sure and tag in ("", "latest") else None


def _forms(model: str) -> list[str]:
    """The names under which a model may be listed, the most exact first."""
    forms = []
    for written in _written(model):
        untagged = written.partition(":")[0]
        for form in (written, untagged, _DATE.sub("", untagged), f"{untagged}-latest"):
            if form and _plain(form) not in forms:
                forms.append(_plain(form))
    return forms


def _written(model: str) -> tuple[str, ...]:
    name = model.strip().lower()
    return tuple(dict.fromkeys((name, _short(name))))


def _short(model: str) -> str:
    """Without the provider that some put before it: `anthropic/`, `models/`."""
    return model.rpartition("/")[2]


def _plain(name: str) -> str:
    """Versions are written with dots by some, with hyphens by others."""
    return name.lower().replace(".", "-")


def _begins(name: str, known: str) -> bool:
    known = known.lower()
    return name.startswith(known) and name[len(known) : len(known) + 1] in _EDGES and name != known


def _host(base_url: str) -> str:
    try:
        return (urlsplit(base_url if "//" in base_url else f"//{base_url}").hostname or "").lower()
    except ValueError:
        return ""
