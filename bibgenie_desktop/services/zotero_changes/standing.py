"""How a proposal stands, read from its entries in the journal, and the sentences for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.domain.parts import ResourcePart
from bibgenie_desktop.services.tools.base import Card, card_from_json
from bibgenie_desktop.storage.journal import EntryKind, StoredProposal
from bibgenie_desktop.zotero.online.attempts import Attempt, attempt_from_json
from bibgenie_desktop.zotero.online.changes import (
    Change,
    Done,
    NoteChange,
    change_to_json,
    digest_of,
    done_from_json,
    done_to_json,
)

NOT_SENT: Final = "BibGenie ended before anything was sent to Zotero. Nothing was written."
UNANSWERED: Final = "BibGenie ended before Zotero had answered."
MAY_BE_THERE: Final = (
    "It may have been written. “Look again” asks Zotero first, and writes only what is not there."
)
TRASHED: Final = "It had been written, and lies in Zotero's trash by now."
_SETTLING: Final = frozenset({"written", "failed", "undone", "declined"})
"""After these it is known what came of everything that was sent before."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal as it stands. `link` opens in Zotero what was written; `words` say what came of it."""

    call_id: str
    message_id: MessageId
    card: Card
    state: EntryKind
    words: str = ""
    link: str = ""
    busy: bool = False
    """It is being written, or taken back, just now."""


def proposal_of(stored: StoredProposal, *, busy: bool) -> Proposal:
    done, state, words = done_of(stored), stored.newest, ""
    if done is not None:
        state = state if state in ("undo", "kept") else "written"
        words = said(done)
    elif state in ("accepted", "edited"):
        state, words = "failed", NOT_SENT
    elif state == "sending":
        state, words = "unknown", f"{UNANSWERED} {MAY_BE_THERE}"
    if state in ("failed", "unknown", "kept", "undone") and (entry := stored.last(state)) is not None:
        words = str(entry.content.get("reason") or "") or words
    link = link_of(done) if done is not None else ""
    return Proposal(
        stored.call_id, stored.message_id, card_from_json(stored.content), state, words, link, busy
    )


def done_of(stored: StoredProposal) -> Done | None:
    """What stands in Zotero of a proposal; None where nothing does."""
    newest = stored.last("written", "undone")
    if newest is None or newest.kind == "undone":
        return None
    try:
        return done_from_json({k: v for k, v in newest.content.items() if k != "change"})
    except ValueError:
        return None


def unsettled(stored: StoredProposal) -> list[Attempt]:
    """What was sent and may have arrived, the newest first."""
    found: list[Attempt] = []
    for entry in reversed(stored.entries):
        if entry.kind in _SETTLING:
            break
        if entry.kind == "sending":
            try:
                attempt = attempt_from_json(entry.content)
            except ValueError:
                continue
            if attempt not in found:
                found.append(attempt)
    return found


def key_sent_before(stored: StoredProposal, change: Change) -> str:
    """The key under which the same note was sent: one that arrives late and one sent again are one note."""
    if not isinstance(change, NoteChange):
        return ""
    digest = digest_of(change.html)
    for entry in reversed(stored.entries):
        sent = entry.content.get("change")
        if entry.kind == "sending" and entry.content.get("digest") == digest and isinstance(sent, dict):
            return str(sent.get("key") or "")
    return ""


def written_facts(done: Done, change: Change) -> dict[str, Any]:
    """For the journal, without the words of a note."""
    data = change_to_json(change)
    if isinstance(change, NoteChange):
        data |= {"markdown": "", "html": ""}
    return {**done_to_json(done), "change": data}


def said(done: Done) -> str:
    way = "Zotero" if done.route == "local" else "zotero.org"
    if done.digest:
        return f"Written to {way} as note {done.id}."
    if not changed(done):
        return f"{way} has it so already; nothing had to be changed on {done.id}."
    counts = [f"{len(v)} {sign}" for v, sign in ((done.added, "added"), (done.removed, "removed")) if v]
    return f"Written to {way}: {', '.join(counts)} on {done.id}."


def changed(done: Done) -> bool:
    """Whether there is anything to take back."""
    return bool(done.digest or done.added or done.removed)


def link_of(done: Done) -> str:
    where = "library" if done.library == "u" else f"groups/{done.library.removeprefix('g')}"
    return f"zotero://select/{where}/items/{done.key}"


def news_of(done: Done, change: Change, words: str, edited: str = "") -> ResourcePart:
    """What the next message tells the model of a proposal that was answered after its turn."""
    kind = "note" if isinstance(change, NoteChange) else "item"
    title = {"note": "Saved note", "tags": "Changed tags", "collection": "Changed collections"}[change.kind]
    sent = f"About the proposal made earlier: the person accepted it. {words}"
    if edited:
        sent += f"\nThey had edited it to:\n{edited}"
    return ResourcePart(
        Locator(done.library, "note" if kind == "note" else "item", item=done.key), title, sent
    )
