"""What the built-in assistant says of a library and of works that cannot be read: the true reason, first."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bibgenie_desktop.services.tools.registry import library_tools
from tests.providers.builtin.helpers import ask, user
from tests.zotero.helpers import generated, manifest, opened_library

WORK = "About Sleep's Role in Memory"
QUESTION = f"What does “{WORK}” find?"


def _folder(path: Path) -> None:
    path.mkdir()


def _outside(path: Path) -> None:
    other = path.parent.parent / "elsewhere.pdf"
    other.write_bytes(b"%PDF-1.4\n")
    path.symlink_to(other)


def _nothing(path: Path) -> None:
    assert not path.exists()


def stored(data_dir: Path, name: str) -> Path:
    key = manifest(data_dir)["items"][name]["attachments"][0]["key"]
    folder = data_dir / "storage" / key
    return next(p for p in folder.iterdir() if not p.name.startswith("."))


async def answered(data_dir: Path, private: Path, question: str) -> str:
    library = opened_library(data_dir, private)
    try:
        return (await ask(library_tools(library), user(question))).text
    finally:
        await library.close()


@pytest.mark.skipif(os.name == "nt", reason="pipes and links of this kind are not made there")
@pytest.mark.parametrize(
    ("put", "reason", "downloads"),
    [
        (_folder, "no file", False),
        (os.mkfifo, "no file", False),
        (_outside, "outside its own folder", False),
        (_nothing, "Open it once in Zotero", True),
    ],
)
async def test_a_named_work_that_cannot_be_read_is_told_first_and_with_its_reason(
    tmp_path: Path, put: Callable[[Path], None], reason: str, downloads: bool
) -> None:
    data_dir = generated(tmp_path / "library", "--items", "37")
    file = stored(data_dir, "rasch2013")
    file.unlink()
    put(file)
    text = await answered(data_dir, tmp_path / "private", QUESTION)
    first = text.split("\n\n")[0]
    assert WORK in first
    assert reason in first
    assert ("downloads it" in first) is downloads


async def test_a_named_work_without_a_pdf_is_not_silently_replaced_by_another(tmp_path: Path) -> None:
    data_dir = generated(tmp_path / "library", "--items", "37")
    question = "What does “A Short Guide to Sleep and Memory” say about naps?"
    text = await answered(data_dir, tmp_path / "private", question)
    assert "A Short Guide to Sleep and Memory" in text.split("\n\n")[0]


async def test_a_link_below_an_unknown_base_directory_says_how_to_set_it(tmp_path: Path) -> None:
    data_dir = generated(tmp_path / "library", "--items", "37")
    library = opened_library(data_dir, tmp_path / "private")
    try:
        await library.ensure_loaded()
        item = next(
            library.item(a.item_id)
            for a in library.contents.attachments.values()
            if a.stored.startswith("attachments:")
        )
        assert item is not None
    finally:
        await library.close()
    for prefs in data_dir.parent.rglob("prefs.js"):
        prefs.unlink()
    text = await answered(data_dir, tmp_path / "private2", f"What does “{item.title}” find?")
    first = text.split("\n\n")[0]
    assert item.title in first
    assert "base directory" in first
    assert "Set it in Zotero" in first
    assert "downloads it" not in first
