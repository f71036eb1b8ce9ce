"""What a model may do: answers and summaries, good and bad, drawn by chance."""

from __future__ import annotations

import random
from collections.abc import Callable

from bibgenie_desktop.domain.checkpoint import SECTIONS, in_order
from bibgenie_desktop.domain.errors import AuthError, ContextOverflow, RateLimited, StreamCut, Unreachable
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.tokens import estimate_text
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.providers.base import (
    Event,
    Finished,
    ReasoningClosed,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCalled,
    ToolCallStarted,
    UsageReported,
)

Script = list[Event | Exception]


def words(tokens: int) -> str:
    """About so many tokens by the estimate."""
    return "word " * max(1, round(tokens / 1.3))


def summary(tokens: int, note: str = "kept") -> str:
    """A flawless summary of about so many tokens, as far as eight sections allow."""
    frame = in_order(dict.fromkeys(SECTIONS, f"- [user] {note}"))
    rest = tokens - estimate_text(frame)
    if rest <= 4:
        return frame
    sections = dict.fromkeys(SECTIONS, f"- [user] {note}")
    sections["Findings and Evidence"] += " " + words(rest - 2).strip()
    return in_order(sections)


def usage_of(profile: ModelProfile, size: int, kind: str) -> list[Event]:
    """A usage report of a request of about `size` tokens."""
    figures = {
        "none": None,
        "zero": Usage(profile.provider, profile.base_url, profile.model, 0, 0),
        "sane": Usage(profile.provider, profile.base_url, profile.model, size, 20, cache_read=size // 2),
        "low": Usage(profile.provider, profile.base_url, profile.model, max(1, size // 9), 1),
        "high": Usage(profile.provider, profile.base_url, profile.model, size * 2, 40, reasoning=30),
        "full": Usage(profile.provider, profile.base_url, profile.model, int(profile.window * 0.79), 9),
        "absurd": Usage(profile.provider, profile.base_url, profile.model, profile.window * 9, 9),
        "other": Usage("else", profile.base_url, "other", size, 20),
    }[kind]
    return [] if figures is None else [UsageReported(figures)]


class Chance:
    """Draws scripts. `size` says how large a request is, in tokens, as a provider would count it."""

    def __init__(self, random_: random.Random, size: Callable[[Request], int]) -> None:
        self.random = random_
        self.size = size
        self.marks = 0
        self.summaries: list[str] = []
        """Wanted kinds of the next summaries, before chance decides."""
        self.last_summary = ""

    def play(self, request: Request) -> Script:
        return self.summary(request) if request.purpose == "summary" else self.answer(request)

    # -- answers

    def answer(self, request: Request) -> Script:
        r = self.random
        self.marks += 1
        mark = f"a{self.marks:05d}x"
        profile = request.profile
        room = max(8, min(1_200, request.max_output_tokens or 1_200))
        kind = r.choices(
            ("text", "tools", "long", "cut", "error", "filter", "length", "empty", "reasoning"),
            (50, 22, 8, 5, 5, 2, 3, 2, 3),
        )[0]
        told = usage_of(
            profile,
            self.size(request),
            r.choices(
                ("sane", "none", "zero", "low", "high", "full", "absurd", "other"),
                (55, 12, 6, 5, 8, 5, 4, 5),
            )[0],
        )
        body: Script = [TextDelta(f"{mark} "), TextDelta(words(r.randint(1, room // 3)))]
        match kind:
            case "text":
                if r.random() < 0.3:
                    body = [ReasoningDelta("thinking "), ReasoningClosed({"sig": mark}), *body]
                return [*body, *told, Finished("stop")]
            case "long":
                return [TextDelta(f"{mark} {words(room)}"), *told, Finished("stop")]
            case "tools":
                calls = self.calls() if request.tools else []
                say: Script = [TextDelta(f"{mark} looking")] if r.random() < 0.5 else []
                return [*say, *calls, *told, Finished("tool_calls" if calls else "stop")]
            case "cut":
                return [*body, StreamCut("The answer broke off.", "Retry it.")]
            case "error":
                return [
                    *(body if r.random() < 0.3 else []),
                    r.choice(
                        (
                            AuthError("The key is wrong.", status=401),
                            RateLimited("Too many requests."),
                            ContextOverflow("Too large for the model."),
                            Unreachable("There is no connection."),
                        )
                    ),
                ]
            case "filter":
                return [*body[:1], Finished(r.choice(("content_filter", "refusal")))]
            case "length":
                return [*body, *told, Finished("length")]
            case "reasoning":
                return [ReasoningDelta("only thoughts"), *told, Finished("stop")]
            case _:
                return [*told, Finished("stop")]

    def calls(self) -> list[Event]:
        r = self.random
        made: list[Event] = []
        for index in range(r.choices((1, 2, 3), (70, 20, 10))[0]):
            name, given, malformed = r.choices(
                (
                    ("search_items", {"query": f"q{r.randint(0, 9)}"}, ""),
                    ("search_items", {"query": "huge"}, ""),
                    ("search_items", {"query": "fails"}, ""),
                    ("search_items", {"query": "crashes"}, ""),
                    ("search_items", {}, '{"query": broken'),
                    ("no_such_tool", {"a": 1}, ""),
                    ("propose_change", {"text": "a note"}, ""),
                    ("read_result", {"handle": "ledger"}, ""),
                ),
                (40, 12, 6, 1, 6, 6, 22, 7),
            )[0]
            made += [ToolCallStarted(index, name), ToolCalled(index, name, given, malformed)]
        return made

    # -- summaries

    def summary(self, request: Request) -> Script:
        r = self.random
        budget = budget_named_in(request)
        kind = self.summaries.pop(0) if self.summaries else ""
        kind = kind or r.choices(
            ("good", "full", "over", "long", "garbage", "unmarked", "empty", "reasoning", "refused", "cut",
             "error", "length", "call"),
            (46, 12, 6, 4, 5, 6, 3, 3, 3, 3, 3, 3, 2),
        )[0]  # fmt: skip
        self.last_summary = kind
        self.marks += 1
        note = f"s{self.marks:05d}x"
        match kind:
            case "good":
                return streamed(summary(budget // 3, note))
            case "full":
                return streamed(summary(budget, note))
            case "over":
                return streamed(summary(int(budget * 1.24), note))
            case "long":
                return streamed(summary(budget * 2, note))
            case "garbage":
                return streamed(f"Here is what happened: {note}")
            case "unmarked":
                return streamed(summary(budget // 2, note).replace("- [user]", "-"))
            case "empty":
                return [Finished("stop")]
            case "reasoning":
                return [ReasoningDelta(summary(budget // 2, note)), Finished("stop")]
            case "refused":
                return [TextDelta("I cannot"), Finished("refusal")]
            case "cut":
                return [TextDelta("## Research Goal\n- [user]"), StreamCut("The answer broke off.")]
            case "error":
                return [r.choice((RateLimited("Too many."), Unreachable("No connection.")))]
            case "length":
                return [*streamed(summary(budget // 2, note))[:-1], Finished("length")]
            case _:
                return [ToolCalled(0, "search_items", {"query": "x"}), Finished("tool_calls")]


def streamed(text: str) -> Script:
    third = max(1, len(text) // 3)
    pieces = [text[i : i + third] for i in range(0, len(text), third)]
    return [*(TextDelta(piece) for piece in pieces), Finished("stop")]


def budget_named_in(request: Request) -> int:
    text = "".join(getattr(p, "text", "") for m in request.projection.messages for p in m.parts)
    for line in text.splitlines():
        if line.startswith("Budget: "):
            return int(line.split()[1])
        if "eight sections in order" in line and "within " in line:
            return int(line.split("within ")[1].split()[0])
    raise AssertionError("a summary request names no budget")
