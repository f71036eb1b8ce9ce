"""Conversations against a scripted server over real HTTP: what is sent, what is stored, what is announced."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import NotAllowed, UserError
from bibgenie_desktop.domain.ids import SessionId
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, UserMessage
from bibgenie_desktop.domain.parts import Draft, TextPart, ToolPart, text_of
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.services import events
from bibgenie_desktop.storage.store import Store
from tests.domain.paths import words
from tests.fakes import Moody, Notebook
from tests.scripted_server import ScriptedServer, chunk, cut, error, html, raw, sse, text, tool_calls
from tests.services.desk import SMALL, Desk, ask, desk, summary_text


async def converse(d: Desk, turns: int, chat=None, first: int = 1, size: int = 60):
    """`turns` turns U<n> and A<n> of `size` words each."""
    chat = chat or await d.chat()
    for n in range(first, first + turns):
        d.server.script(text(f"A{n} {words(size)}"))
        await chat.send(ask(f"U{n} {words(size)}"))
    return chat


def names(chat) -> str:
    return " ".join("C" if isinstance(m, Checkpoint) else text_of(m.parts).split(" ")[0] for m in chat.path)


async def test_a_question_is_sent_exactly_as_shown_before_and_answered(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            server.script(text("Hello ", "there"))
            shown = await d.workspace.body(chat, ask("Hi"))
            await chat.send(ask("Hi"))
            assert server.bodies == [json.loads(json.dumps(shown))]
            question, answer = chat.path
            assert isinstance(question, UserMessage)
            assert isinstance(answer, AssistantMessage)
            assert text_of(answer.parts) == "Hello there"
            assert answer.status == "complete"
            assert chat.state is SessionState.IDLE
            assert [e.text for e in d.happened(events.ReplyText)] == ["Hello ", "there"]
            assert d.happened(events.SendEnded)[0].sent
            assert (await d.workspace.sessions())[0].session.title == "Hi"


async def test_an_empty_question_sends_nothing(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            await chat.send(ask("  \n "))
            assert server.requests == []
            assert chat.path == ()


async def test_tools_run_between_requests_and_each_request_extends_the_one_before(tmp_path: Path) -> None:
    tool = Notebook()
    with ScriptedServer() as server:
        async with desk(tmp_path, server, tools=(tool,)) as d:
            chat = await d.chat()
            server.script(
                tool_calls(("search_items", {"query": "sleep"}), say="Looking."),
                tool_calls(("search_items", {"query": "rest"}), ("search_items", {"query": "nap"})),
                text("Done."),
            )
            await chat.send(ask("What of sleep?"))
            assert [c["query"] for c in tool.calls] == ["sleep", "rest", "nap"]
            for earlier, later in zip(server.bodies, server.bodies[1:], strict=False):
                assert later["messages"][: len(earlier["messages"])] == earlier["messages"]
                assert later["tools"] == earlier["tools"]
            answer = chat.path[-1]
            assert isinstance(answer, AssistantMessage)
            states = [p.state for p in answer.parts if isinstance(p, ToolPart)]
            assert states == ["done"] * 3
            assert [p.text for p in answer.parts if isinstance(p, TextPart)] == ["Looking.", "Done."]


async def test_wrong_calls_are_answered_with_what_to_do_next(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, tools=(Notebook(),)) as d:
            chat = await d.chat()
            server.script(
                tool_calls(
                    ("no_such_tool", {}), ("search_items", "{broken"), ("read_result", {"handle": "x"})
                ),
                text("Sorry."),
            )
            await chat.send(ask("Go"))
            results = [m["content"] for m in d.messages() if m["role"] == "tool"]
            assert "The tools are: search_items, read_result" in results[0]
            assert "not a JSON object" in results[1]
            assert "not a handle" in results[2]


async def test_a_long_result_is_cut_with_a_handle_that_reads_on(tmp_path: Path) -> None:
    whole = " ".join(f"line{n}" for n in range(8_000))
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=20_000, tools=(Notebook(whole),)) as d:
            chat = await d.chat()
            server.script(tool_calls(("search_items", {"query": "x"})))
            read: list[str] = []

            def answer(body):
                last = body["messages"][-1]["content"]
                if not read:
                    handle = last.split("handle “")[1].split("”")[0]
                    offset = int(last.split("offset ")[1].split(" ")[0].replace(",", ""))
                    read.append(last)
                    return tool_calls(
                        ("read_result", {"handle": handle, "offset": offset, "max_tokens": 500})
                    )
                read.append(last)
                return text("Read.")

            server.reply_with(answer)
            await chat.send(ask("Everything please"))
            first = read[0].split("\n[cut here")[0]
            following = read[1].split("\n")[1]
            assert whole.startswith(first)
            assert whole.startswith(first + following[:200])
            stored = next(p for p in chat.path[-1].parts if isinstance(p, ToolPart))
            assert stored.result == whole
            assert stored.sent == read[0]


async def test_a_model_that_only_calls_tools_is_asked_to_answer_and_the_turn_ends(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, tools=(Notebook(),)) as d:
            chat = await d.chat()
            server.reply_with(lambda body: tool_calls(("search_items", {"query": "again"})))
            await chat.send(ask("Loop"))
            answer = chat.path[-1]
            assert isinstance(answer, AssistantMessage)
            assert len(server.requests) == 25
            assert "24 tool steps" in answer.error
            assert "wrote no answer" in answer.error
            assert answer.status == "failed"
            assert chat.state is SessionState.IDLE


async def test_thirty_turns_only_ever_extend_the_request(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, tools=(Notebook(),)) as d:
            chat = await d.chat()
            for n in range(30):
                if n % 3 == 0:
                    server.script(tool_calls(("search_items", {"query": f"q{n}"}), say=f"Step {n}"))
                server.script(text(f"A{n} ünïcode “quotes” {n}"))
                await chat.send(ask(f"U{n}"))
            raws = [r.raw for r in server.requests]
            bodies = [json.loads(r) for r in raws]
            for (before, raw), (after, later) in zip(
                zip(bodies, raws, strict=True), list(zip(bodies, raws, strict=True))[1:], strict=False
            ):
                count = len(before["messages"])
                assert after["messages"][:count] == before["messages"]
                end = raw.index(b'],"stream"')  # byte for byte up to the end of the messages
                assert later.startswith(raw[:end])


async def test_compaction_keeps_the_last_turn_and_survives_a_restart(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            server.script(text(summary_text()))
            await chat.compact()
            assert d.happened(events.CompactionEnded)[-1].outcome == "done"
            checkpoint = chat.path[-1]
            assert isinstance(checkpoint, Checkpoint)
            assert checkpoint.first_kept_id == chat.path[4].id
            session_id = chat.session_id
        async with desk(tmp_path, server) as d:
            chat = await d.chat(session_id)
            assert names(chat) == "U1 A1 U2 A2 U3 A3 C"
            server.script(text("A4"))
            await chat.send(ask("U4"))
            assert d.roles() == "C U3 A3 U4"


async def test_compaction_twice_keeps_every_message_once(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 3, size=400)
            server.script(text(summary_text()))
            await chat.compact()
            first = chat.path[-1]
            await converse(d, 2, chat, first=4, size=400)
            server.script(text(summary_text("newer")))
            await chat.compact()
            second = chat.path[-1]
            assert isinstance(first, Checkpoint)
            assert isinstance(second, Checkpoint)
            asked = d.messages()[0]["content"]
            span = asked.split("<span>")[1].split("</span>")[0]
            kept = [m.id for m in chat.path]
            begin, end = kept.index(first.first_kept_id), kept.index(second.first_kept_id)
            for message in chat.path:
                if isinstance(message, Checkpoint):
                    continue
                inside = begin <= kept.index(message.id) < end
                assert (text_of(message.parts).split(" ")[0] + " " in span) == inside
            assert "- [user] kept" in asked.split("<previous_summary>")[1]


@pytest.mark.parametrize("turns", [0, 1])
async def test_nothing_to_compact_is_a_success_without_a_request(tmp_path: Path, turns: int) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, turns)
            await chat.compact()
            assert d.happened(events.CompactionEnded)[-1].outcome == "nothing"
            assert len(server.requests) == turns
            assert chat.state is SessionState.IDLE


@pytest.mark.parametrize(
    ("case", "replies"),
    [
        ("garbage", [text("I am a summary."), text("Still not.")]),
        ("empty", [text(""), text(" ")]),
        ("cut off by length", [text(summary_text()[:200], finish="length"), text("no", finish="length")]),
        ("only reasoning", [text(reasoning=["thinking about sections"])] * 2),
        ("refused", [text("", finish="content_filter")]),
        ("stream cut", [cut("## Research Goal")]),
        ("server error", [error(400, "bad request")]),
        ("longer than what it replaces", [text(summary_text(words(900))), text(summary_text(words(900)))]),
    ],
)
async def test_a_bad_summary_changes_nothing(tmp_path: Path, case: str, replies) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            before = chat.path, chat.session.head
            server.script(*replies)
            await chat.compact()
            assert d.happened(events.CompactionEnded)[-1].outcome == "failed", case
            assert (chat.path, chat.session.head) == before
            assert chat.state is SessionState.IDLE
            server.script(text("A4"))
            await chat.send(ask("U4"))
            assert d.roles() == "U1 A1 U2 A2 U3 A3 U4"


async def test_a_bad_summary_may_be_mended_once(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            server.script(text(summary_text().replace("- [user]", "-")), text(summary_text()))
            await chat.compact()
            assert d.happened(events.CompactionEnded)[-1].outcome == "done"
            assert "without a mark" in d.messages()[0]["content"]


async def test_invented_keys_do_not_get_into_a_checkpoint(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, tools=(Notebook(),)) as d:
            chat = await d.chat()
            for n in (1, 2):
                server.script(tool_calls(("search_items", {"query": "x"})), text(f"A{n} {words(600)}"))
                await chat.send(ask(f"U{n}"))
            server.script(text(summary_text("see u-ABCD2345 and u-ZZZZ9999")))
            await chat.compact()
            checkpoint = chat.path[-1]
            assert isinstance(checkpoint, Checkpoint)
            assert "u-ABCD2345" in checkpoint.summary
            assert "u-ZZZZ9999" not in checkpoint.summary
            assert d.happened(events.Notice)[-1].advice == "u-ZZZZ9999"
            assert [e.locator.id for e in checkpoint.ledger] == ["u-ABCD2345"]


@pytest.mark.parametrize("after", [0, 2])
async def test_cancelling_a_compaction_writes_nothing(tmp_path: Path, after: int) -> None:
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            before = chat.session.head
            server.script(text("## Research", " Goal", "\n- x").held(held, after))
            running = asyncio.ensure_future(chat.compact())
            await asyncio.to_thread(server.wait_for_requests, 4)
            assert chat.state is SessionState.COMPACTING
            chat.cancel()
            await running
            assert d.happened(events.CompactionEnded)[-1].outcome == "cancelled"
            assert chat.session.head == before
            assert chat.state is SessionState.IDLE
            await asyncio.to_thread(server.wait_aborted)
            held.set()


async def test_a_summary_for_a_branch_that_moved_meanwhile_is_not_used(tmp_path: Path) -> None:
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            server.script(text(summary_text()).held(held, 1))
            running = asyncio.ensure_future(chat.compact())
            await asyncio.to_thread(server.wait_for_requests, 4)
            first_answer = chat.path[1].id
            await d.store.run(Store.switch, chat.session_id, chat.session.head, first_answer)
            held.set()
            await running
            assert d.happened(events.CompactionEnded)[-1].outcome == "stale"
            assert chat.session.leaf_id == first_answer
            assert names(chat) == "U1 A1"
            assert chat.state is SessionState.IDLE


async def test_text_sent_while_compacting_goes_out_once_afterwards(tmp_path: Path) -> None:
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            server.script(text(summary_text()).held(held, 1), text("A4"))
            running = asyncio.ensure_future(chat.compact())
            await asyncio.to_thread(server.wait_for_requests, 4)
            await chat.send(ask("U4"))
            assert chat.waiting == ask("U4")
            held.set()
            await running
            assert d.roles() == "C U3 A3 U4"
            assert len(server.requests) == 5
            assert chat.waiting is None
            assert (await d.workspace.draft(chat.session_id)).empty


async def test_text_sent_while_compacting_stays_a_draft_when_that_fails(tmp_path: Path) -> None:
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            server.script(error(400, "no").held(held))
            running = asyncio.ensure_future(chat.compact())
            await asyncio.to_thread(server.wait_for_requests, 4)
            await chat.send(ask("U4"))
            held.set()
            await running
            assert len(server.requests) == 4
            assert not d.happened(events.SendEnded)[-1].sent
            assert await d.workspace.draft(chat.session_id) == ask("U4")
            assert chat.state is SessionState.IDLE


async def test_a_full_context_is_compacted_before_sending(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 3, size=750)
            server.script(text(summary_text()), text("A4"))
            await chat.send(ask(f"U4 {words(900)}"))
            assert d.roles().startswith("C ")
            assert d.roles().endswith("U4")
            assert isinstance(chat.path[-3], Checkpoint)
            assert chat.path[-3].trigger == "preflight"


async def test_an_answer_that_fills_the_context_is_followed_by_one_compaction(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 3, size=600)
            server.script(text(f"A4 {words(1_900)}"), text(summary_text()))
            await chat.send(ask("U4"))
            assert len(server.requests) == 5
            checkpoint = chat.path[-1]
            assert isinstance(checkpoint, Checkpoint)
            assert checkpoint.trigger == "automatic"
            assert chat.state is SessionState.IDLE


async def test_with_automatic_compaction_off_nothing_compacts_and_too_much_is_refused(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192, automatic=False) as d:
            chat = await converse(d, 3, size=750)
            await chat.send(ask(f"U4 {words(3_000)}"))
            assert len(server.requests) == 3
            notice = d.happened(events.Notice)[-1]
            assert "tokens too many" in notice.title
            assert not d.happened(events.CompactionProgress)


async def test_after_a_failed_automatic_compaction_sending_needs_a_word_of_the_person(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 3, size=750)
            server.script(error(400, "no"))
            draft = ask(f"U4 {words(900)}")
            await chat.send(draft)
            assert not d.happened(events.SendEnded)[-1].sent
            assert "send_anyway" in d.happened(events.Notice)[-1].offers
            assert await d.workspace.draft(chat.session_id) == draft
            server.script(text("A4"), error(400, "no"))  # and the answer wants a compaction again
            await chat.send(draft, without_compacting=True)
            assert d.roles(-2) == "U1 A1 U2 A2 U3 A3 U4"


async def test_a_model_too_small_for_the_draft_sends_nothing_and_names_the_overshoot(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            draft = ask("long " * 5_000)
            await chat.choose_model(f"test/{SMALL}")
            small, large = sorted(await chat.verdicts(draft), key=lambda v: v.profile.window)
            assert (small.kind, large.kind) == ("too_big", "fits")
            await chat.send(draft)
            assert server.requests == []
            assert chat.path == ()
            assert await d.workspace.draft(chat.session_id) == draft
            assert f"{small.overshoot:,} tokens too many" in d.happened(events.Notice)[-1].title
            await chat.choose_model("test/scripted")
            server.script(text("A1"))
            await chat.send(draft)
            assert len(server.requests) == 1


async def test_on_an_assumed_window_nothing_is_refused(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=4_096, source="assumed") as d:
            chat = await d.chat()
            server.script(text("A1"))
            await chat.send(ask("long " * 5_000))
            assert len(server.requests) == 1


async def test_retry_answers_the_same_question_beside_the_old_answer(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 2)
            old = chat.path[-1].id
            server.script(text("A2b"))
            await chat.retry(old)
            assert d.roles() == "U1 A1 U2"
            assert names(chat) == "U1 A1 U2 A2b"
            assert old in await d.workspace.siblings(chat.path[-1])
            await chat.switch_to(old)
            assert names(chat) == "U1 A1 U2 A2"


async def test_retry_after_a_checkpoint_leaves_it_in_the_tree_but_not_on_the_path(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            server.script(text(summary_text()))
            await chat.compact()
            checkpoint = chat.path[-1].id
            server.script(text("A3b"))
            await chat.retry(chat.path[-2].id)
            assert d.roles() == "U1 A1 U2 A2 U3"
            assert names(chat) == "U1 A1 U2 A2 U3 A3b"
            assert checkpoint in {n.id for n in await d.workspace.outline(chat)}


async def test_edit_puts_a_changed_question_beside_the_old_one(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            server.script(text("A2b"))
            await chat.edit(chat.path[2].id, ask("U2b"))
            assert d.roles() == "U1 A1 U2b"
            assert names(chat) == "U1 A1 U2b A2b"
            assert len(await d.workspace.siblings(chat.path[2])) == 2


async def test_editing_the_first_question_starts_another_first_message(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 2)
            server.script(text("A1b"))
            await chat.edit(chat.path[0].id, ask("U1b"))
            assert d.roles() == "U1b"
            assert len(await d.workspace.siblings(chat.path[0])) == 2


async def test_edit_from_before_and_after_a_checkpoint_sends_what_its_place_says(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            server.script(text(summary_text()))
            await chat.compact()
            await converse(d, 1, chat, first=4)
            after, before = chat.path[7].id, chat.path[4].id
            server.script(text("A4b"), text("A3b"))
            await chat.edit(after, ask("U4b"))
            assert d.roles() == "C U3 A3 U4b"
            await chat.edit(before, ask("U3b"))
            assert d.roles() == "U1 A1 U2 A2 U3b"


async def test_an_edit_that_compacts_is_one_step_and_cancelling_it_leaves_the_old_branch(
    tmp_path: Path,
) -> None:
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 4, size=560)
            shown, head = names(chat), chat.session.head
            question = chat.path[-2].id
            draft = ask(f"U4b {words(2_000)}")
            server.script(text("## Research").held(held, 1))
            running = asyncio.ensure_future(chat.edit(question, draft))
            await asyncio.to_thread(server.wait_for_requests, 5)
            chat.cancel()
            await running
            held.set()
            assert (names(chat), chat.session.head) == (shown, head)
            assert await d.workspace.draft(chat.session_id, question) == draft
            assert chat.state is SessionState.IDLE
            server.script(text(summary_text()), text("A4b"))
            await chat.edit(question, ask(f"U4c {words(2_000)}"))
            assert "C U4c A4b" in names(chat)
            assert d.roles().startswith("C ")
            assert d.roles().endswith("U4c")
            assert chat.session.branch_revision == head.branch_revision + 2  # the edit, then its answer
            assert (await d.workspace.draft(chat.session_id, question)).empty


async def test_a_fork_before_a_checkpoint_does_not_inherit_it(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            server.script(text(summary_text()))
            await chat.compact()
            fork = await d.chat((await chat.fork(chat.path[3].id)).id)
            server.script(text("A3f"))
            await fork.send(ask("U3f"))
            assert d.roles() == "U1 A1 U2 A2 U3f"
            assert names(chat) == "U1 A1 U2 A2 U3 A3 C"
            assert (
                fork.session.title == "from “" + "U2 " + words(60)[:200].strip()[:52] + "…”"
                or fork.session.title
            )


async def test_a_fork_after_a_checkpoint_has_it_because_it_is_an_ancestor(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            server.script(text(summary_text()))
            await chat.compact()
            await converse(d, 1, chat, first=4)
            fork = await d.chat((await chat.fork(chat.path[-1].id)).id)
            server.script(text("A5f"))
            await fork.send(ask("U5f"))
            assert d.roles() == "C U3 A3 U4 A4 U5f"


async def test_stopping_keeps_what_had_arrived(tmp_path: Path) -> None:
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            server.script(text("Half an ", "answer").held(held, 2))
            running = asyncio.ensure_future(chat.send(ask("Go")))
            await d.until(events.ReplyText)
            chat.stop()
            await running
            answer = chat.path[-1]
            assert isinstance(answer, AssistantMessage)
            assert (text_of(answer.parts), answer.status) == ("Half an ", "stopped")
            assert chat.state is SessionState.IDLE
            await asyncio.to_thread(server.wait_aborted)
            held.set()


async def test_follow_ups_wait_visibly_and_can_be_taken_back(tmp_path: Path) -> None:
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            server.script(text("A", "1").held(held, 2), text("A2"))
            running = asyncio.ensure_future(chat.send(ask("U1")))
            await d.until(events.ReplyText)
            await chat.send(ask("wrong"))
            await chat.send(ask("U2"))
            assert d.happened(events.QueueChanged)[-1].drafts == (ask("wrong"), ask("U2"))
            assert chat.unqueue(0) == ask("wrong")
            held.set()
            await running
            assert names(chat) == "U1 A1 U2 A2"


@pytest.mark.parametrize(
    ("case", "reply", "says"),
    [
        ("wrong key", error(401, "Incorrect API key provided", code="invalid_api_key"), "key"),
        (
            "overflow",
            error(400, "maximum context length is 100 tokens", code="context_length_exceeded"),
            "large",
        ),
        ("proxy page", html(), "answer"),
        ("cut", cut("Half"), "broke off"),
        ("filter", text("", finish="content_filter"), "filter"),
        ("empty", text(""), "no answer"),
        ("only reasoning", text(reasoning=["thinking"]), "no answer"),
        ("only a thought, cut by its limit", text(reasoning=["thinking"], finish="length"), "no answer"),
    ],
)
async def test_a_failed_answer_says_why_and_can_be_retried(
    tmp_path: Path, case: str, reply, says: str
) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            server.script(reply)
            await chat.send(ask("U1"))
            answer = chat.path[-1]
            assert isinstance(answer, AssistantMessage)
            assert answer.status == "failed", case
            assert says in answer.error.lower(), answer.error
            assert chat.state is SessionState.IDLE
            server.script(text("A1"))
            await chat.retry(answer.id)
            assert names(chat) == "U1 A1"


async def test_a_provider_that_is_down_is_named_and_nothing_is_lost(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            server.__exit__(None, None, None)
            await chat.send(ask("U1"))
            answer = chat.path[-1]
            assert isinstance(answer, AssistantMessage)
            assert answer.status == "failed"
            assert "127.0.0.1" in answer.error
            assert text_of(chat.path[0].parts) == "U1"
            server.__exit__ = lambda *a: None  # type: ignore[method-assign]


async def test_closing_while_an_answer_runs_keeps_it_as_interrupted(tmp_path: Path) -> None:
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            server.script(text("Half an ", "answer").held(held, 2))
            running = asyncio.ensure_future(chat.send(ask("Go")))
            await d.until(events.ReplyText)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            session_id = chat.session_id
            held.set()
        async with desk(tmp_path, server) as d:
            chat = await d.chat(session_id)
            answer = chat.path[-1]
            assert isinstance(answer, AssistantMessage)
            assert (text_of(answer.parts), answer.status) == ("Half an ", "interrupted")


async def test_the_draft_is_kept_per_session(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            one, two = await d.chat(), await d.chat()
            await d.workspace.save_draft(one.session_id, None, Draft("first"))
            await d.workspace.save_draft(two.session_id, None, Draft("second"))
            assert await d.workspace.draft(one.session_id) == Draft("first")


async def test_a_window_that_the_provider_names_is_learned_and_outlives_a_restart(tmp_path: Path) -> None:
    refusal = error(
        400,
        "This model's maximum context length is 8000 tokens. However, your messages resulted in 9000 tokens.",
        code="context_length_exceeded",
    )
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=100_000, source="catalogue") as d:
            chat = await d.chat()
            server.script(refusal)
            await chat.send(ask("U1"))
            plan = await chat.plan(Draft())
            assert (plan.limits.window, plan.limits.window_source) == (8_000, "learned")
        async with desk(tmp_path, server, window=100_000, source="catalogue") as d:
            facts = await d.store.run(Store.model_facts, "window")
            assert list(facts.values()) == [8_000]
        async with desk(tmp_path, server, window=100_000, source="user") as d:
            chat = await d.chat()
            server.script(refusal)
            await chat.send(ask("U1"))
            assert (await chat.plan(Draft())).limits.window == 100_000


async def test_sending_from_a_head_that_moved_meanwhile_is_refused_and_the_session_reloaded(
    tmp_path: Path,
) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 2)
            first = chat.path[1].id
            await d.store.run(Store.switch, chat.session_id, chat.session.head, first)
            draft = ask("U3")
            await chat.send(draft)
            assert len(server.requests) == 2
            assert names(chat) == "U1 A1"
            assert "changed meanwhile" in d.happened(events.Notice)[-1].title
            assert await d.workspace.draft(chat.session_id) == draft
            server.script(text("A3"))
            await chat.send(draft)
            assert d.roles() == "U1 A1 U3"


async def test_queued_follow_ups_come_back_as_the_draft_after_a_crash(tmp_path: Path) -> None:
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            server.script(text("A", "1").held(held, 2))
            running = asyncio.ensure_future(chat.send(ask("U1")))
            await d.until(events.ReplyText)
            await chat.send(ask("U2"))
            await chat.send(ask("U3"))
            await d.workspace.save_draft(chat.session_id, None, ask("half typed"))
            assert await d.workspace.draft(chat.session_id) == ask("half typed")
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            held.set()
        async with desk(tmp_path, server) as d:
            chat = await d.chat(chat.session_id)
            assert await d.workspace.draft(chat.session_id) == ask("U2\n\nU3\n\nhalf typed")
            assert chat.queued == ()


@pytest.mark.parametrize("size", [10, 9_000])
async def test_what_is_typed_while_follow_ups_go_out_is_kept_and_a_refused_one_comes_back(
    tmp_path: Path, size: int
) -> None:
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await d.chat()
            server.script(text("A", "1").held(held, 2), *([text("A2")] if size == 10 else []))
            running = asyncio.ensure_future(chat.send(ask("U1")))
            await d.until(events.ReplyText)
            follow_up = ask(f"U2 {words(size)}")
            await chat.send(follow_up)
            await d.workspace.save_draft(chat.session_id, None, ask("half typed"))
            held.set()
            await running
            kept = await d.workspace.draft(chat.session_id)
            if size == 10:
                assert names(chat) == "U1 A1 U2 A2"
                assert kept == ask("half typed")
            else:
                assert names(chat) == "U1 A1"
                assert kept == ask(f"{follow_up.text}\n\nhalf typed")


async def test_a_text_that_waited_for_a_failed_compaction_is_not_sent_by_a_later_answer(
    tmp_path: Path,
) -> None:
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 3, size=750)
            server.script(error(400, "no").held(held))
            draft = ask(f"U4 {words(900)}")
            running = asyncio.ensure_future(chat.send(draft))
            await asyncio.to_thread(server.wait_for_requests, 4)
            with pytest.raises(NotAllowed, match="waits to be sent already"):
                await chat.send(ask("another text"))
            await chat.send(draft)  # a second press of the same button
            held.set()
            await running
            assert chat.waiting is None
            assert await d.workspace.draft(chat.session_id) == draft


async def test_sending_again_after_a_failed_compaction_still_needs_the_word_of_the_person(
    tmp_path: Path,
) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 3, size=750)
            server.script(error(400, "no"))
            draft = ask(f"U4 {words(900)}")
            for _ in range(3):
                await chat.send(draft)
                assert not d.happened(events.SendEnded)[-1].sent
                assert "send_anyway" in d.happened(events.Notice)[-1].offers
            assert len(server.requests) == 4  # the attempt itself is not repeated


async def test_nothing_else_begins_between_an_answer_and_the_compaction_that_it_wants(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 3, size=600)
            states: list[SessionState] = []
            chat.subscribe(lambda e: states.append(e.state) if isinstance(e, events.StateChanged) else None)
            server.script(text(f"A4 {words(1_900)}"), text(summary_text()))
            await chat.send(ask("U4"))
            assert states == [
                SessionState.PREFLIGHT,
                SessionState.STREAMING,
                SessionState.COMPACTING,
                SessionState.IDLE,
            ]


async def test_an_answer_whose_end_could_not_be_stored_does_not_keep_the_session_busy(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 1)
            held = threading.Event()
            server.script(text("A", "2").held(held, 2), text("A3"))
            running = asyncio.ensure_future(chat.send(ask("U2")))
            await d.until(events.ReplyText, 2)
            await d.store.run(lambda store: store._db.run("PRAGMA query_only = 1"))
            held.set()
            await running
            assert d.happened(events.Notice)[-1].tone == "bad"
            assert chat.state is SessionState.IDLE
            await d.store.run(lambda store: store._db.run("PRAGMA query_only = 0"))
            await chat.send(ask("U3"))
            assert [m.status for m in chat.path if isinstance(m, AssistantMessage)] == [
                "complete",
                "interrupted",
                "complete",
            ]
            assert names(chat).split()[-2:] == ["U3", "A3"]


async def test_a_fault_inside_a_tool_leaves_the_session_usable(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, tools=(Moody(),)) as d:
            chat = await d.chat()
            server.script(tool_calls(("search_items", {"query": "crashes"})), text("A2"))
            with pytest.raises(ExceptionGroup):
                await chat.send(ask("U1"))
            assert chat.state is SessionState.IDLE
            assert chat.path[-1].status == "failed"
            await chat.send(ask("U2"))
            assert names(chat).split()[-2:] == ["U2", "A2"]


async def test_choosing_a_model_on_a_branch_that_moved_elsewhere_shows_what_is_stored(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            first_answer = chat.path[1].id
            await d.store.run(Store.switch, chat.session_id, chat.session.head, first_answer)
            await chat.choose_model(f"test/{SMALL}")
            assert names(chat) == "U1 A1"
            server.script(text("A2b"))
            await chat.send(ask("U2b"))
            assert d.roles() == "U1 A1 U2b"


async def test_a_follow_up_left_behind_by_a_failed_answer_is_not_sent_by_a_compaction(tmp_path: Path) -> None:
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            server.script(text("A", "1").held(held, 2))
            running = asyncio.ensure_future(chat.send(ask("U1")))
            await d.until(events.ReplyText)
            await chat.send(ask("U2"))
            chat.stop()
            await running
            held.set()
            await chat.compact()
            assert chat.queued == (ask("U2"),)
            assert len(server.requests) == 1
            server.script(text("A3"), text("A2"))
            await chat.send(ask("U3"))
            assert names(chat).split()[2:] == ["U3", "A3", "U2", "A2"]


async def test_no_summary_is_paid_for_when_the_text_alone_is_too_large(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 3, size=600)
            await chat.send(ask(f"U4 {words(9_000)}"))
            assert len(server.requests) == 3
            assert "tokens too many" in d.happened(events.Notice)[-1].title
            assert [v.kind for v in await chat.verdicts(ask(f"U4 {words(9_000)}"))][:1] == ["too_big"]


async def test_an_emoji_cut_in_two_by_the_server_arrives_whole(tmp_path: Path) -> None:
    said = ("pair \ud83d", "\ude00 done, half \ud83d", " end")
    pieces = [sse(json.dumps({"choices": [{"index": 0, "delta": {"content": piece}}]})) for piece in said]
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            server.script(raw(*pieces, chunk({}, "stop"), sse("[DONE]")))
            await chat.send(ask("U1"))
            assert text_of(chat.path[-1].parts) == "pair 😀 done, half � end"


async def test_an_edit_whose_compaction_failed_goes_out_by_the_word_of_the_person(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 4, size=560)
            question, head = chat.path[-2].id, chat.session.head
            draft = ask(f"U4b {words(2_000)}")
            server.script(error(400, "no"))
            for _ in range(2):
                await chat.edit(question, draft)
                assert chat.session.head == head
                assert "send_anyway" in d.happened(events.Notice)[-1].offers
            server.script(text("A4b"), error(400, "no"))
            await chat.edit(question, draft, without_compacting=True)
            assert d.roles(5) == "U1 A1 U2 A2 U3 A3 U4b"


async def test_a_session_asked_for_twice_at_once_is_opened_once_and_ready_for_both(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            session = await d.workspace.new_session()
            one, two = await asyncio.gather(d.workspace.chat(session.id), d.workspace.chat(session.id))
            assert one is two
            assert one.session == session
            with pytest.raises(UserError, match="no such conversation"):
                await d.workspace.chat(SessionId("nowhere"))
            assert d.workspace.open_chats() == (one,)


async def test_a_follow_up_taken_back_and_sent_otherwise_does_not_come_back_after_a_crash(
    tmp_path: Path,
) -> None:
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            server.script(text("A", "1").held(held, 2), text("A2"))
            running = asyncio.ensure_future(chat.send(ask("U1")))
            await d.until(events.ReplyText)
            await chat.send(ask("U2"))
            assert chat.unqueue(0) == ask("U2")
            await d.workspace.save_draft(chat.session_id, None, ask("U2"))
            held.set()
            await running
            await chat.send(ask("U2 and more"))
            assert names(chat) == "U1 A1 U2 A2"
        async with desk(tmp_path, server) as d:
            assert (await d.workspace.draft((await d.chat(chat.session_id)).session_id)).empty


async def test_a_request_too_large_whose_compaction_failed_says_so_each_time_it_is_sent(
    tmp_path: Path,
) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 3, size=750)
            draft = ask(f"U4 {words(1_700)}")
            server.script(error(400, "no"))
            for attempt in (1, 2, 3):
                await chat.send(draft)
                notice = d.happened(events.Notice)[-1]
                assert len(d.happened(events.Notice)) == attempt
                assert "tokens too many" in notice.title
                assert notice.offers == ("choose_model", "compact")
            assert len(server.requests) == 4
            server.script(text(summary_text()), text("A4"))
            await chat.compact()
            await chat.send(draft)
            assert d.roles().endswith("U4")


async def test_compact_is_offered_only_where_there_is_something_to_compact(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=4_096) as d:
            chat = await d.chat()
            await chat.send(ask("long " * 5_000))
            assert d.happened(events.Notice)[-1].offers == ("choose_model",)
