"""Checkpoints as a person and a model meet them: undo, revise, refresh, folding, pins, calibration."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.checkpoint import SECTIONS, diff_sections, in_order
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.locators import LedgerEntry, Locator
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.domain.parts import ToolPart, text_of
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.domain.tokens import estimate_text
from bibgenie_desktop.services import events
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.tools.base import Decision
from tests.domain.paths import words
from tests.fakes import Notebook, Proposer
from tests.proofs.scripts import summary
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.services.desk import SMALL, Desk, ask, desk, summary_text

SENTENCE = LedgerEntry(None, "Only studies after 2010", 0, 0, pinned=True)
PLACE = LedgerEntry(Locator("u", "item", item="PNNED222"), "A pinned item", 0, 0, pinned=True)


async def converse(
    d: Desk, turns: int, chat: Chat | None = None, first: int = 1, size: int = 60, report: bool = False
) -> Chat:
    """`turns` turns U<n> and A<n> of `size` words each; each begins with its name."""
    chat = chat or await d.chat()
    for n in range(first, first + turns):
        d.server.script(text(f"A{n} {words(size)}", usage=(1_000, 20) if report else None))
        await chat.send(ask(f"U{n} {words(size)}"))
    return chat


async def compacted(d: Desk, chat: Chat, note: str = "kept") -> Checkpoint:
    d.server.script(text(summary_text(note)))
    await chat.compact()
    leaf = chat.path[-1]
    assert isinstance(leaf, Checkpoint), d.happened(events.CompactionEnded)
    return leaf


def names(chat: Chat) -> str:
    return " ".join("C" if isinstance(m, Checkpoint) else text_of(m.parts).split(" ")[0] for m in chat.path)


def asked_of(d: Desk, index: int = -1) -> str:
    return str(d.messages(index)[0]["content"])


def span_of(request: str) -> list[str]:
    return re.findall(r"\b[UA]\d+\b", request.split("<span>")[1].split("</span>")[0])


# ---- undo -------------------------------------------------------------------------------------------------


QUESTION = ask(f"U4 {words(300)}")


async def above_the_trigger(d: Desk) -> Chat:
    """A conversation that `QUESTION` brings above the trigger, not too far; compacted, and undone."""
    chat = await converse(d, 3, size=850)
    await compacted(d, chat)
    await chat.undo_checkpoint()
    return chat


async def test_an_undone_checkpoint_stays_in_the_tree_and_leaves_the_request(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            checkpoint = await compacted(d, chat)
            await chat.undo_checkpoint()
            assert names(chat) == "U1 A1 U2 A2 U3 A3"
            assert checkpoint.id in {n.id for n in await d.workspace.outline(chat)}
            server.script(text("A4"))
            await chat.send(ask("U4"))
            assert d.roles() == "U1 A1 U2 A2 U3 A3 U4"
            await chat.switch_to(checkpoint.id)
            assert names(chat) == "U1 A1 U2 A2 U3 A3 C"


@pytest.mark.parametrize("restart", [False, True])
async def test_after_an_undo_nothing_compacts_by_itself_until_a_new_message(
    tmp_path: Path, restart: bool
) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await above_the_trigger(d)
            if not restart:
                await self_compacts_only_after_a_message(d, chat)
        if restart:
            async with desk(tmp_path, server, window=8_192) as d:
                await self_compacts_only_after_a_message(d, await d.chat(chat.session_id))


async def self_compacts_only_after_a_message(d: Desk, chat: Chat) -> None:
    plan = await chat.plan(QUESTION)
    assert plan.limits.trigger < plan.occupancy.tokens <= plan.limits.safe_limit - 100
    before = len(d.server.requests)
    d.server.script(text("A4"), text(summary_text()), text(summary_text()))  # the span takes two stages
    await chat.send(QUESTION)
    assert d.roles(before) == "U1 A1 U2 A2 U3 A3 U4"
    assert "<span>" in asked_of(d, before + 1)  # the answer wanted it, and that was a new message
    assert isinstance(chat.path[-1], Checkpoint)
    assert chat.path[-1].trigger == "automatic"


async def test_after_an_undo_a_request_above_the_safe_limit_is_compacted_all_the_same(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await above_the_trigger(d)
            server.script(text(summary_text()), text("A4"))
            await chat.send(ask(f"U4 {words(1_200)}"))
            assert d.roles().startswith("C ")


async def test_only_a_checkpoint_that_is_the_leaf_can_be_undone_or_revised(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            await compacted(d, chat)
            await converse(d, 1, chat, first=4)
            for attempt in (chat.undo_checkpoint(), chat.revise_summary(summary_text())):
                with pytest.raises(UserError, match="no checkpoint at the end"):
                    await attempt
            assert names(chat) == "U1 A1 U2 A2 U3 A3 C U4 A4"


# ---- revise -----------------------------------------------------------------------------------------------


async def test_a_revised_summary_is_a_new_checkpoint_with_the_same_boundary(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, tools=(Notebook(),)) as d:
            chat = await converse(d, 3)
            old = await compacted(d, chat)
            await d.workspace.pin_entry(chat, SENTENCE)
            asked = len(server.requests)
            await chat.revise_summary(summary_text("as I want it, u-ZZZZ9999"))
            new = chat.path[-1]
            assert isinstance(new, Checkpoint)
            assert (new.parent_id, new.first_kept_id, new.trigger) == (old.id, old.first_kept_id, "revise")
            assert "as I want it, [unknown key]" in new.summary
            assert SENTENCE in new.ledger
            assert len(server.requests) == asked
            server.script(text("A4"))
            await chat.send(ask("U4"))
            assert d.roles() == "C U3 A3 U4"
            assert "as I want it" in asked_of(d)
            assert "kept" not in asked_of(d)


@pytest.mark.parametrize(
    ("fault", "summary", "says"),
    [
        ("a section is missing", summary_text().split("## Critical Context")[0], "Critical Context"),
        ("no marks", summary_text().replace("- [user]", "-"), "without a mark"),
        ("empty", "  ", "empty"),
        ("too long", summary(9_000), "too long"),
    ],
)
async def test_a_revision_with_faults_is_refused_with_the_faults_and_nothing_is_written(
    tmp_path: Path, fault: str, summary: str, says: str
) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 3)
            await compacted(d, chat)
            before = chat.path, chat.session.head
            await chat.revise_summary(summary)
            assert (chat.path, chat.session.head) == before, fault
            notice = d.happened(events.Notice)[-1]
            assert says in f"{notice.title} {notice.advice}"
            assert chat.state is SessionState.IDLE


# ---- refresh, condense ------------------------------------------------------------------------------------


async def test_a_refresh_shows_the_summariser_the_tail_as_still_verbatim_and_keeps_the_boundary(
    tmp_path: Path,
) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            first = await compacted(d, chat)
            await converse(d, 1, chat, first=4)
            second = await compacted(d, chat, "renewed")
            request = asked_of(d)
            assert span_of(request) == []
            verbatim = request.split("<verbatim>")[1].split("</verbatim>")[0]
            assert re.findall(r"\b[UA]\d\b", verbatim) == ["U3", "A3", "U4", "A4"]
            assert "stay word for word" in request
            assert second.first_kept_id == first.first_kept_id
            server.script(text("A5"))
            await chat.send(ask("U5"))
            assert d.roles() == "C U3 A3 U4 A4 U5"


async def test_the_span_after_a_refresh_starts_where_it_would_have(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat = await converse(d, 3)
            await compacted(d, chat)
            await converse(d, 1, chat, first=4)
            await compacted(d, chat, "renewed")
            await converse(d, 2, chat, first=5, size=500)
            await compacted(d, chat, "third")
            assert span_of(asked_of(d))[:4] == ["U3", "A3", "U4", "A4"]


async def test_compacting_again_right_away_is_nothing_to_do(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            await compacted(d, chat)
            asked = len(server.requests)
            await chat.compact()
            assert d.happened(events.CompactionEnded)[-1].outcome == "nothing"
            assert len(server.requests) == asked


async def test_a_record_made_for_a_large_model_is_condensed_for_a_small_one(tmp_path: Path) -> None:
    """Even where the record alone is larger than what the small model reads at once."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, small=4_096) as d:
            chat = await converse(d, 3, size=2_500)
            server.script(text(summary(6_000)))
            await chat.compact()
            large = chat.path[-1]
            assert isinstance(large, Checkpoint)
            await chat.choose_model(f"test/{SMALL}")
            server.reply_with(lambda body: text(summary(300)))
            await chat.compact()
            assert d.happened(events.CompactionEnded)[-1].outcome == "done"
            small = chat.path[-1]
            assert isinstance(small, Checkpoint)
            assert estimate_text(small.summary) < 600
            plan = await chat.plan(ask("U4"))
            assert plan.occupancy.tokens <= plan.limits.trigger


