"""Styles that cannot be used are found out before they are chosen, and said in words of the person."""

from __future__ import annotations

from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.zotero.citing import plain_style
from bibgenie_desktop.zotero.citing.citations import default_style, format_items
from bibgenie_desktop.zotero.citing.styles import UnknownStyle, find_style, installed_styles, usable
from tests.zotero.citing.test_names_in_styles import item

HEAD = '<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0"><info><title>{0}</title>'
BODY = "<citation><layout>{0}</layout></citation><bibliography><layout>{0}</layout></bibliography></style>"


def style(title: str, body: str, more: str = "") -> str:
    return HEAD.format(title) + more + "</info>" + body


def endless(calls: int) -> str:
    """Macros that each call the one before several times over."""
    made = '<macro name="m0"><text value="x"/></macro>'
    for number in range(1, 30):
        inside = f'<text macro="m{number - 1}"/>' * calls
        made += f'<macro name="m{number}">{inside}</macro>'
    return made + BODY.format('<text macro="m29"/>')


BROKEN = {
    "no xml": ("not xml <", "its file is damaged"),
    "empty": ("", "its file is damaged"),
    "cut": (plain_style.CSL[:900], "its file is damaged"),
    "page": ("<html><body/></html>", "this is no CSL style"),
    "bare": (style("Bare", "</style>"), "this is no CSL style"),
    "loop": (
        style("Loop", '<macro name="a"><text macro="b"/></macro><macro name="b"><text macro="a"/></macro>')
        + BODY.format('<text macro="a"/>'),
        "it calls itself without end",
    ),
    "explosion": (style("Explosion", endless(9)), "it calls itself without end"),
    "gap": (style("Gap", BODY.format('<text macro="none"/>')), "it calls “none”, which it does not have"),
    "orphan": (
        style("Orphan", "</style>", '<link href="http://x.org/styles/gone" rel="independent-parent"/>'),
        "it depends on the style “gone”, which is not installed",
    ),
    "child": (
        style("Child", "</style>", '<link rel="independent-parent" href="http://x.org/styles/bare"/>'),
        "this is no CSL style",
    ),
    "bomb": (
        '<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;"><!ENTITY x SYSTEM'
        ' "file:///etc/passwd">]>' + style("Bomb &b; &x;", BODY.format('<text macro="none"/>')),
        "it calls “none”, which it does not have",
    ),
}


def folder(tmp_path: Path, **files: str) -> Path:
    (tmp_path / "styles").mkdir()
    for name, text in files.items():
        (tmp_path / "styles" / f"{name}.csl").write_text(text, "utf-8")
    return tmp_path


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_style_is_never_the_default_and_says_what_is_wrong(tmp_path: Path, name: str) -> None:
    text, fault = BROKEN[name]
    data_dir = folder(tmp_path, **{name: text, "bare": BROKEN["bare"][0]})
    styles = installed_styles(data_dir)
    assert {s.id for s in styles} == {name, "bare", "author-date"}
    assert [s.id for s in usable(styles)] == ["author-date"]
    assert default_style(styles).id == "author-date"
    with pytest.raises(UserError) as caught:
        find_style(name, styles)
    assert caught.value.title.endswith(f"cannot be used: {fault}.")
    assert "root:" not in caught.value.title
    with pytest.raises(UnknownStyle) as unknown:
        find_style("nature", styles)
    assert unknown.value.names == (plain_style.TITLE,)
    assert "Get additional styles" in unknown.value.advice


def test_a_style_that_fails_only_when_it_writes_is_not_the_default_either(tmp_path: Path) -> None:
    odd = style("A odd one", BODY.format('<names variable="author"><name et-al-min="x"/></names>'))
    data_dir = folder(tmp_path, odd=odd, sound=plain_style.CSL.replace("Author-date (built in)", "Sound"))
    styles = installed_styles(data_dir)
    assert usable(styles)[0].title == "A odd one"
    assert default_style(styles).title == "Sound"
    with pytest.raises(UserError) as caught:
        format_items([item(("Walker", "Matthew"))], find_style("odd", styles), bibliography=True)
    assert "Error" not in f"{caught.value.title} {caught.value.advice}"


def test_a_style_without_references_says_so_and_cites(tmp_path: Path) -> None:
    notes = style("Notes", '<citation><layout><text variable="title"/></layout></citation></style>')
    styles = installed_styles(folder(tmp_path, notes=notes))
    chosen = find_style("Notes", styles)
    assert format_items([item()], chosen, bibliography=False).text == "Title"
    with pytest.raises(UserError, match="citations only"):
        format_items([item()], chosen, bibliography=True)
    assert default_style(styles).id == "author-date"


def test_a_title_is_read_as_xml(tmp_path: Path) -> None:
    text = plain_style.CSL.replace("Author-date (built in)", "Sleep &amp; &#77;emory")
    assert installed_styles(folder(tmp_path, a=text))[0].title == "Sleep & Memory"


@pytest.mark.parametrize(
    ("locale", "word", "remark"),
    [
        ("de-DE", "o. J.", False),
        ("de", "o. J.", False),
        ("DE_de", "o. J.", False),
        ("de-XX", "o. J.", False),
        ("", "n.d.", False),
        ("xx-YY", "n.d.", True),
        ("Klingon", "n.d.", True),
    ],
)
def test_a_locale_that_is_not_known_is_told(locale: str, word: str, remark: bool) -> None:
    undated = item(year=None)
    made = format_items(
        [undated], find_style("", installed_styles(Path("/nowhere"))), bibliography=True, locale=locale
    )
    assert f"({word})" in made.text.replace("\u00a0", " ")
    assert bool(made.remark) == remark
    assert not remark or locale in made.remark
