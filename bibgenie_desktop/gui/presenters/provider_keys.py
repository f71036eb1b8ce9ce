"""The key of the provider in the settings' form: where it is, keeping another one, forgetting it.

A typed key goes to the system's keyring. It is held here only while the keyring refused it and the person
has not said what should become of it.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from bibgenie_desktop.domain.entries import ProviderEntry
from bibgenie_desktop.domain.errors import SecretStoreUnavailable
from bibgenie_desktop.gui.presenters.provider_words import key_words
from bibgenie_desktop.gui.settings.values import KeyView
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.services.configuring.provider_setup import ProviderSetup


class ProviderKeys(QObject):
    changed = Signal(object)
    """A `KeyView`."""
    taken = Signal()
    """What was typed is stored, or kept for this run."""
    failed = Signal(object)

    def __init__(self, setup: ProviderSetup, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._setup, self._tasks = setup, tasks
        self._shown = ""
        self._refused: tuple[str, str] | None = None

    def leave(self) -> None:
        self._shown, self._refused = "", None

    def show_none(self, entry: ProviderEntry) -> None:
        """Nothing is stored for this entry."""
        self.leave()
        self.changed.emit(key_words(None, nearby=self._setup.may_do_without_key(entry)))

    def show(self, entry: ProviderEntry) -> None:
        """Looks where the key is; the keyring may open a prompt meanwhile."""
        self._shown, self._refused = entry.id, None
        self.changed.emit(KeyView(tr("Asking the system keyring…")))
        self._tasks.start(self._look(entry), "look for a key")

    async def _look(self, entry: ProviderEntry) -> None:
        state = await self._setup.key_state(entry.id)
        if self._shown == entry.id and self._refused is None:
            self.changed.emit(key_words(state, nearby=self._setup.may_do_without_key(entry)))

    async def save(self, entry: ProviderEntry, key: str) -> bool:
        """Into the keyring; False where it took nothing and the person has to choose."""
        self._shown, self._refused = entry.id, None
        self.changed.emit(KeyView(tr("Asking the system keyring…")))
        try:
            await self._setup.save_key(entry.id, key)
        except SecretStoreUnavailable as error:
            if self._shown == entry.id:
                self._refused = (entry.id, key)
                self.changed.emit(KeyView(error.text, "warn", keepable=True))
            return False
        self.taken.emit()
        await self._look(entry)
        return True

    def keep(self, entry: ProviderEntry) -> None:
        """The key that the keyring did not take is used until the application ends."""
        if self._refused is not None and self._refused[0] == entry.id:
            self._setup.keep_key_for_session(*self._refused)
            self.taken.emit()
            self.show(entry)

    def forget(self, entry: ProviderEntry) -> None:
        self._tasks.start(self._forget(entry), "forget a key")

    async def _forget(self, entry: ProviderEntry) -> None:
        try:
            await self._setup.forget_key(entry.id)
        except SecretStoreUnavailable as error:
            self.failed.emit(error)
        else:
            await self._look(entry)
