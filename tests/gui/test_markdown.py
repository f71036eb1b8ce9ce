"""What a message may show and do: formulas, citations, code, tables; no pictures, no unknown links."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QColor, QFont, QGuiApplication, QImage, QTextCursor, QTextDocument
from pytestqt.qtbot import QtBot

from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.conversation.rows import CitationView
from bibgenie_desktop.gui.render.inline import formula_runs
from bibgenie_desktop.gui.render.markdown_view import MarkdownView
from bibgenie_desktop.gui.render.math import MathKey, MathRenderer, draw
from bibgenie_desktop.gui.render.source import extract, settled_length
from tests.gui.samples import ANSWER, CITATIONS, HU

Make = Callable[..., MarkdownView]


@pytest.fixture
def renderer(qapp: object) -> Iterator[MathRenderer]:
    result = MathRenderer()
    yield result
    result.close()


@pytest.fixture
def make(qtbot: QtBot, renderer: MathRenderer) -> Make:
    """A shown view of 600 px, as high as its text."""

    def build(text: str, citations: dict[str, CitationView] | None = None) -> MarkdownView:
        view = MarkdownView(text, citations, math=renderer)
        qtbot.addWidget(view)
        view.resize(600, view.heightForWidth(600))
        view.show()
        return view

    return build


def ink(image: QImage) -> int:
    """How many pixels of a picture show something."""
    size = (image.width(), image.height())
    return sum(image.pixelColor(x, y).alpha() > 128 for x in range(size[0]) for y in range(size[1]))


def text_of(view: MarkdownView) -> str:
    return view.document().toPlainText()


# formulas and prices


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("$x$", ["x"]),
        (r"a \(x^2\) and \[y = 1\]", ["x^2", "y = 1"]),
        ("$$\n\\frac{a}{b}\n$$", [r"\frac{a}{b}"]),
        ("$g = 0.29$, as said", ["g = 0.29"]),
        ("both $\\alpha$ and $5 fees", [r"\alpha"]),
        ("$5 and $6", []),
        ("costs $5, or US$6, or 7$", []),
        ("between $5 and 10$ today", []),
        (r"\$5 and \$6", []),
        ("`$x$` and ``a ` $y$``", []),
        ("```\n$x$\n\\[y\\]\n```\nthen $z$", ["z"]),
        ("~~~tex\n$$x$$\n~~~", []),
        ("text\n\n    $indented$\n", []),
        ("- item\n\n      more $in$ item\n", ["in"]),
        ("$ not this $", []),
        ("$a\n\nb$", []),
        ("shell $HOME/$USER", []),
    ],
)
def test_formula_is_told_from_money_and_code(qapp: object, text: str, formulas: list[str]) -> None:
    assert sorted(f.tex for f in extract(text).formulas) == sorted(formulas)


@pytest.mark.parametrize(
    "tex",
    [
        "E=mc^2",
        r"\int_0^\infty e^{-x^2}\,dx=\frac{\sqrt{\pi}}{2}",
        r"\hat\beta=(X^TX)^{-1}X^Ty",
        r"\begin{pmatrix}a&b\\c&d\end{pmatrix}",
        r"\begin{cases}1 & x>0\\0 & x\le 0\end{cases}",
        r"\mathbb{R}^n \to \mathcal{L}(x)",
        r"\operatorname{argmax}_\theta",
        r"\text{if } x \in A",
    ],
)
def test_formula_is_drawn_with_ink(qapp: object, tex: str) -> None:
    drawn = draw(MathKey(tex, True, 16.0, "#1E1F22", 2.0))
    assert drawn is not None
    image = drawn.image
    inked = sum(
        image.pixelColor(x, y).alpha() > 128 for x in range(image.width()) for y in range(image.height())
    )
    assert inked > 30
    assert image.devicePixelRatio() == 2.0
    assert drawn.ascent > 0


def test_formula_appears_after_it_was_drawn_elsewhere(
    qtbot: QtBot, make: Make, renderer: MathRenderer
) -> None:
    view = make("before $\\frac{a}{b}$ after")
    (run,) = formula_runs(view.document())

    def shown() -> int:
        kind = QTextDocument.ResourceType.ImageResource.value
        image = view.document().resource(kind, QUrl(f"math:{run.number}"))
        assert isinstance(image, QImage)
        return ink(image)

    qtbot.waitUntil(lambda: shown() > 0, timeout=8000)


def test_bad_tex_is_shown_as_it_was_written(qtbot: QtBot, make: Make) -> None:
    view = make("see $\\frac{broken$ here")
    qtbot.waitUntil(lambda: "$\\frac{broken$" in text_of(view), timeout=8000)


def test_selection_gives_tex_and_labels(make: Make) -> None:
    view = make(f"so $x_i$ holds {HU}.", CITATIONS)
    view.selectAll()
    assert view.selected_text() == "so $x_i$ holds Hu et al. 2020, p. 218."
    view.copy()
    assert QGuiApplication.clipboard().text() == "so $x_i$ holds Hu et al. 2020, p. 218."


def test_selection_of_a_part_counts_signs_outside_the_bmp(make: Make) -> None:
    view = make("𝛼𝛽 and more")
    cursor = view.textCursor()
    cursor.setPosition(2)
    cursor.setPosition(8, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    assert view.selected_text() == "𝛽 and"


# nothing is loaded, nothing unknown is opened


def test_local_image_is_never_loaded(make: Make, tmp_path: Path) -> None:
    secret = QImage(40, 40, QImage.Format.Format_RGB32)
    secret.fill(QColor("#FF00FF"))
    path = tmp_path / "secret.png"
    assert secret.save(str(path))
    address = QUrl.fromLocalFile(str(path)).toString()
    view = make(f"![a]({address})\n\n![b]({path})\n\n![r][ref]\n\n[ref]: {address}\n")
    image = view.grab().toImage()
    seen = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert "#ff00ff" not in seen
    assert "image: a" in text_of(view)


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "/etc/passwd",
        "https://example.org/x.png",
        "data:image/png;base64,AAAA",
        ":/x",
        "qrc:/x",
    ],
)
def test_no_resource_is_answered(make: Make, address: str) -> None:
    view = make("x")
    image = view.loadResource(QTextDocument.ResourceType.ImageResource.value, QUrl(address))
    assert (image.width(), image.pixelColor(0, 0).alpha()) == (1, 0)


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "smb://host/x",
        "vbscript:x",
        "cite:7",
        "x:y",
    ],
)
def test_unknown_link_is_plain_words(qtbot: QtBot, make: Make, address: str) -> None:
    view = make(f"before [words]({address}) after")
    opened: list[str] = []
    view.link_opened.connect(opened.append)
    view.citation_opened.connect(opened.append)
    view.anchorClicked.emit(QUrl(address))
    assert opened == []
    assert "words" in text_of(view)


@pytest.mark.parametrize(
    "address",
    ["https://example.org/a", "http://example.org/", "zotero://select/library/items/A", "mailto:a@b.org"],
)
def test_known_link_is_reported_and_not_followed(qtbot: QtBot, make: Make, address: str) -> None:
    view = make(f"[words]({address})")
    with qtbot.waitSignal(view.link_opened) as caught:
        view.anchorClicked.emit(QUrl(address))
    assert caught.args == [address]
    assert view.source().isEmpty()


def test_html_is_shown_as_text(make: Make) -> None:
    view = make("a <script>alert(1)</script> <b>x</b> <img src='file:///x'>")
    assert "<script>" in text_of(view)
    assert "<b>x</b>" in text_of(view)


@pytest.mark.parametrize(
    "sign", ["\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x85", "\0", "\ud800", "\ufffc", "\ue000"]
)
def test_odd_sign_does_no_harm(make: Make, sign: str) -> None:
    view = make(f"before{sign}after `co{sign}de`\n\n```python\nx = '{sign}'  # 😀\ny = 1\n```\n$a{sign}b$")
    assert "before" in text_of(view)
    assert "y = 1" in text_of(view)


def test_huge_message_is_shown_in_a_moment(make: Make) -> None:
    started = time.perf_counter()
    view = make("word " * 300_000)
    assert text_of(view).count("word") == 300_000
    assert time.perf_counter() - started < 8


# citations


def test_citation_becomes_a_chip_that_can_be_read(make: Make) -> None:
    view = make(f"effect {HU}; larger", CITATIONS)
    assert "Hu et al. 2020, p. 218" in text_of(view)
    assert "[[" not in text_of(view)
    assert [c.label for c in view.citations_shown()] == ["Hu et al. 2020, p. 218"]


def test_unknown_citation_is_an_unverified_chip(make: Make) -> None:
    view = make('see [[g42-ABCD2345 p.7 "words [1] here"]] there')
    (citation,) = view.citations_shown()
    assert (citation.state, citation.label) == ("unverified", "g42-ABCD2345 p.7")


def test_citation_inside_code_stays_as_written(make: Make) -> None:
    view = make(f"`{HU}`\n\n```\n{HU}\n```")
    assert text_of(view).count("[[u-HUTM2020") == 2
    assert view.citations_shown() == []


def test_half_written_citation_is_left_out_while_streaming(make: Make) -> None:
    view = make("")
    view.set_text('It is small [[u-HUTM2020 p.4 "real but', CITATIONS, streaming=True)
    assert text_of(view).strip() == "It is small"


def test_click_on_a_chip_opens_its_citation(qtbot: QtBot, make: Make) -> None:
    view = make(f"effect {HU}; larger", CITATIONS)
    piece = view._decoration().chips[0]
    with qtbot.waitSignal(view.citation_opened) as caught:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=piece.area.center().toPoint())
    assert caught.args[0] is CITATIONS[HU]


def test_enter_on_a_chip_asks_for_its_card(qtbot: QtBot, make: Make) -> None:
    view = make(f"effect {HU}; larger", CITATIONS)
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    with qtbot.waitSignal(view.card_requested) as caught:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert caught.args[0] is CITATIONS[HU]
    assert caught.args[2] is True


def test_long_chip_is_painted_on_each_of_its_lines(make: Make) -> None:
    label = "A very long label of a citation " * 5
    view = make(f"x {HU}", {HU: CitationView(label, "verified")})
    pieces = view._decoration().chips
    assert len(pieces) > 1
    assert [p.first for p in pieces] == [True] + [False] * (len(pieces) - 1)
    assert all(p.area.right() <= 601 for p in pieces)


# typesetting


def test_answer_is_as_high_as_its_text_at_any_width(make: Make) -> None:
    view = make(ANSWER, CITATIONS)
    heights = [view.heightForWidth(width) for width in (300, 500, 700)]
    assert heights == sorted(heights, reverse=True)
    assert view.verticalScrollBar().maximum() == 0


def test_code_is_coloured_and_copied(qtbot: QtBot, make: Make) -> None:
    view = make("```python\nprint('é😀')  # note\nx = 1\n```")
    document = view.document()

    def colour_of(words: str) -> QColor:
        cursor = document.find(words)
        return cursor.charFormat().foreground().color()

    colors = theme.current().colors
    assert colour_of("# note") == QColor(colors.code_comment)
    assert colour_of("1") == QColor(colors.code_number)
    frame = view._decoration().code[0]
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=frame.button.center().toPoint())
    assert QGuiApplication.clipboard().text() == "print('é😀')  # note\nx = 1"


def test_unknown_language_is_shown_plainly(make: Make) -> None:
    assert "MODULE" in text_of(make("```nosuchlanguage\nMODULE x\n```"))


def test_emphasis_survives_in_tables(make: Make) -> None:
    view = make("| a | b |\n|:--|--:|\n| *x* | **y** |\n")
    cursor = view.document().find("x")
    assert cursor.charFormat().fontItalic()
    assert view.document().find("y").charFormat().fontWeight() >= QFont.Weight.DemiBold


@pytest.mark.parametrize(
    ("text", "word", "look"),
    [
        ("_a_ word", "a", "italic"),
        ("__b__ word", "b", "strong"),
        ("___c___ word", "c", "italic strong"),
        ("*_d_* word", "d", "italic"),
        ("_*d*_ word", "d", "italic"),
        ("**_e_** word", "e", "italic strong"),
        ("_**e**_ word", "e", "italic strong"),
        ("~~_f_~~ word", "f", "italic"),
        ("- one\n  - _g_ word", "g", "italic"),
        ("1. __h__ word", "h", "strong"),
        ("> _i_ word", "i", "italic"),
        ("| x |\n|:--|\n| _j_ |\n", "j", "italic"),
        ("| __k__ |\n|:--|\n| x |\n", "k", "strong"),
        (f"_m {HU} n_", "m", "italic"),
        (f"{HU}_o_ word", "o", "italic"),
        (f"{HU} _o_ word", "o", "italic"),
        ("snake_case_name", "snake_case_name", ""),
        ("a_b and c_d", "a_b and c_d", ""),
        ("_loose end", "_loose end", ""),
        (r"\_p\_ word", "_p_", ""),
    ],
)
def test_underscores_are_emphasis_and_never_underlines(make: Make, text: str, word: str, look: str) -> None:
    view = make(text, CITATIONS)
    cursor = view.document().find(word)
    style = cursor.charFormat()
    assert cursor.selectedText() == word
    assert not style.fontUnderline()
    assert style.fontItalic() == ("italic" in look)
    assert (style.fontWeight() >= QFont.Weight.DemiBold) == ("strong" in look)


def test_chip_inside_emphasis_looks_like_any_chip(make: Make) -> None:
    view = make(f"_so {HU} they say_", CITATIONS)
    style = view.document().find("Hu").charFormat()
    assert not style.fontItalic()
    assert not style.fontUnderline()
    assert len(view._decoration().chips) == 1


def test_rule_at_the_beginning_swallows_nothing(make: Make) -> None:
    assert "words: between" in text_of(make("---\nwords: between\n\n---\n\nafter"))


def test_text_follows_the_theme(make: Make, light_theme: theme.Theme) -> None:
    view = make("# Title\n\nwords `code`")
    before = view.heightForWidth(600)
    light_theme.set_scale(2.0)
    assert view.heightForWidth(600) > before * 1.5
    assert view.document().defaultFont().pixelSize() == light_theme.reading_font().pixelSize()


def test_wheel_and_keys_are_left_to_the_conversation(qtbot: QtBot, make: Make) -> None:
    view = make("line\n\n" * 40)
    view.resize(600, 100)
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    assert view.viewport().mapToGlobal(QPoint(0, 0)) == view.mapToGlobal(QPoint(0, 0))
    assert view.cursorRect(QTextCursor(view.document())).top() >= 0


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("one\n\ntwo", "two"),
        ("one\n\n```\na\n\nb", "```\na\n\nb"),
        ("one\n\n- a\n\n- b\n\n- c", "- a\n\n- b\n\n- c"),
        ("one\n\n1. a\n\n   more\n\nend", "end"),
        ("$$\na\n\nb", "$$\na\n\nb"),
        ("one", "one"),
    ],
)
def test_only_the_last_block_is_unsettled(qapp: object, text: str, rest: str) -> None:
    at = settled_length(text)
    assert text[at:] == rest if not rest.startswith("- a") else text[at:].endswith("- c")
