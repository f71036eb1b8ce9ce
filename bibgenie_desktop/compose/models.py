"""The models of the configured providers, each made from its entry, its key and what is known of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from bibgenie_desktop.domain.entries import ProviderEntry
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.prices import Prices
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.net.client import Http, Route
from bibgenie_desktop.providers.base import Provider
from bibgenie_desktop.providers.builtin.provider import BUILTIN_PROFILES, BuiltinAssistant
from bibgenie_desktop.providers.catalogue import Catalogue, read_catalogue
from bibgenie_desktop.providers.factory import http_provider, replay_of
from bibgenie_desktop.providers.http_provider import HttpProvider, KeySource
from bibgenie_desktop.services.configuring.model_facts import ModelFacts, facts_of, said_of
from bibgenie_desktop.services.models import Models
from bibgenie_desktop.settings.models import ConfiguredModels, is_nearby
from bibgenie_desktop.settings.preferences import Preferences
from bibgenie_desktop.settings.resources import catalogue
from bibgenie_desktop.settings.secrets import SecretStore
from bibgenie_desktop.storage.store import Store


def models_of(
    preferences: Preferences, secrets: SecretStore, http: Http, facts: ModelFacts, catalogue: Catalogue
) -> tuple[Models, tuple[str, ...]]:
    """All usable models, and a sentence for each provider that cannot be used."""
    configured = ConfiguredModels(preferences, BUILTIN_PROFILES, said_of(facts, catalogue))
    providers: dict[str, Provider] = {}
    notices: list[str] = []
    builtin = BuiltinAssistant()
    providers[builtin.id] = builtin
    for entry in preferences.providers:
        try:
            providers[entry.id] = made_provider(entry, _key_of(secrets, entry), http)
        except UserError as error:
            notices.append(error.text)

    def sent(profile: ModelProfile) -> ModelProfile:
        return as_sent(preferences.provider(profile.provider), profile)

    def find(ref: str) -> ModelProfile | None:
        found = configured.find(ref)
        return None if found is None else sent(found)

    usable = tuple(sent(p) for p in configured.all() if p.provider in providers)

    def price_list(usage: Usage) -> Prices | None:
        return catalogue.prices(usage.model, usage.base_url)

    models = Models(usable, find, providers, configured.default, facts.windows, price_list)
    return models, tuple(notices)


def models_to_look_at(preferences: Preferences, store: Store) -> Models:
    """The models for those who only encode requests: no key is asked for, nothing is sent."""
    return models_of(preferences, SecretStore({}), Http(), facts_of(store), read_catalogue(catalogue()))[0]


def made_provider(entry: ProviderEntry, key: KeySource, http: Http) -> HttpProvider:
    """The provider of an entry; raises `UserError` for an address that cannot be used."""
    route = Route(entry.proxy, entry.ca_file)
    return http_provider(
        entry.kind, entry.id, entry.base_url, key, http, allow_plain_http=entry.allow_plain_http, route=route
    )


def as_sent(entry: ProviderEntry | None, profile: ModelProfile) -> ModelProfile:
    """With the reasoning that its provider really gets again, by which sizes are summed."""
    if entry is None:
        return profile
    return replace(profile, replays_reasoning=replay_of(entry.kind, entry.base_url, profile))


def _key_of(secrets: SecretStore, provider: ProviderEntry) -> Callable[[], Awaitable[str | None]]:
    """Servers nearby do without a key; elsewhere a keyring that stays locked is told as such."""
    required = not is_nearby(provider.base_url)

    async def key() -> str | None:
        return await secrets.get(provider.id, required=required)

    return key
