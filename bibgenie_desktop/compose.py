"""Composition root without Qt: builds everything from settings, for the window and for the command line."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from bibgenie_desktop.domain.entries import KnownModel, ModelEntry, ProviderEntry
from bibgenie_desktop.domain.errors import LibraryUnavailable, UserError
from bibgenie_desktop.domain.ids import IdMaker, uuid7
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.prices import Prices
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.net import BlockingHttp, Http, Route
from bibgenie_desktop.providers.base import Provider
from bibgenie_desktop.providers.builtin.provider import BUILTIN_PROFILES, BuiltinAssistant
from bibgenie_desktop.providers.catalogue import Catalogue, read_catalogue
from bibgenie_desktop.providers.factory import http_provider, replay_of
from bibgenie_desktop.providers.http_provider import HttpProvider, KeySource
from bibgenie_desktop.providers.probing import Prober
from bibgenie_desktop.services.estimates import CALIBRATION, Estimates
from bibgenie_desktop.services.model_facts import ModelFacts, address_of, facts_of, said_of
from bibgenie_desktop.services.models import Models
from bibgenie_desktop.services.planner import Planner, Prompts
from bibgenie_desktop.services.provider_setup import ProviderSetup
from bibgenie_desktop.services.provider_test import ProviderTest
from bibgenie_desktop.services.tools.read_result import ReadResult
from bibgenie_desktop.services.tools.registry import library_tools
from bibgenie_desktop.services.tools.toolbox import Toolbox
from bibgenie_desktop.services.web_library import WEB_KEY, WebLibraries, is_web_folder, web_folder, web_user
from bibgenie_desktop.services.workspace import Workspace
from bibgenie_desktop.services.zotero_changes.executor import Writing, ZoteroChanges
from bibgenie_desktop.settings.config_file import ConfigFile
from bibgenie_desktop.settings.models import ConfiguredModels, is_nearby, profile_of
from bibgenie_desktop.settings.paths import DataDir
from bibgenie_desktop.settings.preferences import Preferences
from bibgenie_desktop.settings.resources import PROMPT_SIZES, catalogue, prompt, sample_library
from bibgenie_desktop.settings.secrets import SecretStore, environment_name, forbid_core_dumps
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.values import Recovered
from bibgenie_desktop.storage.worker import StoreWorker
from bibgenie_desktop.zotero.attachments import Files
from bibgenie_desktop.zotero.discovery import Candidate, check_directory, find_libraries
from bibgenie_desktop.zotero.documents import Documents
from bibgenie_desktop.zotero.local_source import LocalSource
from bibgenie_desktop.zotero.service import ZoteroLibrary

log = logging.getLogger(__name__)

ANSWER_SECONDS: Final = 300.0
"""How long a person may take to answer Zotero's dialog."""
READ_ONLY_SAMPLE: Final = (
    "The sample library cannot be written to. Choose your own library in the settings, under Zotero."
)
SAMPLE: Final = "sample"
"""The preference that stands for the bundled sample library, wherever the application is installed."""


def now_ms() -> int:
    """UTC milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def id_maker(clock: Callable[[], int] = now_ms) -> IdMaker:
    """UUIDv7s whose time never goes back, so that later ids sort after earlier ones."""
    last = 0

    def make() -> str:
        nonlocal last
        last = max(last + 1, clock())
        return uuid7(last, os.urandom(10))

    return make


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line said. `zotero_dir` beats what the preferences say."""

    data_dir: Path | None = None
    zotero_dir: Path | None = None
    home: Path = field(default_factory=Path.home)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    platform: str = sys.platform
    zotero_org: str = ""
    """Another address than that of zotero.org, for tests."""

    @property
    def data(self) -> DataDir:
        return DataDir(self.data_dir) if self.data_dir is not None else DataDir.default()


def prompts() -> Prompts:
    return Prompts(
        system=tuple(prompt(f"system-{size}") for size in PROMPT_SIZES),
        summary_system=prompt("summary-system"),
        summary_request=prompt("summary-request"),
        summary_repair=prompt("summary-repair"),
    )


def models_of(
    preferences: Preferences, secrets: SecretStore, http: Http, facts: ModelFacts, catalogue: Catalogue
) -> tuple[Models, tuple[str, ...]]:
    """All usable models, and a sentence for each provider that cannot be used."""
    configured = ConfiguredModels(preferences, BUILTIN_PROFILES, said_of(facts, catalogue))
    providers: dict[str, Provider] = {}
    notices: list[str] = []
    builtin = BuiltinAssistant()
    providers[builtin.id] = builtin
    for entry in preferences.providers:
        try:
            providers[entry.id] = made_provider(entry, _key_of(secrets, entry), http)
        except UserError as error:
            notices.append(error.text)

    def as_sent(profile: ModelProfile) -> ModelProfile:
        return _as_sent(preferences.provider(profile.provider), profile)

    def find(ref: str) -> ModelProfile | None:
        found = configured.find(ref)
        return None if found is None else as_sent(found)

    usable = tuple(as_sent(p) for p in configured.all() if p.provider in providers)

    def price_list(usage: Usage) -> Prices | None:
        return catalogue.prices(usage.model, usage.base_url)

    models = Models(usable, find, providers, configured.default, facts.windows, price_list)
    return models, tuple(notices)


