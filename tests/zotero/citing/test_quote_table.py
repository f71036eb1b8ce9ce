"""Quotations against texts as they really come out of files: what verifies, and near misses that must not.

The texts go through the code that cleans pages and takes markup apart, so that line ends, hyphens at line
ends and ligatures are those of real documents.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.zotero.citing.quotes import check_across_pages, check_quote
from bibgenie_desktop.zotero.files.book_reader import blocks_of
from bibgenie_desktop.zotero.files.pdf_worker import clean
from bibgenie_desktop.zotero.service import ZoteroLibrary
from tests.zotero.helpers import SAMPLE, generated, opened_library, titled

PDF = clean(
    "Sleep and Memory\r\n385\r\n\r\nThe sleep-deprived group remembered about 19 percent less than the "
    "rested group.\r\nActivity of the posterior hippo-\r\ncampus during successful en\u00adcoding was "
    "reduced, although the visual re\ufffe\r\nsponse was normal.\r\nThe e\ufb03cient classi\ufb01er did not "
    "improve recall (t(23) = \u20132.4, p < .001; 95% CI [0.12, 0.58]).\r\n“Naps,” she wrote, ‘don’t help’ — "
    "not everyone’s view.   Long-term  and short-\r\nterm effects differ.\r\nEffects were not significant in "
    "older adults. The mean was 3.5 ms, in 1,205 trials; 20 of 30 (66 %) rats.\r\n"
    "The drug reduced errors in mice. It was well tolerated. Nothing else changed.\r\n"
    "CO\u2082 rose by 10\u00b5m; \u03b2-amyloid fell. Na\u00efve caf\u00e9 owners agreed."
)
MARKUP = (
    "<html><head><title>No words of the page</title></head><body><h1>Stages&nbsp;of the night</h1>\r\n"
    "<p>Deep sleep <em>fills</em> the first&#x20;half;\r\n   REM sleep, the <b>sec</b>ond half&mdash;"
    "mostly.</p><p>Cells fired at&nbsp;0.75&thinsp;Hz, never at 5&nbsp;Hz.</p><script>var hidden = 1</script>"
    "<p>The hippo&shy;campus &ldquo;replays&rdquo; experi&#xAD;ence.</p></body></html>"
)
BOOK = "\n\n".join(block.text for block in blocks_of(MARKUP, paths=True))


@pytest.mark.parametrize(
    ("quote", "verdict"),
    [
        ("The sleep-deprived group remembered about 19 percent less than the rested group.", "verified"),
        ("the sleep deprived group remembered about 19 percent less", "verified"),
        ("The sleep-deprived group\r\nremembered  about 19\u00a0percent less", "verified"),
        ("The sleep-deprived group remembered about 91 percent less than the rested group.", "not found"),
        ("The sleep-deprived group remembered about 190 percent less than the rested group.", "not found"),
        ("The sleep-deprived group remembered about 1.9 percent less than the rested group.", "not found"),
        ("The sleep-deprived group remembered about 19 percent more than the rested group.", "not found"),
        ("The sleep-deprived group remembered 19 percent less than the rested group.", "paraphrase"),
        ("posterior hippocampus during successful encoding was reduced", "verified"),
        ("posterior hippo-campus during successful encoding", "verified"),
        ("visual response was normal", "verified"),
        ("visual response was abnormal", "not found"),
        ("efficient classifier did not improve recall", "verified"),
        ("e\ufb03cient classi\ufb01er did not improve recall", "verified"),
        ("efficient classifier did improve recall", "not found"),
        ("The efficient classifier … improve recall", "not found"),
        ("The efficient classifier improved recall", "not found"),
        ("t(23) = -2.4, p < .001", "verified"),
        ("t(23) = \u22122.4, p<.001", "verified"),
        ("t(23) = 2.4, p < .001", "not found"),
        ("did not improve recall (t(23) = -2.4, p > .001", "not found"),
        ("p < .01", "not found"),
        ("95% CI [0.12, 0.58]", "verified"),
        ("95% CI [0.12, 0.85]", "not found"),
        ("\"Naps,\" she wrote, 'don't help' - not everyone's view.", "verified"),
        ("„Naps“, she wrote, «don’t help» – not everyone’s view", "verified"),
        ("Naps, she wrote, do help, not everyone's view", "not found"),
        ("Long-term and short-term effects differ", "verified"),
        ("Long-term and short-term effects do not differ", "not found"),
        ("Effects were not significant in older adults", "verified"),
        ("Effects were significant in older adults", "not found"),
        ("Effects were … significant in older adults", "not found"),
        ("Effects were [...] significant in older adults", "not found"),
        ("The drug reduced errors … Nothing else changed.", "verified"),
        ("The mean was 3.5 ms … 20 of 30 (66%) rats", "verified"),
        ("The mean was 35 ms in 1,205 trials", "not found"),
        ("The mean was 3 ms in 1,205 trials", "not found"),
        ("in 205 trials", "not found"),
        ("drug reduced errors in mice", "verified"),
        ("drug reduced errors in rats", "paraphrase"),
        ("The drug did not reduce errors in mice", "not found"),
        ("he drug reduced error", "not found"),
        ("CO2 rose by 10μm; β-amyloid fell", "verified"),
        ("NAÏVE CAFE\u0301 OWNERS AGREED", "verified"),
        ("Coral reefs bleach in warm water.", "not found"),
    ],
)
def test_a_quote_of_a_pdf_page(quote: str, verdict: str) -> None:
    assert check_quote(quote, PDF) == verdict


@pytest.mark.parametrize(
    ("quote", "verdict"),
    [
        ("Deep sleep fills the first half; REM sleep, the second half—mostly.", "verified"),
        ("Stages of the night Deep sleep fills", "verified"),
        ("REM sleep fills the first half", "paraphrase"),
        ("Cells fired at 0.75 Hz, never at 5 Hz.", "verified"),
        ("Cells fired at 0.75 Hz … at 5 Hz", "not found"),
        ("Cells fired at 75 Hz, never at 5 Hz", "not found"),
        ('The hippocampus "replays" experience.', "verified"),
        ("var hidden = 1", "not found"),
        ("No words of the page", "not found"),
    ],
)
def test_a_quote_of_a_section(quote: str, verdict: str) -> None:
    """EPUB sections and web pages are taken apart by the same code."""
    assert check_quote(quote, BOOK) == verdict


FIRST = clean(
    "Gains grew slowly. The over-\r\nnight gain was not related to the per-\r\n17\r\nJournal of Sleep"
)
SECOND = clean("A. Author\r\n18\r\ncentage of stage 2 sleep, \r\nand it vanished after a week.\r\nNext.")


@pytest.mark.parametrize(
    ("quote", "verdict"),
    [
        ("The overnight gain was not related to the percentage of stage 2 sleep", "verified"),
        ("The overnight gain … vanished after a week", "paraphrase"),
        ("The overnight gain was related to the percentage of stage 2 sleep", "not found"),
        ("The overnight gain was not related to the percentage of stage 3 sleep", "not found"),
        ("Coral reefs bleach in warm water", "not found"),
    ],
)
def test_a_quote_over_a_page_break(quote: str, verdict: str) -> None:
    assert check_across_pages(quote, FIRST, SECOND) == verdict


@pytest.mark.parametrize(
    ("page", "near", "wrong"),
    [
        # a number
        ("Speed rose by about 20 percent overnight.", "Speed rose by 20 percent", ["by 30 percent"]),
        ("Speed rose by 20% in 12 subjects.", "Speed had risen by 20% in 12 subjects", ["by 12% in 20"]),
        (
            "They did twelve trials of thirty seconds each.",
            "They did 12 trials of 30 seconds",
            ["They did thirty trials of twelve seconds", "They did 30 trials of thirty seconds"],
        ),
        (
            "The dose was 5 mg a day for two weeks.",
            "A dose of 5 mg a day for 2 weeks",
            ["The dose was 5 µg a day for two weeks", "The dose was 5 mg a day for two days"],
        ),
        ("It cost 1.2 million euros in all.", "It cost 1.2 million euros altogether", ["1.2 billion euros"]),
        ("Der Wert stieg um 3,5 Prozent im Jahr.", "Der Wert stieg 3.5 Prozent im Jahr", ["um 35 Prozent"]),
        # a negation
        (
            "The correlation with sleep does not show cause.",
            "A correlation with sleep doesn't show cause",
            ["does show cause"],
        ),
        (
            "Sleep did improve recall in every group.",
            "Sleep improved the recall in every group",
            ["did not improve", "never did improve"],
        ),
        (
            "Sleep produced an improvement in speed.",
            "sleep produced improvements in speed",
            ["produced no improvement in speed"],
        ),
        (
            "Der Schlaf verbesserte die Leistung nicht.",
            "Schlaf verbesserte die Leistung der Gruppe nicht",
            ["Schlaf verbesserte die Leistung deutlich"],
        ),
        (
            "Le sommeil n'a pas amélioré la mémoire.",
            "Le sommeil n’a pas vraiment amélioré la mémoire",
            ["Le sommeil a bien amélioré la mémoire"],
        ),
        (
            "The effect was significant in adults.",
            "An effect was significant in adults",
            ["The effect was insignificant in adults", "The effect was non-significant in adults"],
        ),
        (
            "Speed rose without any loss of accuracy.",
            "Speed rose but without any loss of accuracy",
            ["Speed rose with some loss of accuracy"],
        ),
        ("睡眠不能改善记忆的巩固。", "睡眠不能改善大脑记忆的巩固", ["睡眠能够改善记忆的巩固"]),
        ("睡眠は記憶を改善しません。", "睡眠は全く記憶を改善しません", ["睡眠は記憶を改善します"]),
        (
            "수면은 기억을 향상시키지 않았다.",
            "수면은 또 기억을 향상시키지 않았다",
            ["수면은 기억을 향상시키고 있었다"],
        ),
        # a direction
        (
            "The group remembered 19 percent less than rested ones.",
            "group remembered 19 percent less than the rested",
            ["remembered 19 percent more than rested ones"],
        ),
        (
            "Accuracy increased after a night of sleep.",
            "The accuracy increased after one night of sleep",
            ["Accuracy decreased after a night of sleep", "Accuracy increased before a night of sleep"],
        ),
        (
            "Alcohol impairs the memory of students.",
            "Alcohol impairs memory of the students",
            ["Alcohol improves the memory of students"],
        ),
        (
            "Die Leistung war nach dem Schlaf höher.",
            "Die Leistung war nach Schlaf höher",
            ["Die Leistung war nach dem Schlaf niedriger", "Die Leistung war vor dem Schlaf höher"],
        ),
        (
            "Die Fehler nahmen in der Nacht ab.",
            "Die Fehler nahmen nachts in der Nacht ab",
            ["Die Fehler nahmen in der Nacht zu"],
        ),
        (
            "La mémoire a augmenté après le sommeil.",
            "La mémoire a augmenté après un sommeil",
            ["La mémoire a diminué après le sommeil"],
        ),
        (
            "Receptors were upregulated in the cortex.",
            "The receptors were upregulated in cortex",
            ["Receptors were downregulated in the cortex"],
        ),
        (
            "睡眠剥夺使记忆减少百分之二十。",
            "睡眠剥夺会使记忆减少百分之二十",
            ["睡眠剥夺使记忆增加百分之二十", "睡眠剥夺使记忆减少百分之三十"],
        ),
        ("睡眠時間は昨年増加した。", "睡眠時間は昨年に増加した", ["睡眠時間は昨年減少した"]),
        (
            "Men slept more than women in this study.",
            "Men slept more than women in the study",
            ["Women slept more than men in this study"],
        ),
        (
            "The gain was seen only in the sleep group.",
            "A gain was seen only in the sleep group",
            ["The gain was seen also in the sleep group"],
        ),
        (
            "The first half of the night is deep sleep.",
            "first half of the night was deep sleep",
            ["The second half of the night is deep sleep"],
        ),
    ],
)
def test_nearly_the_words_of_a_page_but_another_meaning_is_not_found(
    page: str, near: str, wrong: list[str]
) -> None:
    """Alone, and behind which the true sentence stands."""
    assert check_quote(near, page) == "paraphrase"
    for quote in wrong:
        assert check_quote(quote, page) == "not found", quote
        assert check_quote(f"{quote}. {page}", page) == "not found", quote


def test_a_negation_or_number_of_the_next_sentence_excuses_nothing() -> None:
    page = "Recall improved in the young. It did not change in 12 old adults, and 30 were lost."
    assert check_quote("Recall did not improve in the young", page) == "not found"
    assert check_quote("Recall improved in 12 young", page) == "not found"
    assert check_quote("It did not change in 30 old adults", page) == "not found"


@pytest.mark.parametrize(
    "quote", ["and it vanished after a week.", "It vanished after only a week. Next", "Next"]
)
def test_what_stands_wholly_on_the_next_page_is_not_on_this_one(quote: str) -> None:
    assert check_quote(quote, SECOND) != "not found"
    assert check_across_pages(quote, FIRST, SECOND) == "not found"
    assert check_across_pages(quote, SECOND, FIRST) == check_quote(quote, SECOND)


def test_the_last_line_of_a_page_may_hold_the_word_on_which_all_depends() -> None:
    first, second = (
        "Spindles are a mechanism but were\nnot measured directly.",
        "Results\nOther words follow.",
    )
    assert (
        check_across_pages("Spindles are a mechanism but were measured directly", first, second)
        == "not found"
    )
    assert (
        check_across_pages("Spindles are mechanisms but were not measured directly", first, second)
        == "paraphrase"
    )
    first, second = "Spindles are a mechanism but were", "not measured directly."
    assert (
        check_across_pages("Spindles are a mechanism but were measured directly", first, second)
        == "not found"
    )


TURNED = {
    "more": "less", "less": "more", "higher": "lower", "larger": "smaller", "better": "worse",
    "increased": "decreased", "improved": "impaired", "improvement": "impairment", "enhanced": "reduced",
    "before": "after", "after": "before", "longer": "shorter", "early": "late", "first": "second",
}  # fmt: skip


def turned(sentence: str) -> list[str]:
    """The sentence with one number, one direction or one negation changed."""
    found = [
        f"{sentence[: m.start()]}{int(m[0]) + 7}{sentence[m.end() :]}" for m in re.finditer(r"\d+", sentence)
    ]
    found += [
        re.sub(rf"\b{word}\b", other, sentence, count=1)
        for word, other in TURNED.items()
        if re.search(rf"\b{word}\b", sentence)
    ]
    if (verb := re.search(r"\b(?:was|is|were|did|does|can|are|may)( not)?\b", sentence)) is not None:
        without = f"{sentence[: verb.start(1)]}{sentence[verb.end(1) :]}"
        found.append(without if verb[1] else f"{sentence[: verb.end()]} not{sentence[verb.end() :]}")
    return found


async def test_no_sentence_of_the_sample_library_is_close_to_its_contrary(tmp_path: Path) -> None:
    changed, shortened = Counter[str](), Counter[str]()
    async with opened(SAMPLE, tmp_path) as library:
        for attachment in library.contents.attachments.values():
            try:
                pages = await library.pages_text(attachment, 0, 9)
            except DocumentUnreadable:
                continue
            for page, text in enumerate(p.text for p in pages):
                after = pages[page + 1].text if page + 1 < len(pages) else ""
                for sentence in re.split(r"(?<=[.!?])\s+", " ".join(text.split())):
                    if not 30 < len(sentence) < 250:
                        continue
                    for quote in turned(sentence):
                        verdict = check_across_pages(quote, text, after)
                        changed[verdict] += 1
                        assert verdict == "not found", quote
                    fewer = re.sub(r" (?:the|a|of|also|very) ", " ", sentence, count=1)
                    if fewer != sentence and len(sentence) > 60:
                        shortened[check_across_pages(fewer, text, after)] += 1
    assert changed["not found"] > 60
    assert shortened["paraphrase"] > 40
    assert not shortened["not found"]


@asynccontextmanager
async def opened(data_dir: Path, private: Path) -> AsyncIterator[ZoteroLibrary]:
    library = opened_library(data_dir, private)
    try:
        await library.ensure_loaded()
        yield library
    finally:
        await library.close()


async def test_in_real_files_a_quote_verifies_and_its_near_misses_do_not(tmp_path: Path) -> None:
    async with opened(SAMPLE, tmp_path) as library:
        att = titled(library.contents, "A deficit in the ability").attachments[0].key

        async def verdict(quote: str) -> str:
            return await library.check_quote(Locator("u", "pdf", att=att, page_index=1, quote=quote))

        quote = "The sleep-deprived group remembered about 19 percent less than the rested group."
        assert await verdict(quote) == "verified"
        assert await verdict(quote.replace("deprived", "")) == "paraphrase"
        for wrong in (quote.replace("19", "91"), quote.replace("less", "more")):
            assert await verdict(wrong) == "not found"


async def test_in_a_real_epub_a_quote_verifies_in_whatever_section_it_stands(tmp_path: Path) -> None:
    async with opened(generated(tmp_path / "lib", "--items", "37"), tmp_path / "private") as library:
        book = next(a for a in library.contents.attachments.values() if a.kind == "epub")
        text = (await library.section_text(book, 1)).text
        sentence = next(p for p in text.split("\n\n") if p.startswith("Deep sleep fills")).split(". ")[0]
        for quote, verdict in ((sentence, "verified"), (sentence.replace("Deep", "Dull"), "paraphrase")):
            found, section, cfi = await library.find_quote(book, quote)
            assert (found, section.index if section else None) == (verdict, 1)
            assert bool(cfi) == (verdict == "verified")
