"""Providers as a person sets them up: presets, adding, changing, removing, keys, the test, the default model.

Each change is written to `config.toml`, the key to the system's keyring, and counts at once, without a
restart. Views use this and nothing below it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol

from bibgenie_desktop.domain.entries import KnownModel, ModelEntry, ProviderEntry
from bibgenie_desktop.domain.errors import SecretStoreUnavailable, UserError
from bibgenie_desktop.providers.catalogue import Catalogue
from bibgenie_desktop.services.configuring.model_facts import address_of, keep_facts
from bibgenie_desktop.services.configuring.provider_presets import PRESETS, Preset, preset
from bibgenie_desktop.services.configuring.provider_test import (
    Failed,
    Make,
    ModelsListed,
    ProviderTest,
    TestEvent,
)
from bibgenie_desktop.storage.worker import StoreWorker


class Described(Protocol):
    """What is used of the preferences."""

    @property
    def providers(self) -> tuple[ProviderEntry, ...]: ...

    @property
    def default_model(self) -> str: ...

    def provider(self, id: str) -> ProviderEntry | None: ...


class SettingsFile(Protocol):
    """What is used of `config.toml`. Raises `UserError`; the file then stays as it was."""

    def load(self) -> Described: ...

    def put_provider(self, entry: ProviderEntry) -> Described: ...

    def remove_provider(self, id: str) -> Described: ...

    def set_default_model(self, ref: str) -> Described: ...


class Keys(Protocol):
    """What is used of the secret store."""

    async def find(self, provider: str, *, required: bool = True) -> tuple[str | None, str | None]: ...

    async def set(self, provider: str, key: str) -> None: ...

    def keep_for_session(self, provider: str, key: str) -> None: ...

    async def forget(self, provider: str) -> None: ...


@dataclass(frozen=True, slots=True)
class KeyState:
    """Where a provider's key is: `environment`, `keyring`, `session`, or None. Never the key itself.

    `variable` is the variable of the environment that would hold it. `title` and `advice` say why the keyring
    could not be asked; else empty.
    """

    place: str | None
    variable: str
    title: str = ""
    advice: str = ""


class ProviderSetup:
    """`make` builds a provider of an entry; `nearby` says whether an address may do without a key; `apply`
    makes the stored settings those in use and returns a sentence for each provider that cannot be used."""

    def __init__(
        self,
        *,
        config: SettingsFile,
        keys: Keys,
        store: StoreWorker,
        catalogue: Catalogue,
        test: ProviderTest,
        make: Make,
        nearby: Callable[[str], bool],
        variable: Callable[[str], str],
        apply: Callable[[], Awaitable[tuple[str, ...]]],
    ) -> None:
        self._config = config
        self._keys = keys
        self._store = store
        self._catalogue = catalogue
        self._test = test
        self._make = make
        self._nearby = nearby
        self._variable = variable
        self._apply = apply
        self._lists: dict[tuple[str, str], tuple[KnownModel, ...]] = {}

    # -- what there is --------------------------------------------------------------------------------------

    @property
    def presets(self) -> tuple[Preset, ...]:
        return PRESETS

    @property
    def catalogue_day(self) -> str:
        """The day of the catalogue's figures, as an ISO date."""
        return self._catalogue.as_of

    def providers(self) -> tuple[ProviderEntry, ...]:
        """Those that are set up. Raises `UserError` where `config.toml` cannot be read."""
        return self._config.load().providers

    def default_model(self) -> str:
        return self._config.load().default_model

    def new_entry(self, preset_id: str) -> ProviderEntry:
        """An entry to fill in, under an id that is free. Nothing is stored."""
        chosen = preset(preset_id)
        taken = {entry.id for entry in self.providers()}
        names = (chosen.id, *(f"{chosen.id}-{number}" for number in range(2, len(taken) + 3)))
        return ProviderEntry(next(n for n in names if n not in taken), chosen.kind, chosen.base_url)

    def offered(self, entry: ProviderEntry) -> tuple[KnownModel, ...]:
        """The models to choose from: the provider's own list if it was tested, else the catalogue's."""
        listed = self._lists.get((entry.id, self._address(entry)))
        return listed or self._catalogue.offered(entry.base_url, entry.kind)

    def address(self, entry: ProviderEntry) -> str:
        """The address as it is used, whatever form was typed. Raises `UserError` for one that cannot be."""
        return self._make(entry, _no_key).base_url

    def may_do_without_key(self, entry: ProviderEntry) -> bool:
        return self._nearby(entry.base_url)

    # -- changes --------------------------------------------------------------------------------------------

    async def put(self, entry: ProviderEntry) -> tuple[str, ...]:
        """Adds a provider, or changes the one with this id; its address is stored in its usual form.

        Returns what the application has to say about all providers now. Raises `UserError`: nothing changed.
        """
        checked = replace(entry, base_url=self._make(entry, _no_key).base_url)
        await asyncio.to_thread(self._config.put_provider, checked)
        await self._keep(checked, "")
        return await self._apply()

    async def set_models(self, id: str, models: tuple[ModelEntry, ...]) -> tuple[str, ...]:
        """The models of a provider that the switcher lists, with what the person says of each."""
        return await self.put(replace(self._entry(id), models=models))

    async def remove(self, id: str) -> str:
        """Takes a provider and its key out. Conversations stay; a sentence says where a key remains."""
        await asyncio.to_thread(self._config.remove_provider, id)
        left = ""
        try:
            await self._keys.forget(id)
        except SecretStoreUnavailable as error:
            left = f"Its key is still in the system's keyring. {error.title} {error.advice}"
        _, place = await self._keys.find(id, required=False)
        if place == "environment":
            left = f"The variable {self._variable(id)} still holds its key."
        await self._apply()
        return left

    async def set_default(self, ref: str) -> None:
        """The model that new sessions start with."""
        await asyncio.to_thread(self._config.set_default_model, ref)
        await self._apply()

    # -- keys -----------------------------------------------------------------------------------------------

    async def key_state(self, id: str) -> KeyState:
        """Asks the keyring, which may open a prompt."""
        try:
            _, place = await self._keys.find(id)
        except SecretStoreUnavailable as error:
            return KeyState(None, self._variable(id), error.title, error.advice)
        return KeyState(place, self._variable(id))

    async def save_key(self, id: str, key: str) -> None:
        """Into the system's keyring. Raises `SecretStoreUnavailable`; offer `keep_key_for_session` then."""
        await self._keys.set(id, key)

    def keep_key_for_session(self, id: str, key: str) -> None:
        """Only until the application ends; nothing is written anywhere."""
        self._keys.keep_for_session(id, key)

    async def forget_key(self, id: str) -> None:
        """Raises `SecretStoreUnavailable`."""
        await self._keys.forget(id)

    # -- the test -------------------------------------------------------------------------------------------

    async def test(
        self, entry: ProviderEntry, key: str | None = None, model: str = ""
    ) -> AsyncGenerator[TestEvent, None]:
        """Tries an entry, stored or not, with the key that was typed or the stored one.

        What the provider says of its models is remembered, and for a stored provider counts at once.
        """
        place: str | None = "typed" if key else None
        if not key:
            try:
                key, place = await self._keys.find(entry.id, required=not self._nearby(entry.base_url))
            except SecretStoreUnavailable as error:
                yield Failed("key", error.title, error.advice)
                return
        suggested = next((known.id for known in self._catalogue.offered(entry.base_url, entry.kind)), "")
        async with aclosing(self._test.run(entry, key, place, model, suggested)) as events:
            async for event in events:
                if isinstance(event, ModelsListed) and event.models:
                    self._lists[entry.id, self._address(entry)] = event.models
                    if await self._keep(entry, model):
                        await self._apply()
                yield event

    async def _keep(self, entry: ProviderEntry, tested: str) -> bool:
        """Stores what the last list said of the models that are used; True if there was something."""
        stored = self._config.load().provider(entry.id)
        if stored is None or self._address(stored) != self._address(entry):
            return False
        used = {model.id for model in stored.models} | {tested, self._default_of(entry.id)}
        listed = self._lists.get((entry.id, self._address(entry)), ())
        found = {address_of(stored, known.id): known for known in listed if known.id in used}
        if found:
            await self._store.run(keep_facts, found)
        return bool(found)

    def _default_of(self, id: str) -> str:
        provider, _, model = self._config.load().default_model.partition("/")
        return model if provider == id else ""

    def _entry(self, id: str) -> ProviderEntry:
        entry = self._config.load().provider(id)
        if entry is None:
            raise UserError(f"There is no provider “{id}”.", "Add it in the settings.")
        return entry

    def _address(self, entry: ProviderEntry) -> str:
        try:
            return self._make(entry, _no_key).base_url
        except UserError:
            return entry.base_url


async def _no_key() -> str | None:
    return None
