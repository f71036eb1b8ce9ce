"""“Save this as a note”: the answer before it, as a proposal for Zotero; only where the person asks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bibgenie_desktop.domain.citations import citations_in
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.domain.parts import ToolPart, text_of
from bibgenie_desktop.domain.projection import Projection
from bibgenie_desktop.providers.builtin.plan import Call
from bibgenie_desktop.providers.builtin.question import Question, results_of
from bibgenie_desktop.providers.builtin.words import Language

PROPOSE: Final = "propose_change"
LONGEST_TITLE: Final = 120

_WISH: Final = re.compile(
    r"^\W*(?:(?:please|now|and|ok|can you|could you|would you|bitte|kannst du|können sie|könnten sie|und"
    r"|jetzt|peux[- ]tu|pouvez[- ]vous|maintenant|et)\W+){0,2}"
    r"(?:save|keep|store|write|make|turn|speicher\w*|sicher\w*|schreib\w*|mach\w*|leg\w*"
    r"|enregistr\w*|sauvegard\w*|gard\w*|fai[st]\w*)\b[^.?!\n]{0,60}\b(?:notes?|notiz(?:en)?)\b",
    re.IGNORECASE,
)
_OWN_WORDS: Final = re.compile(r"\n+_[^_\n]+_\s*$")
"""What the assistant says of itself at the end of an answer."""


@dataclass(frozen=True, slots=True)
class _Words:
    nothing: str
    saved: str
    declined: str
    copied: str
    failed: str


_SAY: Final[dict[Language, _Words]] = {
    "en": _Words(
        "There is no answer yet that could be saved. Ask me something first.",
        "The note is in Zotero.",
        "Nothing was saved.",
        "Nothing was written to Zotero; you have the text on the clipboard.",
        "The note is not in Zotero:",
    ),
    "de": _Words(
        "Es gibt noch keine Antwort, die sich speichern ließe. Fragen Sie mich zuerst etwas.",
        "Die Notiz ist in Zotero.",
        "Es wurde nichts gespeichert.",
        "In Zotero wurde nichts geschrieben; der Text liegt in der Zwischenablage.",
        "Die Notiz ist nicht in Zotero:",
    ),
    "fr": _Words(
        "Il n’y a pas encore de réponse à enregistrer. Posez-moi d’abord une question.",
        "La note est dans Zotero.",
        "Rien n’a été enregistré.",
        "Rien n’a été écrit dans Zotero ; le texte est dans le presse-papiers.",
        "La note n’est pas dans Zotero :",
    ),
}


def saving(
    question: Question, projection: Projection, tools: Mapping[str, ToolSpec]
) -> tuple[str, tuple[Call, ...]] | None:
    """The step of a turn that asks for a note: the proposal, or what came of it. None for any other turn."""
    if PROPOSE not in tools or not _WISH.match(question.text):
        return None
    say = _SAY.get(question.language, _SAY["en"])
    done = [part for part in results_of(projection) if part.name == PROPOSE]
    if done:
        return _outcome(done[-1], say), ()
    asked, answered = _before(projection)
    if not answered:
        return say.nothing, ()
    title = " ".join(asked.split())[:LONGEST_TITLE].rstrip(" ?.!")
    content = f"# {title}\n\n{answered}" if title else answered
    return "", (Call(PROPOSE, {"kind": "note", "target": _target(answered), "content": content}),)


def _before(projection: Projection) -> tuple[str, str]:
    """The newest question that was answered in words, and its answer without what it says of itself."""
    asked = answered = ""
    question = ""
    for message in projection.messages:
        text = text_of(message.parts).strip()
        if message.kind == "user":
            question = text
        elif (
            message.kind == "assistant" and message.status != "pending" and text and not _WISH.match(question)
        ):
            asked, answered = question, _OWN_WORDS.sub("", text).strip()
    return asked, answered


def _target(answer: str) -> str:
    """The work that the answer cites, where it is one; else the library it cites from."""
    cited = list(dict.fromkeys(c.id for c in citations_in(answer)))
    if len(cited) == 1:
        return cited[0]
    return cited[0].partition("-")[0] if cited else "u"


def _outcome(part: ToolPart, say: _Words) -> str:
    if part.state == "denied":
        return say.declined
    if part.state == "error":
        return f"{say.failed} {part.sent}"
    return say.copied if part.sent.startswith("Not written") else say.saved
