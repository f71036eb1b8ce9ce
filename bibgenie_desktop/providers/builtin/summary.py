"""The extractive checkpoint: eight sections of sentences that stand in the conversation, each with its mark.

Nothing is concluded. What people said is taken by its cue words, what tools returned by its quotes and ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from bibgenie_desktop.domain.checkpoint import SECTIONS, in_order, sections_of, statements_of
from bibgenie_desktop.domain.citations import MARKER, citations_in
from bibgenie_desktop.domain.tokens import estimate_text
from bibgenie_desktop.providers.builtin.transcript import Spoken, SummaryTask, ToolUse, read_task
from bibgenie_desktop.providers.builtin.words import fold

NOTHING: Final = "[inference] Nothing recorded."
_DEFAULT_BUDGET = 1_500
_FILL = 0.92
"""Of the budget: the estimate of the parts and that of the whole differ a little."""
_SHRINK = 0.6
"""Of what is replaced: a record that is hardly shorter would not be worth its place."""
_LONGEST = 280

_CUES: Final = {
    "User Requirements and Constraints": re.compile(
        r"\b(only|must|should|please|avoid|never|always|prefer\w*|limit\w*|exclude\w*|without|at least"
        r"|at most|no more|since (19|20)\d\d|between (19|20)\d\d|focus\w*|ignore|nur|bitte|muss|soll\w*|ohne"
        r"|keine?n?|hochstens|mindestens|seulement|uniquement|doit|evite\w*|sans|jamais|toujours)\b"
    ),
    "Decisions": re.compile(
        r"\b(decid\w*|agreed|let us|let's|we will|we'll|i will use|choose|chose|settled|entschieden"
        r"|beschlossen|entscheide\w*|wir nehmen|choisi\w*|retenons)\b"
    ),
    "Next Steps": re.compile(
        r"\b(next|then|later|afterwards|todo|to do|plan to|need to|remind|als nachstes|danach|spater|noch zu"
        r"|ensuite|prochain\w*|plus tard|reste a)\b"
    ),
    "Critical Context": re.compile(
        r"\b(actually|wrong|instead|correction|correct\w*|mistake\w*|rather than|not what|eigentlich|falsch"
        r"|statt\w*|korrektur|irrtum|en fait|plutot|erreur|corrig\w*)\b|^no[,.]"
    ),
}
_ORDER: Final = (
    "Research Goal",
    "User Requirements and Constraints",
    "Critical Context",
    "Decisions",
    "Findings and Evidence",
    "Key Zotero Resources",
    "Next Steps",
    "Research Progress",
)
"""Who gets the next bullet while there is room."""


def summarise(prompt: str, room: int | None = None) -> str:
    """The new record for a summary request, within its budget and `room` output tokens."""
    task = read_task(prompt)
    limit = int(_FILL * min(task.budget or _DEFAULT_BUDGET, room or 1_000_000))
    whole = estimate_text(task.previous if not _is_empty(task.previous) else "") + estimate_text(task.span)
    previous = {name: _kept(statements_of(text)) for name, text in sections_of(task.previous)}
    fresh = {name: list(dict.fromkeys(bullets)) for name, bullets in _extract(task).items()}
    if previous.get("Research Goal"):
        fresh["Research Goal"] = []
    return _written(previous, fresh, min(limit, max(int(_SHRINK * whole), 1)))


def _is_empty(record: str) -> bool:
    return not any(_kept(statements_of(text)) for _, text in sections_of(record))


def _kept(statements: Iterable[str]) -> list[str]:
    return [s for s in statements if s and s != NOTHING and s.startswith(("[user]", "[tool]", "[inference]"))]


def _written(previous: dict[str, list[str]], fresh: dict[str, list[str]], limit: int) -> str:
    """Bullets are taken in turns, the newest and the carried ones alternately, and put back in their
    order."""
    queues = {name: _alternating(previous.get(name, []), fresh.get(name, [])) for name in SECTIONS}
    taken: dict[str, set[str]] = {name: set() for name in SECTIONS}
    size = estimate_text(in_order(dict.fromkeys(SECTIONS, f"- {NOTHING}")))
    for _ in range(max((len(queue) for queue in queues.values()), default=0)):
        for name in _ORDER:
            if not queues[name]:
                continue
            bullet = queues[name].pop(0)
            cost = estimate_text(f"- {bullet}\n") + 1
            if size + cost <= limit:
                taken[name].add(bullet)
                size += cost
    sections = {}
    for name in SECTIONS:
        kept = [b for b in dict.fromkeys([*previous.get(name, []), *fresh.get(name, [])]) if b in taken[name]]
        sections[name] = "\n".join(f"- {bullet}" for bullet in kept or [NOTHING])
    return in_order(sections)


def _alternating(old: list[str], new: list[str]) -> list[str]:
    newest = [bullet for bullet in reversed(new) if bullet not in old]
    mixed: list[str] = []
    for place in range(max(len(old), len(newest))):
        mixed += newest[place : place + 1] + old[place : place + 1]
    return mixed


def _extract(task: SummaryTask) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {name: [] for name in SECTIONS}
    people = [message for message in task.messages if message.role == "user"]
    if people and (goal := _line(_question(people[0]))):
        sections["Research Goal"].append(f"[user] {goal}")
    resources: dict[str, tuple[str, dict[str, None]]] = {}
    for message in task.messages:
        if message.role == "user":
            _said(message, sections)
        else:
            _answered(message, sections, resources)
    sections["Key Zotero Resources"] = _resources(resources)
    return sections


def _resources(found: dict[str, tuple[str, dict[str, None]]]) -> list[str]:
    """What was read, with its pages; where nothing was, what was found first. The ledger lists the rest."""
    read = {id: entry for id, entry in found.items() if entry[1]}
    bullets = []
    for id, (title, pages) in (read or dict(list(found.items())[:5])).items():
        word = "page" if len(pages) == 1 else "pages"
        where = f", {word} {', '.join(list(pages)[:8])}" if pages else ""
        bullets.append(f"[tool] {id} “{_line(title, 120)}”{where}")
    return bullets


def _said(message: Spoken, sections: dict[str, list[str]]) -> None:
    if question := _line(_question(message)):
        sections["Research Progress"].append(f"[user] Asked: {question}")
    for sentence in _sentences(message.text):
        for name, cue in _CUES.items():
            if cue.search(fold(sentence)):
                sections[name].append(f"[user] {_line(sentence)}")


def _answered(
    message: Spoken, sections: dict[str, list[str]], resources: dict[str, tuple[str, dict[str, None]]]
) -> None:
    for use in message.tools:
        _used(use, sections)
        for id, title, page in use.places:
            resources.setdefault(id, (title, {}))[1].update({page: None} if page else {})
    cited = False
    for citation in citations_in(message.text):
        cited = True
        page = f", page {citation.page}" if citation.page else ""
        if citation.quote:
            sections["Findings and Evidence"].append(
                f"[tool] “{_line(citation.quote)}” ({citation.id}{page})"
            )
    plain = _line(next(_sentences(MARKER.sub("", message.text)), ""))
    if plain and not cited:
        sections["Findings and Evidence"].append(f"[inference] {plain}")
    sections["Critical Context"] += [
        f"[tool] {_line(line.strip('[]'))}" for line in message.lines if line.startswith("[answer ")
    ]


def _used(use: ToolUse, sections: dict[str, list[str]]) -> None:
    asked = _line(str(use.input.get("query") or use.input.get("pages") or ""), 100)
    result = "\n".join(use.result)
    if use.state == "error":
        sections["Critical Context"].append(f"[tool] {use.name} failed: {_line(result, 160)}")
    elif use.name == "search_items" and asked:
        total = re.search(r'"total":\s*([0-9]+)', result)
        if total and total[1] == "0":
            sections["Critical Context"].append(f"[tool] Searching for “{asked}” found nothing")
        elif total:
            sections["Research Progress"].append(f"[tool] Searched for “{asked}”: {total[1]} found")


def _question(message: Spoken) -> str:
    """What was asked: the sentence with the question mark, else the first."""
    sentences = list(_sentences(message.text))
    return next((s for s in sentences if s.rstrip().endswith(("?", "？"))), sentences[0] if sentences else "")


def _sentences(text: str) -> Iterator[str]:
    lines = (
        line for line in text.split("\n") if not line.startswith(("[attached ", "[image ", "[answer ", "<"))
    )
    for line in lines:
        for sentence in re.split(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？])", line):
            if sentence.strip(" -*#>_|"):
                yield sentence.strip()


def _line(text: str, longest: int = _LONGEST) -> str:
    """One line, cut at a blank; marks and headings inside cannot be taken for those of the record."""
    words = " ".join(text.split()).lstrip("#-*•> ")
    if len(words) <= longest:
        return words
    head = words[:longest]
    return (head.rpartition(" ")[0] or head) + "…"
