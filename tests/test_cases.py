"""The faults other programs had with context, compaction and trees: each is a kind that is impossible here.

One test a report; the docstring names it. Where another test proves the kind at length, the test here is its
short form and says where the long one is.
"""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.calibration import Calibration
from bibgenie_desktop.domain.capacity import Fixed, limits_of
from bibgenie_desktop.domain.errors import NotAllowed, StaleBranch
from bibgenie_desktop.domain.estimate import Estimator
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint
from bibgenie_desktop.domain.occupancy import occupancy_of
from bibgenie_desktop.domain.parts import (
    Draft,
    ImagePart,
    ReasoningPart,
    TextPart,
    text_of,
)
from bibgenie_desktop.domain.projection import project
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.domain.tokens import estimate_text
from bibgenie_desktop.providers.base import Request
from bibgenie_desktop.providers.wire import FromModel, conversation
from bibgenie_desktop.services import events
from bibgenie_desktop.storage.store import Store
from tests.domain.paths import path_of, profile_of, usage_of, words
from tests.fakes import Moody, Notebook
from tests.proofs import test_statements as statements
from tests.proofs.scripts import summary
from tests.scripted_server import ScriptedServer, cut, error, text, tool_calls
from tests.services import test_checkpoints as checkpoints
from tests.services.desk import SMALL, Desk, ask, desk, summary_text
from tests.services.test_checkpoints import asked_of, compacted, converse, names, span_of
from tests.settings import test_models as models
from tests.storage import test_damage as damage
from tests.storage.helpers import everything, opened


def done(d: Desk) -> list[str]:
    return [e.outcome for e in d.happened(events.CompactionEnded)]


def summaries(d: Desk) -> int:
    return sum("<span>" in str(m.get("content")) for body in d.server.bodies for m in body["messages"][1:2])


async def test_pi_2608_the_kept_tail_outlives_a_second_compaction(tmp_path: Path) -> None:
    """pi#2608. At length, over any number of compactions: tests/proofs."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 3, size=400)
            await compacted(d, chat)
            first = span_of(asked_of(d))
            await converse(d, 2, chat, first=4, size=400)
            await compacted(d, chat)
            second = span_of(asked_of(d))
            server.script(text("A6"))
            await chat.send(ask("U6"))
            kept = [name for name in d.roles().split() if name not in ("C", "U6")]
            assert sorted(first + second + kept) == sorted(f"{k}{n}" for k in "UA" for n in range(1, 6))


async def test_pi_1860_usage_from_before_a_checkpoint_does_not_trigger_another(tmp_path: Path) -> None:
    """pi#1860."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=200_000) as d:
            chat = await converse(d, 2)
            server.script(text("A3", usage=(190_000, 10)))
            await chat.send(ask("U3"))
            assert (await chat.plan(Draft())).occupancy.tokens > 190_000
            await compacted(d, chat)
            plan = await chat.plan(ask("U4"))
            assert plan.occupancy.source == "estimated"
            assert plan.occupancy.tokens < 2_000
            server.script(text("A4"))
            await chat.send(ask("U4"))
            assert d.roles() == "C U3 A3 U4"
            assert done(d) == ["done"]


async def test_pi_4497_usage_of_zeros_is_no_usage(tmp_path: Path) -> None:
    """pi#4497."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=131_072) as d:
            server.reply_with(
                lambda body: text(
                    summary(400) if "<span>" in str(body["messages"][-1]) else f"A {words(33_000)}",
                    usage=(0, 0),
                )
            )
            chat = await d.chat()
            for n in range(3):
                await chat.send(ask(f"U{n}"))
            assert done(d) == ["done"]
            assert isinstance(chat.path[-1], Checkpoint)


def test_openclaw_66520_cached_input_is_part_of_the_occupancy() -> None:
    """openclaw#66520. What each provider reports is read in tests/providers: cached tokens count once."""
    usage = usage_of(305_099, 1, cache_read=305_000)
    path = path_of("U1 A1", usage={"A1": usage})
    estimator = Estimator(profile_of(400_000))
    occupancy = occupancy_of(path, Draft(), Fixed("", (), 0, True), estimator)
    assert (occupancy.tokens, occupancy.source) == (305_100, "reported")
    assert occupancy.tokens > limits_of(profile_of(320_000), 0).trigger


