"""From `provider/model` to what is known of that model: what the person set, what was learned, or an
assumption."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from urllib.parse import urlsplit

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.models import ModelProfile, WindowSource
from bibgenie_desktop.settings.preferences import ModelEntry, Preferences, ProviderEntry

ASSUMED_WINDOW = 32_768
"""Every hosted model offered today has at least this."""
ASSUMED_LOCAL_WINDOW = 8_192
"""What local servers commonly load when nothing is said."""

NOTHING_LEARNED: Mapping[str, int] = MappingProxyType({})


def split_ref(ref: str) -> tuple[str, str]:
    """(provider, model), split at the first slash: model ids may hold `/` and `:`."""
    provider, _, model = ref.partition("/")
    return provider, model


class ConfiguredModels:
    """All models that can be chosen. `builtin` are those that need no provider; `learned` windows by
    reference."""

    def __init__(
        self,
        preferences: Preferences,
        builtin: Sequence[ModelProfile],
        learned: Mapping[str, int] = NOTHING_LEARNED,
    ) -> None:
        self._preferences = preferences
        self._builtin = tuple(builtin)
        self._learned = learned

    def all(self) -> tuple[ModelProfile, ...]:
        """Every model that is listed, the built-in ones last."""
        named = tuple(
            self._profile(provider, entry)
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
        return self._profile(provider, entry)

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

    def _profile(self, provider: ProviderEntry, entry: ModelEntry) -> ModelProfile:
        window, source = self._window(provider, entry)
        return ModelProfile(
            provider=provider.id,
            model=entry.id,
            base_url=provider.base_url,
            window=window,
            window_source=source,
            max_output=entry.max_output,
            vision=bool(entry.vision),
            tools=entry.tools is not False,
            name=entry.name,
            replays_reasoning=entry.replays_reasoning,
        )

    def _window(self, provider: ProviderEntry, entry: ModelEntry) -> tuple[int, WindowSource]:
        if entry.context_window is not None:
            return entry.context_window, "user"
        if (learned := self._learned.get(f"{provider.id}/{entry.id}")) is not None:
            return learned, "learned"
        local = provider.kind == "ollama" or is_nearby(provider.base_url)
        return (ASSUMED_LOCAL_WINDOW if local else ASSUMED_WINDOW), "assumed"


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
