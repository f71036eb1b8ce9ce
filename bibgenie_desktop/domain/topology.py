"""The check of a branch: raw nodes in, a valid `Path` or a `DamagedBranch` out.

Nothing here repairs or skips silently: a damaged branch names the first bad node seen from the leaf and why,
and keeps every valid node that can still be reached. The same rules decide whether a new checkpoint may stand
on a path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from bibgenie_desktop.domain.ids import MessageId, TreeId
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Message, Path, UserMessage

MISSING = "A message of this conversation is missing from the database."
CYCLE = "The messages form a circle: one of them is its own predecessor."
SELF_PARENT = "A message names itself as the one before it."
WRONG_DEPTH = "A message is not at the place in the conversation that it claims."
FOREIGN_TREE = "A message belongs to another conversation."
FOREIGN_BOUNDARY = "A summary says that the verbatim part starts at a message that is not before it."
NOT_A_TURN = "A summary says that the verbatim part starts in the middle of a turn."
BACKWARDS = "A summary reaches less far than the one before it."


@dataclass(frozen=True, slots=True)
class BrokenNode:
    """A stored node whose content cannot be read; its place in the tree is still known."""

    id: MessageId
    parent_id: MessageId | None
    reason: str


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Stands for a bad node. `message` is its content where only its place in the tree is wrong."""

    id: MessageId
    reason: str
    message: Message | None = None


@dataclass(frozen=True, slots=True)
class DamagedBranch:
    """A branch that must not be written to.

    `readable` goes from older to newer; `bad_id` is the first bad node seen from the leaf, `reason` a
    sentence for people.
    """

    readable: tuple[Message | Placeholder, ...]
    bad_id: MessageId
    reason: str


Node: TypeAlias = Message | BrokenNode
Stop: TypeAlias = Callable[[Message], bool]
"""Told of each readable node from the leaf upwards; True: nothing older is needed."""


def back_to_boundary(limit: int) -> Stop:
    """Stops when the model's part of the path and at least `limit` messages are there.

    The model's part begins at the newest checkpoint's boundary; without a checkpoint, at the first message.
    """
    seen = 0
    wanted: MessageId | None = None
    checkpoint = reached = False

    def stop(node: Message) -> bool:
        nonlocal seen, wanted, checkpoint, reached
        seen += 1
        if isinstance(node, Checkpoint) and not checkpoint:
            checkpoint, wanted = True, node.first_kept_id
            reached = wanted is None
        reached = reached or (checkpoint and node.id == wanted)
        return reached and seen >= limit

    return stop


def check_path(
    get: Callable[[MessageId], Node | None],
    leaf_id: MessageId | None,
    *,
    tree_id: TreeId | None = None,
    stop: Stop | None = None,
) -> Path | DamagedBranch:
    """The chain from the leaf upwards, checked against I3 to I6.

    `tree_id` None takes the leaf's. With `stop` the chain may end early; what lies before it is not judged.
    """
    if leaf_id is None:
        return ()
    chain, faults = _climb(get, leaf_id, stop)
    _check_links(chain, faults, tree_id)
    _check_boundaries(chain, faults)
    if not faults:
        return tuple(node for node in chain if not isinstance(node, BrokenNode))
    bad_id = next(node.id for node in reversed(chain) if node.id in faults)
    readable = tuple(
        node
        if node.id not in faults and not isinstance(node, BrokenNode)
        else Placeholder(node.id, faults[node.id], None if isinstance(node, BrokenNode) else node)
        for node in chain
    )
    return DamagedBranch(readable, bad_id, faults[bad_id])


def _climb(
    get: Callable[[MessageId], Node | None], leaf_id: MessageId, stop: Stop | None
) -> tuple[list[Node], dict[MessageId, str]]:
    """The chain from older to newer, and what is wrong with single nodes of it."""
    found: list[Node] = []
    faults: dict[MessageId, str] = {}
    seen: set[MessageId] = set()
    at: MessageId | None = leaf_id
    while at is not None:
        node = get(at)
        if node is None:
            found.append(BrokenNode(at, None, MISSING))
            faults[at] = MISSING
            break
        seen.add(node.id)
        found.append(node)
        if isinstance(node, BrokenNode):
            faults[node.id] = node.reason
        elif stop is not None and stop(node):
            break
        if node.parent_id in seen:
            faults[node.id] = SELF_PARENT if node.parent_id == node.id else CYCLE
            break
        at = node.parent_id
    found.reverse()
    return found, faults


