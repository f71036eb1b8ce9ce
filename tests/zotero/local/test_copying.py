"""Copies of files: a clone where the file system offers it, the same bytes everywhere."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bibgenie_desktop.zotero.local.cloning import clone
from bibgenie_desktop.zotero.local.filesystem import CHUNK, copy, same_bytes


def filled(path: Path, size: int) -> Path:
    path.write_bytes(os.urandom(size))
    path.chmod(0o644)
    return path


def nothing() -> None:
    pass


@pytest.mark.parametrize("size", [0, 1, CHUNK, 3 * CHUNK + 17])
def test_a_copy_has_the_same_bytes_and_belongs_to_its_person_alone(tmp_path: Path, size: int) -> None:
    source = filled(tmp_path / "source", size)
    target = tmp_path / "target"
    copy(source, target, nothing)
    assert same_bytes(source, target, nothing)
    if os.name == "posix":
        assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_clone_is_whole_or_leaves_nothing(tmp_path: Path) -> None:
    source = filled(tmp_path / "source", 2 * CHUNK)
    target = tmp_path / "target"
    if clone(source, target):
        assert same_bytes(source, target, nothing)
        source.write_bytes(b"written afterwards")
        assert target.stat().st_size == 2 * CHUNK
    else:
        assert not target.exists()


def test_a_missing_source_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        copy(tmp_path / "missing", tmp_path / "target", nothing)
    assert not (tmp_path / "target").exists()


def test_a_copy_can_be_given_up(tmp_path: Path) -> None:
    source = filled(tmp_path / "source", 3 * CHUNK)

    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        copy(source, tmp_path / "target", stop)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="loop mounts are Linux's")
@pytest.mark.parametrize("kind", ["btrfs", "xfs"])
def test_a_file_system_with_shared_blocks_is_cloned_on(tmp_path: Path, kind: str) -> None:
    image, place = tmp_path / "image", tmp_path / "mounted"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(400 << 20)
    try:
        subprocess.run([f"mkfs.{kind}", str(image)], check=True, capture_output=True, timeout=20)
        subprocess.run(
            ["mount", "-o", "loop", str(image), str(place)], check=True, capture_output=True, timeout=20
        )
    except (OSError, subprocess.SubprocessError):
        pytest.skip(f"{kind} cannot be made or mounted here")
    try:
        source = filled(place / "source", 3 * CHUNK)
        assert clone(source, place / "target")
        assert same_bytes(source, place / "target", nothing)
    finally:
        subprocess.run(["umount", str(place)], check=True, capture_output=True, timeout=20)
