"""What must hold after every step: database, open chats and the provider's requests against the reference."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bibgenie_desktop.domain.estimate import Estimator
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.domain.projection import ProjectedMessage
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.domain.tokens import estimate_text
from bibgenie_desktop.providers.base import Request
from tests.proofs import reference
from tests.proofs.player import text_of_entry
from tests.proofs.reference import Entry, Node, Reported, demand

if TYPE_CHECKING:
    from bibgenie_desktop.services.chat import Chat
    from tests.proofs.world import World

MARK = re.compile(r"\b[ua]\d{5}x\b")
SIDE_TABLES_EMPTY_WHEN_IDLE = ("pending_reply", "write_permit", "purge_permit", "never")


@dataclass
class Attempt:
    """What a summary was asked for: the state of things at its first request."""

    path: list[Node]
    cost: dict[str, int]
    budget: reference.Budget
    bare: int
    """Occupancy without a draft."""
    factor: float
    texts: list[str] = field(default_factory=list)
    stale: bool = False


class Inspector:
    def __init__(self, world: World) -> None:
        self.world = world
        self.history = reference.History()
        self.reached: Counter[str] = Counter()
        """How often what a proof must not miss came up."""
        self.owed: dict[str, str] = {}
        """Marks of everything a person sent and did not throw away, with where it must be."""
        self.attempt: Attempt | None = None
        self.finished: list[Attempt] = []
        self.last: Attempt | None = None
        self.attempts = 0
        self.edit_base: tuple[str | None] | None = None
        """Inside an edit: the parent of the edited question."""
        self.drafts_in_play: list[Draft] = []
        self.seen_in_summaries: dict[str, list[str]] = {}
        self.mid_turn: dict[str, str] = {}
        """What requests carried of an answer under way, by its id."""
        self.turn_usage: list[dict[str, Any]] = []
        self.done_before = 0
        self._raw: dict[tuple[str, str], int] = {}
        self._db: sqlite3.Connection | None = None

    def reopened(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = sqlite3.connect(self.world.path, isolation_level=None)

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def compaction_ended(self, done: bool) -> None:
        """An attempt is over; what comes next is another one."""
        if done and self.attempt is not None:
            self.finished.append(self.attempt)
            kind = self.world.chance.last_summary
            demand(kind in ("good", "full", "over"), f"a summary of the kind “{kind}” was committed")
        self.attempt = None

    def send_ended(self, sent: bool) -> None:
        """An edit is over with its first end; its checkpoint is told of right after."""
        if sent:
            self.edit_base = None
        else:
            self.attempt = None

    # -- reading, without the application

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        assert self._db is not None
        return self._db.execute(sql, values).fetchall()

    def nodes(self) -> dict[str, Node]:
        found = {}
        for row in self.rows(
            "SELECT m.id, m.parent_id, m.kind, m.depth, m.tree_id, c.first_kept_id, m.parts, m.status, "
            "m.model, m.usage, m.created_at, m.error, c.summary, c.ledger, c.ledger_projected, c.trigger, "
            "c.tokens_before, c.tokens_after, c.head_leaf_id, c.head_revision "
            "FROM message m LEFT JOIN checkpoint c ON c.message_id = m.id"
        ):
            found[row[0]] = Node(row[0], row[1], row[2], row[3], row[4], row[5], row[6:])
        return found

    def session_row(self, session_id: str) -> tuple[str | None, int, str, str]:
        """Leaf, revision, model, tree."""
        found = self.rows(
            "SELECT leaf_id, branch_revision, model, tree_id FROM session WHERE id = ?", session_id
        )
        return found[0]  # type: ignore[return-value]

    def path(self, session_id: str) -> list[Node]:
        return reference.path_to(self.nodes(), self.session_row(session_id)[0])

    # -- costs: the estimator is given

    def raw_cost(self, entry: ProjectedMessage, profile: ModelProfile) -> int:
        key = (f"{entry.id} {entry.status}", profile.replays_reasoning)
        settled = entry.status != "pending" and entry.id != "draft" and entry.id != "summary"
        if settled and key in self._raw:
            return self._raw[key]
        tokens = Estimator(profile, 1.0, {}).message(entry)
        if settled:
            self._raw[key] = tokens
        return tokens

    def cost_of_node(self, node: Node, profile: ModelProfile, factor: float) -> int:
        return round(self.raw_cost(as_entry(node), profile) * factor)

    def draft_cost(self, draft: Draft, profile: ModelProfile, factor: float) -> int:
        if draft.empty:
            return 0
        entry = ProjectedMessage("draft", "user", draft.parts())  # type: ignore[arg-type]
        return round(Estimator(profile, 1.0, {}).message(entry) * factor)

    def factor(self, profile: ModelProfile) -> float:
        return self.world.workspace.estimates.estimator(profile).factor

    def budget(self, profile: ModelProfile, factor: float) -> reference.Budget:
        fixed = round(self.world.workspace.planner.fixed(profile).tokens * factor)
        assumed = profile.window_source == "assumed"
        return reference.budget_of(profile.window, profile.max_output, fixed, assumed)

    def entries(self, path: list[Node], profile: ModelProfile, factor: float) -> tuple[list[Entry], int]:
        shown = reference.projection(path)
        at = reference.newest(path)
        older = {n.id for n in path[:at]} if at is not None else set()
        made = []
        for node in shown:
            usage = json.loads(node.body[3]) if node.kind == "assistant" else []  # type: ignore[index]
            parts = as_entry(node).parts
            reported = reported_of(usage, parts, profile, factor, in_turn=False)
            made.append(Entry(node.id, node.kind, self.cost_of_node(node, profile, factor), reported))
        return made, sum(n.id in older for n in shown)

    def occupied(self, path: list[Node], profile: ModelProfile, draft: Draft) -> int:
        factor = self.factor(profile)
        entries, tail = self.entries(path, profile, factor)
        if not draft.empty:
            entries.append(Entry("draft", "user", self.draft_cost(draft, profile, factor)))
        fixed = self.budget(profile, factor).fixed
        return reference.occupancy(entries, tail, fixed, profile.window)

    # -- requests

    def answer_asked(self, request: Request) -> None:
        """What the provider gets for an answer is what the tree says, and it fits."""
        chat = self.world.active
        if chat is None:
            return
        path = self.path(chat.session_id)
        profile = request.profile
        asked = list(request.projection.messages)
        pending = asked.pop() if asked and asked[-1].status == "pending" else None
        want = reference.projection(path)
        demand([m.id for m in asked] == [n.id for n in want], "the request is not the projection of its path")
        for entry, node in zip(asked, want, strict=True):
            self.same_words(entry, node)
        factor = self.factor(profile)
        entries, tail = self.entries(path, profile, factor)
        if pending is None:
            self.turn_usage = []
        else:
            waiting = self.rows("SELECT message_id FROM pending_reply WHERE session_id = ?", chat.session_id)
            demand(waiting == [(pending.id,)], "the answer under way is not the pending one")
            self.mid_turn[pending.id] = text_of_entry(pending)
            cost = round(Estimator(profile, 1.0, {}).message(pending) * factor)
            usage = [usage_json(u) for u in chat._runner._reply.usage] if chat._runner._reply else []
            reported = reported_of(usage, pending.parts, profile, factor, in_turn=True)
            entries.append(Entry(pending.id, "assistant", cost, reported))
        budget = self.budget(profile, factor)
        size = reference.occupancy(entries, tail, budget.fixed, profile.window)
        demand(budget.assumed or size <= budget.safe, f"{size} tokens sent where {budget.safe} are safe")
        room = max(1, profile.window - size)
        most = room if profile.max_output is None else min(profile.max_output, room)
        demand(request.max_output_tokens == most, f"asked for {request.max_output_tokens}, not {most}")

    def same_words(self, entry: ProjectedMessage, node: Node) -> None:
        if node.kind != "checkpoint":
            demand(text_of_entry(entry) == text_of_entry(as_entry(node)), f"{node.id} was sent otherwise")
            return
        text = text_of_entry(entry)
        summary, ledger = node.body[6], node.body[8]  # type: ignore[index]
        demand(summary in text and ledger in text, "the checkpoint was sent otherwise")

    def summary_asked(self, request: Request) -> None:
        """Every request for a summary fits; the first of an attempt fixes what it is about."""
        chat = self.world.active
        if chat is None:
            return
        profile = request.profile
        factor = self.factor(profile)
        budget = self.budget(profile, factor)
        text = text_of_entry(request.projection.messages[0])
        size = estimate_text(text) + estimate_text(request.system) + 8
        demand(size <= budget.safe, f"a summary request of {size} tokens where {budget.safe} are safe")
        if self.attempt is None:
            leaf, revision, _, _ = self.session_row(chat.session_id)
            base = self.edit_base[0] if self.edit_base is not None else leaf
            path = reference.path_to(self.nodes(), base)
            cost = {n.id: self.cost_of_node(n, profile, factor) for n in path}
            self.attempt = Attempt(path, cost, budget, self.occupied(path, profile, Draft()), factor)
            self.attempt.stale = (leaf, revision) != (
                chat.session.leaf_id,
                chat.session.branch_revision,
            )
            self.attempts += 1
        self.attempt.texts.append(text)

    # -- after a step

    def committed(self, node: Node) -> None:
        """A new checkpoint: its boundary is the reference's, its summary saw exactly its span."""
        trigger = node.body[9]  # type: ignore[index]
        profile = self.world.profiles[node.body[2]]  # type: ignore[index]
        if trigger == "revise":
            parent = self.history.nodes[str(node.parent)]
            path = reference.path_to(self.history.nodes, node.id)
            self.reached["revised"] += 1
            demand(parent.kind == "checkpoint", "a revision stands under a checkpoint")
            demand(parent.kept == node.kept or reference.position(path, len(path) - 2)
                   == reference.position(path, len(path) - 1), "a revision moved the boundary")  # fmt: skip
            return
        waiting = [*self.finished, *([self.attempt] if self.attempt else [])]
        attempt = self.last = next((a for a in waiting if a.path and a.path[-1].id == node.parent), None)
        demand(attempt is not None, "a checkpoint without a summary request for its place")
        assert attempt is not None
        drafts = [Draft()] if trigger != "preflight" else self.drafts_in_play
        cuts = []
        for draft in drafts:
            extra = self.draft_cost(draft, profile, attempt.factor)
            occupied = attempt.bare + extra
            cut = reference.boundary(attempt.path, attempt.cost, attempt.budget, trigger, occupied, extra)
            if trigger != "manual" and (
                occupied <= attempt.budget.trigger
                or attempt.budget.assumed
                or not self.world.automatic
                or cut is None
                or not reference.frees_enough(attempt.path, cut, attempt.cost, attempt.budget)
                or not self.may_help(trigger, attempt, cut, occupied)
            ):
                continue
            if cut is not None:
                cuts.append(cut)
        demand(bool(cuts), f"a {trigger} checkpoint that nothing asked for")
        demand(node.kept in [c.kept for c in cuts], f"boundary {node.kept}, not {[c.kept for c in cuts]}")
        if trigger == "automatic":
            demand(attempt.path[-1].kind == "assistant", "automatic, but not after an answer")
        cut = next(c for c in cuts if c.kept == node.kept)
        self.check_span(node, attempt, cut)

    def may_help(self, trigger: str, attempt: Attempt, cut: reference.Cut, occupied: int) -> bool:
        """A preflight pays for a summary only where the request can be sent then."""
        return trigger != "preflight" or reference.may_help(
            attempt.path, cut, attempt.cost, attempt.budget, occupied
        )

    def check_span(self, node: Node, attempt: Attempt, cut: reference.Cut) -> None:
        whole = "".join(span_in(text).strip("\n") for text in attempt.texts if "<refused>" not in text)
        marks = Counter(MARK.findall(whole))  # a piece may end in the middle of one
        by_id = {n.id: n for n in attempt.path}
        wanted = [m for i in cut.span for m in MARK.findall(text_of_entry(as_entry(by_id[i])))]
        demand(set(marks) >= set(wanted), f"the summary never saw {set(wanted) - set(marks)}")
        beyond = {m for i in cut.tail for m in MARK.findall(text_of_entry(as_entry(by_id[i])))}
        demand(not (set(marks) & (beyond - set(wanted))), "the span holds what stays word for word")
        repeated = [m for m, times in marks.items() if times > Counter(wanted)[m]]
        demand(not repeated, f"in the span more than once: {repeated}")
        self.seen_in_summaries[node.id] = cut.span
        self.reached[f"{node.body[9]} checkpoint"] += 1  # type: ignore[index]
        self.reached["null boundary"] += node.kept is None
        self.reached["refreshed or condensed"] += not cut.span
        self.reached["folded span"] += len([t for t in attempt.texts if "<refused>" not in t]) > 1
        self.reached["repaired summary"] += any("<refused>" in t for t in attempt.texts)
        self.reached["second or later checkpoint"] += reference.newest(attempt.path) is not None

    def after_step(self, chats: list[Chat]) -> list[Node]:
        """Everything that holds whenever nothing runs. Returns the new nodes."""
        nodes = self.nodes()
        fresh = self.history.grow(nodes)
        for table in SIDE_TABLES_EMPTY_WHEN_IDLE:
            demand(self.rows(f"SELECT count(*) FROM {table}") == [(0,)], f"{table} is not empty")
        for node in fresh:
            if node.id in self.mid_turn:
                sent = text_of_entry(as_entry(node))
                demand(sent.startswith(self.mid_turn[node.id]), f"{node.id} differs from what was sent of it")
        questions = Counter(
            mark
            for node in nodes.values()
            if node.kind == "user"
            for mark in set(MARK.findall(text_of_entry(as_entry(node))))
        )
        twice = [mark for mark, times in questions.items() if times > 1]
        demand(not twice, f"sent twice: {twice}")
        kept = " ".join(row[0] for row in self.rows("SELECT content FROM draft"))
        kept += " ".join(d.text for chat in chats for d in chat.queued)
        for mark in self.owed:
            demand(
                mark in questions or mark in kept,
                f"what was typed is lost: {mark} of {self.owed[mark]!r}; kept: {MARK.findall(kept)}",
            )
        for (session_id,) in self.rows("SELECT id FROM session"):
            path = reference.path_to(nodes, self.session_row(session_id)[0])
            reference.check_path(path)
            demand(not path or path[-1].kind != "user", "a leaf without an answer")
            for checkpoint, span in reference.spans(path).items():
                seen = self.seen_in_summaries.get(checkpoint)
                demand(seen is None or seen == span, f"{checkpoint} does not stand for its span")
            self.once(path)
        for chat in chats:
            self.check_chat(chat, nodes)
        demand(self.world.player.open == 0, "a stream was left open")
        return fresh

    def once(self, path: list[Node]) -> None:
        """Every message is in one span, or word for word in the next request: never both, never neither."""
        spans = [i for span in reference.spans(path).values() for i in span]
        shown = [n.id for n in reference.projection(path) if n.kind != "checkpoint"]
        everything = [n.id for n in path if n.kind != "checkpoint"]
        demand(sorted(spans + shown) == sorted(everything), "a message is lost or doubled")

    def check_chat(self, chat: Chat, nodes: dict[str, Node]) -> None:
        demand(chat.state is SessionState.IDLE, f"left busy: {chat.state}")
        demand(chat.waiting is None, "a text still waits although nothing runs")
        demand(chat.pending is None, "an answer still runs although nothing runs")
        leaf, revision, _, _ = self.session_row(chat.session_id)
        if (leaf, revision) != (chat.session.leaf_id, chat.session.branch_revision):
            demand(chat.session_id in self.world.moved_elsewhere, "memory and database differ")
            return
        path = reference.path_to(nodes, leaf)
        shown = [m.id for m in chat.path]
        demand(shown == [n.id for n in path[len(path) - len(shown) :]], "the chat shows another path")
        needed = reference.start_of_next_span(path)
        demand(len(shown) >= len(path) - needed or len(shown) == len(path), "the boundary is not loaded")

    async def check_next_request(self, chat: Chat) -> None:
        """The request that Send would make now, against projection and occupancy of the reference."""
        leaf, revision, model, _ = self.session_row(chat.session_id)
        if (leaf, revision) != (chat.session.leaf_id, chat.session.branch_revision):
            return
        path = reference.path_to(self.nodes(), leaf)
        profile = self.world.profiles[model]
        draft = Draft("a small draft")
        plan = await chat.plan(draft)
        got = [m.id for m in plan.projection.messages]
        demand(got == [*(n.id for n in reference.projection(path)), "draft"], "another projection")
        demand(plan.occupancy.tokens == self.occupied(path, profile, draft), "another occupancy")
        budget = self.budget(profile, self.factor(profile))
        mine = (budget.reserve, budget.safe, budget.trigger, budget.landing, budget.summary, budget.ledger,
                budget.tail)  # fmt: skip
        its = plan.limits
        demand(mine == (its.reserve, its.safe_limit, its.trigger, its.landing, its.summary_budget,
                        its.ledger_budget, its.tail_budget), f"other limits: {mine} {its}")  # fmt: skip

    def sound(self) -> None:
        demand(self.rows("PRAGMA integrity_check") == [("ok",)], "the file is damaged")
        demand(self.rows("PRAGMA foreign_key_check") == [], "a key leads nowhere")


