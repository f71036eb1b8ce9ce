"""Snippets out of stored texts, and texts that are put, put again and dropped."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import zlib
from pathlib import Path

import pytest

from bibgenie_desktop.zotero.index import text_search
from bibgenie_desktop.zotero.index.terms import Mode
from bibgenie_desktop.zotero.index.text_search import Snippet, TextHits, search_texts
from bibgenie_desktop.zotero.index.texts_file import Document, TextsFile

WORDS = (
    "sleep",
    "sleeping",
    "asleep",
    "Mölle",
    "ﬁne",
    "睡眠研究",
    "睡",
    "x-ray",
    "mem_ory",
    "é",
    "𠀋",
    "REM",
)
ASKED = (
    "sleep",
    "molle",
    "睡眠",
    "睡",
    "ray",
    "w1",
    "w",
    "rem sleep",
    "sleep 睡",
    "w1 w2",
    "slee mol w3",
    "研",
)
MODES: tuple[Mode, ...] = ("all_words", "any", "phrase")


def text_of(rng: random.Random, length: int) -> str:
    """Words close together at one place and far apart at another, over pages."""
    out = []
    for _ in range(length):
        near = rng.random() < 0.3
        out.append(rng.choice(WORDS) if near else f"w{int(rng.paretovariate(0.6)) % 4_000}")
        out.append(rng.choice((" ", " ", " ", ". ", "\n", "\f", "_")))
    return "".join(out)


@pytest.mark.parametrize("head", [64, 1_000, 8_192])
def test_a_text_that_is_not_unpacked_to_its_end_gives_the_same_snippets(head: int) -> None:
    rng = random.Random(head)
    early = 0
    for length in (0, 1, 30, 400, 3_000) * 3:
        text = text_of(rng, length)
        blob = zlib.compress(text.encode("utf-8"), 1)
        for asked in ASKED:
            for mode in MODES:
                finder = text_search._finder(asked, mode)
                some, _ = text_search._snippets(blob, finder, "file", head)
                assert some == text_search._snippets(blob, finder, "file", 1 << 30)[0], (asked, mode)
                early += len(some) == text_search.MOST_SNIPPETS
    assert early > 50


def test_a_long_text_is_unpacked_only_as_far_as_its_best_places(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    fold = text_search.fold_same_length

    def counted(text: str) -> str:
        seen.append(len(text))
        return fold(text)

    monkeypatch.setattr(text_search, "fold_same_length", counted)
    text = "deep sleep " + "and more words stand here " * 100_000
    blob = zlib.compress(text.encode("ascii"), 1)
    found, needed = text_search._snippets(
        blob, text_search._finder("words stand", "all_words"), "file", 8_192
    )
    assert len(found) == 3
    assert needed < 2_000
    assert sum(seen) < 10_000
    seen.clear()
    found, needed = text_search._snippets(blob, text_search._finder("deep stand", "all_words"), "file", 8_192)
    assert found[0].offset == 0
    assert needed == len(text)
    assert seen[-1] == len(text)


def document(name: str, text: str, source: str = "cache") -> Document:
    return Document(f"u-{name}", f"u-item{name}", "file", "stamp", source, text)


def asked(index: TextsFile, text: str) -> TextHits:
    return search_texts(index, text, "all_words", lambda _: True, 20, 0)


def test_a_text_that_is_put_again_is_found_by_its_new_words_only(tmp_path: Path) -> None:
    index = TextsFile(tmp_path)
    index.put_documents([document("A", "slow waves\fand 睡眠"), document("B", "slow trains")])
    assert {hit.id for hit in asked(index, "slow").hits} == {"u-A", "u-B"}
    assert asked(index, "睡").hits[0].parts == 2
    assert asked(index, "睡").hits[0].snippets == (Snippet("and 睡眠", 1, 4, "", ""),)
    index.put_documents([document("A", "quick ripples"), document("A", "quick spindles")])
    assert [hit.id for hit in asked(index, "slow").hits] == ["u-B"]
    assert not asked(index, "睡眠").items
    assert not asked(index, "ripples").items
    assert asked(index, "spindles").items == ("u-itemA",)
    index.drop_documents([f"u-{n}" for n in range(2_000)] + ["u-A"])
    assert not asked(index, "spindles").items
    assert asked(index, "trains").items == ("u-itemB",)
    index.close()


def test_a_file_without_a_text_is_counted_and_takes_no_room(tmp_path: Path) -> None:
    index = TextsFile(tmp_path)
    index.put_documents([document("A", "", "none"), document("B", "words")])
    assert index.counted() == (1, 1)
    with contextlib.closing(sqlite3.connect(index.path)) as db:
        assert db.execute("SELECT count(*) FROM document_text").fetchone() == (1,)
    index.put_documents([document("A", "words at last")])
    assert index.counted() == (2, 0)
    assert asked(index, "words").items == ("u-itemB", "u-itemA")
    index.close()
