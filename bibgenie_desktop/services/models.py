"""The models a person can choose from, and who answers for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.providers.base import Provider


class Models:
    """All configured models. Asking for one that is not configured raises a `UserError`."""

    def __init__(
        self, profiles: Sequence[ModelProfile], providers: Mapping[str, Provider], default: str
    ) -> None:
        self._profiles = {p.ref: p for p in profiles}
        self._providers = dict(providers)
        self.default = default

    @property
    def profiles(self) -> tuple[ModelProfile, ...]:
        return tuple(self._profiles.values())

    def profile(self, ref: str) -> ModelProfile:
        """The profile of `provider/model`; an empty name means the default."""
        found = self._profiles.get(ref or self.default)
        if found is None:
            raise UserError(
                f"The model {ref or self.default} is not set up.",
                "Choose another model, or add it to the configuration file.",
            )
        return found

    def provider(self, profile: ModelProfile) -> Provider:
        found = self._providers.get(profile.provider)
        if found is None:
            raise UserError(
                f"The provider {profile.provider} is not set up.",
                "Choose another model, or add the provider to the configuration file.",
            )
        return found
