"""What is remembered about sizes: estimates of stored messages, and each model's calibration."""

from __future__ import annotations

from collections.abc import Mapping

from bibgenie_desktop.domain.calibration import Calibration
from bibgenie_desktop.domain.estimate import Estimator, rule_version
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import Path
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.worker import StoreWorker

CALIBRATION = "calibration"
"""The name of the fact that the store keeps for each model."""


class Estimates:
    """Shared by all open conversations. Without a store it remembers for this run only."""

    def __init__(self, store: StoreWorker | None = None) -> None:
        self._store = store
        self._known: dict[str, dict[MessageId, int]] = {}
        self._saved: dict[str, set[MessageId]] = {}
        self._calibrations: dict[str, Calibration] = {}

    def estimator(self, profile: ModelProfile) -> Estimator:
        """For one preflight: later calibration does not change it."""
        factor = self._calibrations.get(profile.address, Calibration()).factor
        return Estimator(profile, factor, self._known.setdefault(rule_version(profile), {}))

    def factor(self, profile: ModelProfile) -> float:
        return self._calibrations.get(profile.address, Calibration()).factor

    def take(self, facts: Mapping[str, object]) -> None:
        """What earlier runs learned, as the store keeps it. A fact of another form is left out."""
        for key, value in facts.items():
            match value:
                case {"count": int(count), "average": float(average), "smallest": float(smallest)}:
                    self._calibrations[key] = Calibration(count, average, smallest)
                case _:
                    continue

    async def load(self) -> None:
        if self._store is not None:
            self.take(await self._store.run(Store.model_facts, CALIBRATION))

    async def load_path(self, path: Path, profile: ModelProfile) -> None:
        """Reads the cached estimates of a path that is about to be measured."""
        version = rule_version(profile)
        known = self._known.setdefault(version, {})
        unknown = [m.id for m in path if m.id not in known]
        if self._store is None or not unknown:
            return
        found = await self._store.run(Store.estimates, unknown, version)
        known.update(found)
        self._saved.setdefault(version, set()).update(found)

    async def save(self) -> None:
        """Keeps what was estimated since the last call."""
        if self._store is None:
            return
        for version, known in tuple(self._known.items()):  # planning goes on in another thread
            saved = self._saved.setdefault(version, set())
            fresh = {key: tokens for key, tokens in known.copy().items() if key not in saved}
            if fresh:
                saved.update(fresh)
                await self._store.run(Store.save_estimates, fresh, version)

    async def learn(self, profile: ModelProfile, usage: Usage, estimate: int) -> None:
        """Calibrates by one reported request; `estimate` is the uncalibrated one of the same request."""
        if usage.source != "provider" or not usage.complete:
            return
        key = profile.address
        learned = self._calibrations.get(key, Calibration()).after(usage.input_total, estimate)
        self._calibrations[key] = learned
        if self._store is not None:
            value = {"count": learned.count, "average": learned.average, "smallest": learned.smallest}
            await self._store.run(Store.set_model_fact, key, CALIBRATION, value)