async def test_openclaw_120264_a_failed_compaction_changes_no_usage_record(tmp_path: Path) -> None:
    """openclaw#120264."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3, report=True)
            usage = [m.usage for m in chat.path if isinstance(m, AssistantMessage)]
            before = await d.store.run(lambda store: store.nodes(chat.session.tree_id))
            server.script(error(400, "no"))
            await chat.compact()
            assert done(d) == ["failed"]
            assert await d.store.run(lambda store: store.nodes(chat.session.tree_id)) == before
            assert [m.usage for m in chat.path if isinstance(m, AssistantMessage)] == usage


@pytest.mark.parametrize("question", [2_000, 9_000])
async def test_opencode_27924_where_compaction_cannot_help_it_is_not_repeated(
    tmp_path: Path, question: int
) -> None:
    """opencode#27924."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 2, size=900)
            server.reply_with(lambda body: error(400, "no"))  # no summary is ever had
            draft = ask(f"U3 {words(question)}")
            for _ in range(4):
                await chat.send(draft)
            assert summaries(d) <= 1
            assert not any(e.sent for e in d.happened(events.SendEnded)[2:])
            assert d.happened(events.Notice)[-1].title.startswith("Not sent")
            assert await d.workspace.draft(chat.session_id) == draft


async def test_opencode_48827_a_tail_too_large_for_a_small_window_shrinks_and_there_is_no_ping_pong(
    tmp_path: Path,
) -> None:
    """opencode#48827."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=200_000, small=33_000) as d:
            chat = await converse(d, 5, size=9_000)
            await chat.choose_model(f"test/{SMALL}")
            server.reply_with(lambda b: text(summary(500) if "<span>" in str(b["messages"][-1]) else "A"))
            for n in range(6, 16):
                await chat.send(ask(f"U{n}"))
            assert done(d) == ["done"]
            assert all(e.sent for e in d.happened(events.SendEnded))
            plan = await chat.plan(Draft())
            assert plan.occupancy.tokens <= plan.limits.landing


def test_opencode_45368_an_unknown_output_limit_leaves_a_small_window_usable() -> None:
    """opencode#45368."""
    for window in (2_048, 4_096, 16_384, 2_000_000):
        limits = limits_of(profile_of(window), 0)
        assert window * 0.6 < limits.safe_limit < window
        assert 0 < limits.summary_budget < limits.trigger < limits.safe_limit


async def test_gemini_cli_6563_on_a_guessed_window_nothing_is_compacted_by_itself(tmp_path: Path) -> None:
    """gemini-cli#6563."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=4_096, source="assumed") as d:
            chat = await converse(d, 6, size=900)
            assert done(d) == []
            assert len(server.requests) == 6
            assert len(chat.path) == 12


async def test_pi_8196_a_span_five_times_the_window_is_read_in_requests_that_fit(
    tmp_path: Path,
) -> None:
    """pi#8196, pi#8371; claude-code#10306."""
    await checkpoints.test_a_span_larger_than_the_window_is_read_whole_in_requests_that_fit(tmp_path, 1.0)


async def test_zed_61373_a_smaller_model_never_gets_the_old_size(tmp_path: Path) -> None:
    """zed#61373, pi#6426."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=200_000, small=8_192) as d:
            chat = await converse(d, 5, size=7_000)
            await chat.choose_model(f"test/{SMALL}")
            before = len(server.requests)
            server.reply_with(lambda b: text(summary(300) if "<span>" in str(b["messages"][-1]) else "A6"))
            await chat.send(ask("U6"))
            limit = (await chat.plan(Draft())).limits.safe_limit
            for body in server.bodies[before:]:
                assert sum(estimate_text(str(m["content"])) for m in body["messages"]) <= limit
            assert d.roles().startswith("C ")


BAD_SUMMARIES = {
    "pi_7048_cut_off": text(summary_text(), finish="length"),
    "stavrobot_28_only_thinking": text(reasoning=["thinking"]),
    "gsv_319_planning_prose": text(reasoning=[summary_text()]),
    "mimo_code_2148_a_heading_without_body": text("## Research Goal\n"),
    "no_summary_at_all": text(""),
}


@pytest.mark.parametrize("case", BAD_SUMMARIES)
async def test_a_summary_that_is_none_never_replaces_a_good_one(tmp_path: Path, case: str) -> None:
    """pi#7048, openclaw#127987: finish reason length. stavrobot#28: only reasoning. gsv#319: reasoning that
    looks like a summary."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            good = await compacted(d, chat)
            await converse(d, 1, chat, first=4)
            before = chat.path
            server.script(BAD_SUMMARIES[case])
            server.reply_with(lambda body: BAD_SUMMARIES[case])  # the repair is no better
            await chat.compact()
            assert done(d) == ["done", "failed"]
            assert chat.path == before
            server.reply_with(lambda body: text("A5"))
            await chat.send(ask("U5"))
            assert good.summary in asked_of(d)


