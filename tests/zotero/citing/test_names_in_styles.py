"""Names, pages and titles in styles: initials only of names that have them, in every script."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest

from bibgenie_desktop.zotero.citing import plain_style
from bibgenie_desktop.zotero.citing.citations import format_items
from bibgenie_desktop.zotero.citing.processor import initials
from bibgenie_desktop.zotero.citing.styles import Style
from bibgenie_desktop.zotero.model.library import Creator, Item, Library

PLAIN = Style("author-date", plain_style.TITLE, None)
CSL = """<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0" {options}>
<info><title>Test</title></info>
<citation><layout><names variable="author"><name form="short"/></names><group prefix=", " delimiter=" ">
<label variable="locator" form="short"/><text variable="locator"/></group></layout></citation>
<bibliography><layout>{names}<group prefix=" " delimiter=" "><label variable="page" form="short"/>
<text variable="page"/></group></layout></bibliography></style>"""
NAME = '<names variable="author"><name {0}>{1}</name></names>'


def item(*names: tuple[str, str], title: str = "Title", pages: str = "", year: int | None = 2000) -> Item:
    return Item(
        id="u-AAAAAAAB",
        key="AAAAAAAB",
        library=Library("u", "My Library"),
        type="journalArticle",
        title=title,
        creators=tuple(Creator("author", first, last, True) for last, first in names),
        year=year,
        date=str(year or ""),
        sort_date=f"{year}-00-00" if year else "",
        citekey="",
        fields={"pages": pages} if pages else {},
        tags=(),
        collections=(),
        attachments=(),
        notes=0,
        added="",
        modified="",
    )


def listed(
    tmp_path: Path, names: Sequence[tuple[str, str]], attributes: str, options: str = "", parts: str = ""
) -> str:
    names_element = NAME.format(attributes, parts) if attributes or parts else '<names variable="author"/>'
    path = tmp_path / "test.csl"
    path.write_text(CSL.format(options=options, names=names_element), "utf-8")
    return format_items([item(*names)], Style("test", "Test", path), bibliography=True).text


SCRIPTS = {
    "chinese": (("王", "小明"), "王小明", "王小明"),
    "japanese": (("佐藤", "花子"), "佐藤花子", "佐藤花子"),
    "korean": (("김", "민수"), "김민수", "김민수"),
    "katakana": (("スミス", "ジョン"), "スミス, ジョン", "ジョン スミス"),
    "arabic": (("الخوارزمي", "ليلى"), "الخوارزمي, ليلى", "ليلى الخوارزمي"),
    "hebrew": (("כהן", "דנה"), "כהן, דנה", "דנה כהן"),
    "persian": (("رضایی", "علی"), "رضایی, علی", "علی رضایی"),
    "hindi": (("शर्मा", "राज"), "शर्मा, राज", "राज शर्मा"),
    "thai": (("ใจดี", "สมชาย"), "ใจดี, สมชาย", "สมชาย ใจดี"),
    "georgian": (("ბერიძე", "ნინო"), "ბერიძე, ნინო", "ნინო ბერიძე"),
    "russian": (("Толстой", "Лев Николаевич"), "Толстой, Л. Н.", "Л. Н. Толстой"),
    "greek": (("Παπαδόπουλος", "Ιωάννης"), "Παπαδόπουλος, Ι.", "Ι. Παπαδόπουλος"),
    "latin": (("Walker", "Matthew P."), "Walker, M. P.", "M. P. Walker"),
    "hyphen": (("Sartre", "Jean-Paul"), "Sartre, J.-P.", "J.-P. Sartre"),
    "small": (("hooks", "bell"), "hooks, bell", "bell hooks"),
    "particle": (("Beethoven", "Ludwig van"), "Beethoven, L. van", "L. van Beethoven"),
    "accent": (("Zola", unicodedata.normalize("NFD", "Émile")), "Zola, É.", "É. Zola"),
    "mixed": (("Li", "Wei 伟"), "Li, W. 伟", "W. 伟 Li"),
    "institution": (("中国睡眠研究会", ""), "中国睡眠研究会", "中国睡眠研究会"),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_only_capitals_make_initials(tmp_path: Path, script: str) -> None:
    name, sorted_, spoken = SCRIPTS[script]
    for attributes, options, expected in (
        ('initialize-with=". " name-as-sort-order="all"', "", sorted_),
        ('initialize-with=". "', "", spoken),
        ("", 'initialize-with=". " name-as-sort-order="all"', sorted_),
    ):
        assert listed(tmp_path, [name], attributes, options) == expected
    assert sorted_ in format_items([item(name)], PLAIN, bibliography=True).text
    assert name[0] in format_items([item(name)], PLAIN, bibliography=False).text
    assert (name[1] in format_items([item(name)], PLAIN, bibliography=False).text) == (not name[1])


def test_parts_of_names_may_have_a_look_of_their_own_where_a_name_has_no_such_part(tmp_path: Path) -> None:
    parts = '<name-part name="given" prefix="[" suffix="]"/><name-part name="family" text-case="uppercase"/>'
    names = [("王", "小明"), ("Sleep Society", ""), ("Walker", "Matthew")]
    attributes = 'initialize-with=". " delimiter="; "'
    assert listed(tmp_path, names, attributes, "", parts) == "王小明; SLEEP SOCIETY; [M.] WALKER"


@pytest.mark.parametrize(
    ("given", "mark", "hyphens", "short"),
    [
        ("Matthew Paul", "", True, "MP"),
        ("Matthew Paul", ".", True, "M.P."),
        ("Matthew Paul", " ", True, "M P"),
        ("M.P.", ". ", True, "M. P."),
        ("Jean-Paul Marie", ".", True, "J.-P.M."),
        ("Jean-Paul", ".", False, "J.P."),
        ("Ming-hua", ". ", True, "M.-H."),
        ("'Abd Allah", ". ", True, "A. A."),
        ("小明", ". ", True, "小明"),
        ("", ". ", True, ""),
        ("3", ". ", True, "3"),
    ],
)
def test_initials(given: str, mark: str, hyphens: bool, short: str) -> None:
    assert initials(given, mark, hyphens) == short


@pytest.mark.parametrize(
    ("pages", "label"),
    [
        ("33", "p."),
        ("iv", "p."),
        ("e1002", "p."),
        ("33–44", "pp."),
        ("33-44", "pp."),
        ("iv–xii", "pp."),
        ("iv–xii, 33", "pp."),
        ("S12–S20", "pp."),
        ("3, 7", "pp."),
        ("3 and 7", "pp."),
    ],
)
def test_several_pages_are_called_so_whatever_their_numbers(tmp_path: Path, pages: str, label: str) -> None:
    path = tmp_path / "test.csl"
    path.write_text(CSL.format(options="", names=NAME.format("", "")), "utf-8")
    style = Style("test", "Test", path)
    work = item(("Walker", "Matthew"), pages=pages)
    assert f" {label} " in format_items([work], style, bibliography=True).text
    assert f", {label} " in format_items([work], style, bibliography=False, locators=[pages]).text


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("What are its benefits?", "benefits? "),
        ("Sleep!", "Sleep! "),
        ("Is it “so?”", "“so?” "),
        ("Sleep.", "Sleep. "),
        ("Sleep", "Sleep. "),
        ("A.B.", "A.B. "),
    ],
)
def test_a_title_with_a_stop_of_its_own_gets_no_second(title: str, shown: str) -> None:
    work = item(("Walker", "Matthew"), title=title, pages="3")
    made = format_items([work], PLAIN, bibliography=True)
    assert shown in made.text + " "
    assert "?." not in made.text + made.html


def test_a_work_without_a_date_or_a_name_leaves_no_empty_brackets() -> None:
    made = format_items([item(year=None)], PLAIN, bibliography=True)
    assert made.text == "Title (n.d.)."
    assert "()" not in format_items([item(year=None)], PLAIN, bibliography=False).text
