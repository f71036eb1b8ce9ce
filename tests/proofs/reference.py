"""A plain reference of the tree and of compaction, written from the design's text alone.

It shares no code with the application and imports nothing of it. Token costs are numbers handed in: the
estimator is taken as given. Whole tokens are counted, fractions are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# ---- the tree ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """`kept` is a checkpoint's boundary; `body` is whatever must never change of a node."""

    id: str
    parent: str | None
    kind: str
    depth: int
    tree: str
    kept: str | None = None
    body: object = None


class Broken(AssertionError):
    """A rule of the design does not hold."""


def demand(holds: bool, what: str) -> None:
    if not holds:
        raise Broken(what)


def path_to(nodes: Mapping[str, Node], leaf: str | None) -> list[Node]:
    """From the first message to the leaf."""
    path: list[Node] = []
    while leaf is not None:
        demand(leaf in nodes, f"{leaf} is not there")
        demand(len(path) <= len(nodes), "the path goes round in a circle")
        path.append(nodes[leaf])
        leaf = nodes[leaf].parent
    return path[::-1]


MAY_FOLLOW = {
    "user": {None, "assistant", "checkpoint"},
    "assistant": {"user"},
    "checkpoint": {"assistant", "checkpoint"},
}


def check_path(path: Sequence[Node]) -> None:
    """I3 to I6 on one path."""
    before: Node | None = None
    for depth, node in enumerate(path):
        demand((before.kind if before else None) in MAY_FOLLOW[node.kind], f"I3: {node.id} follows {before}")
        demand(node.depth == depth, f"depth of {node.id}: {node.depth}, not {depth}")
        demand(before is None or node.tree == before.tree, f"{node.id} is of another tree")
        before = node
    furthest = 0
    for index, node in enumerate(path):
        if node.kind != "checkpoint":
            continue
        if node.kept is not None:
            places = [i for i in range(index) if path[i].id == node.kept]
            demand(len(places) == 1, f"I4: the boundary of {node.id} is no ancestor")
            demand(path[places[0]].kind == "user", f"I6: the boundary of {node.id} splits a turn")
        here = position(path, index)
        demand(here >= furthest, f"I5: {node.id} reaches back from {furthest} to {here}")
        furthest = here


def position(path: Sequence[Node], index: int) -> int:
    """I5: the index where a checkpoint's verbatim part starts."""
    wanted = path[index].kept
    for place, node in enumerate(path):
        if (wanted is not None and node.id == wanted) or (
            wanted is None and place > index and node.kind == "user"
        ):
            return place
    demand(wanted is None, "boundary is not on the path")
    return index


def newest(path: Sequence[Node]) -> int | None:
    found = [i for i, node in enumerate(path) if node.kind == "checkpoint"]
    return found[-1] if found else None


def projection(path: Sequence[Node]) -> list[Node]:
    """I7: newest checkpoint, then every user and assistant message from its position on."""
    at = newest(path)
    if at is None:
        return list(path)
    return [path[at], *(n for n in path[position(path, at) :] if n.kind != "checkpoint")]


def start_of_next_span(path: Sequence[Node]) -> int:
    at = newest(path)
    return 0 if at is None else position(path, at)


def spans(path: Sequence[Node]) -> dict[str, list[str]]:
    """What each checkpoint of a path newly replaced."""
    begin, found = 0, {}
    for index, node in enumerate(path):
        if node.kind == "checkpoint":
            end = position(path, index)
            found[node.id] = [n.id for n in path[begin:end] if n.kind != "checkpoint"]
            begin = end
    return found


# ---- capacity ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Budget:
    window: int
    assumed: bool
    reserve: int
    safe: int
    trigger: int
    landing: int
    fixed: int
    summary: int
    ledger: int
    tail: int


def budget_of(window: int, max_output: int | None, fixed: int, assumed: bool) -> Budget:
    twenty_percent = window * 20 / 100
    if twenty_percent < 512:
        twenty_percent = 512
    if twenty_percent > 32_000:
        twenty_percent = 32_000
    reserve = int(min(32_000 if max_output is None else max_output, twenty_percent))
    safe = window - reserve
    landing = int(0.60 * safe)
    summary = min(0.8 * reserve, 0.18 * safe)
    if max_output is not None:
        summary = min(summary, max_output)
    ledger = min(0.04 * safe, 4_000)
    tail = min(0.25 * safe, max(40_000, 0.10 * safe), landing - fixed - summary - ledger)
    return Budget(
        window, assumed, reserve, safe, int(0.90 * safe), landing, fixed, int(summary), int(ledger),
        int(tail) if tail > 0 else 0,
    )  # fmt: skip


@dataclass(frozen=True)
class Reported:
    """The usage of an answer's last request. `late`: tokens of what the answer holds beyond it."""

    mine: bool
    """Same provider, address and model as the next request's."""
    whole: bool
    """The provider counted it itself, and the request neither failed nor was cut off."""
    input: int
    output: int
    reasoning: int
    late: int = 0


@dataclass(frozen=True)
class Entry:
    """One message of a request: its cost, and what its answer reported."""

    id: str
    kind: str
    cost: int
    reported: Reported | None = None


