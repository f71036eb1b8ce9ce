"""One synthetic research conversation, written down twice: as BibGenie's database and as pi's session file.

Every turn is a question, a tool call, its result and an answer: four messages as pi counts them, two as we
do. Sizes in characters: question 120 to 520, result 200 to 6,000 (each 25th 40,000), answer 300 to 1,500;
each tenth turn is Chinese. Each turn uses two of 600 places in 40 papers, which our ledger records and pi
does not. Both files hold the same words, the same usage figures and the same checkpoints.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bibgenie_desktop.domain.ids import MessageId, SessionId, TreeId, uuid7
from bibgenie_desktop.domain.ledger import extend_ledger
from bibgenie_desktop.domain.locators import Locator, Resource
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Message, UserMessage
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.parts import TextPart, ToolPart
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.storage.rows import insert_message
from bibgenie_desktop.storage.store import Store

PROFILE = ModelProfile("bench", "model", "http://127.0.0.1:1/v1", 200_000, "user", 32_000)
SEED = 42
START = 1_767_225_600_000
EVERY, SINCE, KEPT = 100, 40, 5
"""Turns between two checkpoints, since the last one, and kept before each."""
PAPERS, PAGES = 40, 15
LATIN = "the corpus shows that citation context and annotation density matter for retrieval quality "
CHINESE = "文献综述显示注释密度对检索质量有影响而引用上下文更为重要"


@dataclass(frozen=True, slots=True)
class Turn:
    question: str
    query: dict[str, Any]
    result: str
    answer: str
    places: tuple[Resource, ...]
    tokens: int
    """What the provider says the turn's last request and answer took."""
    checkpoint: bool
    """Whether a checkpoint follows it."""


def turns(count: int, *, checkpoints: bool) -> Iterator[Turn]:
    rng = random.Random(SEED)
    context = 3_000
    for n in range(count):
        words = CHINESE if n % 10 == 9 else LATIN
        question, answer = _text(words, rng.randint(120, 520)), _text(words, rng.randint(300, 1_500))
        result = _text(words, 40_000 if n % 25 == 24 else rng.randint(200, 6_000))
        papers = rng.sample(range(PAPERS), 2)
        places = tuple(_place(paper, rng.randrange(PAGES)) for paper in papers)
        query = {"itemKey": f"ABCD{n}", "query": _text(words, 60)}
        context += (len(question) + len(result) + len(answer) + 80) // 4
        due = checkpoints and (count - 1 - n) % EVERY == SINCE and n > KEPT
        yield Turn(question, query, result, answer, places, context, due)
        if due:
            context = 10_000


def write_pi(path: Path, count: int, *, checkpoints: bool) -> None:
    """The session as pi 1.6.0 stores it: one JSON object a line."""
    header = {"type": "session", "version": 3, "id": "bench", "timestamp": _when(0), "cwd": "/tmp"}
    number = 0
    parent: str | None = None
    starts: list[str] = []
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(header) + "\n")

        def push(entry: dict[str, Any]) -> str:
            nonlocal number, parent
            number += 1
            own = f"{0x10000000 + number:x}"
            line = entry | {"id": own, "parentId": parent, "timestamp": _when(number)}
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
            parent = own
            return own

        for n, turn in enumerate(turns(count, checkpoints=checkpoints)):
            starts.append(push(_pi_message("user", [{"type": "text", "text": turn.question}], number)))
            call = {"type": "toolCall", "id": f"call_{n}", "name": "read_document", "arguments": turn.query}
            push(_pi_answer([call], turn.tokens, "toolUse", number))
            result = _pi_message("toolResult", [{"type": "text", "text": turn.result}], number)
            result["message"] |= {"toolCallId": f"call_{n}", "toolName": "read_document", "isError": False}
            push(result)
            push(_pi_answer([{"type": "text", "text": turn.answer}], turn.tokens, "stop", number))
            if turn.checkpoint:
                push(
                    {
                        "type": "compaction",
                        "summary": _summary(),
                        "firstKeptEntryId": starts[-KEPT],
                        "tokensBefore": turn.tokens,
                    }
                )


