"""Many questions in one conversation with the built-in assistant: each is answered like one asked alone."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bibgenie_desktop.compose.options import id_maker
from bibgenie_desktop.compose.requests import prompts
from bibgenie_desktop.domain.citations import citations_in
from bibgenie_desktop.domain.messages import AssistantMessage
from bibgenie_desktop.domain.parts import text_of
from bibgenie_desktop.providers.builtin.provider import BUILTIN_PROFILES, BuiltinAssistant
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.models import Models
from bibgenie_desktop.services.tools.registry import library_tools
from bibgenie_desktop.services.workspace import Workspace
from bibgenie_desktop.storage.worker import StoreWorker
from tests.fakes import Clock
from tests.services.desk import ask
from tests.zotero.helpers import SAMPLE, generated, opened_library

README_QUESTIONS = (
    "How large is the overnight gain in motor skill, and who disputes it?",
    "Can a skill be strengthened by cues in sleep?",
    "Which evidence for ripples is causal?",
    "How much worse is memory after a night without sleep?",
    "What share found the hidden rule after sleep?",
)
SAMPLE_QUESTIONS = (
    "How does sleep affect memory consolidation?",
    "Is targeted memory reactivation reliable?",
    "Do naps help?",
    "Are the benefits of sleep for memory robust?",
    "What do slow oscillations do?",
    "What do ripples do for memory?",
    "Does sleep change motor skill?",
    "How much is remembered after sleep?",
    "What is known about dreams?",
    "Which role do spindles play?",
)


@asynccontextmanager
async def conversation(folder: Path, data_dir: Path) -> AsyncIterator[Chat]:
    """A session of the built-in assistant over a real library, store, planner and tools."""
    clock = Clock()
    ids = id_maker(clock)
    store = StoreWorker(folder / "bibgenie.sqlite", clock, ids)
    await store.open()
    library = opened_library(data_dir, folder / "private")
    profiles = {profile.ref: profile for profile in BUILTIN_PROFILES}
    workspace = Workspace(
        store=store,
        models=Models(
            BUILTIN_PROFILES, profiles.get, {"builtin": BuiltinAssistant(delay=0)}, BUILTIN_PROFILES[0].ref
        ),
        prompts=prompts(),
        library=library,
        ids=ids,
        clock=clock,
        automatic=True,
        text_index=folder / "index" / "messages.sqlite",
    )
    workspace.use_tools(library_tools(library))
    try:
        yield await workspace.chat((await workspace.new_session()).id)
    finally:
        await workspace.search.close()
        await library.close()
        await store.close()


async def answers(folder: Path, data_dir: Path, questions: tuple[str, ...]) -> list[AssistantMessage]:
    found = []
    async with conversation(folder, data_dir) as chat:
        for question in questions:
            await chat.send(ask(question))
            found.append([m for m in chat.path if isinstance(m, AssistantMessage)][-1])
    assert len({m.id for m in found}) == len(questions)
    return found


def quoting(answer: AssistantMessage) -> bool:
    return any(citation.quote for citation in citations_in(text_of(answer.parts)))


@pytest.mark.parametrize("items", ["25", "37", "300"])
async def test_every_question_of_a_conversation_is_answered_with_quotes(tmp_path: Path, items: str) -> None:
    found = await answers(tmp_path, generated(tmp_path, "--items", items), README_QUESTIONS * 2)
    for question, answer in zip(README_QUESTIONS * 2, found, strict=True):
        assert quoting(answer), (question, text_of(answer.parts))
        assert not answer.error, (question, answer.error)


async def test_a_question_gets_the_same_quotes_early_late_and_when_asked_again(tmp_path: Path) -> None:
    share = README_QUESTIONS[-1]
    found = await answers(tmp_path, generated(tmp_path, "--items", "37"), (share, *README_QUESTIONS, share))
    first, *_, fifth, again = (text_of(answer.parts) for answer in found)
    assert "59 percent" in first
    assert "59 percent" in fifth
    assert "59 percent" in again


async def test_ten_questions_on_the_sample_library_are_answered_in_one_conversation(tmp_path: Path) -> None:
    if not SAMPLE.is_dir():
        pytest.skip("the sample library is not here")
    found = await answers(tmp_path, SAMPLE, SAMPLE_QUESTIONS)
    for question, answer in zip(SAMPLE_QUESTIONS, found, strict=True):
        assert quoting(answer), (question, text_of(answer.parts))
        assert not answer.error, (question, answer.error)


@pytest.mark.parametrize("damage", ["garbage", "gone"])
async def test_a_library_that_cannot_be_read_is_never_called_empty(tmp_path: Path, damage: str) -> None:
    data_dir = generated(tmp_path / "library", "--items", "25")
    async with conversation(tmp_path, data_dir) as chat:
        if damage == "garbage":
            (data_dir / "zotero.sqlite").write_bytes(b"no database at all" * 1_000)
        else:
            shutil.rmtree(data_dir)
        await chat.send(ask(README_QUESTIONS[0]))
        text = text_of([m for m in chat.path if isinstance(m, AssistantMessage)][-1].parts)
    reason = "is not a database" if damage == "garbage" else "There is no folder"
    assert reason in text.split("\n\n")[0]
    assert "found nothing" not in text
