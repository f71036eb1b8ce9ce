"""Names of sessions, made from the person's own words and by no model."""

from __future__ import annotations

from bibgenie_desktop.domain.messages import Session, UserMessage
from bibgenie_desktop.domain.parts import title_of
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.worker import StoreWorker

_INNER = str.maketrans("“”„«»", "‘’‚‹›")


def within_quotes(text: str) -> str:
    """Text for between quotation marks: those it has itself become single ones."""
    return text.translate(_INNER)


async def named(store: StoreWorker, session: Session, question: UserMessage) -> Session:
    """A session without a name takes the first words of its first question."""
    title = title_of(question.parts)
    if session.title or not title:
        return session
    return await store.run(Store.rename, session.id, title)