def write_ours(path: Path, count: int, *, checkpoints: bool) -> SessionId:
    """The conversation in a database of this version, through its triggers; returns its session."""
    number = 0

    def new_id() -> str:
        nonlocal number
        number += 1
        return uuid7(START + number, number.to_bytes(10))

    store = Store(path, lambda: START + number, new_id, owner=True)
    session = store.create_session("A long conversation", PROFILE.ref)
    messages = list(_messages(session.tree_id, count, new_id, checkpoints=checkpoints))
    with store._db.writing():
        for message in messages:
            insert_message(store._db, message)
        store._db.run(
            "UPDATE session SET leaf_id = ?, branch_revision = ? WHERE id = ?",
            messages[-1].id,
            len(messages),
            session.id,
        )
    store.close()
    return session.id


def _messages(tree: TreeId, count: int, new_id: Any, *, checkpoints: bool) -> Iterator[Message]:
    parent: MessageId | None = None
    depth = 0
    ledger: tuple[Any, ...] = ()
    span: list[UserMessage | AssistantMessage] = []
    starts: list[MessageId] = []
    for n, turn in enumerate(turns(count, checkpoints=checkpoints)):
        asked = UserMessage(MessageId(new_id()), tree, parent, depth, (TextPart(turn.question),), START + n)
        answer = _answer(MessageId(new_id()), asked, turn)
        yield asked
        yield answer
        starts.append(asked.id)
        span += [asked, answer]
        parent, depth = answer.id, depth + 2
        if turn.checkpoint:
            ledger = extend_ledger(ledger, span[: -2 * KEPT])
            del span[: -2 * KEPT]
            made = Checkpoint(
                id=MessageId(new_id()),
                tree_id=tree,
                parent_id=parent,
                depth=depth,
                first_kept_id=starts[-KEPT],
                summary=_summary(),
                ledger=ledger,
                ledger_projected="\n".join(f"{e.locator.id} {e.title}" for e in ledger[:80]),
                trigger="automatic",
                head_leaf_id=parent,
                head_revision=depth,
                tokens_before=turn.tokens,
                tokens_after=10_000,
                model=PROFILE.ref,
                created_at=START + n,
            )
            yield made
            parent, depth = made.id, depth + 1


def _answer(own: MessageId, asked: UserMessage, turn: Turn) -> AssistantMessage:
    call = ToolPart(
        id=f"{own}/0",
        name="read_document",
        input=turn.query,
        state="done",
        result=turn.result,
        sent=turn.result,
        resources=turn.places,
    )
    before = turn.tokens - (len(turn.result) + len(turn.answer)) // 4
    usage = (_usage(before, 20, 0), _usage(turn.tokens - len(turn.answer) // 4, len(turn.answer) // 4, 1))
    parts = (call, TextPart(turn.answer, 1))
    return AssistantMessage(
        own, asked.tree_id, asked.id, asked.depth + 1, parts, "complete", PROFILE.ref, usage, asked.created_at
    )


def _usage(input_total: int, output_total: int, step: int) -> Usage:
    return Usage(
        PROFILE.provider, PROFILE.base_url, PROFILE.model, max(1, input_total), output_total, step=step
    )


def _text(words: str, length: int) -> str:
    return (words * (length // len(words) + 1))[:length]


def _place(paper: int, page: int) -> Resource:
    key = f"{paper:02}".translate(str.maketrans("01", "XY"))
    at = Locator(
        "u", "pdf", item=f"ITEM{key}AA", att=f"ATTA{key}BB", page_index=page, page_label=str(page + 1)
    )
    return Resource(at, f"Paper {paper}: what annotation density does for retrieval")


def _summary() -> str:
    return "## Research Goal\n- [user] " + _text(LATIN, 4_000)


def _when(number: int) -> str:
    second = number % 86_400
    return f"2026-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"


def _pi_message(role: str, content: list[dict[str, Any]], number: int) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": content, "timestamp": START + number}}


def _pi_answer(content: list[dict[str, Any]], tokens: int, reason: str, number: int) -> dict[str, Any]:
    entry = _pi_message("assistant", content, number)
    entry["message"] |= {
        "api": "anthropic-messages",
        "provider": "anthropic",
        "model": "claude-x",
        "stopReason": reason,
        "usage": {
            "input": 12,
            "output": 50,
            "cacheRead": tokens,
            "cacheWrite": 0,
            "totalTokens": tokens + 62,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
        },
    }
    return entry