async def test_inspect_ai_4493_a_content_filter_is_named_as_such_and_not_asked_again(tmp_path: Path) -> None:
    """inspect_ai#4493."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            server.script(text("Half", finish="content_filter"))
            await chat.send(ask("U1"))
            answer = chat.path[-1]
            assert isinstance(answer, AssistantMessage)
            assert "filter" in answer.error
            assert "too large" not in answer.error
            assert len(server.requests) == 1


async def test_mimo_code_2148_a_crash_between_summary_and_commit_leaves_the_request_as_it_was(
    tmp_path: Path,
) -> None:
    """MiMo-Code#2148."""
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            before = await d.workspace.body(chat, ask("next"))
            server.script(text(summary_text()).held(held, 2))
            running = asyncio.ensure_future(chat.compact())
            await d.until(events.CompactionProgress)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            held.set()
        async with desk(tmp_path, server) as d:
            assert await d.workspace.body(await d.chat(chat.session_id), ask("next")) == before


async def test_openclaw_8525_every_result_has_its_call_and_every_call_its_result(tmp_path: Path) -> None:
    """openclaw#8525, OpenHarness#191, pi#4570, langmem#126: parallel and failed calls, again and again."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192, tools=(Moody(),)) as d:
            chat = await d.chat()

            def answer(body: Any) -> Any:
                last = body["messages"][-1]
                if "<span>" in str(last["content"]):
                    return text(summary(300))
                if last["role"] == "tool":
                    return text(f"A {words(300)}")
                return tool_calls(
                    ("search_items", {"query": "x"}),
                    ("search_items", {"query": "fails"}),
                    ("nothing", "{bad"),
                )

            server.reply_with(answer)
            for n in range(14):
                await chat.send(ask(f"U{n} {words(200)}"))
                if n == 9:
                    await chat.retry([m for m in chat.path if isinstance(m, AssistantMessage)][-1].id)
            assert done(d).count("done") >= 2
            for body in server.bodies:
                open_calls: list[str] = []
                for message in body["messages"]:
                    if message["role"] == "tool":
                        assert message["tool_call_id"] == open_calls.pop(0)
                    else:
                        assert open_calls == []
                        open_calls = [c["id"] for c in message.get("tool_calls") or ()]
                assert open_calls == []


@pytest.mark.parametrize("turns", [0, 1])
async def test_sdk_1518_an_empty_span_asks_no_model(tmp_path: Path, turns: int) -> None:
    """SDK#1518 (OpenHands)."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, turns)
            await chat.compact()
            assert done(d) == ["nothing"]
            assert len(server.requests) == turns


async def test_openhands_8630_one_giant_turn_is_not_compacted_over_and_over(tmp_path: Path) -> None:
    """OpenHands#8630, SDK#1073."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await d.chat()
            server.script(text(f"A1 {words(5_300)}"))
            await chat.send(ask("U1"))
            plan = await chat.plan(Draft())
            assert plan.above_trigger
            assert len(server.requests) == 1
            assert done(d) == []
            assert chat.state is SessionState.IDLE


def test_pi_1441_an_image_costs_the_same_wherever_it_stands() -> None:
    """pi PR#1441."""
    estimator = Estimator(profile_of())
    image = ImagePart("hash", "a.png", "image/png", 4_000, 3_000)
    asked, answered = path_of("U1 A1")
    plain = estimator.message(project((asked,)).plus_draft(Draft("x")).messages[-1])
    with_image = estimator.message(project((asked,)).plus_draft(Draft("x", (image,))).messages[-1])
    cost = with_image - plain
    assert cost == estimator.part(image) == estimator.part(ImagePart("h", "b", "image/gif", 1, 1)) > 1_000
    for message in (asked, answered):
        more = type(message)(
            **{f: getattr(message, f) for f in message.__slots__}
            | {"id": MessageId(f"{message.id} with"), "parts": (*message.parts, image)}  # type: ignore[union-attr]
        )
        assert estimator.message(more) - estimator.message(message) == cost


