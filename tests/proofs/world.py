"""One database at work under observation: real store, worker, workspace, chats; a provider playing scripts.

Wherever the application waits, the world has a point; what was planned for that point happens there.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bibgenie_desktop.compose.requests import prompts
from bibgenie_desktop.domain.ids import SessionId, uuid7
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.domain.states import Action
from bibgenie_desktop.providers.base import Request
from bibgenie_desktop.services import events
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.models import Models
from bibgenie_desktop.services.workspace import Workspace
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.worker import StoreWorker
from tests.fakes import Clock, Moody, Proposer
from tests.proofs import reference
from tests.proofs.checks import Inspector
from tests.proofs.player import Player
from tests.proofs.scripts import Chance

ADDRESS = "http://127.0.0.1:9/v1"


def profiles() -> list[ModelProfile]:
    """Windows from the smallest to a million, output limits known and unknown, one window only assumed."""

    def made(name: str, window: int, max_output: int | None = None, **more: Any) -> ModelProfile:
        given = {"window_source": "user", **more}
        return ModelProfile("play", name, ADDRESS, window, max_output=max_output, **given)

    return [
        made("w2k", 2_048),
        made("w4k", 4_096),
        made("w8k", 8_192, 1_000, replays_reasoning="turn"),
        made("w16k", 16_384),
        made("w33k", 33_000, 4_096, replays_reasoning="always"),
        made("w200k", 200_000, 8_192),
        made("w1m", 1_000_000, 64_000),
        made("guess", 8_192, window_source="assumed"),
        made("plain", 8_192, tools=False),
    ]


class Dead(Exception):
    """The process is gone: whatever still runs reaches nothing."""


class AtOnce(ThreadPoolExecutor):
    """Does a job where it is handed in, so that a seed always takes the same course."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - as a pool does
            future.set_exception(error)
        return future


class Watched(StoreWorker):
    """The real worker, with a point before and after every job."""

    def __init__(self, world: World, owner: bool = True) -> None:
        super().__init__(world.path, world.clock, world.ids, owner)
        if not world.threads:
            self._executor = AtOnce(1)
        self._world = world
        self.dead = False

    async def run(self, operation: Any, *args: Any, **kwargs: Any) -> Any:
        self._alive()
        self._world.step_in(f"before {operation.__name__}")
        self._alive()
        result = await super().run(operation, *args, **kwargs)
        self._alive()
        self._world.step_in(f"after {operation.__name__}")
        self._alive()
        return result

    def _alive(self) -> None:
        if self.dead:
            raise Dead


class World:
    def __init__(self, folder: Path, seed: int, *, automatic: bool = True) -> None:
        self.path = folder / "bibgenie.sqlite"
        self.seed = seed
        self.random = random.Random(seed)
        self.clock = Clock()
        self.automatic = automatic
        self.threads = seed % 4 == 3
        """With real threads, whose order is the machine's; else everything follows from the seed."""
        self.profiles = {p.ref: p for p in profiles()}
        self.chance = Chance(self.random, self.size_of)
        self.player: Player
        self.proposer = Proposer()
        self.store: Watched
        self.workspace: Workspace
        self.events: list[events.ChatEvent] = []
        self.planned: dict[int, Callable[[], None]] = {}
        self.points = 0
        self.point_names: list[str] = []
        self.active: Chat | None = None
        self.on_card: Callable[[Chat], None] = lambda chat: None
        self.inspector = Inspector(self)
        self.moved_elsewhere: set[SessionId] = set()
        self._last_id = 0
        self._watched: set[SessionId] = set()

    def ids(self) -> str:
        self._last_id = max(self._last_id + 1, self.clock())
        return uuid7(self._last_id, self.random.randbytes(10))

    # -- life

    async def open(self) -> None:
        if not self.threads:
            asyncio.get_running_loop().set_default_executor(AtOnce(1))
        self.store = Watched(self)
        await self.store.open()
        await self.store.run(Store.recover)
        self.player = Player(self._play, self._point)
        listed = tuple(self.profiles.values())
        self.workspace = Workspace(
            store=self.store,
            models=Models(listed, self.profiles.get, {"play": self.player}, "play/w8k"),
            prompts=prompts(),
            library=None,
            ids=self.ids,
            clock=self.clock,
            automatic=self.automatic,
        )
        self.workspace.use_tools((Moody(), self.proposer))
        await self.workspace.estimates.load()
        self._watched = set()
        self.inspector.reopened()

    async def close(self) -> None:
        self.store.dead = False
        await self.store.close()

    async def reopen(self) -> None:
        """A new process on the same file."""
        await self.close()
        self.planned, self.active = {}, None
        await self.open()

    async def chat(self, session_id: SessionId) -> Chat:
        chat = await self.workspace.chat(session_id)
        if session_id not in self._watched:
            self._watched.add(session_id)
            chat.subscribe(lambda event: self._heard(chat, event))
        return chat

    def _heard(self, chat: Chat, event: events.ChatEvent) -> None:
        self.events.append(event)
        if isinstance(event, events.StateChanged):
            check_table(chat)
        if isinstance(event, events.CompactionEnded):
            self.inspector.reached[f"compaction {event.outcome}"] += 1
            self.inspector.compaction_ended(event.outcome == "done")
        if isinstance(event, events.SendEnded):
            self.inspector.send_ended(event.sent)
        if isinstance(event, events.CardOpened):
            asyncio.get_running_loop().call_soon(self.on_card, chat)

    # -- points

    def step_in(self, name: str) -> None:
        if self.active is None:
            return
        self.points += 1
        self.point_names.append(name)
        action = self.planned.pop(self.points, None)
        if action is not None:
            action()

    async def _point(self, name: str) -> None:
        self.step_in(name)
        await asyncio.sleep(0)

    def die(self) -> None:
        self.store.dead = True

    # -- the provider

    def _play(self, request: Request) -> Any:
        if request.purpose == "summary":
            self.inspector.summary_asked(request)
        else:
            self.inspector.answer_asked(request)
        return self.chance.play(request)

    def size_of(self, request: Request) -> int:
        """What the provider counts: our estimate, give or take a tenth, always the same for a model."""
        estimator = self.workspace.estimates.estimator(request.profile)
        tokens = sum(self.inspector.raw_cost(m, request.profile) for m in request.projection.messages)
        tokens += self.workspace.planner.fixed(request.profile).tokens
        skew = {"w2k": 0.9, "w4k": 1.1, "w16k": 0.8}.get(request.profile.model, 1.0)
        return max(1, int(tokens * skew)) if estimator else 1

    async def draft_of(self, session_id: SessionId) -> Draft:
        return await self.workspace.draft(session_id)


def check_table(chat: Chat) -> None:
    """The interface's table against the design's."""
    state = chat.state.value
    allowed = {a.value for a in Action if chat.refusal(a) is None}
    missing = reference.MUST_ALLOW[state] - allowed
    reference.demand(not missing, f"{state} must allow {missing}")
    wrong = reference.MUST_REFUSE[state] & allowed
    reference.demand(not wrong, f"{state} must refuse {wrong}")