def span_in(text: str) -> str:
    return text.split("<span>", 1)[1].split("</span>")[0] if "<span>" in text else ""


def as_entry(node: Node) -> ProjectedMessage:
    """A stored node as the estimator and the comparison of words take it."""
    from bibgenie_desktop.domain.codec import parts_from_json
    from bibgenie_desktop.domain.parts import TextPart
    from bibgenie_desktop.domain.projection import checkpoint_text

    body: Any = node.body
    if node.kind == "checkpoint":
        parts: Any = (TextPart(checkpoint_text(body[6], body[8])),)
        return ProjectedMessage(node.id, "checkpoint", parts)  # type: ignore[arg-type]
    kind: Any = node.kind
    return ProjectedMessage(node.id, kind, parts_from_json(json.loads(body[0])), body[1], body[5])  # type: ignore[arg-type]


def usage_json(usage: Any) -> dict[str, Any]:
    from bibgenie_desktop.domain.codec import usage_to_json

    return usage_to_json((usage,))[0]


def reported_of(
    usage: list[dict[str, Any]], parts: Any, profile: ModelProfile, factor: float, *, in_turn: bool
) -> Reported | None:
    if not usage:
        return None
    last = usage[-1]
    mine = (last["provider"], last["base_url"], last["model"]) == (
        profile.provider,
        profile.base_url,
        profile.model,
    )
    estimator = Estimator(profile, 1.0, {})
    late = sum(estimator.part(p, in_turn=in_turn) for p in parts if p.step > last["step"])
    late += sum(
        6 + estimate_text(p.sent) for p in parts if p.step == last["step"] and type(p).__name__ == "ToolPart"
    )
    again = profile.replays_reasoning == "always" or (profile.replays_reasoning == "turn" and in_turn)
    return Reported(
        mine=mine,
        whole=last["source"] == "provider" and last["complete"],
        input=last["input_total"],
        output=last["output_total"],
        reasoning=0 if again else last["reasoning"],
        late=round(late * factor),
    )
