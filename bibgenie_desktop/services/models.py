"""The models a person can choose from, and who answers for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.providers.base import Provider


class Models:
    """All models that can be used: those listed, and whatever else `find` knows by its `provider/model`."""

    def __init__(
        self,
        profiles: Sequence[ModelProfile],
        find: Callable[[str], ModelProfile | None],
        providers: Mapping[str, Provider],
        default: str,
    ) -> None:
        self.profiles = tuple(profiles)
        self.default = default
        self._find = find
        self._providers = dict(providers)

    def profile(self, ref: str) -> ModelProfile:
        """The profile of `provider/model`, the default's for an empty name. Raises `UserError`."""
        found = self._find(ref or self.default)
        if found is None:
            raise UserError(
                f"The model {ref or self.default} is not set up.",
                "Choose another model, or add its provider to config.toml.",
            )
        return found

    def provider(self, profile: ModelProfile) -> Provider:
        """Who answers for a model. Raises `UserError` for a kind of provider this version cannot use."""
        found = self._providers.get(profile.provider)
        if found is None:
            raise UserError(
                f"The provider {profile.provider} cannot be used.",
                "Choose another model, or mend the provider in config.toml.",
            )
        return found
