"""The models a person can choose from, and who answers for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from bibgenie_desktop.domain.capacity import LEAST_WINDOW
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.prices import Prices
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.providers.base import Provider

LEARNED_WINDOW = "window"
"""The name of the fact that the store keeps for a model whose provider named its window."""
LISTED = "listed"
"""The name of the fact that the store keeps of what a provider's list says of a model."""


class Models:
    """All models that can be used: those listed, and whatever else `find` knows by its `provider/model`.

    `learned` holds windows by `ModelProfile.address`; `price_list` knows prices of models that are not set up
    any more. There is one for the whole application: who holds it
    sees every change of the providers at once.
    """

    def __init__(
        self,
        profiles: Sequence[ModelProfile],
        find: Callable[[str], ModelProfile | None],
        providers: Mapping[str, Provider],
        default: str,
        learned: Mapping[str, int] | None = None,
        price_list: Callable[[Usage], Prices | None] | None = None,
    ) -> None:
        self._profiles = tuple(profiles)
        self._learned = dict(learned or {})
        self.default = default
        self._find = find
        self._providers = dict(providers)
        self._price_list = price_list

    def replace(self, other: Models) -> None:
        """Becomes what `other` is: the providers were changed. A request under way ends where it began."""
        self._profiles = other._profiles
        self._learned = other._learned
        self.default = other.default
        self._find = other._find
        self._providers = other._providers
        self._price_list = other._price_list

    @property
    def profiles(self) -> tuple[ModelProfile, ...]:
        """The listed models, with the windows known now."""
        return tuple(self._as_learned(p) for p in self._profiles)

    def learn(self, profile: ModelProfile, window: int) -> None:
        """Takes a window that the provider itself named. What a person set for the model still wins."""
        if window >= LEAST_WINDOW:
            self._learned[profile.address] = window

    def _as_learned(self, profile: ModelProfile) -> ModelProfile:
        window = self._learned.get(profile.address)
        if window is None or profile.window_source == "user":
            return profile
        return replace(profile, window=window, window_source="learned")

    def price_of(self, usage: Usage) -> Prices | None:
        """What a request of the past was charged at; None where that is not known."""
        found = self._find(f"{usage.provider}/{usage.model}")
        if found is not None and found.base_url == usage.base_url:
            return found.prices
        return self._price_list(usage) if self._price_list is not None else None

    def profile(self, ref: str) -> ModelProfile:
        """The profile of `provider/model`, the default's for an empty name. Raises `UserError`."""
        found = self._find(ref or self.default)
        if found is None:
            raise UserError(
                f"The model {ref or self.default} is not set up.",
                "Choose another model, or add its provider in the settings.",
            )
        return self._as_learned(found)

    def provider(self, profile: ModelProfile) -> Provider:
        """Who answers for a model. Raises `UserError` for a kind of provider this version cannot use."""
        found = self._providers.get(profile.provider)
        if found is None:
            raise UserError(
                f"The provider {profile.provider} cannot be used.",
                "Choose another model, or mend the provider in the settings.",
            )
        return found
