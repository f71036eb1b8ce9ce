"""The Zotero library in use: which one it is, how it is opened and written to, where its index lies."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from bibgenie_desktop.compose.options import Options, now_ms
from bibgenie_desktop.net.blocking import BlockingHttp
from bibgenie_desktop.services.library.web_library import WebLibraries, is_web_folder, web_folder, web_user
from bibgenie_desktop.services.zotero_changes.attempting import Writing
from bibgenie_desktop.services.zotero_changes.executor import ZoteroChanges
from bibgenie_desktop.settings.preferences import Preferences
from bibgenie_desktop.settings.resources import sample_library
from bibgenie_desktop.settings.secrets import SecretStore
from bibgenie_desktop.storage.worker import StoreWorker
from bibgenie_desktop.zotero.files.attachments import Files
from bibgenie_desktop.zotero.files.documents import Documents
from bibgenie_desktop.zotero.local.discovery import Candidate, check_directory, find_libraries
from bibgenie_desktop.zotero.local.local_source import LocalSource
from bibgenie_desktop.zotero.service import ZoteroLibrary

ANSWER_SECONDS: Final = 300.0
"""How long a person may take to answer Zotero's dialog."""
READ_ONLY_SAMPLE: Final = (
    "The sample library cannot be written to. Choose your own library in the settings, under Zotero."
)
SAMPLE: Final = "sample"
"""The preference that stands for the bundled sample library, wherever the application is installed."""


def candidates(options: Options) -> tuple[Candidate, ...]:
    """The Zotero libraries of this person, the most likely one first."""
    return find_libraries(options.home, options.platform, options.environment)


def chosen_library(options: Options, preferences: Preferences) -> Candidate | None:
    """The library that this run or the preferences name; None while nothing was chosen.

    Raises `LibraryUnavailable` where what they name is no library.
    """
    if options.named_library is not None:
        return check_directory(options.named_library, candidates(options))
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


def index_folder(options: Options, candidate: Candidate) -> Path:
    """Where the application keeps the index of a library."""
    return options.data.index / snapshot_name(candidate)


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
