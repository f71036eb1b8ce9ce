"""A conversation with a real small model: full after a few turns, and unable to write a summary.

What the model says differs from run to run; that its summaries are refused and nothing is lost does not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bibgenie_desktop.domain.checkpoint import judge
from bibgenie_desktop.domain.messages import AssistantMessage
from bibgenie_desktop.domain.messages import Path as Branch
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.providers.base import TextDelta
from bibgenie_desktop.services import events
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.storage.store import Store
from tests.local.helpers import LlamaServer, answered
from tests.services.desk import Desk, ask, desk

pytestmark = [pytest.mark.local, pytest.mark.patience(300)]

ANSWER = 200  # tokens: a model as small as this one seldom stops by itself
NOTE = (
    "Note {n}. In trial {n} of the sleep study, forty adults learned word pairs in the evening and were "
    "tested after twelve hours, half of them after a night of sleep. Those who slept forgot fewer pairs, but "
    "the difference was small and vanished when the test was repeated a week later. The authors blame the "
    "noise in the laboratory, a broken clock, and the fact that the wake group drank coffee. "
)


def passage(turn: int) -> str:
    return f"{NOTE.format(n=f'{turn}a')}{NOTE.format(n=f'{turn}b')} How many adults were there?"


async def filled(d: Desk, chat: Chat) -> events.CompactionEnded:
    """Turns until a compaction starts by itself, after an answer or before a question; how it ended."""
    for turn in range(1, 15):
        d.events.clear()
        await chat.send(ask(passage(turn)))
        if ended := d.happened(events.CompactionEnded):
            return ended[0]
        assert isinstance(chat.path[-1], AssistantMessage)
        assert d.happened(events.SendEnded)[0].sent
    raise AssertionError("the context was never full")


async def test_a_model_that_cannot_summarise_changes_nothing_and_the_session_goes_on(
    llama: LlamaServer, tmp_path: Path
) -> None:
    async with desk(tmp_path, llama, window=llama.window, max_output=ANSWER) as d:  # type: ignore[arg-type]
        chat = await d.chat()
        automatic = await filled(d, chat)
        before = chat.path
        assert len(before) >= 4
        assert (await chat.plan(Draft())).occupancy.source == "reported"
        refused(automatic)
        await unchanged(d, chat, before)

        d.events.clear()
        await chat.compact()
        (manual,) = d.happened(events.CompactionEnded)
        refused(manual)
        await unchanged(d, chat, before)

        d.events.clear()
        await chat.retry(before[-1].id)
        answer = d.happened(events.ReplyEnded)[0].message
        assert answer.parent_id == before[-1].parent_id
        assert answer.id != before[-1].id
        assert chat.path[:-1] == before[:-1]
        assert chat.state is SessionState.IDLE


def refused(ended: events.CompactionEnded) -> None:
    assert ended.outcome == "failed"
    assert "no usable summary" in ended.message
    # What is wrong with it differs from run to run: a real model is no script.
    faults = (
        "Sections are missing",
        "empty",
        "cut off",
        "not in the given order",
        "too long",
        "without a mark",
    )
    assert any(fault in ended.message for fault in faults)
    assert "choose another model" in ended.message


async def unchanged(d: Desk, chat: Chat, before: Branch) -> None:
    assert chat.state is SessionState.IDLE
    stored = await d.store.run(Store.open_branch, chat.session_id)
    assert stored.path == chat.path == before
    assert stored.session.leaf_id == before[-1].id
    assert stored.pending is None


async def test_a_question_too_large_for_the_server_is_answered_with_its_figures(
    llama: LlamaServer, tmp_path: Path
) -> None:
    async with desk(tmp_path, llama, window=16_384) as d:  # type: ignore[arg-type]
        chat = await d.chat()
        await chat.send(ask(passage(1) * 15))
        answer = chat.path[-1]
        assert isinstance(answer, AssistantMessage)
        assert answer.status == "failed"
        assert "larger than this model's window. It allows 2,048 tokens." in answer.error
        assert "Compact" in answer.error
        assert chat.state is SessionState.IDLE


async def test_the_judge_refuses_what_the_model_calls_a_summary(llama: LlamaServer) -> None:
    sections = "Research Goal, Decisions, Next Steps, Critical Context"
    request = llama.request(f"Summarise in Markdown under the headings {sections}:\n\n{passage(1)}", 200)
    written = "".join(e.text for e in await answered(llama, request) if isinstance(e, TextDelta))
    assert written.strip()
    assert not judge(written, finished=True, budget=400, replaces=None).accepted
