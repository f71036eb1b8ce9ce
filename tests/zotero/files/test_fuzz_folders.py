"""Folders, archives and profiles made up at random: nothing outside is read, nothing fails."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import unicodedata
import zipfile
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.zotero.files.attachments import Files
from bibgenie_desktop.zotero.files.books import Books
from bibgenie_desktop.zotero.local.discovery import find_libraries
from tests.harness import Soak
from tests.zotero.files.test_attachments import attachment
from tests.zotero.files.test_books import CONTAINER, PAGE
from tests.zotero.files.test_fuzz import LIMIT_S, PREFS, assert_memory_was_kept, mutated, patient

SECRET = "words of another file"
KEY = "AAAABBBB"

PACKAGE = (
    '<package><metadata/><manifest><item id="x" href="a.xhtml"/>'
    '<item id="n" href="nav.xhtml" properties="nav"/></manifest>'
    '<spine toc="n"><itemref idref="x"/></spine></package>'
)
NAV = '<html><body><nav><ol><li><a href="a.xhtml#p">One</a></li></ol></nav></body></html>'
WORD = (
    '<?xml version="1.0"?><w:document xmlns:w="x"><w:body><w:p><w:r><w:t>One </w:t></w:r><w:r>'
    "<w:t>&amp; two</w:t></w:r></w:p><w:p><w:r><w:t>Three</w:t></w:r></w:p></w:body></w:document>"
)
OPEN = (
    "<office:document-content><office:text><text:h>Head</text:h><text:p>A <text:span>b</text:span> c"
    "</text:p></office:text></office:document-content>"
)
ENTITIES = '<!DOCTYPE x [<!ENTITY f SYSTEM "file://{secret}"><!ENTITY l "&l;&l;">]>'
HREFS = (
    "a.xhtml",
    "../secret.txt",
    "{secret}",
    "file://{secret}",
    "..%2f..%2fsecret.txt",
    "/a.xhtml",
    "",
    "#p",
)


def parts_of(kind: str) -> dict[str, str]:
    match kind:
        case "epub":
            entries = {
                "META-INF/container.xml": CONTAINER,
                "c.opf": PACKAGE,
                "a.xhtml": PAGE,
                "nav.xhtml": NAV,
            }
        case "docx":
            entries = {"word/document.xml": WORD}
        case _:
            entries = {"content.xml": OPEN}
    return entries


def archive(rng: random.Random, kind: str, path: Path, secret: Path) -> None:
    """An archive that is sound as such, with one of its texts changed: what is inside is really read."""
    entries = parts_of(kind)
    victim = rng.choice(list(entries))
    entries[victim] = mutated(entries[victim], rng)
    if rng.random() < 0.3:
        entries[victim] = ENTITIES.format(secret=secret) + entries[victim].replace("One", "One &f;&l;")
    if kind == "epub" and rng.random() < 0.4:
        href = rng.choice(HREFS).format(secret=secret)
        entries["c.opf"] = entries["c.opf"].replace('"a.xhtml"', f'"{href}"')
    with zipfile.ZipFile(path, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as made:
        for name, text in entries.items():
            made.writestr(name, text.encode("utf-8", "surrogatepass"))
        if rng.random() < 0.2:
            made.writestr("../../secret.txt", "the archive's own")


@pytest.mark.patience(3_000)
async def test_changed_books_and_pages_give_text_or_one_clear_error(tmp_path: Path, soak: Soak) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    folder = tmp_path / "folder"
    folder.mkdir()
    read = 0
    async with patient() as documents:
        books = Books(documents)
        for seed in soak.seeds(500, 10_000):
            rng = random.Random(seed)
            kind = rng.choice(["epub", "docx", "odt", "html", "txt"])
            path = folder / f"{seed}.{kind}"
            if kind in ("html", "txt"):
                text = mutated(PAGE * rng.randint(1, 4), rng)
                path.write_bytes(text.encode(rng.choice(["utf-8", "utf-16", "latin-1"]), "replace"))
            else:
                archive(rng, kind, path, secret)
            async with asyncio.timeout(4 * LIMIT_S):
                with contextlib.suppress(DocumentUnreadable):
                    for section in (await books.sections(path))[:3]:
                        text = (await books.section(path, section.index)).text
                        assert SECRET not in text, seed
                        text.encode("utf-8")
                        read += 1
            path.unlink()
        assert_memory_was_kept(documents)
    assert read > 0


NAMES = ["paper.pdf", "Ünï – ñ.pdf", "a b.txt", "x" * 300, "PAPER.PDF", "ﬁle.pdf", "-rf", "con", "a.pdf\n"]
TRICKS = ["../", "..\\", "/", "\\", "\0", "./", "sub/", "link/", "%2e%2e/", ".zotero-", "~", "C:", "storage:"]


def stored_name(rng: random.Random) -> str:
    name = rng.choice(NAMES)
    for _ in range(rng.choice([0, 0, 1, 2, 3])):
        place = rng.choice([0, 0, rng.randrange(len(name) + 1)])
        name = name[:place] + rng.choice(TRICKS) * rng.choice([1, 1, 4]) + name[place:]
    return unicodedata.normalize(rng.choice(["NFC", "NFD"]), name)


def furnish(folder: Path, rng: random.Random, outside: Path) -> None:
    """Random files, links and folders, as a hostile archive or a sync gone wrong leaves them."""
    for _ in range(rng.randint(0, 4)):
        name = unicodedata.normalize(rng.choice(["NFC", "NFD"]), rng.choice([*NAMES, "sub", "link"]))
        place = folder / name
        with contextlib.suppress(OSError, ValueError):
            match rng.randrange(5):
                case 0:
                    place.write_text("own words")
                case 1:
                    place.symlink_to(
                        rng.choice([outside / "secret.txt", Path("../../../outside/secret.txt")])
                    )
                case 2:
                    place.symlink_to(outside, target_is_directory=True)
                case 3:
                    place.symlink_to(place)
                case 4:
                    place.mkdir()
                    (place / "paper.pdf").write_text("own words")


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_no_imported_file_is_ever_found_outside_its_folder(tmp_path: Path, soak: Soak) -> None:
    outside, data_dir, base = tmp_path / "outside", tmp_path / "data", tmp_path / "base"
    outside.mkdir()
    base.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    (outside / "paper.pdf").write_text(SECRET)
    (data_dir / "storage").mkdir(parents=True)
    (data_dir / "zotero.sqlite").write_text(SECRET)
    found = refused = 0
    for seed in soak.seeds(500, 10_000):
        rng = random.Random(seed)
        folder = data_dir / "storage" / KEY
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        furnish(folder, rng, outside)
        name, mode = stored_name(rng), rng.choice([0, 1, 2])
        stored = f"storage:{name}" if mode != 2 else f"attachments:{name}"
        located = Files(data_dir, rng.choice([base, None])).locate(attachment(stored, mode))
        if located.path is None:
            refused += 1
            assert located.reason, seed
            continue
        found += 1
        inside = folder if mode != 2 else base
        assert located.path.resolve().is_relative_to(inside.resolve()), (seed, stored)
        assert located.path.is_file()
        assert SECRET not in located.path.read_text("utf-8"), (seed, stored)
    assert found
    assert refused


INI = (
    "[General]\nStartWithLastProfile=1\n\n[Profile0]\nName=default\nIsRelative=1\nPath=Profiles/x.default\n"
    "Default=1\n\n[Profile1]\nName=work\nIsRelative=0\nPath={absolute}\n"
)


def test_changed_profiles_lead_to_libraries_or_to_none(tmp_path: Path, soak: Soak) -> None:
    root = tmp_path / ".zotero" / "zotero"
    profile = root / "Profiles" / "x.default"
    profile.mkdir(parents=True)
    data_dir = tmp_path / "Zotero"
    data_dir.mkdir()
    (data_dir / "zotero.sqlite").write_bytes(b"")
    known = 0
    for seed in soak.seeds(500, 10_000):
        rng = random.Random(seed)
        ini, prefs = (
            INI.format(absolute=profile),
            PREFS + f'user_pref("n", {"9" * rng.choice([1, 20, 5_000])});\n',
        )
        for path, text in ((root / "profiles.ini", ini), (profile / "prefs.js", prefs)):
            changed = mutated(text, rng) if rng.random() < 0.7 else text
            path.write_bytes(changed.encode("utf-8", "surrogatepass"))
        found = find_libraries(tmp_path, "linux", {})
        assert all((c.data_dir / "zotero.sqlite").is_file() for c in found), seed
        known += bool(found)
    assert known