# ---- folding ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.4, 1.0, 1.2])
async def test_a_span_larger_than_the_window_is_read_whole_in_requests_that_fit(
    tmp_path: Path, share: float
) -> None:
    """Whatever length each stage's record has, up to what the judge takes."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, small=4_096) as d:
            chat = await converse(d, 6, size=1_500)
            await chat.choose_model(f"test/{SMALL}")
            limits = (await chat.plan(ask("x"))).limits
            before = len(server.requests)
            server.reply_with(lambda body: text(summary(int(share * limits.summary_budget))))
            await chat.compact()
            assert d.happened(events.CompactionEnded)[-1].outcome == "done"
            requests = [asked_of(d, n) for n in range(before, len(server.requests))]
            assert len(requests) > 4
            for request in requests:
                size = estimate_text(request) + estimate_text(server.bodies[before]["messages"][0]["content"])
                assert size <= limits.safe_limit
            seen = [name for request in requests for name in span_of(request)]
            checkpoint = chat.path[-1]
            assert isinstance(checkpoint, Checkpoint)
            kept = (
                [m.id for m in chat.path].index(checkpoint.first_kept_id) if checkpoint.first_kept_id else 12
            )
            assert seen == names(chat).split()[:kept]
            letters = sum(len("".join(r.split("<span>")[1].split("</span>")[0].split())) for r in requests)
            assert letters >= sum(
                len("".join(text_of(m.parts).split()))
                for m in chat.path[:kept]
                if not isinstance(m, Checkpoint)
            )
            stages = {(e.stage, e.stages) for e in d.happened(events.CompactionProgress) if e.stages > 1}
            assert len(stages) == len(requests)


# ---- repair -----------------------------------------------------------------------------------------------


async def test_a_repair_names_the_faults_and_is_asked_for_once(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            bad = summary_text().replace("## Decisions\n", "")
            server.script(text(bad), text(bad))
            await chat.compact()
            assert len(server.requests) == 5
            assert "Sections are missing: Decisions" in asked_of(d)
            assert d.happened(events.CompactionEnded)[-1].outcome == "failed"
            assert names(chat) == "U1 A1 U2 A2 U3 A3"


# ---- pins -------------------------------------------------------------------------------------------------


async def test_pins_enter_the_next_checkpoint_and_survive_every_later_one_also_in_a_fork(
    tmp_path: Path,
) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=16_384) as d:
            chat = await converse(d, 3, size=300)
            await d.workspace.pin_entry(chat, SENTENCE)
            await d.workspace.pin_entry(chat, PLACE)
            for n in range(4, 9):
                checkpoint = await compacted(d, chat, f"note {n}")
                assert {SENTENCE.title, "A pinned item"} <= {e.title for e in checkpoint.ledger if e.pinned}
                assert "Never drop: Only studies after 2010" in checkpoint.ledger_projected
                assert "u-PNNED222" in checkpoint.ledger_projected
                await converse(d, 1, chat, first=n, size=900)
            fork = await d.chat((await chat.fork(chat.path[-1].id)).id)
            in_fork = await compacted(d, fork)
            assert "Never drop: Only studies after 2010" in in_fork.ledger_projected
            await d.workspace.unpin_entry(chat, SENTENCE)
            await converse(d, 1, chat, first=20, size=900)
            after = await compacted(d, chat)
            assert SENTENCE.title not in {e.title for e in after.ledger}
            assert "u-PNNED222" in after.ledger_projected


async def test_a_pin_that_does_not_fit_is_refused_at_once(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=4_096) as d:
            chat = await converse(d, 1)
            with pytest.raises(UserError, match="does not fit"):
                await d.workspace.pin_entry(chat, LedgerEntry(None, words(500), 0, 0))
            assert await d.workspace.pins(chat) == ()


async def test_pins_too_large_for_a_smaller_model_stop_its_compaction_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 4, size=700)
            for n in range(12):
                await d.workspace.pin_entry(chat, LedgerEntry(None, f"sentence {n} {words(20)}", 0, 0))
            await chat.choose_model(f"test/{SMALL}")
            asked = len(server.requests)
            await chat.compact()
            ended = d.happened(events.CompactionEnded)[-1]
            assert ended.outcome == "failed"
            assert "pinned" in ended.message
            assert len(server.requests) == asked


# ---- looking ahead ----------------------------------------------------------------------------------------


async def test_a_dry_run_says_what_compact_then_does(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=16_384) as d:
            chat = await converse(d, 5, size=700)
            before = chat.path, len(server.requests)
            dry = await d.workspace.dry_run(chat)
            assert (chat.path, len(server.requests)) == before
            checkpoint = await compacted(d, chat)
            path = [m.id for m in chat.path]
            kept = path.index(checkpoint.first_kept_id) if checkpoint.first_kept_id else len(path) - 1
            assert dry.outcome == "compact"
            assert list(dry.span) == path[:kept]
            assert list(dry.tail) == path[kept:-1]
            assert dry.before == checkpoint.tokens_before
            assert checkpoint.tokens_after <= dry.after < dry.before
            assert dry.pays_after is not None
            assert dry.pays_after >= 1
            assert (await d.workspace.dry_run(chat)).outcome == "nothing"


def test_a_diff_names_what_each_section_gained_and_lost() -> None:
    sections = dict.fromkeys(SECTIONS, "- [user] same")
    old = in_order({**sections, "Decisions": "- [user] same\n- [user] out"})
    new = in_order({**sections, "Decisions": "- [user] same\n- [model] in".replace("[model]", "[inference]")})
    diffs = {d.name: (d.added, d.removed) for d in diff_sections(old, new)}
    assert list(diffs) == list(SECTIONS)
    assert diffs.pop("Decisions") == (("[inference] in",), ("[user] out",))
    assert set(diffs.values()) == {((), ())}


# ---- calibration ------------------------------------------------------------------------------------------


async def test_a_model_calibrates_from_its_second_report_on_and_remembers_it_by_address(
    tmp_path: Path,
) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, max_output=4_000) as d:
            chat = await d.chat()
            factors = []
            profile = d.workspace.models.profile("test/scripted")
            for n in range(3):
                size = (await chat.plan(ask(f"U{n} {words(800)}"))).occupancy.tokens
                server.script(text(f"A{n}", usage=(int(size * 0.8), 5)))
                await chat.send(ask(f"U{n} {words(800)}"))
                factors.append(d.workspace.estimates.factor(profile))
            assert factors[0] == 1.0
            assert 0.7 <= factors[1] < 0.95
            other = d.workspace.models.profile(f"test/{SMALL}")
            assert d.workspace.estimates.factor(other) == 1.0
        async with desk(tmp_path, server) as d:
            await d.workspace.estimates.load()
            assert d.workspace.estimates.factor(d.workspace.models.profile("test/scripted")) == factors[-1]
        with ScriptedServer() as elsewhere:
            async with desk(tmp_path, elsewhere) as d:
                await d.workspace.estimates.load()
                assert d.workspace.estimates.factor(d.workspace.models.profile("test/scripted")) == 1.0


# ---- cards ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "state", "done"),
    [
        (Decision("accepted"), "done", ["a note"]),
        (Decision("edited", "my note"), "done", ["my note"]),
        (Decision("declined"), "denied", []),
    ],
)
async def test_a_proposal_waits_for_the_person(
    tmp_path: Path, decision: Decision, state: str, done: list[str]
) -> None:
    tool = Proposer()
    with ScriptedServer() as server:
        async with desk(tmp_path, server, tools=(tool,)) as d:
            chat = await d.chat()
            server.script(tool_calls(("propose_change", {"text": "a note"})), text("Fine."))
            running = asyncio.ensure_future(chat.send(ask("Write it down")))
            await d.until(events.CardOpened)
            assert chat.state is SessionState.AWAITING_APPROVAL
            assert tool.done == []
            chat.answer_card(decision)
            await running
            assert tool.done == done
            call = chat.path[-1].parts[0]  # type: ignore[union-attr]
            assert isinstance(call, ToolPart)
            assert call.state == state
            assert chat.state is SessionState.IDLE


async def test_two_proposals_are_shown_one_after_the_other(tmp_path: Path) -> None:
    tool = Proposer()
    with ScriptedServer() as server:
        async with desk(tmp_path, server, tools=(tool,)) as d:
            chat = await d.chat()
            server.script(
                tool_calls(("propose_change", {"text": "one"}), ("propose_change", {"text": "two"})),
                text("Fine."),
            )
            running = asyncio.ensure_future(chat.send(ask("Write them down")))
            for n in (1, 2):
                await d.until(events.CardOpened, n)
                assert len(d.happened(events.CardClosed)) == n - 1
                chat.answer_card(Decision("accepted"))
            await running
            assert tool.done == ["one", "two"]


async def test_stopping_while_a_card_is_open_changes_nothing_outside(tmp_path: Path) -> None:
    tool = Proposer()
    with ScriptedServer() as server:
        async with desk(tmp_path, server, tools=(tool,)) as d:
            chat = await d.chat()
            server.script(tool_calls(("propose_change", {"text": "a note"})))
            running = asyncio.ensure_future(chat.send(ask("Write it down")))
            await d.until(events.CardOpened)
            chat.stop()
            await running
            answer = chat.path[-1]
            assert isinstance(answer, AssistantMessage)
            assert answer.status == "stopped"
            assert [p.state for p in answer.parts if isinstance(p, ToolPart)] == ["cancelled"]
            assert tool.done == []
            assert chat.state is SessionState.IDLE


# ---- every window -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [2_048, 3_000, 4_096, 8_192, 16_384, 33_000, 131_072])
async def test_a_conversation_goes_on_for_ever_in_every_window(tmp_path: Path, window: int) -> None:
    """Turns of two fifteenths of the window each, until three compactions came by themselves."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=window, tools=(Notebook(),)) as d:
            chat = await d.chat()

            def answer(body: Any) -> Any:
                content = str(body["messages"][-1]["content"])
                return text(summary(200) if "<span>" in content else f"A {words(window // 15)}")

            server.reply_with(answer)
            turns = 0
            while len([m for m in chat.path if isinstance(m, Checkpoint)]) < 3:
                turns += 1
                assert turns < 40, "it never compacts"
                await chat.send(ask(f"U{turns} {words(window // 15)}"))
                assert chat.state is SessionState.IDLE
            assert {e.outcome for e in d.happened(events.CompactionEnded)} == {"done"}
            assert all(e.sent for e in d.happened(events.SendEnded))
            plan = await chat.plan(ask("next"))
            assert plan.occupancy.tokens <= plan.limits.landing + plan.limits.summary_budget