def models_to_look_at(preferences: Preferences, store: Store) -> Models:
    """The models for those who only encode requests: no key is asked for, nothing is sent."""
    return models_of(preferences, SecretStore({}), Http(), facts_of(store), read_catalogue(catalogue()))[0]


def made_provider(entry: ProviderEntry, key: KeySource, http: Http) -> HttpProvider:
    """The provider of an entry; raises `UserError` for an address that cannot be used."""
    route = Route(entry.proxy, entry.ca_file)
    return http_provider(
        entry.kind, entry.id, entry.base_url, key, http, allow_plain_http=entry.allow_plain_http, route=route
    )


def _as_sent(entry: ProviderEntry | None, profile: ModelProfile) -> ModelProfile:
    """With the reasoning that its provider really gets again, by which sizes are summed."""
    if entry is None:
        return profile
    return replace(profile, replays_reasoning=replay_of(entry.kind, entry.base_url, profile))


def _key_of(secrets: SecretStore, provider: ProviderEntry) -> Callable[[], Awaitable[str | None]]:
    """Servers nearby do without a key; elsewhere a keyring that stays locked is told as such."""
    required = not is_nearby(provider.base_url)

    async def key() -> str | None:
        return await secrets.get(provider.id, required=required)

    return key


def planner_for(library: ZoteroLibrary | None, store: Store) -> Planner:
    """The builder of requests, for those who only want to look at one, with what was learned so far."""
    estimates = Estimates()
    estimates.take(store.model_facts(CALIBRATION))
    tools = library_tools(library) if library is not None else ()
    return Planner(prompts(), Toolbox(tools), ReadResult.spec, estimates)


def candidates(options: Options) -> tuple[Candidate, ...]:
    """The Zotero libraries of this person, the most likely one first."""
    return find_libraries(options.home, options.platform, options.environment)


def chosen_library(options: Options, preferences: Preferences) -> Candidate | None:
    """The library that the command line or the preferences name; None while nothing was chosen.

    Raises `LibraryUnavailable` where what they name is no library.
    """
    if options.zotero_dir is not None:
        return check_directory(options.zotero_dir, candidates(options))
    if (user := web_user(preferences.zotero_dir)) is not None:
        return Candidate(web_folder(options.data.index, user), "zotero.org", None)
    if preferences.zotero_dir == SAMPLE:
        return check_directory(sample_library())
    if preferences.zotero_dir:
        return check_directory(Path(preferences.zotero_dir), candidates(options))
    return None


def open_library(candidate: Candidate, private_dir: Path, web: WebLibraries | None = None) -> ZoteroLibrary:
    """A library that has not read anything yet; without `web` one on zotero.org is only read offline."""
    if is_web_folder(candidate.data_dir):
        return (web or WebLibraries(candidate.data_dir.parent, now_ms)).open(candidate.data_dir, private_dir)
    source = LocalSource(candidate.data_dir, private_dir, now_ms)
    files = Files(candidate.data_dir, candidate.base_attachment_path)
    return ZoteroLibrary(source, files, Documents(), now_ms, private_dir)


def snapshot_name(candidate: Candidate) -> str:
    """The folder of a library's private copy: each library has its own."""
    if is_web_folder(candidate.data_dir):
        return candidate.data_dir.name
    digest = hashlib.sha256(str(candidate.data_dir.absolute()).encode()).hexdigest()
    return f"zotero-{digest[:12]}"


def zotero_changes(store: StoreWorker, secrets: SecretStore) -> ZoteroChanges:
    """What writes accepted proposals: to the Zotero on this machine, else to zotero.org."""

    def forbidden(library: ZoteroLibrary) -> str:
        return READ_ONLY_SAMPLE if library.status.data_dir == sample_library() else ""

    def writing() -> Writing:
        from bibgenie_desktop.zotero.online.writing import Connections, ZoteroWriting

        connections = Connections(
            local=lambda: BlockingHttp(local=True),
            asking=lambda: BlockingHttp(local=True, seconds=ANSWER_SECONDS),
            web=lambda: BlockingHttp(local=False),
        )
        return ZoteroWriting(secrets, connections)

    return ZoteroChanges(store, writing, forbidden)


def index_folder(options: Options, candidate: Candidate) -> Path:
    """Where the application keeps the index of a library."""
    return options.data.index / snapshot_name(candidate)


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
            return _as_sent(entry, replace(profile, window_source="learned") if loaded else profile)

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
