"""What can go wrong between us and Zotero's interfaces, in sentences for a person."""

from __future__ import annotations

from bibgenie_desktop.domain.errors import UserError


class ZoteroError(UserError):
    """One of Zotero's interfaces refused or failed. `sure`: of what was sent nothing was done."""

    sure = True


class ZoteroUnreachable(ZoteroError):
    """No connection, or no answer in time. What was asked may have been done all the same."""

    sure = False


class ZoteroOff(ZoteroError):
    """Zotero runs, but other applications may not talk to it (a switch in its settings)."""


class ZoteroTooOld(ZoteroError):
    """This version of Zotero has no such interface."""


class ZoteroDenied(ZoteroError):
    """The person said no in Zotero's own dialog."""


class ZoteroKeyRefused(ZoteroError):
    """The key is missing, wrong, used up, or may not do this."""


class ZoteroBusy(ZoteroError):
    """Too many requests; `retry_after` is in seconds, None where Zotero did not say."""

    sure = False

    def __init__(self, title: str, advice: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(title, advice)
        self.retry_after = retry_after


class ZoteroConflict(ZoteroError):
    """It was changed meanwhile: nothing was written."""


class ZoteroOtherDatabase(ZoteroConflict):
    """Another Zotero answers than the one asked before, or its database was put back."""


class ZoteroMissing(ZoteroError):
    """The item, collection or library is not there."""


class ZoteroRefused(ZoteroError):
    """Zotero did not take what was sent."""


class ZoteroUnclear(ZoteroError):
    """An error of the server's own, or an answer that makes no sense: it may have been done all the same."""

    sure = False