def test_openclaw_103930_a_chinese_tail_is_not_taken_for_several_times_its_size() -> None:
    """openclaw#103930, pi#2562. The count is o200k_base's (benchmarks/estimate.py)."""
    sentence = (
        "睡眠并不只是让大脑休息。在慢波睡眠期间，海马体会重放白天经历的序列，"
        "而新皮层似乎一点一点地接管这些内容。"
    )
    count, estimate = 12_040, estimate_text(sentence * 280)
    assert count <= estimate <= 1.6 * count
    calibration = Calibration().after(count, estimate).after(count, estimate)
    calibrated = Estimator(profile_of(), calibration.factor).scaled(estimate)
    assert count <= calibrated <= 1.3 * count


def test_opencode_31188_no_reasoning_older_than_the_checkpoint_is_sent() -> None:
    """opencode#31188, #41738; openclaw#85717; pi#9391."""
    path = list(path_of("U1 A1 C1@U1 U2 A2"))
    for index in (1, 4):
        answer = path[index]
        assert isinstance(answer, AssistantMessage)
        parts = (ReasoningPart(f"thought {answer.id}", 0, {"signature": "s"}), *answer.parts)
        path[index] = AssistantMessage(**{f: getattr(answer, f) for f in answer.__slots__} | {"parts": parts})
    profile = profile_of(replays_reasoning="always")
    request = Request(profile, "", (), project(tuple(path)).plus_draft(Draft("U3")), 100)
    thoughts = [
        t.text for e in conversation(request, "always") if isinstance(e, FromModel) for t in e.thoughts
    ]
    assert thoughts == ["thought A2"]


async def test_magic_context_263_a_fork_before_a_checkpoint_has_none(tmp_path: Path) -> None:
    """magic-context#263."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            await compacted(d, chat)
            fork = await d.chat((await chat.fork(chat.path[3].id)).id)
            assert [m.kind for m in (await fork.plan(Draft())).projection.messages] == [
                "user",
                "assistant",
            ] * 2


async def test_zot_30_a_fork_is_named_by_id_and_has_that_answer_as_its_leaf(tmp_path: Path) -> None:
    """zot PR#30."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            checkpoint = await compacted(d, chat)
            await converse(d, 2, chat, first=4)
            for answer in [m for m in chat.path if isinstance(m, AssistantMessage)]:
                made = await chat.fork(answer.id)
                assert made.leaf_id == answer.id
                assert names(await d.chat(made.id)).split()[-1] == text_of(answer.parts).split()[0]
            with pytest.raises(NotAllowed):
                await chat.fork(checkpoint.id)


async def test_librechat_15690_a_failed_compaction_leaves_the_tree_and_retry_means_an_answer(
    tmp_path: Path,
) -> None:
    """LibreChat PR#15690, PR#15883."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            before = await d.store.run(lambda store: store.nodes(chat.session.tree_id))
            server.script(cut("## Research"))
            await chat.compact()
            assert await d.store.run(lambda store: store.nodes(chat.session.tree_id)) == before
            checkpoint = await compacted(d, chat)
            head, asked = chat.session.head, len(server.requests)
            for wrong in (checkpoint.id, chat.path[0].id):
                await chat.retry(wrong)
                assert (chat.session.head, len(server.requests)) == (head, asked)
                assert d.happened(events.Notice)[-1].tone == "bad"
            server.script(text("A3b"))
            await chat.retry(chat.path[-2].id)
            assert names(chat) == "U1 A1 U2 A2 U3 A3b"


ENDS = ("ok", "fails", "cancelled", "crash")


@pytest.mark.parametrize("end", ENDS)
async def test_posthog_86464_every_end_of_a_compaction_leads_back_to_idle(tmp_path: Path, end: str) -> None:
    """PostHog PR#86464, opencode#34919; opencode#35256: nothing of it is left behind to run later."""
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            reply = error(400, "no") if end == "fails" else text(summary_text())
            server.script(reply.held(held, int(end != "fails")))
            running = asyncio.ensure_future(chat.compact())
            await asyncio.to_thread(server.wait_for_requests, 4)
            match end:
                case "cancelled":
                    chat.cancel()
                case "crash":
                    running.cancel()
                case _:
                    held.set()
            await asyncio.gather(running, return_exceptions=True)
            held.set()
            assert chat.state is SessionState.IDLE
            if end != "crash":
                server.script(text("A4"))
                await chat.send(ask("U4"))
                assert names(chat).endswith("U4 A4")
        async with desk(tmp_path, server) as d:
            chat = await d.chat(chat.session_id)
            assert chat.state is SessionState.IDLE
            kept = await d.store.run(
                lambda store: [store._db.value(f"SELECT count(*) FROM {t}") for t in LEFT]
            )
            assert kept == [0] * len(LEFT)
            server.script(text("A5"))
            await chat.send(ask("U5"))
            assert names(chat).endswith("U5 A5")


