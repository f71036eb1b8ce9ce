"""The running application behind its window, built from its settings."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from bibgenie_desktop.compose.libraries import (
    SAMPLE,
    candidates,
    chosen_library,
    open_library,
    snapshot_name,
    zotero_changes,
)
from bibgenie_desktop.compose.models import as_sent, made_provider, models_of
from bibgenie_desktop.compose.options import Options, id_maker, now_ms
from bibgenie_desktop.compose.requests import prompts
from bibgenie_desktop.domain.entries import KnownModel, ModelEntry, ProviderEntry
from bibgenie_desktop.domain.errors import LibraryUnavailable, UserError
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.net.blocking import BlockingHttp
from bibgenie_desktop.net.client import Http
from bibgenie_desktop.providers.catalogue import read_catalogue
from bibgenie_desktop.providers.http_provider import HttpProvider, KeySource
from bibgenie_desktop.providers.probing import Prober
from bibgenie_desktop.services.configuring.model_facts import ModelFacts, address_of, facts_of, said_of
from bibgenie_desktop.services.configuring.provider_setup import ProviderSetup
from bibgenie_desktop.services.configuring.provider_test import ProviderTest
from bibgenie_desktop.services.library.web_library import WEB_KEY, WebLibraries, web_folder
from bibgenie_desktop.services.models import Models
from bibgenie_desktop.services.workspace import Workspace
from bibgenie_desktop.settings.config_file import ConfigFile
from bibgenie_desktop.settings.models import is_nearby, profile_of
from bibgenie_desktop.settings.preferences import Preferences
from bibgenie_desktop.settings.resources import catalogue, sample_library
from bibgenie_desktop.settings.secrets import SecretStore, environment_name, forbid_core_dumps
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.values import Recovered
from bibgenie_desktop.storage.worker import StoreWorker
from bibgenie_desktop.zotero.local.discovery import Candidate, check_directory
from bibgenie_desktop.zotero.service import ZoteroLibrary

log = logging.getLogger(__name__)


class Application:
    """The running application behind its window. One process owns a data directory."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.data = options.data
        self.config = ConfigFile(self.data.config, self.data.backups / "config.toml")
        self.preferences = Preferences()
        self.config_fault: UserError | None = None
        self.secrets = SecretStore(options.environment)
        self.workspace: Workspace
        self.providers: ProviderSetup
        self.recovered: tuple[Recovered, ...] = ()
        self.notices: tuple[str, ...] = ()
        """Sentences about what could not be set up; the application runs without it."""
        self._http = Http()
        self._catalogue = read_catalogue(catalogue())
        self._store: StoreWorker
        self._library: ZoteroLibrary | None = None
        self.web: WebLibraries

    async def open(self) -> None:
        """Raises `UserError`: the data directory is in use or cannot be written."""
        forbid_core_dumps()
        self.data.create()
        self.preferences, self.config_fault = self.config.load_or_last_good()
        self._store = StoreWorker(self.data.database, now_ms, id_maker())
        try:
            await self._store.open()
        except BaseException:
            await self._store.close()
            raise
        self.recovered = await self._store.run(Store.recover)
        models, self.notices = await self._models()
        self.workspace = Workspace(
            store=self._store,
            models=models,
            prompts=prompts(),
            library=None,
            ids=id_maker(),
            clock=now_ms,
            automatic=self.preferences.automatic_compaction,
            text_index=self.data.index / "messages.sqlite",
        )
        self.workspace.use_changes(zotero_changes(self._store, self.secrets))
        self.providers = self._setup()
        self.web = WebLibraries(
            self.data.index, now_ms, self.secrets, lambda: BlockingHttp(local=False), self.choose_web_library,
            variable=environment_name(WEB_KEY), address=self.options.zotero_org,
            most_bytes=self.preferences.web_files_mb << 20,
        )  # fmt: skip
        await self.workspace.estimates.load()
        try:
            candidate = chosen_library(self.options, self.preferences)
        except LibraryUnavailable as error:
            self.notices = (*self.notices, error.text)
            candidate = None
        if candidate is not None:
            await self._use(candidate)

    async def _models(self) -> tuple[Models, tuple[str, ...]]:
        facts = await self._store.run(facts_of)
        return models_of(self.preferences, self.secrets, self._http, facts, self._catalogue)

    async def read_config(self) -> tuple[str, ...]:
        """Makes what is stored what is in use, for open conversations as well. Raises `UserError`."""
        self.preferences, self.config_fault = self.config.load(), None
        self.workspace.use_automatic(self.preferences.automatic_compaction)
        models, notices = await self._models()
        self.workspace.use_models(models)
        return notices

    def _setup(self) -> ProviderSetup:
        def make(entry: ProviderEntry, key: KeySource) -> HttpProvider:
            return made_provider(entry, key, self._http)

        def describe(entry: ProviderEntry, model: ModelEntry, listed: KnownModel | None) -> ModelProfile:
            address = address_of(entry, model.id)
            facts = ModelFacts({}, {} if listed is None else {address: listed})
            profile = profile_of(entry, model, said_of(facts, self._catalogue)(entry, model.id))
            loaded = listed is not None and listed.loaded and profile.window_source == "provider"
            return as_sent(entry, replace(profile, window_source="learned") if loaded else profile)

        return ProviderSetup(
            config=self.config,
            keys=self.secrets,
            store=self._store,
            catalogue=self._catalogue,
            test=ProviderTest(Prober(self._http), make, describe),
            make=make,
            nearby=is_nearby,
            variable=environment_name,
            apply=self.read_config,
        )

    @property
    def data_folder(self) -> Path:
        return self.data.root

    @property
    def automatic_compaction(self) -> bool:
        return self.preferences.automatic_compaction

    def set_automatic_compaction(self, automatic: bool) -> None:
        """At once and at every start. Raises `UserError`; nothing changed then."""
        self.preferences = self.config.set_automatic_compaction(automatic)
        self.workspace.use_automatic(automatic)

    async def load_library(self) -> None:
        """Reads the chosen library; meant to run beside the window. Raises `LibraryUnavailable`."""
        if self._library is not None:
            await self._library.ensure_loaded()

    @property
    def library(self) -> ZoteroLibrary | None:
        return self._library

    def candidates(self) -> tuple[Candidate, ...]:
        """The libraries that a first page can offer. Looks at a few files."""
        return candidates(self.options)

    async def choose_library(self, path: Path | None) -> None:
        """Makes a Zotero directory (None: the sample library) the one in use, now and at the next start.

        Raises `LibraryUnavailable`; the library in use then stays.
        """
        candidate = check_directory(path if path is not None else sample_library(), candidates(self.options))
        await self._choose(candidate, str(path) if path is not None else SAMPLE)

    async def choose_web_library(self, user_id: int) -> None:
        """Makes an account's library, which was fetched, the one in use, now and at the next start."""
        candidate = Candidate(web_folder(self.data.index, user_id), "zotero.org", None)
        if self._library is None or self._library.status.data_dir != candidate.data_dir:
            return await self._choose(candidate, f"web:{user_id}")
        return await self._library.ensure_loaded()  # it is in use, and has new contents

    async def _choose(self, candidate: Candidate, preference: str) -> None:
        before, _ = self._library, self.config.load()  # nothing changes where the choice cannot be kept
        library = await self._use(candidate, load=True)
        self.preferences = self.config.set_zotero_dir(preference)
        log.info("library chosen: %s items", library.status.items)
        if before is not None:
            await before.close()

    async def _use(self, candidate: Candidate, *, load: bool = False) -> ZoteroLibrary:
        library = open_library(candidate, self.data.index / snapshot_name(candidate), self.web)
        if load:
            try:
                await library.ensure_loaded()
            except BaseException:
                await library.close()
                raise
        self._library = library
        self.workspace.use_library(library)
        return library

    async def close(self) -> None:
        """Waits for every write that was started."""
        if self.workspace.changes is not None:
            await self.workspace.changes.close()
        if self._library is not None:
            await self._library.close()
        await self.workspace.search.close()
        await self._http.aclose()
        await self._store.close()
