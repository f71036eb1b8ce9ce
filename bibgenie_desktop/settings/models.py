"""From `provider/model` to what is known of that model, from the most to the least believed: what the person
set, what its own server says, what the catalogue says, an assumption."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar
from urllib.parse import urlsplit

from bibgenie_desktop.domain.entries import KnownModel, ModelEntry, ProviderEntry
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.models import ModelProfile, ReasoningReplay, WindowSource
from bibgenie_desktop.domain.prices import FREE
from bibgenie_desktop.settings.preferences import SMALLEST_WINDOW, Preferences

ASSUMED_WINDOW = 32_768
"""Every hosted model offered today has at least this."""
ASSUMED_LOCAL_WINDOW = 8_192
"""What local servers commonly load when nothing is said."""
ASSUMED_OLLAMA_WINDOW = 4_096
"""What Ollama loads when nothing is said."""

T = TypeVar("T")

Said = tuple[WindowSource, KnownModel]
"""What somebody says of a model, and who."""
Sources = Callable[[ProviderEntry, str], Iterable[Said]]
"""What is said of a model of a provider, the most believed first."""


def nobody(provider: ProviderEntry, model: str) -> Iterable[Said]:
    """No source at all."""
    return ()


def split_ref(ref: str) -> tuple[str, str]:
    """(provider, model), split at the first slash: model ids may hold `/` and `:`."""
    provider, _, model = ref.partition("/")
    return provider, model


class ConfiguredModels:
    """All models that can be chosen. `builtin` are those that need no provider."""

    def __init__(
        self, preferences: Preferences, builtin: Sequence[ModelProfile], sources: Sources = nobody
    ) -> None:
        self._preferences = preferences
        self._builtin = tuple(builtin)
        self._sources = sources

    def all(self) -> tuple[ModelProfile, ...]:
        """Every model that is listed, the built-in ones last."""
        named = tuple(
            profile_of(provider, entry, self._sources(provider, entry.id))
            for provider in self._preferences.providers
            for entry in provider.models
        )
        return (*named, *self._builtin)

    @property
    def default(self) -> str:
        """The reference a new session starts with: the preferred model, or a built-in one if it is gone."""
        ref = self._preferences.default_model
        return ref if self.find(ref) is not None else self._builtin[0].ref

    def find(self, ref: str) -> ModelProfile | None:
        """The profile of a reference; None where its provider is not set up. Unlisted models of a provider
        count."""
        for profile in self._builtin:
            if profile.ref == ref:
                return profile
        provider_id, model = split_ref(ref)
        provider = self._preferences.provider(provider_id)
        if provider is None or not model:
            return None
        entry = next((entry for entry in provider.models if entry.id == model), ModelEntry(model))
        return profile_of(provider, entry, self._sources(provider, entry.id))

    def profile(self, ref: str) -> ModelProfile:
        """As `find`, but a reference that leads nowhere raises `UserError`."""
        found = self.find(ref)
        if found is None:
            provider, _ = split_ref(ref)
            raise UserError(
                f"The model “{ref}” cannot be used: there is no provider “{provider}”.",
                "Choose another model, or add the provider in the settings.",
            )
        return found


def profile_of(provider: ProviderEntry, entry: ModelEntry, said: Iterable[Said] = ()) -> ModelProfile:
    """A model's profile. What the person set wins; then the first who says something."""
    said = tuple(said)
    known = tuple(model for _, model in said)
    window, source = _window(provider, entry, said)
    nearby = is_nearby(provider.base_url)
    replays: ReasoningReplay | None = _first(entry.replays_reasoning, *(k.replays_reasoning for k in known))
    return ModelProfile(
        provider=provider.id,
        model=entry.id,
        base_url=provider.base_url,
        window=window,
        window_source=source,
        max_output=_first(entry.max_output, *(k.max_output for k in known)),
        vision=bool(_first(entry.vision, *(k.vision for k in known))),
        tools=_first(entry.tools, *(k.tools for k in known)) is not False,
        name=entry.name or next((k.name for k in known if k.name), ""),
        replays_reasoning=replays or "none",
        reasoning=bool(entry.reasoning),
        prices=FREE if nearby else _first(*(k.prices for k in known)),
    )


def _window(provider: ProviderEntry, entry: ModelEntry, said: Iterable[Said]) -> tuple[int, WindowSource]:
    if entry.context_window is not None:
        return entry.context_window, "user"
    nearby = is_nearby(provider.base_url) or provider.kind == "ollama"
    for source, known in said:
        if nearby and source == "catalogue":
            continue  # a server nearby loads a model with less room than the model could have
        if known.window is not None and known.window >= SMALLEST_WINDOW:
            return known.window, source
    if provider.kind == "ollama":
        return ASSUMED_OLLAMA_WINDOW, "assumed"
    return (ASSUMED_LOCAL_WINDOW if nearby else ASSUMED_WINDOW), "assumed"


def _first(*values: T | None) -> T | None:
    return next((value for value in values if value is not None), None)


def is_nearby(base_url: str) -> bool:
    """Whether an address is this machine or one of the local network, where models are small."""
    try:
        host = (urlsplit(base_url if "//" in base_url else f"//{base_url}").hostname or "").rstrip(".")
    except ValueError:
        return False
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bool(host) and (
            "." not in host or host.endswith((".localhost", ".local", ".lan", ".home.arpa"))
        )
    return address.is_loopback or address.is_private or address.is_link_local
