"""Finding Zotero data directories: profiles, preferences, and the places Zotero uses by default.

Every part of the application gets its directory from here, so that none looks elsewhere than the others.
What is in a directory is the business of `snapshot` and `reader`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.local.prefs import Profile, read_prefs, read_profiles

DATABASE = "zotero.sqlite"
_PREFIX = "extensions.zotero."


@dataclass(frozen=True, slots=True)
class Candidate:
    """A data directory that can be read, and what its profile says about linked files."""

    data_dir: Path
    profile: str
    base_attachment_path: Path | None


def find_libraries(home: Path, platform: str, environment: Mapping[str, str]) -> tuple[Candidate, ...]:
    """The Zotero data directories of a person, each once, the most likely one first.

    `platform` is a value of `sys.platform`. Only directories that hold a database are returned.
    """
    found: dict[Path, Candidate] = {}
    for candidate in _candidates(home, platform, environment):
        if _holds_database(candidate.data_dir):
            found.setdefault(_identity(candidate.data_dir), candidate)
    return tuple(found.values())


def check_directory(path: Path, known: Iterable[Candidate] = ()) -> Candidate:
    """The candidate of a directory the person named; raises `LibraryUnavailable` where there is no library.

    `known` are the candidates found on this computer: one of the same directory lends its profile's settings.
    """
    path = path.expanduser()
    if not path.exists():
        raise LibraryUnavailable(
            f"There is no folder {path}.",
            "Check the path. Zotero shows it under Settings › Advanced › Files and Folders.",
        )
    if not path.is_dir():
        if path.name == DATABASE:
            raise LibraryUnavailable(f"{path} is a file.", f"Name the folder that holds it: {path.parent}.")
        raise LibraryUnavailable(
            f"{path} is not a folder.", "Name Zotero's data directory, the folder that holds zotero.sqlite."
        )
    if not _holds_database(path):
        if (path / "migrate-dir").exists():
            raise LibraryUnavailable(
                f"Zotero has not finished moving its data to {path}.",
                "Start Zotero once, so that it completes the move, then try again.",
            )
        inner = path / "Zotero"
        advice = (
            f"The folder {inner} has one: choose that."
            if _holds_database(inner)
            else "Choose the folder Zotero shows under Settings › Advanced › Files and Folders."
        )
        raise LibraryUnavailable(f"{path} holds no Zotero library (no zotero.sqlite).", advice)
    for candidate in known:
        if _identity(candidate.data_dir) == _identity(path):
            return Candidate(path, candidate.profile, candidate.base_attachment_path)
    return Candidate(path, "", None)


def _candidates(home: Path, platform: str, environment: Mapping[str, str]) -> Iterator[Candidate]:
    for root, profiles in _places(home, platform, environment):
        owned: set[Path] = set()
        for profile in read_profiles(profiles):
            prefs = read_prefs(profile.directory)
            base = _absolute(prefs.get(_PREFIX + "baseAttachmentPath"))
            custom = _absolute(prefs.get(_PREFIX + "dataDir"))
            if custom is not None and prefs.get(_PREFIX + "useDataDir") is True:
                data_dir = custom
            else:
                data_dir = _default_directory(root, home, profile, owned)
            owned.add(data_dir)
            yield Candidate(data_dir, profile.name, base)
        yield Candidate(root / "Zotero", "", None)


def _places(home: Path, platform: str, environment: Mapping[str, str]) -> Iterator[tuple[Path, Path]]:
    """(home as Zotero sees it, directory of its profiles.ini) for each way Zotero can be installed."""
    if platform == "win32":
        roaming = environment.get("APPDATA")
        yield home, (Path(roaming) if roaming else home / "AppData" / "Roaming") / "Zotero" / "Zotero"
    elif platform == "darwin":
        yield home, home / "Library" / "Application Support" / "Zotero"
    else:
        sandboxes = (home / "snap" / "zotero-snap" / "common", home / ".var" / "app" / "org.zotero.Zotero")
        for root in (home, *sandboxes):
            yield root, root / ".zotero" / "zotero"


def _default_directory(root: Path, home: Path, profile: Profile, owned: set[Path]) -> Path:
    """Where a profile without a set directory keeps its data: `Zotero` belongs to the first to claim it."""
    plain = root / "Zotero"
    choices = [root / f"Zotero {profile.name}", profile.directory / "zotero", home / "Zotero"]
    choices = [*choices, plain] if plain in owned else [plain, *choices]
    return next((c for c in choices if _holds_database(c)), choices[0])


def _absolute(value: str | int | bool | None) -> Path | None:
    """A stored path that can exist on this system; old alias records and foreign paths cannot."""
    if not isinstance(value, str) or not value:
        return None
    path = Path(value)
    return path if path.is_absolute() else None


def _holds_database(directory: Path) -> bool:
    try:
        return (directory / DATABASE).is_file()
    except (OSError, ValueError):
        return False


def _identity(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return path
