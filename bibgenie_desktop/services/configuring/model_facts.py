"""What providers' lists said of models, as the store keeps it between runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bibgenie_desktop.domain.entries import KnownModel, ProviderEntry
from bibgenie_desktop.domain.models import WindowSource
from bibgenie_desktop.domain.prices import Prices
from bibgenie_desktop.providers.catalogue import Catalogue
from bibgenie_desktop.services.models import LEARNED_WINDOW, LISTED
from bibgenie_desktop.storage.store import Store

_FLAGS = ("vision", "tools", "reasoning")
_FIGURES = ("window", "max_output", "trained")
_PRICES = ("input", "output", "cache_read", "cache_write")


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """By `ModelProfile.address`: windows that were learned, and what lists said."""

    windows: Mapping[str, int] = field(default_factory=dict)
    listed: Mapping[str, KnownModel] = field(default_factory=dict)


def facts_of(store: Store) -> ModelFacts:
    """What the store knows of models. A fact of another form is left out."""
    windows = store.model_facts(LEARNED_WINDOW)
    listed = {key: known_from_json(value) for key, value in store.model_facts(LISTED).items()}
    return ModelFacts(
        {key: value for key, value in windows.items() if isinstance(value, int)},
        {key: known for key, known in listed.items() if known is not None},
    )


def keep_facts(store: Store, known: Mapping[str, KnownModel]) -> None:
    """Keeps what a list said of these models, by address. A loaded window is what counts from now on."""
    for address, model in known.items():
        store.set_model_fact(address, LISTED, known_to_json(model))
        if model.loaded and model.window is not None:
            store.set_model_fact(address, LEARNED_WINDOW, model.window)


def known_to_json(model: KnownModel) -> dict[str, Any]:
    value: dict[str, Any] = {"id": model.id}
    for name in (*_FIGURES, *_FLAGS):
        if (said := getattr(model, name)) is not None:
            value[name] = said
    if model.name:
        value["name"] = model.name
    if model.prices is not None:
        value["prices"] = {n: p for n in _PRICES if (p := getattr(model.prices, n)) is not None}
    return value


def known_from_json(value: object) -> KnownModel | None:
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        return None
    figures: dict[str, Any] = {name: value.get(name) for name in _FIGURES}
    flags: dict[str, Any] = {name: value.get(name) for name in _FLAGS}
    name, prices = value.get("name", ""), value.get("prices")
    if not isinstance(name, str) or any(type(f) is not bool for f in flags.values() if f is not None):
        return None
    if any(type(f) is not int or f <= 0 for f in figures.values() if f is not None):
        return None
    return KnownModel(value["id"], name, prices=_prices(prices), **figures, **flags)


def _prices(value: object) -> Prices | None:
    if not isinstance(value, dict) or not {"input", "output"} <= value.keys():
        return None
    figures: dict[str, Any] = {name: value.get(name) for name in _PRICES}
    if any(type(f) not in (int, float) or f < 0 for f in figures.values() if f is not None):
        return None
    return Prices(**figures)


def said_of(
    facts: ModelFacts, catalogue: Catalogue
) -> Callable[[ProviderEntry, str], tuple[tuple[WindowSource, KnownModel], ...]]:
    """What is said of a model, the most believed first: its provider's own list, then the catalogue."""

    def said(provider: ProviderEntry, model: str) -> tuple[tuple[WindowSource, KnownModel], ...]:
        listed = facts.listed.get(address_of(provider, model))
        known = catalogue.find(model, provider.base_url, provider.kind)
        return (
            *((("provider", listed),) if listed is not None else ()),
            *((("catalogue", known),) if known is not None else ()),
        )

    return said


def address_of(provider: ProviderEntry, model: str) -> str:
    """The name under which facts of a model are kept; the same as `ModelProfile.address`."""
    return f"{provider.id} {provider.base_url} {model}"