LEFT = ("pending_reply", "write_permit", "purge_permit", "follow_up", "undone", "draft")


@pytest.mark.parametrize("end", ENDS)
async def test_pi_179_text_typed_or_sent_during_a_compaction_is_sent_once_or_still_the_draft(
    tmp_path: Path, end: str
) -> None:
    """pi#179, PostHog#1272, openclaw#117810; PostHog PR#89067: sending does not end the compaction."""
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            reply = error(400, "no") if end == "fails" else text(summary_text())
            server.script(reply.held(held, int(end != "fails")), *([text("A4")] if end == "ok" else []))
            running = asyncio.ensure_future(chat.compact())
            await asyncio.to_thread(server.wait_for_requests, 4)
            await d.workspace.save_draft(chat.session_id, None, ask("U"))
            await d.workspace.save_draft(chat.session_id, None, ask("U4"))
            await chat.send(ask("U4"))
            assert chat.state is SessionState.COMPACTING
            match end:
                case "cancelled":
                    chat.cancel()
                case "crash":
                    running.cancel()
                case _:
                    held.set()
            await asyncio.gather(running, return_exceptions=True)
            held.set()
        async with desk(tmp_path, server) as d:
            chat = await d.chat(chat.session_id)
            draft = await d.workspace.draft(chat.session_id)
            if end == "ok":
                assert names(chat) == "U1 A1 U2 A2 U3 A3 C U4 A4"
                assert draft.empty
            else:
                assert names(chat) == "U1 A1 U2 A2 U3 A3"
                assert draft == ask("U4")
            assert len(server.requests) == 4 + (end == "ok")


def test_claude_code_52387_a_kill_at_a_write_leaves_all_or_nothing_and_damage_is_shown(
    tmp_path: Path, soak: Any
) -> None:
    """claude-code#52387, #50347, #49876; copilot-cli#4098. All writes:
    proofs/test_statements.py; random moments: storage/test_kill.py; damage: storage/test_damage.py.
    """
    statements.test_a_kill_before_any_statement_leaves_all_or_nothing(tmp_path, "switch", soak)
    assert damage.test_damage_is_named_and_the_file_is_left_alone


def test_claude_code_85725_of_two_writers_at_one_revision_the_second_writes_nothing(tmp_path: Path) -> None:
    """claude-code#85725, codegraff#697."""
    path = tmp_path / "data" / "bibgenie.sqlite"
    with opened(path) as one, opened(path, owner=False, start=9_000) as two:
        session = one.create_session("S", "p/m")
        seen = two.session(session.id)
        one.send(session.id, session.head, (TextPart("one"),), MessageId(one._ids()), "p/m")
        before = everything(path)
        with pytest.raises(StaleBranch):
            two.send(seen.id, seen.head, (TextPart("two"),), MessageId(two._ids()), "p/m")
        assert everything(path) == before


def test_goose_11049_the_window_a_person_set_always_wins() -> None:
    """goose#11049. Against every other source: tests/settings/test_models.py."""
    said = (("provider", models.LIST), ("catalogue", models.BOOK))
    models.test_window_comes_from_whom_is_believed_most("router/qwen/qwen3:free", said, 40_000, "user")


async def test_opencode_16882_with_automatic_compaction_off_none_happens_on_any_path(tmp_path: Path) -> None:
    """opencode#16882, #30664: after an answer, before a send, before an edit, after an overflow."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192, automatic=False) as d:
            chat = await converse(d, 3, size=900)
            server.script(text(f"A4 {words(400)}"))
            await chat.send(ask("U4"))
            await chat.send(ask(f"U5 {words(900)}"))
            await chat.edit(chat.path[6].id, ask(f"U4b {words(1_500)}"))
            server.script(error(400, "too long", code="context_length_exceeded"))
            await chat.retry(chat.path[-1].id)
            assert done(d) == []
            assert summaries(d) == 0


async def test_pi_6751_compacting_a_short_chat_is_a_success_that_says_so(tmp_path: Path) -> None:
    """pi#6751; pi#7253, little-coder#109: and so is compacting twice."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 1)
            await chat.compact()
            ended = d.happened(events.CompactionEnded)[-1]
            assert ended.outcome == "nothing"
            assert ended.message.startswith("Nothing to compact")
            assert d.happened(events.Notice) == []


