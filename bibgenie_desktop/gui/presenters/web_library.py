"""The web library in the settings: its key, testing it, fetching the library, and stopping that.

A typed key goes to the system's keyring once it has been tested. It is held here only while the keyring
refused it and the person has not said what should become of it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from PySide6.QtCore import QObject, Signal

from bibgenie_desktop.domain.errors import Cancelled, SecretStoreUnavailable, UserError
from bibgenie_desktop.gui.presenters.provider_words import key_words
from bibgenie_desktop.gui.settings.values import KeyView
from bibgenie_desktop.gui.settings.zotero_values import WebView
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import harmless, number, plural, tr
from bibgenie_desktop.services.library.web_library import SyncProgress, WebAccountFound, WebLibraries


class WebLibraryPresenter(QObject):
    view_changed = Signal(object)
    key_changed = Signal(object)
    taken = Signal()
    """What was typed is stored, or kept for this run."""
    chosen = Signal()
    """The library was fetched and is the one in use."""

    def __init__(self, web: WebLibraries, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._web, self._tasks = web, tasks
        self._refused = ""
        self._work: asyncio.Task[Any] | None = None

    def show(self) -> None:
        """Looks where the key is; the keyring may open a prompt meanwhile."""
        self._refused = ""
        self.view_changed.emit(WebView())
        self.key_changed.emit(KeyView(tr("Asking the system keyring…")))
        self._tasks.start(self._show_key(), "look for the key of zotero.org")

    def leave(self) -> None:
        """The dialog is closed: what runs is stopped, a key that was not kept is gone."""
        self.stop()
        self._refused = ""

    async def _show_key(self) -> None:
        state = await self._web.key_state()
        if not self._refused:
            self.key_changed.emit(key_words(state, nearby=False))

    # -- the key

    async def _save(self, key: str) -> bool:
        """Into the keyring; False where it took nothing and the person has to choose."""
        try:
            await self._web.save_key(key)
        except SecretStoreUnavailable as error:
            self._refused = key
            self.key_changed.emit(KeyView(error.text, "warn", keepable=True))
            return False
        self._refused = ""
        self.taken.emit()
        await self._show_key()
        return True

    def keep(self) -> None:
        """The key that the keyring did not take is used until the application ends."""
        if self._refused:
            self._web.keep_key_for_session(self._refused)
            self._refused = ""
            self.taken.emit()
            self._tasks.start(self._show_key(), "look for the key of zotero.org")

    def forget(self) -> None:
        self._tasks.start(self._forget(), "forget the key of zotero.org")

    async def _forget(self) -> None:
        try:
            await self._web.forget_key()
        except SecretStoreUnavailable as error:
            self.view_changed.emit(WebView(error.text, "bad"))
        else:
            await self._show_key()

    # -- testing and fetching

    def test(self, typed: str) -> None:
        """Asks zotero.org whose key it is; `typed` empty: the key that is kept."""
        self._begin(self._test(typed), "test a key of zotero.org")

    def use(self, typed: str) -> None:
        """Fetches the library and takes it."""
        self._begin(self._use(typed), "fetch the web library")

    def stop(self) -> None:
        work, self._work = self._work, None
        if work is not None and not work.done():
            work.cancel()

    def _begin(self, work: Any, name: str) -> None:
        self.stop()
        self._work = self._tasks.start(work, name)

    async def _test(self, typed: str) -> None:
        found = await self._look(typed)
        if found is not None:
            self.view_changed.emit(WebView(account_words(found), "ok"))
            if typed:
                await self._save(typed)

    async def _look(self, typed: str) -> WebAccountFound | None:
        self.view_changed.emit(WebView(tr("Asking zotero.org whose key this is…"), busy="test"))
        try:
            return await self._web.look(typed)
        except UserError as error:
            self.view_changed.emit(WebView(error.text, "bad"))
        except asyncio.CancelledError:
            self.view_changed.emit(WebView(tr("Stopped.")))
            raise
        return None

    async def _use(self, typed: str) -> None:
        found = await self._look(typed)
        if found is None:
            return
        if typed and not await self._save(typed):
            said = tr("Choose what should become of the key, then fetch again.")
            self.view_changed.emit(WebView(f"{account_words(found)} {said}", "warn"))
            return
        self.view_changed.emit(WebView(tr("Asking what there is…"), busy="fetch"))
        try:
            await self._web.fetch(typed, found.user_id, self._on_progress)
        except UserError as error:
            self.view_changed.emit(WebView(f"{error.text} {_kept()}", "bad", resumes=True))
        except (Cancelled, asyncio.CancelledError) as error:
            self.view_changed.emit(WebView(tr("Stopped.") + " " + _kept(), "warn", resumes=True))
            if isinstance(error, asyncio.CancelledError):
                raise
        else:
            self.view_changed.emit(WebView(tr("The library is here and in use."), "ok"))
            self.chosen.emit()

    def _on_progress(self, now: SyncProgress) -> None:
        if self._work is not None and not self._work.done():
            self.view_changed.emit(progress_words(now))


def account_words(found: WebAccountFound) -> str:
    """Whose key it is and how much it can read."""
    facts = [plural(found.items, tr("{0} item"), tr("{0} items"))]
    if found.groups:
        facts.append(plural(len(found.groups), tr("{0} group"), tr("{0} groups")))
    name = harmless(found.name) or number(found.user_id)
    return tr("The key works: account {0}, {1}.").format(name, ", ".join(facts))


def progress_words(now: SyncProgress) -> WebView:
    library = harmless(now.library)
    match now.phase:
        case "waiting":
            said = tr("zotero.org asks to wait: {0} s…").format(number(max(1, round(now.wait_s))))
            return WebView(said, busy="fetch")
        case "fetching" if now.total:
            said = tr("{0}: {1} of {2} items, notes and files").format(
                library, number(now.done), number(now.total)
            )
            share = (now.libraries_done + now.done / now.total) / max(1, now.libraries)
            return WebView(said, busy="fetch", share=share)
        case "fetching":
            share = now.libraries_done / max(1, now.libraries)
            return WebView(tr("{0}: what is new?").format(library), busy="fetch", share=share or None)
        case "storing":
            return WebView(tr("Putting the library in order…"), busy="fetch", share=1.0)
    return WebView(tr("Asking what there is…"), busy="fetch")


def _kept() -> str:
    return tr("What came so far is kept.")
