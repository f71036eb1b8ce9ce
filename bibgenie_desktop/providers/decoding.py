"""What all decoders share: JSON out of events, the sentences for what cannot be read, and how usage is
judged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from bibgenie_desktop.domain.errors import BadAnswer, ProviderError, StreamCut
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.providers.base import Event, FinishReason
from bibgenie_desktop.providers.errors import classify
from bibgenie_desktop.providers.sse import SseEvent
from bibgenie_desktop.providers.surrogates import HalfJoiner

KEPT = "What had arrived is kept; you can retry."


class JsonDecoder:
    """Reads one answer: `feed` events as they come, then `finish` once.

    Both give neutral events and raise `ProviderError`. A dialect says what it makes of a piece
    of a stream (`read`), of its end (`ended`) and of an answer that came at once (`whole`).
    """

    ends_with = ""
    """Data that says that nothing more will come."""

    def __init__(self, profile: ModelProfile) -> None:
        self._profile = profile
        self._halves = HalfJoiner()
        self.done = False

    def feed(self, event: SseEvent) -> list[Event]:
        data = event.data.strip()
        if self.done or not data:
            return []
        if self.ends_with and data == self.ends_with:
            self.done = True
            return []
        try:
            payload = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise BadAnswer(
                f"“{self._profile.provider}” sent something that cannot be read.", KEPT
            ) from error
        if not isinstance(payload, dict):
            return []
        try:
            self._halves.look_at(data)
            return list(self._halves.whole(self.read(payload, event.event)))
        except RecursionError as error:
            raise BadAnswer(
                f"“{self._profile.provider}” sent something that cannot be read.", KEPT
            ) from error

    @property
    def complete(self) -> bool:
        """Whether the model has said that this is the end, be the body at its end or not."""
        return self.done

    def whole(self, payload: object) -> list[Event] | None:
        """The events of a complete answer that came as one JSON value; None: it is no such answer."""
        raise NotImplementedError

    def read(self, payload: Mapping[str, Any], name: str) -> Iterable[Event]:
        """One object of a stream; `name` is that of its event, mostly empty."""
        raise NotImplementedError

    def finish(self) -> list[Event]:
        """The end of the body: what was still open, the usage, and how it ended."""
        return list(self._halves.whole(self.ended()))

    def ended(self) -> Iterable[Event]:
        """What `finish` gives; raises `StreamCut` where the answer had not come to its end."""
        raise NotImplementedError

    def cut(self) -> StreamCut:
        return StreamCut(f"The answer of “{self._profile.provider}” broke off.", KEPT)

    def own_fault(self) -> BadAnswer:
        return BadAnswer(f"“{self._profile.provider}” stopped with a fault of its own.", KEPT)

    def fault(self, found: object) -> ProviderError:
        error = found if isinstance(found, dict) else {"message": str(found)}
        return classify(0, error, self._profile.provider)

    def usage(
        self,
        input_total: int,
        output_total: int,
        *,
        cache_read: int = 0,
        cache_write: int = 0,
        reasoning: int = 0,
        cost: float | None = None,
    ) -> Usage | None:
        """One request's record; None where the figures cannot be true, as with an input of nothing."""
        if input_total <= 0:
            return None
        profile = self._profile
        return Usage(
            provider=profile.provider,
            base_url=profile.base_url,
            model=profile.model,
            input_total=input_total,
            output_total=output_total,
            cache_read=min(input_total, cache_read),
            cache_write=min(input_total, cache_write),
            reasoning=min(output_total, reasoning),
            cost=cost,
        )

    def full(self, reason: FinishReason, usage: Usage | None) -> FinishReason:
        """Tells an answer that was as long as allowed from one that filled the model's window."""
        if reason != "length" or usage is None or self._profile.window_source == "assumed":
            return reason
        return "window" if usage.input_total + usage.output_total >= self._profile.window else reason


def count(found: Mapping[str, Any], name: str) -> int:
    """A figure of a usage record; 0 where it is missing or no count."""
    value = found.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def amount(found: Mapping[str, Any], name: str) -> float | None:
    """Dollars as a provider states them; None where it says nothing that can be meant."""
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1_000_000:
        return None
    return float(value)


def mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def dicts(value: object) -> list[dict[str, Any]]:
    """The objects of a list, whatever else stands there."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def words(value: object) -> str:
    return value if isinstance(value, str) else ""
