"""Several proposals in one answer: their cards come one at a time, in the order of the calls."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bibgenie_desktop.services import events
from bibgenie_desktop.services.tools.base import Card, Decision
from bibgenie_desktop.zotero.online.changes import Home
from bibgenie_desktop.zotero.online.writing import ZoteroWriting
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.services.desk import ask
from tests.services.zotero_changes.helpers import PAPER, put_into, workbench
from tests.zotero.online.helpers import MemoryKeyring, connections, secrets
from tests.zotero.online.zotero_server import ZoteroServer


class SlowAtFirst(ZoteroWriting):
    """Knows whether something can be written the later, the earlier it was asked."""

    asked = 0

    async def refusal(self, library: str, home: Home) -> str:
        self.asked += 1
        await asyncio.sleep(0.3 / self.asked**2)
        return await super().refusal(library, home)


@pytest.mark.parametrize("other", [False, True])
async def test_cards_of_one_answer_come_in_the_order_of_its_calls(tmp_path: Path, other: bool) -> None:
    calls = [("propose_change", {"kind": "note", "target": PAPER, "content": f"# {n}"}) for n in range(12)]
    between = [("search_items", {"query": "sleep"})] if other else []
    with ScriptedServer() as server, ZoteroServer() as zotero:
        ways = SlowAtFirst(secrets(MemoryKeyring()), connections(), local=zotero.local)
        async with workbench(tmp_path, server, zotero, ways=ways) as bench:
            put_into(zotero, bench.library.contents)
            chat = await bench.on.chat()
            server.script(tool_calls(*between, *calls), text("Done."))
            running = asyncio.ensure_future(chat.send(ask("Save these")))
            for n in range(len(calls)):
                await bench.on.until(events.CardOpened, n + 1)
                card = bench.on.happened(events.CardOpened)[-1].card
                assert isinstance(card, Card)
                assert card.content == f"# {n}"
                chat.answer_card(Decision("declined"))
            await running
            assert [p.card.content for p in await bench.proposals(chat)] == [f"# {n}" for n in range(12)]