def occupancy(entries: Sequence[Entry], tail: int, fixed: int, window: int) -> int:
    """§4: from the newest valid usage after the newest checkpoint, else the estimate of everything.

    `tail`: how many entries after the checkpoint are older than it.
    """
    everything = fixed + sum(e.cost for e in entries)
    fresh = tail + 1 if entries and entries[0].kind == "checkpoint" else 0
    for at in reversed(range(len(entries))):
        usage = entries[at].reported
        if at < fresh or entries[at].kind != "assistant" or usage is None:
            continue
        seen = usage.input + usage.output - usage.reasoning
        estimate = fixed + sum(e.cost for e in entries[: at + 1]) - usage.late
        if not (usage.mine and usage.whole) or usage.input <= 0 or seen > window or 3 * seen < estimate:
            continue
        if seen > 3 * estimate and estimate >= 2_000:
            continue
        return seen + usage.late + sum(e.cost for e in entries[at + 1 :])
    return everything


# ---- boundary ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cut:
    """Where the verbatim part starts (None: at the user's next message), and what is newly replaced."""

    kept: str | None
    span: list[str]
    tail: list[str]


def turns_of(path: Sequence[Node]) -> list[list[str]]:
    turns: list[list[str]] = []
    for node in path[start_of_next_span(path) :]:
        if node.kind == "user":
            turns.append([node.id])
        elif node.kind == "assistant":
            turns[-1].append(node.id)
    return turns


def boundary(
    path: Sequence[Node], cost: Mapping[str, int], budget: Budget, way: str, occupied: int, draft: int = 0
) -> Cut | None:
    """§5 for "manual", "automatic" and "preflight"; None where there is nothing to do.

    `occupied` holds the draft. The minimum gain of automatic ways rests on a guess of the summary's length
    and is not this function's business: see `frees_enough`.
    """
    turns = turns_of(path)
    sizes = [sum(cost[i] for i in turn) for turn in turns]
    beside = budget.fixed + budget.summary + budget.ledger
    keep = 0
    while keep < len(turns) and sum(sizes[-keep - 1 :]) <= budget.tail:
        keep += 1
    if turns and keep == 0 and beside + sizes[-1] <= 0.80 * budget.safe:
        keep = 1

    if way == "manual":
        fresh = path[-1].kind != "checkpoint" if path else True
        if newest(path) is None:
            if not turns or (len(turns) == 1 and keep == 1):
                return None
            if keep == len(turns):
                keep = 1
        elif not fresh and occupied <= budget.trigger:
            return None
    else:
        if way == "preflight":
            while keep and draft and beside + sum(sizes[-keep:]) + draft > budget.safe:
                keep -= 1
        if keep == 0 and not (way == "preflight" and occupied > budget.safe):
            keep = 1
        if keep >= len(turns):
            return None

    cut = len(turns) - keep
    span = [i for turn in turns[:cut] for i in turn]
    tail = [i for turn in turns[cut:] for i in turn]
    return Cut(tail[0] if tail else None, span, tail)


def frees_enough(path: Sequence[Node], cut: Cut, cost: Mapping[str, int], budget: Budget) -> bool:
    """The least an automatic compaction must free, whatever its summary costs: 10 % of the safe limit."""
    at = newest(path)
    before = 0 if at is None else cost[path[at].id]
    return sum(cost[i] for i in cut.span) + before >= 0.10 * budget.safe


def may_help(path: Sequence[Node], cut: Cut, cost: Mapping[str, int], budget: Budget, occupied: int) -> bool:
    """Whether the request could fit afterwards, were the summary nothing at all."""
    at = newest(path)
    before = 0 if at is None else cost[path[at].id]
    return occupied - sum(cost[i] for i in cut.span) - before <= budget.safe


# ---- states -----------------------------------------------------------------------------------------------

LOOKING = {"switch session", "copy", "search", "export"}
CHANGING = {
    "retry", "edit", "fork", "switch branch", "compact", "choose a model", "undo the checkpoint",
    "revise the summary", "archive a branch",
}  # fmt: skip

MUST_ALLOW: Mapping[str, set[str]] = {
    "idle": LOOKING | CHANGING | {"type", "send"},
    "preflight": {"cancel", "type", "switch session"},
    "compacting": {"cancel", "type", "send", "switch session", "copy", "export"},
    "streaming": {"stop", "type", "queue a follow-up", "switch session", "fork", "copy"},
    "awaiting approval": {
        "answer the card", "stop", "type", "queue a follow-up", "switch session", "fork", "copy",
    },
    "read-only": {"search", "export", "copy the readable part", "switch session"},
}  # fmt: skip

MUST_REFUSE: Mapping[str, set[str]] = {
    "idle": {"answer the card", "copy the readable part"},
    "preflight": CHANGING | {"send", "queue a follow-up", "stop", "answer the card"},
    "compacting": CHANGING | {"queue a follow-up", "stop", "answer the card"},
    "streaming": (CHANGING - {"fork"}) | {"send", "cancel", "answer the card"},
    "awaiting approval": (CHANGING - {"fork"}) | {"send", "cancel"},
    "read-only": CHANGING | {"type", "send", "queue a follow-up", "cancel", "stop", "answer the card"},
}


@dataclass
class History:
    """What the durable tree was at the last look; it only ever grows."""

    nodes: dict[str, Node] = field(default_factory=dict)

    def grow(self, now: Mapping[str, Node]) -> list[Node]:
        """The new nodes; raises where an old one is gone or different (I1, I9)."""
        for key, node in self.nodes.items():
            demand(now.get(key) == node, f"I1: {key} changed or is gone")
        fresh = [node for key, node in now.items() if key not in self.nodes]
        self.nodes = dict(now)
        return fresh
