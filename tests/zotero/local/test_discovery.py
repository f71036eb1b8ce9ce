"""Where Zotero's data directories are found, and what a wrong directory is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.local.discovery import Candidate, check_directory, find_libraries
from bibgenie_desktop.zotero.local.prefs import parse_prefs, read_profiles


def data_dir(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "zotero.sqlite").write_bytes(b"")
    return path


def profile(root: Path, name: str, prefs: str = "", default: bool = False) -> None:
    """A profile as profiles.ini names it, with a relative path."""
    folder = root / "Profiles" / f"x.{name}"
    folder.mkdir(parents=True)
    (folder / "prefs.js").write_text(prefs, "utf-8")
    ini = root / "profiles.ini"
    known = ini.read_text("utf-8") if ini.exists() else "[General]\nStartWithLastProfile=1\n"
    number = known.count("[Profile")
    entry = f"\n[Profile{number}]\nName={name}\nIsRelative=1\nPath=Profiles/x.{name}\n"
    ini.write_text(known + entry + ("Default=1\n" if default else ""), "utf-8")


def pref(name: str, value: str) -> str:
    return f'user_pref("extensions.zotero.{name}", {value});\n'


@pytest.mark.parametrize(
    ("platform", "environment", "root"),
    [
        ("linux", {}, ".zotero/zotero"),
        ("darwin", {}, "Library/Application Support/Zotero"),
        ("win32", {}, "AppData/Roaming/Zotero/Zotero"),
        ("linux", {}, "snap/zotero-snap/common/.zotero/zotero"),
        ("linux", {}, ".var/app/org.zotero.Zotero/.zotero/zotero"),
    ],
)
def test_a_custom_data_directory_is_found_on_every_system(
    tmp_path: Path, platform: str, environment: dict[str, str], root: str
) -> None:
    wanted = data_dir(tmp_path / "disk" / "My Zotero “data”")
    prefs = pref("useDataDir", "true") + pref("dataDir", f'"{wanted}"')
    profile(
        tmp_path / root, "default", prefs + pref("baseAttachmentPath", f'"{tmp_path}/base"'), default=True
    )
    found = find_libraries(tmp_path, platform, environment)
    assert found == (Candidate(wanted, "default", tmp_path / "base"),)


def test_windows_profiles_are_looked_for_where_appdata_points(tmp_path: Path) -> None:
    wanted = data_dir(tmp_path / "d")
    prefs = pref("useDataDir", "true") + pref("dataDir", f'"{wanted}"')
    profile(tmp_path / "roaming" / "Zotero" / "Zotero", "p", prefs)
    found = find_libraries(tmp_path, "win32", {"APPDATA": str(tmp_path / "roaming")})
    assert [c.data_dir for c in found] == [wanted]


def test_a_set_directory_is_ignored_unless_zotero_uses_it(tmp_path: Path) -> None:
    default = data_dir(tmp_path / "Zotero")
    other = data_dir(tmp_path / "other")
    prefs = pref("useDataDir", "false") + pref("dataDir", f'"{other}"')
    profile(tmp_path / ".zotero" / "zotero", "default", prefs)
    assert [c.data_dir for c in find_libraries(tmp_path, "linux", {})] == [default]


def test_several_profiles_are_offered_with_the_default_one_first(tmp_path: Path) -> None:
    home, work = data_dir(tmp_path / "Zotero"), data_dir(tmp_path / "Zotero work")
    root = tmp_path / ".zotero" / "zotero"
    profile(root, "work")
    profile(root, "home", default=True)
    found = find_libraries(tmp_path, "linux", {})
    assert [(c.profile, c.data_dir) for c in found] == [("home", home), ("work", work)]


def test_the_default_place_is_found_without_any_profile(tmp_path: Path) -> None:
    wanted = data_dir(tmp_path / "Zotero")
    assert find_libraries(tmp_path, "linux", {}) == (Candidate(wanted, "", None),)


def test_a_computer_without_zotero_has_no_candidates(tmp_path: Path) -> None:
    assert find_libraries(tmp_path, "linux", {}) == ()


def test_damaged_profile_files_are_no_reason_to_fail(tmp_path: Path) -> None:
    root = tmp_path / ".zotero" / "zotero"
    root.mkdir(parents=True)
    (root / "profiles.ini").write_bytes(b"\xff\xfe[[[\nnonsense")
    wanted = data_dir(tmp_path / "Zotero")
    assert [c.data_dir for c in find_libraries(tmp_path, "linux", {})] == [wanted]
    assert read_profiles(root) == ()


def test_the_last_profile_counts_where_none_is_marked(tmp_path: Path) -> None:
    profile(tmp_path, "one")
    profile(tmp_path, "two")
    assert [p.name for p in read_profiles(tmp_path)] == ["two", "one"]


def test_javascript_strings_are_read_as_zotero_wrote_them() -> None:
    prefs = parse_prefs(
        r"""
        // comment
        user_pref("a.path", "C:\\Users\\Zo\u00eb\\\"x\"");
        user_pref("a.emoji", "\ud83d\ude00 \x41");
        user_pref("a.flag", true);
        user_pref("a.number", -3);
        user_pref("a.flag", false);
        """
    )
    assert prefs == {"a.path": 'C:\\Users\\Zoë\\"x"', "a.emoji": "😀 A", "a.flag": False, "a.number": -3}


def test_a_named_directory_borrows_the_settings_of_its_profile(tmp_path: Path) -> None:
    folder = data_dir(tmp_path / "z")
    known = (Candidate(folder, "p", tmp_path / "base"),)
    assert check_directory(folder, known).base_attachment_path == tmp_path / "base"
    assert check_directory(folder).base_attachment_path is None


def test_wrong_directories_are_told_apart(tmp_path: Path) -> None:
    empty, moving, above = tmp_path / "empty", tmp_path / "moving", tmp_path / "above"
    empty.mkdir()
    moving.mkdir()
    (moving / "migrate-dir").write_text('{"sourceDir": "/old"}')
    data_dir(above / "Zotero")
    file = tmp_path / "file.txt"
    file.write_text("x")
    database = above / "Zotero" / "zotero.sqlite"
    told = {}
    for path in (tmp_path / "none", empty, moving, above, file, database):
        with pytest.raises(LibraryUnavailable) as caught:
            check_directory(path)
        told[path] = f"{caught.value.title} {caught.value.advice}"
    assert "There is no folder" in told[tmp_path / "none"]
    assert "holds no Zotero library" in told[empty]
    assert "not finished moving" in told[moving]
    assert str(above / "Zotero") in told[above]
    assert "is not a folder" in told[file]
    assert str(above / "Zotero") in told[database]
    assert len(set(told.values())) == len(told)
