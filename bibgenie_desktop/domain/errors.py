"""The errors of the application, as one tree.

    BibGenieError
      UserError                 shown as it is: a title, and what to do next
        ProviderError           the model's provider refused or failed
          AuthError  RateLimited  QuotaExceeded  ContextOverflow  Overloaded  Unreachable
          StreamCut  ContentFiltered  BadAnswer
        StoreUnavailable        the application's own database cannot be used
        NewerDatabase           it was written by a newer version
        SecretStoreUnavailable  no keyring
        LibraryUnavailable      no Zotero library can be read
        DocumentUnreadable      one attachment cannot be read
        StaleBranch             the session was changed meanwhile
        NotAllowed              the session's state forbids the action
      Cancelled                 the person ended it; nothing of it was written

Anything else that is raised is a fault of ours. Keys, prompts and document text never enter a message.
"""

from __future__ import annotations


def sentences(*parts: str) -> str:
    """Several sentences in a row, a full stop after one that has none: a server's words often lack it."""
    kept = [part.strip() for part in parts if part.strip()]
    ended = [p if p[-1] in '.!?…:;。！？”")' else f"{p}." for p in kept[:-1]]
    return " ".join((*ended, *kept[-1:]))


class BibGenieError(Exception):
    """Base of every error this application raises on purpose."""


class UserError(BibGenieError):
    """An error a person can understand and act on."""

    def __init__(self, title: str, advice: str = "") -> None:
        super().__init__(sentences(title, advice))
        self.title = title
        self.advice = advice

    @property
    def text(self) -> str:
        """Title and advice as running text."""
        return sentences(self.title, self.advice)


class ProviderError(UserError):
    """The model's provider refused or failed. `status` is the HTTP status, 0 without one."""

    def __init__(self, title: str, advice: str = "", *, status: int = 0) -> None:
        super().__init__(title, advice)
        self.status = status


class AuthError(ProviderError):
    """The key is missing, wrong or not allowed to use this model."""


class QuotaExceeded(ProviderError):
    """The account has no credit left: waiting does not help."""


class RateLimited(ProviderError):
    """Too many requests; `retry_after` is in seconds, None where the provider did not say."""

    def __init__(
        self, title: str, advice: str = "", *, status: int = 429, retry_after: float | None = None
    ) -> None:
        super().__init__(title, advice, status=status)
        self.retry_after = retry_after


class ContextOverflow(ProviderError):
    """The request is larger than the model's window; figures in tokens, None where not said."""

    def __init__(
        self,
        title: str,
        advice: str = "",
        *,
        status: int = 400,
        window: int | None = None,
        requested: int | None = None,
    ) -> None:
        super().__init__(title, advice, status=status)
        self.window = window
        self.requested = requested


class Overloaded(ProviderError):
    """The provider is busy; the same request may work in a moment (`retry_after`: seconds it asked for)."""

    def __init__(
        self, title: str, advice: str = "", *, status: int = 0, retry_after: float | None = None
    ) -> None:
        super().__init__(title, advice, status=status)
        self.retry_after = retry_after


class Unreachable(ProviderError):
    """No connection, no answer in time, or an address where no such service is."""


class StreamCut(ProviderError):
    """The answer broke off. What had arrived is kept."""


class ContentFiltered(ProviderError):
    """The provider's filter stopped the answer."""


class BadAnswer(ProviderError):
    """The provider answered something that is not what its interface promises."""


class StoreUnavailable(UserError):
    """The application's own database cannot be opened or written."""


class NewerDatabase(StoreUnavailable):
    """The database was written by a newer version of the application; it was not touched."""


class SecretStoreUnavailable(UserError):
    """No system keyring can be used."""


class LibraryUnavailable(UserError):
    """No Zotero library can be read at this place."""


class DocumentUnreadable(UserError):
    """One attachment cannot be read: missing, encrypted, without text, damaged."""


class StaleBranch(UserError):
    """The session's head is not the expected one any more; nothing was written."""


class NotAllowed(UserError):
    """The state of the session forbids the action, or the message is of a kind it does not apply to."""


class Cancelled(BibGenieError):
    """The person cancelled. Nothing of the operation was written; no message is due."""
