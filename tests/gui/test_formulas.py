"""Formulas as models write them: sixty in all their signs, lines that begin with `=`, prices, and bad TeX."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from bibgenie_desktop.gui.render.inline import formula_runs
from bibgenie_desktop.gui.render.markdown_view import MarkdownView
from bibgenie_desktop.gui.render.math import MathKey, MathRenderer, draw
from bibgenie_desktop.gui.render.source import extract

FORMULAS = (
    "x",
    "x_i^2",
    "a+b=c",
    r"\sqrt{x}",
    r"\sqrt{x^2+y^2}",
    r"\sqrt[3]{a+b}",
    r"\frac{a}{b}",
    r"\frac{1}{1+\frac{1}{x}}",
    r"\dfrac{\partial f}{\partial x}",
    r"\tfrac12",
    r"\binom{n}{k}",
    r"\sum_{i=1}^{n} i^2",
    r"\prod_{k=0}^{\infty} q^k",
    r"\int_0^1 f(x)\,dx",
    r"\iint_D g\,dA",
    r"\oint_C \mathbf{F}\cdot d\mathbf{r}",
    r"\lim_{x \to 0} \frac{\sin x}{x}",
    r"\max_{\theta} L(\theta)",
    r"\operatorname{argmin}_x f(x)",
    r"\alpha, \beta, \gamma, \Delta, \Omega",
    r"\varepsilon \approx \varphi",
    r"\mathbb{R}^n",
    r"\mathcal{N}(\mu, \sigma^2)",
    r"\mathbf{A}\mathbf{x} = \mathbf{b}",
    r"\mathrm{d}t",
    r"\mathit{diff}",
    r"\text{if } x > 0",
    r"\hat{y} = \bar{x} + \tilde{z}",
    r"\vec{v} \times \dot{u}",
    r"\overline{AB}",
    r"\underbrace{a+b}_{c}",
    r"\overbrace{a+b}^{c}",
    r"\left( \frac{a}{b} \right)",
    r"\left[ 0, 1 \right)",
    r"\left\{ x \in A \mid x > 0 \right\}",
    r"\left| x \right|",
    r"\lVert v \rVert_2",
    r"\langle u, v \rangle",
    r"\lfloor x \rfloor + \lceil y \rceil",
    r"\begin{matrix} a & b \\ c & d \end{matrix}",
    r"\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}",
    r"\begin{bmatrix} x \\ y \end{bmatrix}",
    r"\begin{vmatrix} a & b \\ c & d \end{vmatrix}",
    r"\begin{cases} x & x > 0 \\ -x & x \le 0 \end{cases}",
    r"\begin{aligned} a &= b + c \\ &= d \end{aligned}",
    r"P(A \mid B) = \frac{P(B \mid A) P(A)}{P(B)}",
    r"E = mc^2",
    r"e^{i\pi} + 1 = 0",
    r"\nabla \cdot \mathbf{E} = \rho / \epsilon_0",
    r"\forall x \exists y : x \leq y",
    r"A \cup B \cap C \subseteq D",
    r"f: X \to Y, x \mapsto f(x)",
    r"a \Rightarrow b \iff c",
    r"x \neq y \pm z \cdot w \times v",
    r"\log_2 n + \ln x + \exp(y)",
    r"H(X) = -\sum_x p(x) \log p(x)",
    r"t = \frac{\bar{x} - \mu_0}{s / \sqrt{n}}",
    r"r = \frac{\sum (x_i-\bar{x})(y_i-\bar{y})}{\sqrt{\sum (x_i-\bar{x})^2 \sum (y_i-\bar{y})^2}}",
    r"\chi^2 = \sum \frac{(O-E)^2}{E}",
    r"\sigma = \sqrt{\frac{1}{N}\sum_{i=1}^N (x_i - \mu)^2}",
)
SIGNS = ("${}$", r"\({}\)", "$${}$$", r"\[{}\]", "$$\n{}\n$$", "\\[\n{}\n\\]")


@pytest.fixture
def renderer(qapp: object) -> Iterator[MathRenderer]:
    result = MathRenderer()
    yield result
    result.close()


@pytest.fixture
def make(qtbot: QtBot, renderer: MathRenderer) -> Callable[[str], MarkdownView]:
    def build(text: str) -> MarkdownView:
        view = MarkdownView(text, {}, math=renderer)
        qtbot.addWidget(view)
        view.resize(600, view.heightForWidth(600))
        view.show()
        return view

    return build


def drawn(tex: str) -> QImage:
    found = draw(MathKey(tex, True, 20.0, "#1E1F22", 1.0))
    assert found is not None, tex
    return found.image


def ink(image: QImage) -> int:
    size = (image.width(), image.height())
    return sum(image.pixelColor(x, y).alpha() > 128 for x in range(size[0]) for y in range(size[1]))


def test_llm4z_104_the_corpus_has_sixty() -> None:
    assert len(set(FORMULAS)) == 60


@pytest.mark.parametrize("tex", FORMULAS)
def test_llm4z_104_a_formula_is_found_in_all_its_signs_and_drawn(qapp: object, tex: str) -> None:
    """llm4z#104, #238; gwdg/chat-ai#144."""
    for signs in SIGNS:
        (found,) = extract("As follows: " * (signs[0] != "\n") + signs.replace("{}", tex)).formulas
        assert "".join(found.tex.split()) == "".join(tex.split())
    assert ink(drawn(tex)) > 10