async def test_openclaw_19207_every_key_of_a_summary_was_there_before(tmp_path: Path) -> None:
    """openclaw#19207, codegraff#738."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, tools=(Notebook(),)) as d:
            chat = await d.chat()
            for n in (1, 2):
                server.script(tool_calls(("search_items", {"query": "x"})), text(f"A{n} {words(900)}"))
                await chat.send(ask(f"U{n}"))
            checkpoint = await compacted(d, chat, "u-ABCD2345, u-ABCD2346 and g12-ABCD2345")
            assert "u-ABCD2345, [unknown key] and [unknown key]" in checkpoint.summary
            server.script(text("A3"))
            await chat.send(ask("U3"))
            assert "u-ABCD2345" in asked_of(d)
            assert "ABCD2346" not in asked_of(d)


async def test_opencode_43249_a_compaction_says_what_it_costs_and_none_happens_for_little(
    tmp_path: Path,
) -> None:
    """opencode#43249, stella#4381."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 3, size=700)
            dry = await d.workspace.dry_run(chat)
            assert dry.cost > sum(1 for _ in dry.span)
            assert dry.pays_after is not None
        async with desk(tmp_path / "little", server, window=8_192) as d:
            chat = await d.chat()
            server.script(text(f"A1 {words(20)}"), text(f"A2 {words(5_350)}"))
            await chat.send(ask("U1"))
            await chat.send(ask("U2"))
            assert (await chat.plan(Draft())).above_trigger  # but the first turn is all that could go
            assert summaries(d) == 0


async def test_pi_9179_a_leaf_that_moves_under_a_summary_makes_it_stale(tmp_path: Path) -> None:
    """pi PR#9179."""
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            first = chat.path[1].id
            server.script(text(summary_text()).held(held, 1))
            running = asyncio.ensure_future(chat.compact())
            await asyncio.to_thread(server.wait_for_requests, 4)
            with pytest.raises(NotAllowed):
                await chat.switch_to(first)
            await d.store.run(Store.switch, chat.session_id, chat.session.head, first)
            nodes = await d.store.run(lambda store: store.nodes(chat.session.tree_id))
            held.set()
            await running
            assert done(d) == ["stale"]
            assert await d.store.run(lambda store: store.nodes(chat.session.tree_id)) == nodes
            assert names(chat) == "U1 A1"


# ---- beyond single reports --------------------------------------------------------------------------------


async def test_the_request_after_a_compaction_is_a_prefix_of_those_after_a_restart_and_a_fork(
    tmp_path: Path,
) -> None:
    """What the model read right after compacting is, byte for byte, how later requests begin."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, tools=(Notebook(),)) as d:
            chat = await converse(d, 3)
            await compacted(d, chat)
            after = await d.workspace.body(chat, Draft())
            server.script(tool_calls(("search_items", {"query": "x"})), text("A4"))
            await chat.send(ask("U4"))
            sent = server.bodies[-1]["messages"]
            fork_id = (await chat.fork(chat.path[-1].id)).id
        async with desk(tmp_path, server, tools=(Notebook(),)) as d:
            chat = await d.chat(chat.session_id)
            server.script(text("A5"), text("A5f"))
            await chat.send(ask("U5"))
            await (await d.chat(fork_id)).send(ask("U5f"))
            restarted, forked = server.bodies[-2:]
        begin = json.loads(json.dumps(after))["messages"]
        for body in (restarted, forked):
            assert body["messages"][: len(begin)] == begin
            assert body["messages"][: len(sent)] == sent


async def test_over_twelve_compactions_every_message_is_summarised_once_or_there(
    tmp_path: Path,
) -> None:
    """What each summary request really contained, and what the model reads at the end."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await d.chat()
            seen: list[str] = []

            def answer(body: Any) -> Any:
                content = str(body["messages"][-1]["content"])
                if "<span>" in content:
                    seen.extend(span_of(content))
                    return text(summary(400))
                return text(f"A{content.split()[0][1:]} {words(500)}")

            server.reply_with(answer)
            turn = 0
            while done(d).count("done") < 12:
                turn += 1
                await chat.send(ask(f"U{turn} {words(500)}"))
                if turn % 5 == 0:
                    await chat.compact()
            await chat.send(ask("U999"))
            kept = [name for name in d.roles().split() if name not in ("C", "U999")]
            everything_said = [f"{k}{n}" for n in range(1, turn + 1) for k in "UA"]
            assert seen + kept == everything_said
