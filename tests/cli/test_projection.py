"""`inspect projection`: what it shows is what goes over the wire."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.cli.projection import finished_steps
from bibgenie_desktop.compose.application import Application
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.domain.messages import Head, PendingReply
from bibgenie_desktop.domain.parts import Draft, ImagePart, Part, TextPart, ToolPart
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.storage.store import Store
from tests.cli.helpers import CONFIG, SAMPLE, command
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.storage.helpers import compacted, conversation, damaged, opened, reply_id

KEYS = (
    "model",
    "window",
    "window_source",
    "fixed",
    "occupancy",
    "occupancy_source",
    "safe_limit",
    "trigger",
    "messages",
    "body",
)


def projection(data: Path, *words: str) -> Any:
    return command("--data-dir", data, "--zotero-dir", SAMPLE, "inspect", "projection", *words).json


async def shown(data: Path, *words: str) -> Any:
    return await asyncio.to_thread(projection, data, *words)


async def test_it_is_what_the_server_gets_also_within_a_turn_and_after_a_restart(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    with ScriptedServer() as server:
        (data / "config.toml").write_text(
            f'[[provider]]\nid = "t"\nkind = "openai-chat"\nbase_url = "{server.base_url}"\n'
            'models = [{ id = "scripted", context_window = 60000 }]\n[defaults]\nmodel = "t/scripted"\n'
        )
        released = threading.Event()
        options = Options(data_dir=data, zotero_dir=SAMPLE)
        app = Application(options)
        await app.open()
        try:
            session = await app.workspace.new_session()
            chat = await app.workspace.chat(session.id)
            await app.workspace.save_draft(session.id, None, Draft("What helps 記憶?"))
            before = await shown(data)
            server.script(
                tool_calls(("search_items", {"query": "sleep"}), say="Looking.", usage=(2_900, 20)),
                tool_calls(("search_items", {"query": "nap"}), usage=(3_400, 20)).held(released),
                text("Sleep.", usage=(4_000, 9)),
            )
            sending = asyncio.ensure_future(chat.send(Draft("What helps 記憶?")))
            await asyncio.to_thread(server.wait_for_requests, 2)
            within = await shown(data, "--session", session.id)
            released.set()
            await sending
            assert [before["body"], within["body"]] == server.bodies[:2]
            assert [m["kind"] for m in within["messages"]] == ["user", "assistant"]
            assert within["occupancy_source"] == "reported"
        finally:
            await app.close()

        app = Application(options)
        await app.open()
        try:
            chat = await app.workspace.chat(session.id)
            await app.workspace.save_draft(session.id, None, Draft("And naps?"))
            after = await shown(data)
            server.script(text("Naps too."))
            await chat.send(Draft("And naps?"))
            assert after["body"] == server.bodies[3]
            assert after["occupancy_source"] == "reported"
        finally:
            await app.close()


def test_the_answer_names_every_figure_and_message(data: Path, store: Store) -> None:
    session, asked, answers = conversation(store, 3)
    session, checkpoint = compacted(store, session, answers[2], asked[2].id)
    store.save_draft(session.id, None, Draft("next"))
    found = projection(data)
    assert tuple(found) == KEYS
    assert (found["model"], found["window"], found["window_source"]) == ("local/model:1b", 100_000, "user")
    assert (found["safe_limit"], found["trigger"]) == (80_000, 72_000)
    assert [(m["id"], m["kind"]) for m in found["messages"]] == [
        (checkpoint.id, "checkpoint"),
        (asked[2].id, "user"),
        (answers[2].id, "assistant"),
        ("draft", "user"),
    ]
    assert found["occupancy_source"] == "estimated"
    assert found["occupancy"] == found["fixed"] + sum(m["tokens"] for m in found["messages"])
    assert found["body"]["messages"][-1] == {"role": "user", "content": "next"}
    assert {tool["function"]["name"] for tool in found["body"]["tools"]} >= {"search_items", "read_document"}


def test_without_a_draft_the_request_ends_with_the_last_answer(data: Path, store: Store) -> None:
    conversation(store, 1)
    assert projection(data)["body"]["messages"][-1] == {"role": "assistant", "content": "a1"}


def test_another_model_can_be_looked_at(data: Path, store: Store) -> None:
    conversation(store, 1)
    assert projection(data, "--model", "local/large")["window"] == 400_000
    assert projection(data, "--model", "builtin/assistant-small")["window"] == 4_096


def test_pictures_are_in_the_body_for_a_model_that_sees(data: Path, store: Store) -> None:
    (data / "config.toml").write_text(CONFIG.replace('id = "large",', 'id = "large", vision = true,'))
    session, _, _ = conversation(store, 1)
    picture = ImagePart(store.put_blob(b"bytes", "image/png", 2, 2), "f.png", "image/png", 2, 2)
    store.save_draft(session.id, None, Draft("see", (picture,)))
    content = projection(data, "--model", "local/large")["body"]["messages"][-1]["content"]
    assert content[0] == {"type": "image_url", "image_url": {"url": "data:image/png;base64,Ynl0ZXM="}}
    assert "[image: f.png" in json.dumps(projection(data)["body"]["messages"][-1])


def test_a_retry_with_another_model_shows_that_models_next_step(data: Path, store: Store) -> None:
    session, asked, _ = conversation(store, 1)
    store.retry(session.id, session.head, asked[0].id, reply_id(store), "local/large")
    found = projection(data)
    assert found["model"] == "local/large"
    assert [m["id"] for m in found["messages"]] == [asked[0].id]


def test_without_a_library_there_are_no_tools_and_this_is_said_if_one_was_named(
    tmp_path: Path, data: Path, store: Store
) -> None:
    conversation(store, 1)
    assert "tools" not in command("--data-dir", data, "inspect", "projection").json["body"]
    gone = tmp_path / "gone"
    said = command("--data-dir", data, "--zotero-dir", gone, "inspect", "projection")
    assert said.code == 0
    assert said.err.startswith(f"There is no folder {gone}.")
    assert said.err.endswith("The request is shown without tools.\n")
    assert "tools" not in json.loads(said.out)["body"]


@pytest.mark.parametrize("model", ["nowhere/model", "local", "builtin/none"])
def test_a_model_that_is_not_set_up_is_a_sentence(data: Path, store: Store, model: str) -> None:
    conversation(store, 1)
    said = command("--data-dir", data, "inspect", "projection", "--model", model)
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        f"The model {model} is not set up. Choose another model, or add its provider in the settings.\n"
    )


def test_wrong_settings_are_a_sentence_with_the_place(data: Path, store: Store) -> None:
    conversation(store, 1)
    (data / "config.toml").write_text(CONFIG.replace("100000", "100"))
    said = command("--data-dir", data, "inspect", "projection")
    assert (said.code, said.out) == (2, "")
    assert "a context_window of 100 tokens is too small" in said.err
    assert command("--data-dir", data, "inspect", "sessions").code == 0


def test_nothing_can_be_sent_in_a_damaged_session(data: Path, path: Path) -> None:
    with opened(path) as store:
        _, asked, _ = conversation(store, 1)
    damaged(path, ("UPDATE message SET parts = '[' WHERE id = ?", (asked[0].id,)))
    said = command("--data-dir", data, "inspect", "projection")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("This conversation is damaged, so nothing can be sent in it.")


def pending(*parts: Part) -> PendingReply:
    steps = sorted({part.step for part in parts})
    usage = tuple(Usage("local", "", "m", 10, 1, step=step) for step in steps)
    ids: Any = ("s", "a", "q")
    return PendingReply(*ids, "local/m", parts, usage, Head(ids[2], 1), 0)


def test_words_still_arriving_and_calls_still_running_are_not_in_the_next_request() -> None:
    done = ToolPart("1", "search_items", {}, "done", 0, "r", "r")
    running = ToolPart("2", "search_items", {}, "pending", 1)
    assert finished_steps(pending(TextPart("Looking.", 0), done, TextPart("Sl", 1)))[0] == (
        TextPart("Looking.", 0),
        done,
    )
    parts, usage = finished_steps(pending(done, TextPart("More", 1), running))
    assert parts == (done,)
    assert [one.step for one in usage] == [0]
    assert finished_steps(pending(TextPart("Sl", 0))) == ((), ())
