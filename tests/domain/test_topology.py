"""The check of a branch on values alone; damaged files are in tests/storage/test_damage.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.domain.ids import MessageId, TreeId
from bibgenie_desktop.domain.messages import Checkpoint, Path
from bibgenie_desktop.domain.topology import (
    BrokenNode,
    DamagedBranch,
    Node,
    Placeholder,
    after_last_break,
    back_to_boundary,
    check_path,
    refusal,
)
from tests.domain.paths import path_of

LONG = "U1 A1 U2 A2 U3 A3 C1@U3 U4 A4 C2@U4 U5 A5"


def nodes(path: Path, *instead: Node) -> dict[MessageId, Node]:
    found: dict[MessageId, Node] = {message.id: message for message in path}
    return found | {node.id: node for node in instead}


def named(path: Path, name: str) -> Any:
    return next(message for message in path if message.id == name)


def shown(damaged: DamagedBranch) -> str:
    return " ".join(f"({n.id})" if isinstance(n, Placeholder) else n.id for n in damaged.readable)


@pytest.mark.parametrize(
    "notation",
    [
        "",
        "U1 A1",
        "U1 A1 U2",
        LONG,
        "U1 A1 C1@null",
        "U1 A1 C1@null U2 A2 C2@U2 U3 A3",
        "U1 A1 U2 A2 C1@U1 C2@U1 C3@U2 C4@null",
        "U1 A1 C1@null C2@null U2 A2 C3@U2",
    ],
)
def test_valid_paths_pass_whole(notation: str) -> None:
    path = path_of(notation)
    assert check_path(nodes(path).get, path[-1].id if path else None) == path


@pytest.mark.parametrize(
    ("notation", "bad", "word"),
    [
        ("U1 A1 C1@A1", "C1", "middle of a turn"),
        ("U1 A1 C1@U2 U2 A2", "C1", "not before it"),
        ("U1 A1 C1@U9", "C1", "not before it"),
        ("U1 A1 C1@C1", "C1", "not before it"),
        ("U1 A1 C1@null C2@C1", "C2", "middle of a turn"),
        ("U1 A1 U2 A2 C1@U2 C2@U1", "C2", "less far"),
        ("U1 A1 U2 A2 C1@null C2@U2", "C2", "less far"),
        ("U1 A1 C1@null U2 A2 C2@U1", "C2", "less far"),
        ("U1 A1 A2", "A2", "no question"),
        ("A1 U1", "A1", "missing"),
        ("U1 C1@null", "C1", "no answer"),
        ("U1 U2", "U2", "directly on a question"),
    ],
)
def test_each_rule_is_checked(notation: str, bad: str, word: str) -> None:
    path = path_of(notation)
    found = check_path(nodes(path).get, path[-1].id)
    assert isinstance(found, DamagedBranch)
    if bad != "A1":
        assert found.bad_id == bad
    assert word in found.reason


@pytest.mark.parametrize(
    ("change", "bad", "word", "readable"),
    [
        ({"A2": BrokenNode(MessageId("A2"), MessageId("U2"), "torn")}, "A2", "torn", "U1 A1 U2 (A2) U3 A3"),
        ({"A2": BrokenNode(MessageId("A2"), None, "torn")}, "A2", "torn", "(A2) U3 A3"),
        ({"A2": None}, "A2", "missing", "(A2) U3 A3"),
        ({"U2": {"parent_id": "U2"}}, "U2", "itself", "(U2) A2 U3 A3"),
        ({"U2": {"parent_id": "A3"}}, "U2", "circle", "(U2) A2 U3 A3"),
        ({"U2": {"depth": 77}}, "U2", "place", "U1 A1 (U2) A2 U3 A3"),
        ({"U1": {"depth": -1}}, "U1", "place", "(U1) A1 U2 A2 U3 A3"),
        ({"A3": {"depth": 1}}, "A3", "place", "U1 A1 U2 A2 U3 (A3)"),
        ({"U2": {"tree_id": "other"}}, "U2", "another conversation", "U1 A1 (U2) A2 U3 A3"),
        ({"U3": {"tree_id": "other"}, "A1": {"depth": 9}}, "U3", "another", "U1 (A1) U2 A2 (U3) A3"),
    ],
)
def test_the_first_bad_node_from_the_leaf_is_named(
    change: dict[str, Any], bad: str, word: str, readable: str
) -> None:
    path = path_of("U1 A1 U2 A2 U3 A3")
    found = nodes(path)
    for name, new in change.items():
        if new is None:
            del found[MessageId(name)]
        else:
            found[MessageId(name)] = replace(named(path, name), **new) if isinstance(new, dict) else new
    damaged = check_path(found.get, MessageId("A3"))
    assert isinstance(damaged, DamagedBranch)
    assert (damaged.bad_id, shown(damaged)) == (bad, readable)
    assert word in damaged.reason


def test_a_misplaced_message_keeps_its_content_for_the_view() -> None:
    path = path_of("U1 A1")
    wrong = replace(path[0], depth=5)
    found = check_path(nodes(path, wrong).get, MessageId("A1"))
    assert isinstance(found, DamagedBranch)
    assert found.readable[0] == Placeholder(MessageId("U1"), found.reason, wrong)


def test_the_tree_of_the_session_counts() -> None:
    path = path_of("U1 A1")
    assert check_path(nodes(path).get, MessageId("A1"), tree_id=path[0].tree_id) == path
    assert isinstance(check_path(nodes(path).get, MessageId("A1"), tree_id=TreeId("other")), DamagedBranch)


@pytest.mark.parametrize(("limit", "oldest"), [(0, "U4"), (3, "U4"), (5, "U4"), (7, "A3"), (100, "U1")])
def test_a_stop_needs_the_boundary_and_enough_messages(limit: int, oldest: str) -> None:
    path = path_of(LONG)
    found = check_path(nodes(path).get, path[-1].id, stop=back_to_boundary(limit))
    assert isinstance(found, tuple)
    assert found[0].id == oldest
    assert found == path[-len(found) :]


def test_without_a_checkpoint_nothing_older_can_be_left_out() -> None:
    path = path_of("U1 A1 U2 A2")
    assert check_path(nodes(path).get, path[-1].id, stop=back_to_boundary(1)) == path


def test_a_part_of_a_path_is_checked_like_the_whole() -> None:
    path = path_of(LONG)
    wrong = replace(named(path, "U5"), depth=3)
    found = check_path(nodes(path, wrong).get, path[-1].id, stop=back_to_boundary(4))
    assert isinstance(found, DamagedBranch)
    assert found.bad_id == "U5"


@given(st.integers(0, 14))
def test_a_stop_at_any_place_never_condemns_a_valid_path(limit: int) -> None:
    path = path_of("U1 A1 U2 A2 C1@U2 C2@U2 U3 A3 C3@null U4 A4 C4@U4 U5 A5")
    found = check_path(nodes(path).get, path[-1].id, stop=back_to_boundary(limit))
    assert isinstance(found, tuple)


@pytest.mark.parametrize(
    ("notation", "broken", "copied"),
    [
        ("U1 A1 U2 A2 U3 A3", "A1", "U2 A2 U3 A3"),
        ("U1 A1 U2 A2 U3 A3", "U2", "U3 A3"),
        ("U1 A1 U2 A2 U3 A3", "U1 A2", "U3 A3"),
        ("U1 A1 U2 A2 U3 A3", "A3", "U1 A1 U2 A2 U3"),
        ("U1 A1 U2 A2 U3 A3", "U3 A3", "U1 A1 U2 A2"),
        ("U1 A1 U2 A2 C1@U2 U3 A3", "A2", "U3 A3"),
        ("U1 A1", "U1", ""),
    ],
)
def test_a_copy_starts_at_the_first_question_after_the_last_break(
    notation: str, broken: str, copied: str
) -> None:
    path = path_of(notation)
    bad = [BrokenNode(MessageId(b), named(path, b).parent_id, "torn") for b in broken.split()]
    damaged = check_path(nodes(path, *bad).get, path[-1].id)
    assert isinstance(damaged, DamagedBranch)
    assert " ".join(message.id for message in after_last_break(damaged)) == copied


@pytest.mark.parametrize(
    ("notation", "boundary", "fits"),
    [
        ("U1 A1 U2 A2", "U2", True),
        ("U1 A1 U2 A2", "null", True),
        ("U1 A1 U2 A2", "A1", False),
        ("U1 A1 U2 A2", "U9", False),
        ("U1 A1 U2 A2 C1@U2", "U2", True),
        ("U1 A1 U2 A2 C1@U2", "U1", False),
        ("U1 A1 C1@null", "U1", False),
        ("U1 A1 C1@null", "null", True),
        ("U1 A1 C1@null U2 A2", "U2", True),
        ("U1", "null", False),
    ],
)
def test_a_new_checkpoint_is_judged_by_the_same_rules(notation: str, boundary: str, fits: bool) -> None:
    with_new = path_of(f"{notation} C9@{boundary}")
    new = with_new[-1]
    assert isinstance(new, Checkpoint)
    assert (refusal(with_new[:-1], new) == "") == fits
    loaded = check_path(nodes(with_new[:-1]).get, with_new[-2].id, stop=back_to_boundary(0))
    assert isinstance(loaded, tuple)
    assert (refusal(loaded, new) == "") == fits, "judged on the loaded part alone"


def test_a_checkpoint_for_another_leaf_is_refused() -> None:
    path = path_of("U1 A1 U2 A2 C9@U2")
    assert refusal(path[:2], path[-1]) != ""  # type: ignore[arg-type]
    assert refusal((), path[-1]) != ""  # type: ignore[arg-type]