@pytest.mark.parametrize(
    ("whole", "part"),
    [
        (r"\sqrt{x^2+y^2}", "x^2+y^2"),
        (r"\sqrt{\frac{a}{b}}", r"\frac{a}{b}"),
        (r"\sqrt[3]{abc}", "abc"),
        (r"\overline{xyz}", "xyz"),
        (r"\hat{m}", "m"),
        (r"\underbrace{a+b}_{c}", "a+b"),
    ],
)
def test_llm4z_238_what_stands_under_a_root_or_a_bar_is_drawn(qapp: object, whole: str, part: str) -> None:
    assert drawn(whole).width() >= drawn(part).width()
    assert ink(drawn(whole)) > ink(drawn(part))


@pytest.mark.parametrize("tex", [r"\{a, b\}", r"50\%", r"\|x\|", r"x\,", r"\%"])
def test_a_formula_may_end_with_an_escaped_sign(qapp: object, tex: str) -> None:
    assert [f.tex for f in extract(f"so ${tex}$ holds and ${tex}$.").formulas] == [tex, tex]


@pytest.mark.parametrize("signs", ["$$\n{}\n$$", "\\[\n{}\n\\]", "text before:\n$$\n{}\n$$\nafter"])
def test_llm4z_104_a_formula_of_lines_that_begin_with_an_equals_sign_is_one(
    qtbot: QtBot, make: Callable[[str], MarkdownView], signs: str
) -> None:
    tex = "a\n= b + c\n= d"
    view = make(signs.replace("{}", tex))
    (run,) = formula_runs(view.document())
    qtbot.waitUntil(lambda: ink_at(view, run.number) > 10, timeout=8_000)
    assert "=" not in view.document().toPlainText()


def ink_at(view: MarkdownView, number: int) -> int:
    from PySide6.QtCore import QUrl
    from PySide6.QtGui import QTextDocument

    image = view.document().resource(QTextDocument.ResourceType.ImageResource.value, QUrl(f"math:{number}"))
    return ink(image) if isinstance(image, QImage) else 0


@pytest.mark.parametrize(
    "text", ["The sum is\n= 5 + 6\n= 11", "The sum is\n=", "x\n== y", "= 7 alone", "x\n=\ny"]
)
def test_llm4z_104_words_on_lines_that_begin_with_an_equals_sign_are_all_shown(
    make: Callable[[str], MarkdownView], text: str
) -> None:
    view = make(text)
    shown = "".join(view.document().toPlainText().split())
    for sign in "=567" if "=" in text else "":
        assert shown.count(sign) == text.count(sign), text


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $6.",
        "From $5-$6, or $7/day",
        "US$ 5 and $ 6",
        "$5,000 to $6,000 (about €5)",
        "about $5 (or 6 US$).",
        r"an escaped \$x\$ stays",
    ],
)
def test_gwdg_144_prices_are_no_formulas(qapp: object, text: str) -> None:
    assert extract(text).formulas == ()


@pytest.mark.parametrize(
    "tex", [r"\frac{broken", r"\nosuchcommand{x}", r"\begin{cases} x", "a & b", "{", r"\left( x", "x^", "_"]
)
def test_llm4z_104_bad_tex_is_shown_as_it_was_written(
    qtbot: QtBot, make: Callable[[str], MarkdownView], tex: str
) -> None:
    view = make(f"before ${tex}$ after")

    def settled() -> bool:
        text = view.document().toPlainText()
        runs = formula_runs(view.document())
        return f"${tex}$" in text or (bool(runs) and ink_at(view, runs[0].number) > 0)

    qtbot.waitUntil(settled, timeout=8_000)
    assert "before" in view.document().toPlainText()
    assert "after" in view.document().toPlainText()
