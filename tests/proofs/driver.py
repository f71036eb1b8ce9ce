"""Random work on one world: operations of a person, and what may happen in the middle of each."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from bibgenie_desktop.domain.errors import NotAllowed, StaleBranch, UserError
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.locators import LedgerEntry, Locator
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, UserMessage
from bibgenie_desktop.domain.parts import Draft, TextPart
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.services import events
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.tools.base import Decision
from bibgenie_desktop.storage.store import Store
from tests.fakes import ToolBug
from tests.proofs import reference
from tests.proofs.checks import MARK
from tests.proofs.reference import Node, demand
from tests.proofs.scripts import summary, words
from tests.proofs.world import Dead, World

PATIENCE = 20.0

OPERATIONS = {
    "send": 30, "send_anyway": 4, "send_twice": 2, "retry": 8, "edit": 9, "fork": 4, "switch": 7,
    "choose_model": 9, "compact": 11, "undo": 5, "revise": 5, "pin": 3, "unpin": 1, "move_elsewhere": 3,
    "turn_elsewhere": 2, "crash": 2, "close": 1, "unqueue": 2, "new_session": 1, "look": 3, "clear_draft": 2,
}  # fmt: skip
BETWEEN = {
    "cancel": 10, "send_during": 8, "type_during": 4, "unqueue_during": 2, "fork_during": 2, "poke": 8,
    "move_leaf_elsewhere": 3, "die": 3, "close_during": 2,
}  # fmt: skip


class Driver:
    def __init__(self, world: World) -> None:
        self.world = world
        self.random = world.random
        self.sessions: list[SessionId] = []
        self.steps = 0
        self.said: list[str] = []
        """Everything done so far, for the message of a failure."""
        self.undone: set[SessionId] = set()
        self.tried: Counter[str] = Counter()
        self._in_vain: object = None
        """The request whose compaction came to nothing last."""
        self.now = ""
        self._marks = 0
        self._task: asyncio.Task[Any] | None = None
        self._extras: list[asyncio.Task[None]] = []
        self._ended = ""
        self._moves = 0
        self._may_move = 0
        world.on_card = self.card

    # -- one step

    async def run(self, steps: int) -> None:
        await self.new_session()
        for _ in range(steps):
            name = self.random.choices(list(OPERATIONS), list(OPERATIONS.values()))[0]
            await self.step(name)
        self.world.inspector.sound()

    async def step(self, name: str) -> None:
        self.steps += 1
        self.tried[name] += 1
        self.now = name
        self.said.append(name)
        chosen = self.sessions
        if name in ("undo", "revise"):
            nodes, row = self.world.inspector.nodes(), self.world.inspector.session_row
            ends = [s for s in chosen if (leaf := row(s)[0]) and nodes[leaf].kind == "checkpoint"]
            chosen = ends or chosen
        chat = await self.world.chat(self.random.choice(chosen))
        await getattr(self, name)(chat)

    async def operate(self, chat: Chat, coro: Coroutine[Any, Any, Any], *, calm: bool = False) -> bool:
        """Runs one operation with whatever was planned for its middle, then looks at everything.

        False where it was not allowed to begin.
        """
        world, inspector = self.world, self.world.inspector
        world.events.clear()
        world.active, world.points, world.point_names = chat, 0, []
        world.planned = {} if calm else self.plan(chat)
        inspector.attempt, inspector.finished, inspector.attempts = None, [], 0
        inspector.drafts_in_play = [*inspector.drafts_in_play, *chat.queued]
        self._extras, self._ended, self._moves, self._may_move = [], "", 0, 0
        before = {s: inspector.session_row(s) for s in self.sessions}
        stale_before = chat.session_id in world.moved_elsewhere
        allowed = True
        self._task = asyncio.ensure_future(coro)
        await asyncio.wait({self._task}, timeout=PATIENCE)
        demand(self._task.done(), f"it hangs after {world.point_names[-5:]} in {chat.state}")
        try:
            self._task.result()
        except NotAllowed:
            allowed = False
        except asyncio.CancelledError:
            demand(bool(self._ended), "cancelled by nobody")
        except BaseException as error:
            if not self.expected(error):
                raise
        for extra in self._extras:
            await asyncio.wait_for(extra, PATIENCE)
        world.active = None
        attempts = inspector.attempts
        if self._ended or (attempts and not self.now.startswith("send")):
            self._in_vain = None  # a new process, or another attempt since
        if self._ended:
            await world.reopen()
            world.moved_elsewhere.clear()
        chats = [await world.chat(s) for s in self.sessions]
        fresh = inspector.after_step(chats)
        for node in fresh:
            if node.kind == "assistant":
                inspector.reached[f"answer {node.body[1]}"] += 1  # type: ignore[index]
        self.check_checkpoints(chat, fresh, attempts)
        self.check_revisions(chat, before, fresh)
        if stale_before and not self._ended:
            self.forget_stale(chat)
            stale = [e for e in world.events if isinstance(e, events.Notice) and e.about == "session"]
            demand(
                not stale or self._moves > 0 or chat.session_id not in world.moved_elsewhere,
                "told of a change, and still shows what was before it",
            )
        for each in chats:
            await inspector.check_next_request(each)
        if fresh:
            self.undone.discard(chat.session_id)
        return allowed

    def expected(self, error: BaseException) -> bool:
        if isinstance(error, BaseExceptionGroup):
            return all(self.expected(e) for e in error.exceptions)
        return isinstance(error, ToolBug) or (isinstance(error, Dead) and bool(self._ended))

    def forget_stale(self, chat: Chat) -> None:
        leaf, revision, *_ = self.world.inspector.session_row(chat.session_id)
        if (leaf, revision) == (chat.session.leaf_id, chat.session.branch_revision):
            self.world.moved_elsewhere.discard(chat.session_id)

    def check_checkpoints(self, chat: Chat, fresh: list[Node], attempts: int) -> None:
        inspector = self.world.inspector
        new = [n for n in fresh if n.kind == "checkpoint"]
        done = [e for e in self.world.events if isinstance(e, events.CompactionEnded) and e.outcome == "done"]
        if not self._ended:
            demand(len(new) == len(done), f"{len(new)} checkpoints, {len(done)} told")
        for node in new:
            inspector.committed(node)
            trigger, model = node.body[9], node.body[2]  # type: ignore[index]
            if trigger == "preflight" and chat.session_id in self.undone:
                budget = inspector.last.budget if inspector.last else None
                sizes = [
                    inspector.last.bare
                    + inspector.draft_cost(d, self.world.profiles[model], inspector.last.factor)
                    for d in inspector.drafts_in_play
                    if inspector.last
                ]
                demand(budget is None or max(sizes) > budget.safe, "compacted by itself right after an undo")
        allowed = 1 + len(inspector.drafts_in_play) + sum(n.kind == "assistant" for n in fresh)
        demand(attempts <= allowed, f"{attempts} compactions tried in one step")

    def check_revisions(self, chat: Chat, before: dict[SessionId, Any], fresh: list[Node]) -> None:
        new = {n.id for n in fresh}
        edited = (
            {n.parent for n in [n for n in fresh if n.kind == "user"][:1]} if self.now == "edit" else set()
        )
        moves = self._moves
        for node in fresh:
            match node.kind:
                case "user":
                    moves += 1
                case "assistant":
                    moves += 1 if node.parent in new else 2
                case _:
                    moves += node.id not in edited
        for session_id, (leaf, revision, *_) in before.items():
            now_leaf, now, *_ = self.world.inspector.session_row(session_id)
            if session_id != chat.session_id:
                demand((now_leaf, now) == (leaf, revision), "another session moved")
            else:
                counted = moves <= now - revision <= moves + self._may_move
                demand(counted, f"revision went up by {now - revision} for {moves} moves")
                demand(now > revision or now_leaf == leaf, "a move that was not counted")

    # -- in the middle

    def plan(self, chat: Chat) -> dict[int, Callable[[], None]]:
        planned: dict[int, Callable[[], None]] = {}
        while self.random.random() < 0.4:
            name = self.random.choices(list(BETWEEN), list(BETWEEN.values()))[0]
            at = int(self.random.expovariate(1 / 8)) + 1
            planned[at] = self.happening(name, chat, at)
        return planned

    def happening(self, name: str, chat: Chat, at: int) -> Callable[[], None]:
        def happen() -> None:
            if any(not task.done() for task in self._extras):
                return  # nobody types and clicks within one breath
            self.steps += 1
            self.tried[name] += 1
            self.said.append(f"  {name} at {at} ({self.world.point_names[-1]}, {chat.state.value})")
            getattr(self, name)(chat)

        return happen

    def extra(self, work: Coroutine[Any, Any, None]) -> None:
        async def quiet() -> None:
            try:
                await work
            except BaseException as error:
                if not self.expected(error):
                    raise

        self._extras.append(asyncio.ensure_future(quiet()))

    def cancel(self, chat: Chat) -> None:
        chat.cancel()
        chat.stop()

    def die(self, chat: Chat) -> None:
        self._ended = self._ended or "crash"
        self.world.die()
        if self._task is not None:
            self._task.cancel()

    def close_during(self, chat: Chat) -> None:
        self._ended = self._ended or "close"
        if self._task is not None:
            self._task.cancel()

    def send_during(self, chat: Chat) -> None:
        self.extra(self._send_during(chat))

    async def _send_during(self, chat: Chat) -> None:
        """What stands in the composer goes out; a frozen composer can only send the same text again."""
        frozen = chat.waiting or chat.on_its_way
        draft = frozen or self.text(0.05, chat, after=self.composer(chat))
        self.world.inspector.drafts_in_play.append(draft)
        work = chat.send(draft)  # until it first waits nothing else runs
        try:
            await work
        except NotAllowed:
            return
        if frozen is None:
            self.owe(draft)

    def composer(self, chat: Chat) -> str:
        """The stored draft, unless it is on its way and the composer empty already."""
        rows = self.world.inspector.rows(
            "SELECT content FROM draft WHERE session_id = ? AND edits_message_id IS NULL", chat.session_id
        )
        text = str(json.loads(rows[0][0])["text"]) if rows else ""
        gone = {d.text for d in (*chat.queued, chat.waiting, chat.on_its_way) if d is not None}
        return "" if text in gone else text

    def type_during(self, chat: Chat) -> None:
        if chat.state in (SessionState.STREAMING, SessionState.AWAITING_APPROVAL):
            self.extra(self._type(chat))

    async def _type(self, chat: Chat) -> None:
        typed = self.text(0.02, chat, after=self.composer(chat))
        await self.world.workspace.save_draft(chat.session_id, None, typed)
        self.owe(typed)

    def unqueue_during(self, chat: Chat) -> None:
        if chat.queued and chat.on_its_way is None:
            self.extra(self._give_back(chat, chat.unqueue(0)))

    async def _give_back(self, chat: Chat, draft: Draft | None) -> None:
        if draft is None:
            return
        joined = Draft("\n\n".join(t for t in (draft.text, self.composer(chat)) if t))
        await self.world.workspace.save_draft(chat.session_id, None, joined)

    def fork_during(self, chat: Chat) -> None:
        answers = [m for m in chat.path if isinstance(m, AssistantMessage)]
        if answers and chat.state in (SessionState.STREAMING, SessionState.AWAITING_APPROVAL):
            self.extra(self._fork(chat, self.random.choice(answers).id))

    def poke(self, chat: Chat) -> None:
        """What the state forbids is refused at once and changes nothing."""
        some = chat.path[0].id if chat.path else MessageId("none")
        attempts: dict[str, Callable[[], Coroutine[Any, Any, Any]]] = {
            "retry": lambda: chat.retry(some),
            "edit": lambda: chat.edit(some, Draft("never")),
            "fork": lambda: chat.fork(some),
            "switch branch": lambda: chat.switch_to(some),
            "choose a model": lambda: chat.choose_model("play/w4k"),
            "compact": chat.compact,
            "undo the checkpoint": chat.undo_checkpoint,
            "revise the summary": lambda: chat.revise_summary("never"),
            "send": lambda: chat.send(Draft("never sent")),
        }
        forbidden = sorted(reference.MUST_REFUSE[chat.state.value] & set(attempts))
        if chat.state in (SessionState.STREAMING, SessionState.AWAITING_APPROVAL):
            forbidden.remove("send")  # it joins the queue
        if not forbidden or chat.state is SessionState.IDLE:
            return
        name = self.random.choice(forbidden)
        coro = attempts[name]()
        try:
            coro.send(None)
        except NotAllowed:
            return
        except StopIteration:
            pass
        coro.close()
        demand(False, f"{name} began while {chat.state.value}")

    async def move_elsewhere(self, chat: Chat) -> None:
        self.move_leaf_elsewhere(chat)
        await self.quiet()

    def move_leaf_elsewhere(self, chat: Chat) -> None:
        """A second store on the same file moves the leaf, if it may."""
        other = Store(self.world.path, self.world.clock, self.world.ids)
        try:
            session = other.session(chat.session_id)
            leaves = [n.id for n in other.outline(session.tree_id) if n.kind != "user"]
            if not leaves:
                return
            with suppress(NotAllowed, StaleBranch):
                moved = other.switch(session.id, session.head, self.random.choice(leaves))
                if moved.head != session.head:
                    self._moves += 1
                    self.undone.discard(chat.session_id)
                    self.world.moved_elsewhere.add(chat.session_id)
        finally:
            other.close()

    async def quiet(self) -> None:
        """After a step in which no operation of the application ran."""
        self.world.inspector.after_step([await self.world.chat(s) for s in self.sessions])

    def card(self, chat: Chat) -> None:
        if chat.state is not SessionState.AWAITING_APPROVAL:
            return
        kind = self.random.choice(("accepted", "edited", "declined", "stop", "die", "accepted"))
        self.said.append(f"  card {kind}")
        self.tried[f"card {kind}"] += 1
        if kind == "stop":
            chat.stop()
        elif kind == "die":
            self.die(chat)
        else:
            chat.answer_card(Decision(kind, "edited text"))  # type: ignore[arg-type]

    # -- texts

    def text(self, share: float, chat: Chat, after: str = "") -> Draft:
        """A new text of a share of what the model takes at most, after what stands in the composer."""
        self._marks += 1
        profile = self.world.profiles[chat.session.model]
        tokens = min(5_000, int(share * profile.window))
        new = f"u{self._marks:05d}x {words(max(1, tokens))}"
        return Draft(f"{after}\n\n{new}" if after else new)

    def owe(self, draft: Draft) -> None:
        for mark in MARK.findall(draft.text):
            self.world.inspector.owed[mark] = draft.text[:40]

    def forgive(self, draft: Draft) -> None:
        for mark in MARK.findall(draft.text):
            self.world.inspector.owed.pop(mark, None)

    def share(self) -> float:
        return self.random.choices(
            (0.002, 0.02, 0.06, 0.15, 0.3, 0.6, 0.9, 1.4), (20, 20, 15, 18, 12, 6, 4, 5)
        )[0]

    # -- operations

    async def new_session(self, chat: Chat | None = None) -> None:
        if len(self.sessions) < 4:
            model = self.random.choice(list(self.world.profiles))
            session = await self.world.workspace.new_session(model=model)
            self.sessions.append(session.id)
            await self.world.chat(session.id)

    async def send(self, chat: Chat, *, anyway: bool = False, share: float = 0.0) -> None:
        composer = await self.world.draft_of(chat.session_id)
        again = bool(composer.text) and not share and self.random.random() < 0.3
        if composer.text and not again and self.random.random() < 0.5:
            self.forgive(composer)
            composer = Draft()
        draft = composer if again else self.text(share or self.share(), chat, after=composer.text)
        self.said[-1] += f" {len(draft.text)} characters"
        await self.world.workspace.save_draft(chat.session_id, None, draft)
        self.owe(draft)
        self.world.inspector.drafts_in_play = [draft]
        request = (chat.session_id, self.world.inspector.session_row(chat.session_id), draft.text)
        stale = chat.session_id in self.world.moved_elsewhere  # tried at the head it still believes in
        await self.operate(chat, chat.send(draft, without_compacting=anyway))
        sent = any(isinstance(e, events.SendEnded) and e.sent for e in self.world.events)
        if request == self._in_vain and not (sent or self._extras or self._ended or self._moves):
            self.world.inspector.reached["sent again as it was refused"] += 1
            demand(self.world.inspector.attempts == 0, "the same compaction was tried again")
        tried = self.world.inspector.attempts > 0 and not (sent or self._ended or stale)
        self._in_vain = request if tried or request == self._in_vain else None

    async def send_anyway(self, chat: Chat) -> None:
        await self.send(chat, anyway=True)

    async def send_twice(self, chat: Chat) -> None:
        """A double click: the text is sent once."""
        draft = self.text(self.share(), chat)
        self.forgive(await self.world.draft_of(chat.session_id))
        await self.world.workspace.save_draft(chat.session_id, None, draft)
        self.owe(draft)
        self.world.inspector.drafts_in_play = [draft]

        async def again() -> None:
            with suppress(NotAllowed):
                await chat.send(draft)

        async def both() -> None:
            first = asyncio.ensure_future(chat.send(draft))
            await asyncio.sleep(0)
            if chat.state in (SessionState.PREFLIGHT, SessionState.IDLE):
                await again()
            await first

        await self.operate(chat, both(), calm=True)

    async def retry(self, chat: Chat) -> None:
        answers = [n for n in self.tree(chat) if n.kind == "assistant"]
        if not answers:
            return
        on_path = [m.id for m in chat.path if isinstance(m, AssistantMessage)]
        answer = on_path[-1] if on_path and self.random.random() < 0.6 else self.random.choice(answers).id
        model = self.random.choice(list(self.world.profiles)) if self.random.random() < 0.3 else ""
        self.world.inspector.drafts_in_play = []
        await self.operate(chat, chat.retry(MessageId(answer), model))

    async def edit(self, chat: Chat) -> None:
        questions = [m for m in chat.path if isinstance(m, UserMessage)]
        if not questions:
            return
        question = self.random.choice((questions[-1], questions[0], self.random.choice(questions)))
        kept = await self.world.workspace.draft(chat.session_id, question.id)
        self.forgive(kept)
        draft = self.text(self.share(), chat)
        await self.world.workspace.save_draft(chat.session_id, question.id, draft)
        self.owe(draft)
        self.said[-1] += f" {len(draft.text)} characters"
        self.world.inspector.drafts_in_play = [draft]
        self.world.inspector.edit_base = (question.parent_id,)
        try:
            await self.operate(chat, chat.edit(question.id, draft))
        finally:
            self.world.inspector.edit_base = None

    async def fork(self, chat: Chat) -> None:
        answers = [n for n in self.tree(chat) if n.kind == "assistant"]
        if answers and len(self.sessions) < 4:
            await self._fork(chat, MessageId(self.random.choice(answers).id))
            await self.quiet()

    async def _fork(self, chat: Chat, answer: MessageId) -> None:
        inspector = self.world.inspector
        before = inspector.session_row(chat.session_id) if self.world.active is None else None
        count = len(inspector.nodes())
        made = await chat.fork(answer)
        if before is not None:
            demand(inspector.session_row(chat.session_id) == before, "a fork changed its origin")
            demand(len(inspector.nodes()) == count, "a fork copied nodes")
        demand(inspector.session_row(made.id)[:2] == (answer, 0), "a fork with another leaf")
        if len(self.sessions) < 4:
            self.sessions.append(made.id)

    async def switch(self, chat: Chat) -> None:
        tree = self.tree(chat)
        if not tree:
            return
        target = self.random.choice(tree).id
        self.world.inspector.drafts_in_play = []
        await self.operate_move(chat, chat.switch_to(MessageId(target)))

    async def operate_move(self, chat: Chat, coro: Coroutine[Any, Any, Any]) -> None:
        revision = self.world.inspector.session_row(chat.session_id)[1]

        async def moving() -> None:
            try:
                await coro
            finally:
                if self.world.inspector.session_row(chat.session_id)[1] - revision > self._moves:
                    self._moves += 1
                    self.undone.discard(chat.session_id)
                elif self._ended:
                    # A cancelled wait does not stop the thread that writes: it may move a moment later.
                    self._may_move = 1
                    self.undone.discard(chat.session_id)

        await self.operate(chat, moving(), calm=self.random.random() < 0.7)

    async def choose_model(self, chat: Chat) -> None:
        await chat.choose_model(self.random.choice(list(self.world.profiles)))
        self.said[-1] += f" {chat.session.model}"
        await self.quiet()

    async def compact(self, chat: Chat) -> None:
        inspector = self.world.inspector
        inspector.drafts_in_play = []
        path = inspector.path(chat.session_id)
        profile = self.world.profiles[inspector.session_row(chat.session_id)[2]]
        factor = inspector.factor(profile)
        cost = {n.id: inspector.cost_of_node(n, profile, factor) for n in path}
        occupied = inspector.occupied(path, profile, Draft())
        cut = reference.boundary(path, cost, inspector.budget(profile, factor), "manual", occupied)
        stale = chat.session_id in self.world.moved_elsewhere
        asked = len(self.world.player.requests)
        await self.operate(chat, chat.compact())
        if stale or self._ended or self._moves:
            return
        outcomes = [e.outcome for e in self.world.events if isinstance(e, events.CompactionEnded)]
        demand((outcomes[:1] == ["nothing"]) == (cut is None), f"{outcomes} where the reference has {cut}")
        if cut is None and len(outcomes) == 1 and not inspector.drafts_in_play:
            demand(len(self.world.player.requests) == asked, "a no-op asked the model")

    async def undo(self, chat: Chat) -> None:
        inspector = self.world.inspector
        inspector.drafts_in_play = []
        leaf = inspector.session_row(chat.session_id)[0]
        node = inspector.nodes().get(leaf or "")
        await self.operate_move(chat, chat.undo_checkpoint())
        now = inspector.session_row(chat.session_id)[0]
        taken_back = node is not None and node.kind == "checkpoint" and now == node.parent
        if taken_back and self._moves == 1 and not self._ended:  # after an end the chat is another one
            self.undone.add(chat.session_id)
            await self.send_above_trigger(chat)

    async def send_above_trigger(self, chat: Chat) -> None:
        """A text that would be compacted for, had the person not just taken that back."""
        inspector = self.world.inspector
        profile = self.world.profiles[chat.session.model]
        budget = inspector.budget(profile, inspector.factor(profile))
        bare = inspector.occupied(inspector.path(chat.session_id), profile, Draft())
        wanted = max(10, (budget.trigger + budget.safe) // 2 - bare)
        if bare + wanted <= budget.safe and wanted < 5_000:
            self.now = "send"
            inspector.reached["sent above the trigger after an undo"] += 1
            await self.send(chat, share=wanted / profile.window)

    async def revise(self, chat: Chat) -> None:
        self.world.inspector.drafts_in_play = []
        good = self.random.random() < 0.7
        leaf = chat.path[-1] if chat.path else None
        profile = self.world.profiles[chat.session.model]
        factor = self.world.inspector.factor(profile)
        budget = self.world.inspector.budget(profile, factor).summary
        text = summary(budget // 2, "revised") if good else "nothing of use"
        await self.operate(chat, chat.revise_summary(text))
        told = [e for e in self.world.events if isinstance(e, events.CompactionEnded)]
        if not good or not isinstance(leaf, Checkpoint):
            demand(not any(e.outcome == "done" for e in told), "a bad revision was written")

    async def pin(self, chat: Chat) -> None:
        kind = self.random.random()
        entry = (
            LedgerEntry(None, f"never drop {self.random.randint(0, 5)}", 0, 0)
            if kind < 0.6
            else LedgerEntry(Locator("u", "item", item="ABCD2345"), "Sleep", 0, 0)
        )
        with suppress(UserError):
            await self.world.workspace.pin_entry(chat, entry)

    async def unpin(self, chat: Chat) -> None:
        for pin in await self.world.workspace.pins(chat):
            await self.world.workspace.unpin_entry(chat, pin)

    async def turn_elsewhere(self, chat: Chat) -> None:
        """Another writer asks and is answered; this one must notice."""
        other = Store(self.world.path, self.world.clock, self.world.ids)
        try:
            session = other.session(chat.session_id)
            self._marks += 1
            parts = (TextPart(f"u{self._marks:05d}x from elsewhere"),)
            with suppress(NotAllowed):
                other.send(session.id, session.head, parts, MessageId(self.world.ids()), session.model)
                other.finish(session.id, "complete", "", (TextPart("an answer"),), ())
                self.world.moved_elsewhere.add(chat.session_id)
        finally:
            other.close()
        self.undone.discard(chat.session_id)
        await self.quiet()

    async def crash(self, chat: Chat) -> None:
        self.world.die()
        await self.world.reopen()
        self.world.moved_elsewhere.clear()
        self._in_vain = None
        await self.quiet()

    async def close(self, chat: Chat) -> None:
        await self.world.reopen()
        self.world.moved_elsewhere.clear()
        self._in_vain = None
        await self.quiet()

    async def unqueue(self, chat: Chat) -> None:
        if chat.queued:
            await self._give_back(chat, chat.unqueue(0))
            await self.quiet()

    async def clear_draft(self, chat: Chat) -> None:
        self.forgive(await self.world.draft_of(chat.session_id))
        await self.world.workspace.save_draft(chat.session_id, None, Draft())

    async def look(self, chat: Chat) -> None:
        """Looking changes nothing."""
        rows = self.world.inspector.nodes(), self.world.inspector.session_row(chat.session_id)
        asked = len(self.world.player.requests)
        await self.world.workspace.dry_run(chat)
        await chat.verdicts(self.text(self.share(), chat))
        demand(
            rows == (self.world.inspector.nodes(), self.world.inspector.session_row(chat.session_id)),
            "looking changed something",
        )
        demand(len(self.world.player.requests) == asked, "looking asked the model")

    def tree(self, chat: Chat) -> list[Node]:
        tree_id = chat.session.tree_id
        return [n for n in self.world.inspector.nodes().values() if n.tree == tree_id]