def _check_links(chain: list[Node], faults: dict[MessageId, str], tree_id: TreeId | None) -> None:
    messages = [(index, node) for index, node in enumerate(chain) if not isinstance(node, BrokenNode)]
    if not messages:
        return
    tree = tree_id or messages[-1][1].tree_id
    out_of_place = _wrong_depths(chain, messages)
    for index, node in messages:
        parent = chain[index - 1] if index else None
        if node.tree_id != tree:
            faults.setdefault(node.id, FOREIGN_TREE)
        elif node.id in out_of_place:
            faults.setdefault(node.id, WRONG_DEPTH)
        elif isinstance(parent, BrokenNode) or (parent is None and node.parent_id is not None):
            continue
        elif reason := wrong_parent(node, parent):
            faults.setdefault(node.id, reason)


def _wrong_depths(chain: list[Node], messages: list[tuple[int, Message]]) -> set[MessageId]:
    """One wrong number condemns one node: its neighbours tell whether it or the chain is out of step."""
    wrong: set[MessageId] = set()
    depths = {index: node.depth for index, node in messages}
    first = chain[0]
    # Where the chain's beginning is unknown, most of its nodes agree on where it stands.
    offset = Counter(depth - index for index, depth in depths.items()).most_common(1)[0][0]
    expected = 0 if not isinstance(first, BrokenNode) and first.parent_id is None else offset
    for index, node in enumerate(chain):
        depth = depths.get(index, expected)
        if depth != expected:
            wrong.add(node.id)
            expected = expected if depths.get(index + 1, expected + 1) == expected + 1 else depth
        expected += 1
    return wrong


def wrong_parent(node: Message, parent: Message | None) -> str:
    """Why a message cannot follow another (I3); empty where it can. `parent` None: it would come first."""
    match node:
        case UserMessage():
            return "A question follows directly on a question." if isinstance(parent, UserMessage) else ""
        case AssistantMessage():
            return "" if isinstance(parent, UserMessage) else "An answer has no question before it."
        case Checkpoint():
            follows = isinstance(parent, AssistantMessage | Checkpoint)
            return "" if follows else "A summary stands where no answer is before it."


def _check_boundaries(chain: list[Node], faults: dict[MessageId, str]) -> None:
    """I4, I5 and I6. A boundary that may lie in what was not loaded, or was lost, cannot be judged."""
    index_of = {node.id: index for index, node in enumerate(chain)}
    whole = chain[0].parent_id is None and chain[0].id not in faults
    newest_position = -1
    newest_seen = False
    for index in range(len(chain) - 1, -1, -1):
        node = chain[index]
        if not isinstance(node, Checkpoint):
            continue
        if (kept := node.first_kept_id) is not None:
            at = index_of.get(kept)
            if at is None:
                if (whole or not newest_seen) and chain[0].id not in faults:
                    faults.setdefault(node.id, FOREIGN_BOUNDARY)
            elif at >= index:
                faults.setdefault(node.id, FOREIGN_BOUNDARY)
            elif isinstance(chain[at], AssistantMessage | Checkpoint):
                faults.setdefault(node.id, NOT_A_TURN)
        newest_seen = True
    for index, node in enumerate(chain):
        if not isinstance(node, Checkpoint) or node.id in faults:
            continue
        position = _position(chain, index, index_of)
        if position is None:
            continue
        if position < newest_position:
            faults.setdefault(node.id, BACKWARDS)
        newest_position = max(newest_position, position)


def _position(chain: list[Node], index: int, index_of: dict[MessageId, int]) -> int | None:
    node = chain[index]
    if isinstance(node, Checkpoint) and node.first_kept_id is not None:
        return index_of.get(node.first_kept_id)
    return next((i for i in range(index + 1, len(chain)) if isinstance(chain[i], UserMessage)), index)


def refusal(path: Path, checkpoint: Checkpoint) -> str:
    """Why a new checkpoint cannot stand at the end of a valid path (I3 to I6); empty where it can."""
    if not path or path[-1].id != checkpoint.parent_id:
        return "The summary was made for another place in the conversation."
    nodes: dict[MessageId, Node] = {message.id: message for message in path}
    nodes[checkpoint.id] = checkpoint
    oldest = path[0].id
    judged = check_path(nodes.get, checkpoint.id, stop=lambda node: node.id == oldest)
    return judged.reason if isinstance(judged, DamagedBranch) else ""


def after_last_break(damaged: DamagedBranch) -> tuple[Message, ...]:
    """What a copy of the readable part takes: from the first user message after the last break.

    A break with no question after it is no beginning; then the part before it counts.
    """
    segment: list[Message] = []
    for node in reversed(damaged.readable):
        if not isinstance(node, Placeholder):
            segment.append(node)
            continue
        if any(isinstance(message, UserMessage) for message in segment):
            break
        segment = []
    segment.reverse()
    start = next((i for i, m in enumerate(segment) if isinstance(m, UserMessage)), len(segment))
    return tuple(segment[start:])
