"""The application as composed: the built-in assistant proposes, the sample library is never written to."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bibgenie_desktop.compose.application import Application
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.domain.parts import text_of
from bibgenie_desktop.services import events
from bibgenie_desktop.services.tools.base import Decision
from tests.services.desk import ask


async def test_the_built_in_assistant_proposes_its_answer_and_the_sample_library_is_left_alone(
    tmp_path: Path,
) -> None:
    app = Application(Options(data_dir=tmp_path / "data", home=tmp_path, environment={}))
    await app.open()
    try:
        await app.choose_library(None)
        chat = await app.workspace.chat((await app.workspace.new_session()).id)
        opened: asyncio.Queue[events.CardOpened] = asyncio.Queue()
        chat.subscribe(lambda e: opened.put_nowait(e) if isinstance(e, events.CardOpened) else None)
        await chat.send(ask("How does sleep affect memory?"))
        running = asyncio.ensure_future(chat.send(ask("Save this as a note")))
        card = (await asyncio.wait_for(opened.get(), 20)).card
        assert card.content.startswith("# How does sleep affect memory\n\n")
        assert "[[u-" in card.content
        assert "sample library cannot be written to" in card.refusal
        chat.answer_card(Decision("copied"))
        await running
        answer = chat.path[-1]
        assert "clipboard" in text_of(answer.parts)  # type: ignore[union-attr]
        changes = app.workspace.changes
        assert changes is not None
        assert [p.state for p in await changes.proposals([answer.id])] == ["copied"]
    finally:
        await app.close()
