"""What the next request contains, for every place a checkpoint can stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.domain.messages import Checkpoint
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.domain.projection import newest_checkpoint, position, project, verbatim
from tests.domain.paths import ids, path_of

CASES = [
    ("", ""),
    ("U1 A1 U2 A2", "U1 A1 U2 A2"),
    ("U1 A1 U2 A2 U3 A3 C1@U3", "C1 U3 A3"),
    ("U1 A1 U2 A2 U3 A3 C1@U3 U4", "C1 U3 A3 U4"),
    ("U1 A1 C1@null", "C1"),
    ("U1 A1 C1@null U2 A2", "C1 U2 A2"),
    ("U1 A1 U2 A2 C1@U2 U3 A3 C2@U3", "C2 U3 A3"),
    ("U1 A1 U2 A2 C1@U2 U3 A3 C2@U2 U4", "C2 U2 A2 U3 A3 U4"),
    ("U1 A1 C1@null C2@null U2", "C2 U2"),
    ("U1 A1 U2 A2 C1@U2 C2@null U3 A3", "C2 U3 A3"),
]


@pytest.mark.parametrize(("path", "expected"), CASES)
def test_request_is_newest_checkpoint_then_tail_then_what_followed(path: str, expected: str) -> None:
    assert ids(project(path_of(path)).messages) == expected


@pytest.mark.parametrize(
    ("path", "tail"), [("U1 A1 U2 A2 C1@U2 U3 A3", 2), ("U1 A1 C1@null U2", 0), ("U1 A1", 0)]
)
def test_tail_counts_the_kept_messages_older_than_the_checkpoint(path: str, tail: int) -> None:
    assert project(path_of(path)).tail == tail


def test_draft_is_the_last_user_message_and_an_empty_one_is_not_there() -> None:
    projection = project(path_of("U1 A1"))
    assert projection.plus_draft(Draft("  \n")) is projection
    assert projection.plus_draft(Draft("more?")).messages[-1].kind == "user"


def test_checkpoint_enters_as_one_fenced_message_with_summary_and_ledger_as_stored() -> None:
    path = path_of("U1 A1 C1@null")
    checkpoint = path[-1]
    assert isinstance(checkpoint, Checkpoint)
    (entry,) = project(path).messages
    (part,) = entry.parts
    assert part.text.startswith("<checkpoint>")  # type: ignore[union-attr]
    assert checkpoint.summary in part.text  # type: ignore[union-attr]


@st.composite
def chains(draw: st.DrawFn) -> str:
    """Valid paths with several checkpoints and monotone boundaries."""
    tokens: list[str] = []
    users: list[int] = []
    floor = 0
    checkpoints = 0
    for turn in range(1, draw(st.integers(1, 12)) + 1):
        tokens += [f"U{turn}", f"A{turn}"]
        users.append(turn)
        if draw(st.booleans()):
            checkpoints += 1
            choices = [str(u) for u in users if u >= floor]
            chosen = draw(st.sampled_from([*choices, "null"]))
            floor = turn + 1 if chosen == "null" else int(chosen)
            tokens.append(f"C{checkpoints}@{'null' if chosen == 'null' else 'U' + chosen}")
    return " ".join(tokens)


@given(chains())
def test_every_message_is_before_the_position_or_in_the_request_exactly_once(notation: str) -> None:
    path = path_of(notation)
    newest = newest_checkpoint(path)
    start = 0 if newest is None else position(path, newest)
    before = [m.id for m in path[:start] if not isinstance(m, Checkpoint)]
    kept = [m.id for m in verbatim(path)]
    assert before + kept == [m.id for m in path if not isinstance(m, Checkpoint)]


@given(chains())
def test_positions_never_go_back_along_a_path(notation: str) -> None:
    path = path_of(notation)
    at = [position(path, i) for i, m in enumerate(path) if isinstance(m, Checkpoint)]
    assert at == sorted(at)


@given(chains())
def test_a_request_holds_at_most_one_checkpoint_and_it_comes_first(notation: str) -> None:
    kinds = [m.kind for m in project(path_of(notation)).messages]
    assert "checkpoint" not in kinds[1:]
