"""A tree of messages as an outline of turns: the active path is the trunk, other branches hang beside it.

Pure: nodes in, rows with their lanes out. Rows are indented only at forks; long runs without one fold into a
single row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.gui.session_rows import plain_words
from bibgenie_desktop.services.workspace import OutlineNode

Kind = Literal["turn", "alt", "run", "checkpoint"]
Badge = Literal["siblings", "stopped", "streaming", "draft", "forks", "archived"]
LEAST_RUN = 3
"""Turns in a row that are worth folding."""
DEEPEST = 6


@dataclass(frozen=True, slots=True)
class OutlineRow:
    """A line of the navigator. `id` is where a click goes; `members` are the ids that it stands for."""

    id: MessageId
    kind: Kind
    words: str
    created_at: int
    depth: int = 0
    badges: tuple[Badge, ...] = ()
    active: bool = False
    on_path: bool = False
    members: tuple[MessageId, ...] = ()
    sessions: tuple[str, ...] = ()
    """Titles of the other sessions whose leaf is here."""
    until: int = 0
    """For a run: when its last turn was."""
    count: int = 0
    """For a run: how many turns it stands for."""
    unfolded: bool = False
    starts: bool = False
    """Whether a branch begins here: an arc comes from the lane to the left."""
    lanes: tuple[bool, ...] = ()
    """Which of the lanes 0 … depth go on below this row; `trunk_on_path` tells the colour of the first."""
    trunk_on_path: bool = False


@dataclass(frozen=True, slots=True)
class Marks:
    """What the rows are decorated with: the leaf, message ids with other sessions, and so on."""

    leaf: MessageId | None
    path: frozenset[MessageId]
    pending: MessageId | None = None
    """The question that is being answered."""
    editing: MessageId | None = None
    sessions: Mapping[MessageId, tuple[str, ...]] = field(default_factory=dict)
    unfolded: Collection[MessageId] = ()
    titles: Mapping[MessageId, str] = field(default_factory=dict)
    """What checkpoints are called, as far as it is known."""
    archived: frozenset[MessageId] = frozenset()
    """Where branches begin that are out of sight otherwise."""


class Tree:
    """The nodes by id, with their children in order of age."""

    def __init__(self, nodes: Sequence[OutlineNode]) -> None:
        self.nodes = {n.id: n for n in nodes}
        self.children: dict[MessageId | None, list[OutlineNode]] = {}
        for node in nodes:
            parent = node.parent_id if node.parent_id in self.nodes else None
            self.children.setdefault(parent, []).append(node)

    def below(self, parent: MessageId | None) -> list[OutlineNode]:
        return self.children.get(parent, [])

    def path_to(self, leaf: MessageId | None) -> frozenset[MessageId]:
        seen: set[MessageId] = set()
        at = leaf
        while at is not None and at in self.nodes and at not in seen:
            seen.add(at)
            at = self.nodes[at].parent_id
        return frozenset(seen)

    def versions(self, node: OutlineNode) -> list[MessageId]:
        """The alternatives to a message, itself included: answers to one question; questions that share the
        nearest ancestor that is no checkpoint."""
        if node.kind == "checkpoint":
            return [node.id]
        if node.kind == "assistant":
            return [n.id for n in self.below(node.parent_id) if n.kind == "assistant"]
        above = node.parent_id
        while above is not None and above in self.nodes and self.nodes[above].kind == "checkpoint":
            above = self.nodes[above].parent_id
        found = [n for n in self._through_checkpoints(above) if n.kind == "user"]
        return [n.id for n in sorted(found, key=lambda n: (n.created_at, n.id))]

    def _through_checkpoints(self, parent: MessageId | None) -> Iterator[OutlineNode]:
        waiting = list(self.below(parent))
        while waiting:
            node = waiting.pop()
            yield node
            if node.kind == "checkpoint":
                waiting.extend(self.below(node.id))


def in_sight(
    nodes: Sequence[OutlineNode], archived: Collection[MessageId], path: Collection[MessageId]
) -> list[OutlineNode]:
    """The nodes that are neither archived nor below one that is; the active path always stays."""
    hidden: set[MessageId] = set()
    shown = []
    for node in nodes:  # parents come before their children
        if node.id not in path and (node.id in archived or node.parent_id in hidden):
            hidden.add(node.id)
        else:
            shown.append(node)
    return shown


def outline_rows(tree: Tree, marks: Marks, words: str = "") -> tuple[OutlineRow, ...]:
    """All rows from the first turn down. `words` keeps the turns that have them, without lanes."""
    rows = list(_Walk(tree, marks).run())
    if words.strip():
        wanted = words.casefold().split()
        hits = [r for r in rows if all(w in r.words.casefold() for w in wanted)]
        return tuple(replace(r, depth=0, lanes=(False,), starts=True) for r in hits)
    return tuple(_with_lanes(_folded(rows, marks)))


class _Walk:
    """Goes down the tree without recursion: histories are long, branches hang on a stack."""

    def __init__(self, tree: Tree, marks: Marks) -> None:
        self._tree, self._marks = tree, marks

    def run(self) -> Iterator[OutlineRow]:
        roots = self._tree.below(None)
        main = self._main(roots)
        if main is None:
            return
        # Where the next branch starts, its depth, and whether it hangs beside the one before it.
        stack: list[tuple[OutlineNode, int, bool, list[OutlineNode]]] = [
            (main, 0, False, [r for r in roots if r is not main])
        ]
        while stack:
            node, depth, starts, beside = stack.pop()
            row, following, alternatives = self._unit(node, depth, starts)
            yield row
            branches = beside + alternatives
            if following is not None:
                others = [n for n in self._continuations(row) if n is not following]
                stack.append((following, depth, False, []))
                branches += others
            deeper = min(depth + 1, DEEPEST)
            stack.extend((b, deeper, True, []) for b in reversed(branches))

    def _unit(
        self, node: OutlineNode, depth: int, starts: bool
    ) -> tuple[OutlineRow, OutlineNode | None, list[OutlineNode]]:
        """A row, the node its lane goes on with, and other answers to the same question."""
        marks = self._marks
        members: tuple[MessageId, ...] = (node.id,)
        alternatives: list[OutlineNode] = []
        end = node
        badges: list[Badge] = []
        if node.kind == "user":
            answers = self._tree.below(node.id)
            answer = self._main(answers)
            if answer is not None:
                end, members = answer, (node.id, answer.id)
                alternatives = [a for a in answers if a is not answer]
            if len(self._tree.versions(node)) > 1 or len(answers) > 1:
                badges.append("siblings")
        if end.kind == "assistant" and end.status in ("stopped", "interrupted"):
            badges.append("stopped")
        if marks.pending in members:
            badges.append("streaming")
        if marks.editing in members:
            badges.append("draft")
        if marks.archived & set(members):
            badges.append("archived")
        sessions = tuple(t for m in members for t in marks.sessions.get(m, ()))
        if sessions:
            badges.append("forks")
        kind: Kind = (
            "checkpoint" if node.kind == "checkpoint" else "alt" if node.kind == "assistant" else "turn"
        )
        row = OutlineRow(
            id=end.id,
            kind=kind,
            words=marks.titles.get(node.id) or plain_words(node.words or end.words),
            created_at=end.created_at,
            depth=depth,
            badges=tuple(badges),
            active=marks.leaf in members,
            on_path=members[0] in marks.path and members[-1] in marks.path,
            members=members,
            sessions=sessions,
            starts=starts,
        )
        return row, self._main(self._tree.below(end.id)) if end.kind != "user" else None, alternatives

    def _continuations(self, row: OutlineRow) -> list[OutlineNode]:
        return self._tree.below(row.id)

    def _main(self, nodes: Sequence[OutlineNode]) -> OutlineNode | None:
        """The one on the active path, else the newest."""
        on_path = next((n for n in nodes if n.id in self._marks.path), None)
        return on_path or (max(nodes, key=lambda n: (n.created_at, n.id)) if nodes else None)


def _folded(rows: list[OutlineRow], marks: Marks) -> Iterator[OutlineRow]:
    held: list[OutlineRow] = []

    def release() -> Iterator[OutlineRow]:
        if len(held) < LEAST_RUN:
            yield from held
        else:
            first, last = held[0], held[-1]
            unfolded = first.id in marks.unfolded
            yield OutlineRow(
                id=first.id,
                kind="run",
                words="",
                created_at=first.created_at,
                until=last.created_at,
                count=len(held),
                depth=first.depth,
                on_path=first.on_path,
                members=tuple(m for r in held for m in r.members),
                unfolded=unfolded,
            )
            if unfolded:
                yield from held
        held.clear()

    for index, row in enumerate(rows):
        follower = rows[index + 1] if index + 1 < len(rows) else None
        plain = (
            row.kind == "turn"
            and not (row.badges or row.active or row.starts)
            and index > 0
            and follower is not None
            and (follower.depth == row.depth and not follower.starts)
        )
        if plain and (not held or held[-1].depth == row.depth):
            held.append(row)
            continue
        yield from release()
        if plain:
            held.append(row)
        else:
            yield row
    yield from release()


def _with_lanes(rows: Iterator[OutlineRow]) -> Iterator[OutlineRow]:
    """From below: lane k goes on below a row if a later row stands on it or branches off it first."""
    result: list[OutlineRow] = []
    needed: dict[int, bool] = {}  # lane -> whether what it leads to is on the active path
    for row in reversed(list(rows)):
        lanes = tuple(k in needed for k in range(row.depth + 1))
        result.append(replace(row, lanes=lanes, trunk_on_path=needed.get(0, False)))
        for lane in [k for k in needed if k >= row.depth]:
            del needed[lane]
        if row.starts:
            above = row.depth - 1
            needed[above] = needed.get(above, False)
        else:
            needed[row.depth] = row.on_path
    yield from reversed(result)
