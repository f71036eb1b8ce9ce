"""Pictures from the composer and from `view_page`, over real HTTP to a scripted server: what the model gets,
what is stored, and what a model that cannot see is told."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bibgenie_desktop.domain.estimate import PER_IMAGE
from bibgenie_desktop.domain.messages import AssistantMessage
from bibgenie_desktop.domain.parts import Draft, ImagePart, ToolPart
from bibgenie_desktop.services.export import gather, write
from bibgenie_desktop.services.images import Picture, abridged
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.read_document import ReadDocument
from bibgenie_desktop.services.tools.view_page import ViewPage
from bibgenie_desktop.zotero.service import ZoteroLibrary
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.services.desk import LARGE, SMALL, Desk, ask, desk
from tests.zotero.helpers import SAMPLE, opened_library

DATA = b"\x89PNG a plot"
CODED = base64.b64encode(DATA).decode("ascii")
NOTE = "[image: plot.png, 640 × 480 pixels, not shown to this model]"


@asynccontextmanager
async def sample(tmp_path: Path) -> AsyncIterator[ZoteroLibrary]:
    library = opened_library(SAMPLE, tmp_path / "private")
    try:
        yield library
    finally:
        await library.close()


async def picture(d: Desk) -> ImagePart:
    (part,) = await d.workspace.keep_pictures([Picture(DATA, "image/png", 640, 480, "plot.png")])
    return part


def hu(library: ZoteroLibrary) -> str:
    files = library.contents.attachments.values()
    return next(a.id for a in files if a.stored.endswith("Hu - 2020.pdf"))


def urls(body: Any) -> list[str]:
    return [
        piece["image_url"]["url"]
        for message in body["messages"]
        if isinstance(message["content"], list)
        for piece in message["content"]
        if piece["type"] == "image_url"
    ]


def starts_with(later: Any, earlier: Any) -> bool:
    return bool(later["messages"][: len(earlier["messages"])] == earlier["messages"])


async def test_picture_of_a_draft_is_sent_as_shown_before_and_costs_a_fixed_sum(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, vision=True) as d:
            chat = await d.chat()
            draft = Draft("What is it?", (await picture(d),))
            assert await d.workspace.keep_pictures([Picture(DATA, "image/png", 640, 480, "again.png")])
            bare = (await chat.plan(Draft("What is it?"))).occupancy.tokens
            assert (await chat.plan(draft)).occupancy.tokens - bare == PER_IMAGE
            shown = await d.workspace.body(chat, draft)
            server.script(text("A plot."))
            await chat.send(draft)
            assert server.bodies == [json.loads(json.dumps(shown))]
            assert urls(server.bodies[0]) == [f"data:image/png;base64,{CODED}"]
            server.script(text("Blue."))
            await chat.send(ask("Its colour?"))
            assert starts_with(server.bodies[1], server.bodies[0])
            assert (await d.workspace.pictures([draft.attached[0].blob, "gone"])) == {  # type: ignore[union-attr]
                draft.attached[0].blob: DATA  # type: ignore[union-attr]
            }


async def test_conversation_goes_between_models_that_see_and_that_do_not(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, small=100_000, vision=True) as d:
            chat = await d.chat()
            server.script(text("A plot."), text("I cannot see it."), text("Blue."))
            await chat.send(Draft("What is it?", (await picture(d),)))
            await chat.choose_model(f"test/{SMALL}")
            await chat.send(ask("Its colour?"))
            assert urls(server.bodies[1]) == []
            assert server.bodies[1]["messages"][1]["content"] == f"{NOTE}\n\nWhat is it?"
            await chat.choose_model(f"test/{LARGE}")
            await chat.send(ask("Look again."))
            assert starts_with(server.bodies[2], server.bodies[0])
            assert chat.path[0].parts[0] == await picture(d)


async def test_page_that_a_model_looks_at_reaches_it_and_stays_with_the_answer(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with sample(tmp_path) as library:
            await library.ensure_loaded()
            asked = {"attachment_id": hu(library), "page": "219"}
            async with desk(
                tmp_path, server, tools=(ReadDocument(library), ViewPage(library)), vision=True
            ) as d:
                chat = await d.chat()
                server.script(tool_calls(("view_page", asked), ("view_page", {**asked, "page": "3"})))
                server.script(text("It shows effects."))
                await chat.send(ask("What is on page 219?"))
                first, second = server.bodies
                assert "view_page" in [t["function"]["name"] for t in first["tools"]]
                assert starts_with(second, first)
                assert [m["role"] for m in second["messages"][-4:]] == ["assistant", "tool", "tool", "user"]
                sent = [base64.b64decode(url.partition(",")[2]) for url in urls(second)]
                assert all(data.startswith(b"\x89PNG") for data in sent)
                answer = chat.path[-1]
                assert isinstance(answer, AssistantMessage)
                calls = [p for p in answer.parts if isinstance(p, ToolPart)]
                assert [c.images[0].name for c in calls] == [
                    "Hu et al. 2020, p. 219",
                    "Hu et al. 2020, p. 220",
                ]
                kept = await d.workspace.pictures([c.images[0].blob for c in calls])
                assert list(kept.values()) == sent
                assert calls[0].resources[0].locator.page_index == 1
                used = (await chat.plan(Draft())).tokens[-1]
                assert 2 * PER_IMAGE < used < 2 * PER_IMAGE + 1_000
                session = chat.session_id
                whole = json.loads(await d.store.run(lambda s: write(gather(s, session), "json")))
                assert [base64.b64decode(b["data"]) for b in whole["blobs"]] == sent
            async with desk(
                tmp_path, server, tools=(ReadDocument(library), ViewPage(library)), vision=True
            ) as d:
                chat = await d.chat(session)
                assert chat.path[-1] == answer
                server.script(text("Two pages."))
                await chat.send(ask("How many did you see?"))
                assert starts_with(server.bodies[2], second)
                assert len(urls(server.bodies[2])) == 2


async def test_model_that_does_not_see_is_not_offered_the_tool_and_cannot_call_it(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with (
            sample(tmp_path) as library,
            desk(tmp_path, server, tools=(ReadDocument(library), ViewPage(library))) as d,
        ):
            chat = await d.chat()
            server.script(tool_calls(("view_page", {"page": "1"})), text("No."))
            await chat.send(ask("Look"))
            names = [t["function"]["name"] for t in server.bodies[0]["tools"]]
            assert names == ["read_document", "read_result"]
            told = server.bodies[1]["messages"][-1]["content"]
            assert told == "There is no tool view_page. The tools are: read_document, read_result."


class Scan:
    """Stands for a document without text."""

    spec = ReadDocument.spec

    async def run(self, arguments: Any) -> ToolResult:
        return ToolResult("No text.", error=True, for_eyes="view_page can show such a page.")


async def test_hint_to_look_is_for_models_that_see(tmp_path: Path) -> None:
    for vision, told in ((True, "No text.\nview_page can show such a page."), (False, "No text.")):
        with ScriptedServer() as server:
            async with desk(tmp_path / str(vision), server, tools=(Scan(),), vision=vision) as d:
                chat = await d.chat()
                server.script(tool_calls(("read_document", {})), text("Well."))
                await chat.send(ask("Read"))
                assert server.bodies[1]["messages"][-1]["content"] == told


async def test_picture_that_does_not_fit_is_left_out_with_a_sentence(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with sample(tmp_path) as library:
            await library.ensure_loaded()
            tools = (ViewPage(library),)
            async with desk(tmp_path, server, tools=tools, vision=True, window=4_096) as d:
                chat = await d.chat()
                server.script(tool_calls(("view_page", {"attachment_id": hu(library)})), text("From memory."))
                await chat.send(ask("Look"))
                assert urls(server.bodies[1]) == []
                assert "no room left for a picture" in server.bodies[1]["messages"][-1]["content"]
                answer = chat.path[-1]
                assert isinstance(answer, AssistantMessage)
                assert answer.status == "complete"
                call = next(p for p in answer.parts if isinstance(p, ToolPart))
                assert (call.state, call.images) == ("error", ())


async def test_picture_that_is_gone_does_not_stop_the_conversation(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, vision=True) as d:
            chat = await d.chat()
            lost = ImagePart("ab" * 32, "plot.png", "image/png", 640, 480)
            server.script(text("I see none."))
            await chat.send(Draft("What is it?", (lost,)))
            content = server.bodies[0]["messages"][1]["content"]
            assert content == "[image: plot.png, 640 × 480 pixels, no longer available]\n\nWhat is it?"


async def test_body_can_be_read_without_its_pictures_code(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, vision=True) as d:
            chat = await d.chat()
            large = Picture(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, "image/png", 640, 480, "plot.png")
            parts = await d.workspace.keep_pictures([large])
            body = await d.workspace.body(chat, Draft("x" * 5_000, parts))
            (url,) = urls(abridged(body))
            assert url == "data:image/png;base64,iVBORw0KGgoAAQIDBAUGBwgJCgs… [10 kB of picture]"
            assert urls(body)[0].startswith(url[:40])
            assert "x" * 5_000 in json.dumps(abridged(body))
            assert abridged({"n": 1, "t": (True, None)}) == {"n": 1, "t": [True, None]}
