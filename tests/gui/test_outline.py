"""The outline of a tree: the active path is the trunk, other branches hang where they leave it."""

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.gui.docks.outline import Marks, OutlineRow, Tree, in_sight, outline_rows
from bibgenie_desktop.services.workspace import OutlineNode


def tree(*lines: str) -> Tree:
    """Nodes as `U2<A1`: kind by first letter, parent after the sign; later lines are newer."""
    nodes = []
    depths: dict[str, int] = {}
    for at, line in enumerate(lines):
        name, _, parent = line.partition("<")
        depths[name] = depths[parent] + 1 if parent else 0
        kind = {"U": "user", "A": "assistant", "C": "checkpoint"}[name[0]]
        nodes.append(
            OutlineNode(
                MessageId(name),
                MessageId(parent) if parent else None,
                kind,  # type: ignore[arg-type]
                "complete",
                f"words of {name}",
                at,
                "m",
                depths[name],
            )
        )
    return Tree(nodes)


def rows(of: Tree, leaf: str, **more: object) -> tuple[OutlineRow, ...]:
    marks = Marks(MessageId(leaf), of.path_to(MessageId(leaf)), **more)  # type: ignore[arg-type]
    return outline_rows(of, marks)


def shape(found: tuple[OutlineRow, ...]) -> list[str]:
    return [f"{'  ' * r.depth}{r.kind} {r.members[0]}{'*' if r.active else ''}" for r in found]


LINE = ("U1", "A1<U1", "U2<A1", "A2<U2", "U3<A2", "A3<U3")


def test_a_line_of_turns_is_one_lane() -> None:
    found = rows(tree(*LINE), "A3")
    assert shape(found) == ["turn U1", "turn U2", "turn U3*"]
    assert [r.lanes for r in found] == [(True,), (True,), (False,)]
    assert all(r.on_path for r in found)


def test_other_questions_hang_below_the_answer_they_follow() -> None:
    found = rows(tree(*LINE, "U4<A1", "A4<U4", "U5<A4", "A5<U5"), "A3")
    assert shape(found) == ["turn U1", "  turn U4", "  turn U5", "turn U2", "turn U3*"]
    assert [r.starts for r in found] == [False, True, False, False, False]
    assert found[1].lanes == (True, True)
    assert found[2].lanes == (True, False)


def test_other_answers_hang_below_their_turn() -> None:
    found = rows(tree(*LINE, "A6<U3"), "A6")
    assert shape(found) == ["turn U1", "turn U2", "turn U3*", "  alt A3"]
    assert found[2].members == ("U3", "A6")
    assert "siblings" in found[2].badges
    assert not found[3].on_path


def test_other_first_questions_hang_below_the_first_turn() -> None:
    assert shape(rows(tree("U1", "A1<U1", "U2", "A2<U2"), "A2")) == ["turn U2*", "  turn U1"]


def test_a_checkpoint_is_a_row_of_its_own_and_no_fork() -> None:
    found = rows(tree(*LINE, "C1<A3", "U4<C1", "A4<U4"), "A4")
    assert shape(found) == ["turn U1", "turn U2", "turn U3", "checkpoint C1", "turn U4*"]
    assert all(not r.badges for r in found)


def test_questions_on_both_sides_of_a_checkpoint_are_versions_of_each_other() -> None:
    of = tree("U1", "A1<U1", "U2<A1", "A2<U2", "C1<A1", "U3<C1", "A3<U3")
    assert of.versions(of.nodes[MessageId("U3")]) == ["U2", "U3"]
    assert of.versions(of.nodes[MessageId("C1")]) == ["C1"]


def test_long_runs_fold_and_unfold() -> None:
    lines = [f"U{i}" if i == 1 else f"U{i}<A{i - 1}" for i in range(1, 9)]
    answers = [f"A{i}<U{i}" for i in range(1, 9)]
    of = tree(*(x for pair in zip(lines, answers, strict=True) for x in pair))
    folded = rows(of, "A8")
    assert shape(folded) == ["turn U1", "run U2", "turn U8*"]
    assert folded[1].count == 6
    assert MessageId("A5") in folded[1].members
    unfolded = rows(of, "A8", unfolded={folded[1].id})
    assert [r.kind for r in unfolded] == ["turn", "run", *["turn"] * 7]


def test_words_find_turns_inside_folded_runs() -> None:
    lines = [f"U{i}" if i == 1 else f"U{i}<A{i - 1}" for i in range(1, 9)]
    answers = [f"A{i}<U{i}" for i in range(1, 9)]
    of = tree(*(x for pair in zip(lines, answers, strict=True) for x in pair))
    marks = Marks(MessageId("A8"), of.path_to(MessageId("A8")))
    assert [r.members[0] for r in outline_rows(of, marks, "WORDS u5")] == ["U5"]


def test_a_question_without_an_answer_is_a_turn() -> None:
    assert shape(rows(tree("U1", "A1<U1", "U2<A1"), "U2", pending=MessageId("U2"))) == ["turn U1", "turn U2*"]


def test_the_trunk_goes_on_below_the_leaf_without_being_active() -> None:
    found = rows(tree(*LINE), "A2")
    assert shape(found) == ["turn U1", "turn U2*", "turn U3"]
    assert [r.on_path for r in found] == [True, True, False]
    assert [r.trunk_on_path for r in found] == [True, False, False]


def test_a_tree_of_ten_thousand_turns_is_laid_out_without_recursion() -> None:
    lines = []
    for i in range(1, 10_001):
        lines += [f"U{i}<A{i - 1}" if i > 1 else "U1", f"A{i}<U{i}"]
    assert len(rows(tree(*lines), "A10000")) == 3


def test_an_archived_branch_is_out_of_sight_with_all_below_it_and_the_active_path_never() -> None:
    whole = tree("U1", "A1<U1", "A2<U1", "U2<A2", "A3<U2")
    nodes = list(whole.nodes.values())
    path = whole.path_to(MessageId("A1"))
    assert [n.id for n in in_sight(nodes, {MessageId("A2")}, path)] == ["U1", "A1"]
    assert len(in_sight(nodes, {MessageId("A2")}, whole.path_to(MessageId("A3")))) == 5
    shown = rows(whole, "A1", archived=frozenset({MessageId("A2")}))
    assert [r.members[0] for r in shown if "archived" in r.badges] == ["A2"]
