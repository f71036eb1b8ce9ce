"""Citations in the person's styles, and references for other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.zotero.citing import plain_style
from tests.services.tools.test_library_tools import desk
from tests.zotero.helpers import SAMPLE, generated, sample_copy


def own_style(zotero: Path, name: str, text: str = plain_style.CSL) -> None:
    folder = zotero / "styles"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, "utf-8")


async def test_items_are_cited_and_listed_in_the_built_in_style(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        walker, hu = d.item("Practice with Sleep"), d.item("Sleep inspires")
        data = await d.data("format_citation", ids=[walker.id, hu.id], mode="intext", locators=["206", ""])
        assert data["text"] == "(Walker et al. 2002, p. 206; Wagner et al. 2004)"
        listed = await d.data("format_citation", ids=[walker.id, hu.attachments[0].id])
        lines = listed["text"].split("\n")
        assert [line[:6] for line in lines] == ["Wagner", "Walker"]
        assert "Neuron, 35(1), 205–211" in lines[1]
        assert lines[1].endswith("https://doi.org/10.1016/S0896-6273(02)00746-8.")
        assert "<i>Neuron</i>" in listed["html"]


async def test_installed_styles_come_first_and_dependent_ones_find_their_parent(tmp_path: Path) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    brackets = plain_style.CSL.replace("Author-date (built in)", "Brackets").replace(
        'prefix="("', 'prefix="["', 1
    )
    own_style(zotero, "brackets.csl", brackets)
    own_style(
        zotero,
        "child.csl",
        '<style><info><title>Child Journal</title><link href="http://www.zotero.org/styles/brackets"'
        ' rel="independent-parent"/></info></style>',
    )
    own_style(zotero, "broken.csl", "<style><info><title>Broken</title></info>")
    async with desk(tmp_path, zotero) as d:
        item = d.item("Practice with Sleep")
        for style in ("brackets", "Brackets", "http://www.zotero.org/styles/brackets", "Child Journal", ""):
            data = await d.data("format_citation", ids=[item.id], mode="intext", style=style)
            if style:
                assert data["text"].startswith("[Walker"), style
        told = await d.error("format_citation", ids=[item.id], style="Nature Physics")
        assert "Brackets; " in told or "; Brackets" in told
        assert "Child Journal" in told
        assert "cannot be used" in await d.error("format_citation", ids=[item.id], style="Broken")


async def test_other_programs_get_bibtex_ris_and_csl_json(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        item = d.item("Practice with Sleep")
        bib = (await d.data("format_citation", ids=[item.id], mode="bibtex"))["text"]
        assert bib.startswith("@article{walkerPracticeSleepMakes2002,\n")
        assert "  author = {Walker, Matthew P. and Brakefield, Tiffany and" in bib
        assert "  pages = {205--211},\n" in bib
        assert "  month = jul,\n" in bib
        ris = (await d.data("format_citation", ids=[item.id], mode="ris"))["text"]
        assert ris.startswith("TY  - JOUR\nTI  - Practice with Sleep")
        assert "PY  - 2002\nDA  - 2002/07\n" in ris
        assert ris.endswith("ER  - \n")
        csl = json.loads((await d.data("format_citation", ids=[item.id], mode="csl-json"))["text"])
        assert csl[0]["author"][0] == {"family": "Walker", "given": "Matthew P."}


async def test_every_item_of_the_fixtures_can_be_formatted(tmp_path: Path) -> None:
    zotero = generated(tmp_path / "lib", "--items", "80")
    async with desk(tmp_path, zotero) as d:
        items = [i.id for i in d.library.items]
        for mode in ("bibliography", "intext", "bibtex", "ris", "csl-json"):
            for start in range(0, len(items), 50):
                part = items[start : start + 50]
                data = await d.data("format_citation", ids=part, mode=mode)
                if mode == "bibliography":
                    assert len(data["text"].split("\n")) == len(part)
                if mode == "bibtex":
                    assert data["text"].count("\n@") + 1 == len(part)


@pytest.mark.parametrize(
    ("arguments", "taught"),
    [
        ({}, "ids is missing"),
        ({"ids": ["u-AAAAAAAA"]}, "There is no u-AAAAAAAA"),
        ({"ids": ["x"], "mode": "apa"}, "intext, bibliography, bibtex"),
    ],
)
async def test_wrong_arguments_teach(tmp_path: Path, arguments: dict[str, Any], taught: str) -> None:
    async with desk(tmp_path) as d:
        assert taught in await d.error("format_citation", **arguments)
    assert not (SAMPLE / "styles").exists()
