"""The table of what a session allows is complete and gives reasons."""

from __future__ import annotations

import pytest

from bibgenie_desktop.domain.states import ALLOWED, Action, SessionState, refusal

WORKING = {SessionState.STREAMING, SessionState.AWAITING_APPROVAL}


@pytest.mark.parametrize("state", SessionState)
def test_looking_copying_and_leaving_are_always_possible(state: SessionState) -> None:
    for action in (Action.SWITCH_SESSION, Action.COPY, Action.EXPORT, Action.SEARCH):
        assert refusal(state, action) is None


@pytest.mark.parametrize("state", SessionState)
@pytest.mark.parametrize("action", Action)
def test_every_refusal_has_a_reason_in_a_sentence(state: SessionState, action: Action) -> None:
    reason = refusal(state, action)
    assert (reason is None) == (action in ALLOWED[state])
    assert reason is None or reason.endswith(".")


def test_while_compacting_sending_waits_and_the_tree_is_left_alone() -> None:
    allowed = ALLOWED[SessionState.COMPACTING]
    assert {Action.SEND, Action.CANCEL, Action.TYPE} <= allowed
    frozen = {
        Action.RETRY,
        Action.EDIT,
        Action.FORK,
        Action.CHOOSE_MODEL,
        Action.SWITCH_BRANCH,
        Action.COMPACT,
    }
    assert not allowed & (frozen | {Action.UNDO_CHECKPOINT, Action.REVISE_SUMMARY, Action.ARCHIVE})


@pytest.mark.parametrize("state", sorted(WORKING))
def test_while_answering_one_can_stop_queue_and_fork_but_not_change_the_branch(state: SessionState) -> None:
    allowed = ALLOWED[state]
    assert {Action.STOP, Action.QUEUE, Action.FORK, Action.TYPE} <= allowed
    assert not allowed & {
        Action.RETRY,
        Action.EDIT,
        Action.SWITCH_BRANCH,
        Action.COMPACT,
        Action.CHOOSE_MODEL,
    }


def test_a_damaged_session_can_be_read_and_copied_only() -> None:
    allowed = ALLOWED[SessionState.READ_ONLY]
    assert Action.COPY_READABLE in allowed
    assert not allowed & {Action.SEND, Action.TYPE, Action.COMPACT, Action.RETRY}
