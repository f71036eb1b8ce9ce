"""One try to change something in Zotero: what is used of the ways into it, and what came of it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from bibgenie_desktop.domain.errors import Cancelled, UserError
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.parts import ResourcePart
from bibgenie_desktop.zotero.online.attempts import Attempt
from bibgenie_desktop.zotero.online.changes import Change, Done, Home
from bibgenie_desktop.zotero.online.errors import ZoteroError

log = logging.getLogger(__name__)

STOPPED: Final = "It was stopped before anything was sent to Zotero."
T = TypeVar("T")


class Writing(Protocol):
    """What is used of the ways into Zotero."""

    async def refusal(self, library: str, home: Home) -> str: ...

    async def apply(
        self, change: Change, stop: threading.Event, *, home: Home, record: Callable[[Attempt], None]
    ) -> Done: ...

    async def settle(self, attempt: Attempt, others: Container[str]) -> Done | None: ...

    async def undo(self, change: Change, done: Done, stop: threading.Event) -> Done: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an accepted change. `words` are for the person and the model."""

    written: bool
    words: str
    content: str = ""
    """What was written, where the person had edited it."""
    unknown: bool = False
    """Nobody can tell yet whether it was written."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A proposal stands otherwise now. `news` is for the next message, where the turn has ended before."""

    call_id: str
    message_id: MessageId
    session_id: SessionId | None
    news: ResourcePart | None = None


async def attempted(work: Awaitable[T]) -> tuple[T | None, str, bool]:
    """What came of it; else why nothing did, and whether that is sure."""
    try:
        return await work, "", True
    except Cancelled:
        return None, STOPPED, True
    except ZoteroError as error:
        return None, error.text, error.sure
    except UserError as error:
        return None, error.text, True
    except Exception as error:  # noqa: BLE001 - whatever a server's answer may cause
        log.warning("a change to Zotero ended with %s", type(error).__name__)
        return None, "Zotero's answer could not be understood.", False
