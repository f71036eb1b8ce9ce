"""Tries a provider from its address to the first streamed word, and tells each step as an event.

Runs only because a person asked for it. Nothing is stored here, and no event, log line or error holds a key.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from bibgenie_desktop.domain.entries import KnownModel, ModelEntry, ProviderEntry
from bibgenie_desktop.domain.errors import ProviderError, Unreachable, UserError
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.models import ModelProfile, WindowSource
from bibgenie_desktop.domain.parts import TextPart
from bibgenie_desktop.domain.projection import ProjectedMessage, Projection
from bibgenie_desktop.providers.base import ReasoningDelta, Request, TextDelta
from bibgenie_desktop.providers.http_provider import HttpProvider, KeySource
from bibgenie_desktop.providers.probing import Prober

QUESTION: Final = "Say hello in one word."
MOST_TOKENS: Final = 256  # a reasoning model thinks before its word
ENOUGH: Final = 40  # characters that show that words come
PATIENCE: Final = 120.0  # seconds between two signs of life; a local model may have to be loaded first

Step = Literal["address", "key", "models", "word"]


@dataclass(frozen=True, slots=True)
class AddressChecked:
    """The address as it is used, whatever form was typed."""

    base_url: str


@dataclass(frozen=True, slots=True)
class KeyFound:
    """Where the key is from; None: there is none, which local servers do not mind."""

    place: str | None


@dataclass(frozen=True, slots=True)
class ModelsListed:
    """`milliseconds` from question to answer. Without `models`, `note` says why."""

    models: tuple[KnownModel, ...]
    milliseconds: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class WindowFound:
    """What the model has room for, and who says so; `trained`: what it could have at most."""

    model: str
    window: int
    source: WindowSource
    trained: int | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A short question went to this address."""

    model: str
    url: str


@dataclass(frozen=True, slots=True)
class WordCame:
    """A piece of the answer, as it streams. The first one's time is the latency."""

    text: str
    milliseconds: int


@dataclass(frozen=True, slots=True)
class Passed:
    model: str
    milliseconds: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The test ended at this step, for a reason that can be shown as it is."""

    step: Step
    title: str
    advice: str


TestEvent: TypeAlias = (
    AddressChecked | KeyFound | ModelsListed | WindowFound | Asked | WordCame | Passed | Failed
)

Make = Callable[[ProviderEntry, KeySource], HttpProvider]
Describe = Callable[[ProviderEntry, ModelEntry, KnownModel | None], ModelProfile]


class ProviderTest:
    """`make` builds a provider of an entry, `describe` the profile of one of its models."""

    def __init__(
        self,
        prober: Prober,
        make: Make,
        describe: Describe,
        *,
        timer: Callable[[], float] = time.monotonic,
        patience: float = PATIENCE,
    ) -> None:
        self._prober = prober
        self._make = make
        self._describe = describe
        self._timer = timer
        self._patience = patience

    async def run(
        self, entry: ProviderEntry, key: str | None, place: str | None, model: str, suggested: str
    ) -> AsyncGenerator[TestEvent, None]:
        """Ends with `Passed` or `Failed`. `model`, else the entry's first, else `suggested`, else the list's
        first is asked. Closing the iterator ends the request."""

        async def known_key() -> str | None:
            return key

        try:
            provider = self._make(entry, known_key)
        except UserError as error:
            yield _failed("address", error)
            return
        yield AddressChecked(provider.base_url)
        yield KeyFound(place)
        try:
            listed = await self._list(entry, provider.base_url, key)
        except UserError as error:
            yield _failed("models", error)
            return
        yield listed
        chosen = _choice(entry, listed.models, model, suggested)
        if not chosen:
            yield Failed("models", "No model is known to try.", "Write the name of one, then test again.")
            return
        known = next((k for k in listed.models if k.id == chosen), None)
        described = next((e for e in entry.models if e.id == chosen), ModelEntry(chosen))
        profile = self._describe(entry, described, known)
        trained = known.trained if known is not None else None
        yield WindowFound(chosen, profile.window, profile.window_source, trained)
        request = _request(profile)
        yield Asked(chosen, provider.url(request))
        try:
            async with aclosing(self._word(provider, request)) as words:
                async for event in words:
                    yield event
        except UserError as error:
            yield _failed("word", error)

    async def _list(self, entry: ProviderEntry, base_url: str, key: str | None) -> ModelsListed:
        begun = self._timer()
        try:
            models = await self._prober.models(entry, base_url, key)
        except ProviderError as error:
            if error.status not in (404, 405, 501):
                raise
            note = "This server gives no list of its models: write their names yourself."
            return ModelsListed((), self._since(begun), note)
        note = "" if models else "This server lists no model."
        return ModelsListed(models, self._since(begun), note)

    async def _word(self, provider: HttpProvider, request: Request) -> AsyncGenerator[TestEvent, None]:
        begun, said, alive, first = self._timer(), "", False, 0
        async with aclosing(provider.stream(request)) as events:
            while len(said) < ENOUGH:
                try:
                    event = await asyncio.wait_for(anext(events), self._patience)
                except StopAsyncIteration:
                    break
                except TimeoutError:
                    raise Unreachable(
                        f"“{provider.id}” sent nothing for {self._patience:g} seconds.",
                        "Try again, or choose another model.",
                    ) from None
                if isinstance(event, TextDelta | ReasoningDelta) and event.text:
                    first = first if alive else self._since(begun)
                    alive = True
                    if isinstance(event, TextDelta):
                        said += event.text
                        yield WordCame(event.text, self._since(begun))
        if alive:
            yield Passed(request.profile.model, first)
        else:
            yield Failed("word", f"“{request.profile.model}” answered without a word.", "Try another model.")

    def _since(self, begun: float) -> int:
        return round((self._timer() - begun) * 1000)


def _choice(entry: ProviderEntry, listed: tuple[KnownModel, ...], wanted: str, suggested: str) -> str:
    ids = [known.id for known in listed]
    if wanted:
        return wanted
    if entry.models:
        return entry.models[0].id
    if suggested and (suggested in ids or not ids):
        return suggested
    return ids[0] if ids else ""


def _request(profile: ModelProfile) -> Request:
    question = ProjectedMessage(MessageId("test"), "user", (TextPart(QUESTION),))
    most = min(MOST_TOKENS, profile.max_output or MOST_TOKENS)
    return Request(profile, "", (), Projection((question,)), most)


def _failed(step: Step, error: UserError) -> Failed:
    return Failed(step, error.title, error.advice)
