"""Where files are looked for, and the words for why one is not there."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from bibgenie_desktop.zotero.files.attachments import Files
from bibgenie_desktop.zotero.model.library import Attachment, AttachmentKind, Library


def attachment(stored: str, mode: int = 0, kind: AttachmentKind = "pdf") -> Attachment:
    library = Library("u", "My Library")
    return Attachment(
        "u-AAAABBBB", "AAAABBBB", library, "u-CCCCDDDD", "t", kind, "application/pdf", mode, stored
    )


@pytest.fixture
def files(tmp_path: Path) -> Files:
    (tmp_path / "data" / "storage" / "AAAABBBB").mkdir(parents=True)
    (tmp_path / "base" / "sub").mkdir(parents=True)
    return Files(tmp_path / "data", tmp_path / "base", windows=False)


def stored_file(files: Files, name: str) -> Path:
    path = files.data_dir / "storage" / "AAAABBBB" / name
    path.write_bytes(b"%PDF")
    return path


@pytest.mark.parametrize("mode", [0, 1])
def test_an_imported_file_lies_in_the_folder_of_its_key(files: Files, mode: int) -> None:
    path = stored_file(files, "paper.pdf")
    found = files.locate(attachment("storage:paper.pdf", mode))
    assert (found.path, found.status, found.reason) == (path, "ok", "")


def test_a_file_that_is_not_downloaded_is_missing(files: Files) -> None:
    found = files.locate(attachment("storage:paper.pdf"))
    assert (found.path, found.status) == (None, "missing")
    assert "not on this computer" in found.reason


@pytest.mark.parametrize(
    "name",
    ["../../../secret.pdf", "sub/paper.pdf", "..", "a\\b.pdf", ".zotero-ft-cache", "", "/etc/passwd", "a\0b"],
)
def test_no_stored_name_leads_out_of_its_folder(files: Files, name: str) -> None:
    (files.data_dir / "secret.pdf").write_bytes(b"x")
    assert files.locate(attachment(f"storage:{name}")).path is None


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_a_symbolic_link_out_of_the_folder_is_not_followed(files: Files, tmp_path: Path) -> None:
    (tmp_path / "outside.pdf").write_bytes(b"x")
    (files.data_dir / "storage" / "AAAABBBB" / "in.pdf").symlink_to(tmp_path / "outside.pdf")
    assert files.locate(attachment("storage:in.pdf")).status == "missing"


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_a_storage_folder_that_is_itself_a_link_is_fine(tmp_path: Path) -> None:
    (tmp_path / "cloud" / "AAAABBBB").mkdir(parents=True)
    (tmp_path / "cloud" / "AAAABBBB" / "p.pdf").write_bytes(b"x")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "storage").symlink_to(tmp_path / "cloud")
    assert Files(tmp_path / "data").locate(attachment("storage:p.pdf")).status == "ok"


@pytest.mark.parametrize(("on_disk", "in_database"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_accents_spelled_in_another_form_are_the_same_name(
    files: Files, on_disk: str, in_database: str
) -> None:
    name = "Café – Ñandú.pdf"
    path = stored_file(files, unicodedata.normalize(on_disk, name))
    found = files.locate(attachment(f"storage:{unicodedata.normalize(in_database, name)}"))
    assert found.status == "ok"
    assert found.path == path


def test_the_only_file_of_its_kind_in_the_folder_is_the_one_that_was_renamed(files: Files) -> None:
    folder = files.data_dir / "storage" / "AAAABBBB"
    (folder / ".zotero-ft-cache").write_text("extract")
    (folder / "notes.txt").write_text("x")
    assert files.locate(attachment("storage:paper.pdf")).status == "missing"
    renamed = stored_file(files, "Hu 2020.PDF")
    assert files.locate(attachment("storage:paper.pdf")).path == renamed
    stored_file(files, "another.pdf")
    assert files.locate(attachment("storage:paper.pdf")).status == "missing"  # which of them is not known
    assert files.locate(attachment("storage:another.pdf")).status == "ok"
    assert files.locate(attachment("storage:paper")).status == "missing"


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_a_renamed_file_that_is_a_link_out_of_the_folder_is_not_followed(
    files: Files, tmp_path: Path
) -> None:
    (tmp_path / "outside.pdf").write_bytes(b"x")
    (files.data_dir / "storage" / "AAAABBBB" / "other.pdf").symlink_to(tmp_path / "outside.pdf")
    found = files.locate(attachment("storage:paper.pdf"))
    assert (found.path, found.status) == (None, "missing")


def test_a_linked_file_is_read_where_it_was_linked(files: Files, tmp_path: Path) -> None:
    path = tmp_path / "base" / "sub" / "x.pdf"
    path.write_bytes(b"x")
    assert files.locate(attachment(str(path), 2)).path == path
    assert files.locate(attachment("attachments:sub/x.pdf", 2)).path == path
    assert files.locate(attachment("attachments:sub/y.pdf", 2)).status == "missing"
    assert files.locate(attachment("attachments:../data/x.pdf", 2)).path is None


@pytest.mark.parametrize("stored", [r"sub\..\..\x.pdf", "C:/x.pdf", "C:x.pdf", r"\\server\x.pdf", "../x.pdf"])
def test_no_relative_link_leads_out_of_the_base_directory_on_windows(files: Files, stored: str) -> None:
    there = Files(files.data_dir, files.base, windows=True)
    found = there.locate(attachment(f"attachments:{stored}", 2))
    assert (found.path, found.reason) == (None, "Its stored path is not valid.")


def test_a_relative_link_without_a_base_directory_says_so(tmp_path: Path) -> None:
    found = Files(tmp_path).locate(attachment("attachments:sub/x.pdf", 2))
    assert found.status == "missing"
    assert "base directory" in found.reason


@pytest.mark.parametrize(
    ("windows", "stored"),
    [(False, r"C:\Users\me\x.pdf"), (False, r"\\server\share\x.pdf"), (True, "/home/me/x.pdf")],
)
def test_a_link_to_another_system_is_not_on_this_computer(tmp_path: Path, windows: bool, stored: str) -> None:
    found = Files(tmp_path, windows=windows).locate(attachment(stored, 2))
    assert (found.path, found.status) == (None, "not on this computer")


def test_an_old_mac_alias_is_missing_and_a_web_link_is_a_link(files: Files) -> None:
    assert files.locate(attachment("AAAAAAFmAAIAAA==", 2)).status == "missing"
    assert files.locate(attachment("", 3)).status == "linked URL"
