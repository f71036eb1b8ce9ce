"""The providers as the settings show them: the list, one of them in the form, its key, its models, its test.

Nothing counts before it is saved, except models and their windows of a provider that is stored already. The
key is `provider_keys`' work.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final

from PySide6.QtCore import QObject, Signal

from bibgenie_desktop.domain.entries import ModelEntry, ProviderEntry
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.gui.presenters.provider_keys import ProviderKeys
from bibgenie_desktop.gui.presenters.provider_words import (
    TestNotes,
    host_of,
    model_line,
    window_of,
)
from bibgenie_desktop.gui.settings.values import (
    ModelChoice,
    ProviderForm,
    ProviderLine,
    TestView,
    Tone,
    Typed,
)
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.services.configuring.provider_setup import ProviderSetup
from bibgenie_desktop.services.configuring.provider_test import Passed
from bibgenie_desktop.services.workspace import Workspace
from bibgenie_desktop.settings.models import Said, profile_of
from bibgenie_desktop.settings.preferences import RESERVED_IDS

NAME: Final = r"[A-Za-z0-9][A-Za-z0-9._-]*"
LISTED_AT_FIRST: Final = 8
"""Of a provider that lists more models only the tested one is taken over; the others are found by name."""


class SettingsPresenter(QObject):
    lines_changed = Signal(object)
    form_changed = Signal(object)
    """A `ProviderForm` to fill in; None: no provider is chosen."""
    address_changed = Signal(str, str, bool)
    models_changed = Signal(object, object)
    test_changed = Signal(object)
    default_changed = Signal(object)
    said = Signal(str, str)
    """A sentence beside the form and its tone."""
    changed = Signal()
    """Providers or models are others now."""

    def __init__(
        self, workspace: Workspace, setup: ProviderSetup, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._workspace, self._setup, self._tasks = workspace, setup, tasks
        self._draft: ProviderEntry | None = None
        self._new = False
        self._states: dict[str, tuple[str, Tone]] = {}
        self._test: asyncio.Task[Any] | None = None
        self.keys = ProviderKeys(setup, tasks, self)
        self.keys.failed.connect(self._say)

    # -- the list

    def show(self) -> None:
        """Everything anew, with the first provider chosen."""
        stored = self._stored()
        if stored:
            self.choose(stored[0].id)
        else:
            self._draft, self._new = None, False
            self.form_changed.emit(None)
        self._show_list()

    def leave(self) -> None:
        """The settings are closed: a running test ends, a key that was not kept is gone."""
        self.stop_test()
        self.keys.leave()
        self._draft = None

    def choose(self, id: str) -> None:
        entry = next((e for e in self._stored() if e.id == id), None)
        if entry is not None:
            self._open(entry, new=False)

    def add(self, preset_id: str) -> None:
        """An entry to fill in; nothing is stored."""
        preset = next(p for p in self._setup.presets if p.id == preset_id)
        try:
            entry = self._setup.new_entry(preset_id)
        except UserError as error:
            self._say(error)
            return
        if preset_id == "other":
            entry = replace(entry, id="")
        entry = replace(entry, models=self._first_models(entry))
        self._open(entry, new=True, note=preset.note, key_page=preset.key_page)

    @property
    def presets(self) -> tuple[tuple[str, str], ...]:
        return tuple((preset.id, preset.name) for preset in self._setup.presets)

    def _open(self, entry: ProviderEntry, *, new: bool, note: str = "", key_page: str = "") -> None:
        self.stop_test()
        self._draft, self._new = entry, new
        form = ProviderForm(
            entry.id, entry.kind, entry.base_url, new, entry.allow_plain_http, entry.proxy, entry.ca_file,
            note, key_page,
        )  # fmt: skip
        self.form_changed.emit(form)
        self.test_changed.emit(TestView())
        self._show_address()
        self._show_models()
        self._show_list()
        if new:
            self.keys.show_none(entry)
        else:
            self.keys.show(entry)

    def _stored(self) -> tuple[ProviderEntry, ...]:
        try:
            return self._setup.providers()
        except UserError as error:
            self._say(error)
            return ()

    def _show_list(self) -> None:
        chosen = self._draft.id if self._draft is not None and not self._new else ""
        lines = []
        for entry in self._stored():
            state, tone = self._states.get(entry.id, (tr("Not tested yet"), "3"))
            lines.append(ProviderLine(entry.id, entry.id, host_of(entry), state, tone, entry.id == chosen))
        lines.append(
            ProviderLine("", tr("Built-in assistant"), tr("No model, no network"), tr("Always there"), "ok")
        )
        self.lines_changed.emit(tuple(lines))
        default = self._workspace.models.default
        self.default_changed.emit(
            tuple(ModelChoice(p.ref, p.label, p.ref == default) for p in self._workspace.profiles())
        )

    # -- the form

    def edit(self, typed: Typed) -> None:
        """Something else is typed: the address is shown as it will be used."""
        if self._draft is not None:
            self._draft = self._entry(self._draft, typed)
            self._show_address()
            if self._new:
                self.keys.show_none(self._draft)

    def _entry(self, draft: ProviderEntry, typed: Typed) -> ProviderEntry:
        return replace(
            draft, id=typed.id if self._new else draft.id, kind=typed.kind, base_url=typed.address,
            allow_plain_http=typed.plain, proxy=typed.proxy, ca_file=typed.ca_file,
        )  # fmt: skip

    def _show_address(self) -> None:
        draft = self._draft
        if draft is None:
            return
        plain = draft.allow_plain_http
        if not draft.base_url and draft.kind == "openai-chat":
            self.address_changed.emit(tr("Paste the address that the provider gives."), "3", plain)
            return
        try:
            address = self._setup.address(draft)
        except UserError as error:
            unsafe = draft.base_url.startswith("http://")
            self.address_changed.emit(error.text, "bad", plain or unsafe)
            return
        same = address == draft.base_url
        self.address_changed.emit("" if same else tr("Used as {0}").format(address), "3", plain)

    def save(self, typed: Typed, after: Callable[[], object] | None = None) -> None:
        """Stores what is typed; `after` follows only where everything went well."""
        if self._draft is not None:
            self._tasks.start(
                self._save(self._entry(self._draft, typed), typed.key, after), "save a provider"
            )

    async def _save(self, entry: ProviderEntry, key: str, after: Callable[[], object] | None) -> None:
        fault = self._fault_of(entry.id) if self._new else ""
        if fault:
            self.said.emit(fault, "bad")
            return
        try:
            if self._new and not entry.models:
                entry = replace(entry, models=self._first_models(entry))
            notices = await self._setup.put(entry)
        except UserError as error:
            self._say(error)
            return
        if not self._new:
            self._states.pop(entry.id, None)  # what was tested may be another thing now
        stored = next((e for e in self._stored() if e.id == entry.id), entry)
        self._show_stored(stored)
        if key and not await self.keys.save(stored, key):
            self.said.emit(tr("The provider is saved, but its key is not kept yet."), "warn")
            return
        self.said.emit(" ".join(notices) or tr("Saved."), "warn" if notices else "ok")
        if not key:
            self.keys.show(stored)
        if after is not None:
            after()

    def _fault_of(self, id: str) -> str:
        """Why a new provider cannot have this name."""
        if not re.fullmatch(NAME, id) or id in RESERVED_IDS:
            return tr("Give the provider a name of letters, digits, dots and hyphens, such as “lab”.")
        if any(stored.id == id for stored in self._stored()):
            return tr("There is a provider “{0}” already. Choose another name.").format(id)
        return ""

    def _show_stored(self, entry: ProviderEntry) -> None:
        """The form goes on with what is stored, under its usual address."""
        self._draft, self._new = entry, False
        form = ProviderForm(
            entry.id, entry.kind, entry.base_url, False, entry.allow_plain_http, entry.proxy, entry.ca_file
        )
        self.form_changed.emit(form)
        self._show_address()
        self._show_models()
        self._show_list()
        self.changed.emit()

    def _first_models(self, entry: ProviderEntry, tested: str = "") -> tuple[ModelEntry, ...]:
        offered = [known.id for known in self._setup.offered(entry)]
        if tested and (len(offered) > LISTED_AT_FIRST or tested not in offered):
            offered = [tested]
        return tuple(ModelEntry(id) for id in offered[:LISTED_AT_FIRST])

    def remove(self) -> None:
        """The provider in the form, or only what was typed where it is not stored."""
        if self._draft is None:
            return
        if self._new:
            self.show()
        else:
            self._tasks.start(self._remove(self._draft.id), "remove a provider")

    async def _remove(self, id: str) -> None:
        self.stop_test()
        try:
            left = await self._setup.remove(id)
        except UserError as error:
            self._say(error)
            return
        self._states.pop(id, None)
        self.show()
        self.changed.emit()
        if left:
            self.said.emit(left, "warn")

    def _say(self, error: UserError) -> None:
        self.said.emit(error.text, "bad")

    # -- the key

    def keep_key(self) -> None:
        if self._draft is not None:
            self.keys.keep(self._draft)

    def forget_key(self) -> None:
        if self._draft is not None:
            self.keys.forget(self._draft)

    # -- models

    def _show_models(self) -> None:
        draft = self._draft
        if draft is None:
            return
        known = {model.id: model for model in self._setup.offered(draft)}
        used = {profile.ref: profile for profile in self._workspace.profiles()}
        lines = []
        for model in draft.models:
            profile: ModelProfile | None = used.get(f"{draft.id}/{model.id}") if not self._new else None
            if profile is None:
                said: tuple[Said, ...] = (("provider", known[model.id]),) if model.id in known else ()
                profile = profile_of(draft, model, said)
            lines.append(model_line(profile, model))
        chosen = {model.id for model in draft.models}
        self.models_changed.emit(tuple(lines), tuple(id for id in known if id not in chosen))

    def set_window(self, id: str, text: str) -> None:
        draft = self._draft
        if draft is None:
            return
        try:
            window = window_of(text)
        except UserError as error:
            self._say(error)
            return
        self._use_models(tuple(replace(m, context_window=window) if m.id == id else m for m in draft.models))

    def add_model(self, id: str) -> None:
        draft = self._draft
        if draft is not None and all(model.id != id for model in draft.models):
            self._use_models((*draft.models, ModelEntry(id)))

    def remove_model(self, id: str) -> None:
        if self._draft is not None:
            self._use_models(tuple(model for model in self._draft.models if model.id != id))

    def _use_models(self, models: tuple[ModelEntry, ...]) -> None:
        if self._draft is None:
            return
        self._draft = replace(self._draft, models=models)
        if self._new:
            self._show_models()
        else:
            self._tasks.start(self._store_models(self._draft.id, models), "store models")

    async def _store_models(self, id: str, models: tuple[ModelEntry, ...]) -> None:
        try:
            await self._setup.set_models(id, models)
        except UserError as error:
            self._say(error)
        else:
            self.said.emit("", "2")
        self._show_models()
        self._show_list()
        self.changed.emit()

    def set_default(self, ref: str) -> None:
        self._tasks.start(self._set_default(ref), "set the default model")

    async def _set_default(self, ref: str) -> None:
        try:
            await self._setup.set_default(ref)
        except UserError as error:
            self._say(error)
        self._show_list()
        self.changed.emit()

    # -- the test

    def test(self, typed: Typed) -> None:
        """Tries what the form holds, stored or not."""
        if self._draft is not None:
            self.stop_test()
            entry = self._entry(self._draft, typed)
            self._test = self._tasks.start(self._run_test(entry, typed.key), "test a provider")

    def stop_test(self) -> None:
        task, self._test = self._test, None
        if task is not None:
            task.cancel()

    async def _run_test(self, entry: ProviderEntry, key: str) -> None:
        notes = TestNotes()
        self.test_changed.emit(notes.view)
        last: object = None
        try:
            async with aclosing(self._setup.test(entry, key or None)) as events:
                async for event in events:
                    last = event
                    notes.take(event)
                    self.test_changed.emit(notes.view)
        except asyncio.CancelledError:
            self.test_changed.emit(TestView(tr("The test was stopped."), "2"))
            raise
        except UserError as error:
            notes.fail(error.text)
            self.test_changed.emit(notes.view)
        self._states[entry.id] = notes.state
        if self._draft is not None and self._draft.id in (entry.id, ""):
            if isinstance(last, Passed) and not self._draft.models:
                self._use_models(self._first_models(entry, last.model))
            self._show_models()
        self._show_list()
        self.changed.emit()