async def test_a_million_tokens_of_window_compact_by_hand(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=1_000_000) as d:
            chat = await converse(d, 4, size=9_000)
            checkpoint = await compacted(d, chat)
            assert checkpoint.first_kept_id == chat.path[6].id  # everything would fit: the last turn stays


class Wordy(Notebook):
    """A tool whose description alone is half of a small window."""

    spec = ToolSpec(
        "search_items", words(900), {"type": "object", "properties": {"query": {"type": "string"}}}
    )


@pytest.mark.parametrize(("window", "says"), [(2_048, True), (100_000, False)])
async def test_a_model_too_small_for_the_tools_says_so_when_it_is_chosen(
    tmp_path: Path, window: int, says: bool
) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, small=window, tools=(Wordy(),)) as d:
            chat = await d.chat()
            await chat.choose_model(f"test/{SMALL}")
            told = [f"{n.title} {n.advice}" for n in d.happened(events.Notice)]
            assert bool(told) == says
            assert all("too small for" in each for each in told)
            server.script(text("A1"))
            await chat.send(ask("U1"))
            assert ("tools" in server.bodies[-1]) == (not says)


async def test_a_compaction_lands_where_it_buys_several_turns(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=16_384) as d:
            chat = await converse(d, 6, size=900)
            server.script(text(summary(1_500)))
            await chat.compact()
            plan = await chat.plan(ask("next"))
            assert plan.occupancy.tokens <= plan.limits.landing
