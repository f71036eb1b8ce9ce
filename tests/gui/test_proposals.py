"""Proposals in the real window: accepted, taken back, answered after a restart, copied, tried again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel

from bibgenie_desktop.domain.parts import ResourcePart
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.gui.conversation.card import ProposalCard
from bibgenie_desktop.gui.render.markdown_view import MarkdownView
from bibgenie_desktop.services.workspace import Workspace
from bibgenie_desktop.services.zotero_changes.executor import ZoteroChanges
from bibgenie_desktop.settings.resources import sample_library
from tests.gui.bench import Bench, bench
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.services.zotero_changes.helpers import PAPER, PDF, put_into
from tests.zotero.helpers import opened_library
from tests.zotero.online.helpers import MemoryKeyring, writing
from tests.zotero.online.zotero_server import ZoteroServer

NOTE = f'# Sleep\n\nSpeed rose by **a fifth** [[{PDF} p.2 "motor speed"]].'
CALL: dict[str, Any] = {"kind": "note", "target": PAPER, "content": NOTE}


@asynccontextmanager
async def window(
    folder: Path, server: ScriptedServer, zotero: ZoteroServer, keyring: MemoryKeyring
) -> AsyncIterator[Bench]:
    library = opened_library(sample_library(), folder / "private")
    await library.ensure_loaded()
    if not zotero.libraries["u"].items:
        put_into(zotero, library.contents)

    def prepare(workspace: Workspace) -> None:
        ways = writing(keyring, local=zotero.local)
        workspace.use_changes(ZoteroChanges(workspace._store, lambda: ways))
        workspace.use_library(library)

    try:
        async with bench(folder, server, prepare=prepare) as on:
            try:
                yield on
            finally:
                assert on.desk.workspace.changes is not None
                await on.desk.workspace.changes.close()
    finally:
        await library.close()


def cards(on: Bench) -> list[ProposalCard]:
    return [c for c in on.window.conversation.findChildren(ProposalCard) if c.isVisible()]


def words(on: Bench) -> str:
    (card,) = cards(on)
    shown = [w.text() for w in card.findChildren(QLabel) if w.isVisible()]
    texts = [v.toPlainText() for v in card.findChildren(MarkdownView) if v.isVisible()]
    return "\n".join((*shown, *texts))


async def proposed(on: Bench) -> None:
    on.server.script(tool_calls(("propose_change", CALL)), text("Done."))
    on.ask("Save this as a note")
    await on.until(lambda: on.state is SessionState.AWAITING_APPROVAL and cards(on))


async def shown(on: Bench, state: str) -> None:
    await on.until(lambda: [c.card.state for c in cards(on)] == [state])


async def test_an_accepted_note_is_shown_as_saved_and_can_be_taken_back(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with window(tmp_path, server, zotero, MemoryKeyring()) as on:
            await proposed(on)
            for said in (
                "Save this note in Zotero?",
                "Child note of Walker et al. 2002",
                "Speed rose by a fifth",
            ):
                assert said in words(on)
            assert "[[" not in words(on)
            assert zotero.writes == []
            on.hands.click(on.button("acceptButton"))
            await shown(on, "writing")
            assert "answer its dialog" in words(on)
            zotero.dialog("always")
            await on.until_idle()
            await shown(on, "written")
            (note,) = zotero.notes
            assert "Note saved in Zotero" in words(on)
            on.hands.click(on.button("showButton"))
            assert on.links == [f"zotero://select/library/items/{note['key']}"]
            on.hands.click(on.button("undoButton"))
            await shown(on, "undone")
            assert zotero.item(note["key"])["deleted"] == 1
            assert await on.clipped() == []


async def test_a_proposal_left_open_at_the_end_is_answered_after_a_restart_and_the_model_is_told(
    qapp: QApplication, tmp_path: Path
) -> None:
    keyring = MemoryKeyring()
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with window(tmp_path, server, zotero, keyring) as on:
            await proposed(on)
        async with window(tmp_path, server, zotero, keyring) as on:
            await shown(on, "unanswered")
            assert zotero.writes == []
            on.hands.click(on.button("proposeAgainButton"))
            await shown(on, "waiting")
            zotero.dialog("always")
            on.hands.click(on.button("acceptButton"))
            await shown(on, "written")
            (note,) = zotero.notes
            await on.until(lambda: on.window.composer.attachments)
            server.script(text("Good."))
            await on.ask_and_wait("And now?")
            sent = server.bodies[-1]["messages"][-1]["content"]
            assert f"u-{note['key']}" in str(sent)
            assert "the person accepted it" in str(sent)
            question = on.desk.chats.chat.path[-2]  # type: ignore[union-attr]
            assert any(isinstance(p, ResourcePart) for p in question.parts)  # type: ignore[union-attr]


async def test_where_nothing_can_be_written_the_text_is_copied_and_the_turn_goes_on(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server, ZoteroServer(enabled=False) as zotero:
        async with window(tmp_path, server, zotero, MemoryKeyring()) as on:
            await proposed(on)
            assert "Allow other applications" in words(on)
            on.hands.click(on.button("copyButton"))
            await on.until_idle()
            assert QGuiApplication.clipboard().text() == NOTE
            assert "Copied" in on.toast
            await shown(on, "copied")
            assert "copied" in str(server.bodies[-1]["messages"][-1]["content"])
            assert zotero.writes == []


async def test_what_failed_says_why_and_is_written_by_retry(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with window(tmp_path, server, zotero, MemoryKeyring()) as on:
            await proposed(on)
            zotero.dialog("deny", "once")
            on.hands.click(on.button("acceptButton"))
            await on.until_idle()
            await shown(on, "failed")
            assert "You did not allow this in Zotero" in words(on)
            on.hands.click(on.button("acceptButton"))
            await shown(on, "written")
            assert len(zotero.notes) == 1


async def test_a_lost_answer_says_that_it_is_not_known_until_it_was_looked_for(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with window(tmp_path, server, zotero, MemoryKeyring()) as on:
            await proposed(on)
            zotero.dialog("always")
            zotero.cut_after_next_write = True
            on.hands.click(on.button("acceptButton"))
            await on.until_idle()
            await shown(on, "unknown")
            assert "Not known" in words(on)
            assert "may have been written" in words(on)
            assert "Not written" not in words(on)
            on.hands.click(on.button("acceptButton"))
            await shown(on, "written")
            assert len(zotero.notes) == 1


async def test_a_declined_proposal_is_folded_and_its_text_can_be_read(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with window(tmp_path, server, zotero, MemoryKeyring()) as on:
            await proposed(on)
            on.hands.click(on.button("declineButton"))
            await on.until_idle()
            await shown(on, "declined")
            assert "Speed rose" not in words(on)
            on.hands.click(on.button("textButton"))
            assert "Speed rose" in words(on)
