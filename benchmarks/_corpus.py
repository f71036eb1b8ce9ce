"""Texts of the kinds that a research conversation consists of, the same ones on every machine.

Prose is shipped in `prose/` (the same passages in seven languages, written for this purpose); code is this
project's own; everything else is generated from a fixed seed.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
SAMPLES = 40
LEAST, MOST = 120, 4_000
SEED = 20260101

KEY_LETTERS = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"
NAMES = (
    *("Smith", "Nguyen", "Müller", "García", "Sørensen", "Kowalski", "Rossi", "Tanaka", "Ivanova", "O'Brien"),
    *("Lefèvre", "Öztürk", "Haddad", "Wang", "Łukasiewicz", "Novák", "Papadopoulos", "Szabó", "Fernández"),
)
FIRST = (
    "Anna",
    "Jean-Luc",
    "Wei",
    "María",
    "Søren",
    "Olga",
    "Yuki",
    "Émile",
    "Fatima",
    "Zoë",
    "Mehmet",
    "Ines",
)
TITLES = (
    "Sleep-dependent memory consolidation: a meta-analysis of registered trials",
    "Über die Lückenhaftigkeit gerichtlicher Überlieferung im 17. Jahrhundert",
    "L'édition critique et la série des états du texte",
    "睡眠与记忆巩固研究综述",
    "Local soil categories and yield prediction in the upper Ebro valley",
    "Attention, difficulty and re-reading: what reading times measure",
    "On the compositor's commas: proof states of two Victorian novels",
)
JOURNALS = (
    "Journal of Sleep Research",
    "Historische Zeitschrift",
    "Revue d'histoire du texte",
    "心理学报",
    "Geoderma",
)
TEX = (
    r"Let $X_1,\dots,X_n \sim \mathcal{N}(\mu,\sigma^2)$; then \[ \hat\mu = \frac{1}{n}\sum_{i=1}^{n} X_i \]",
    r"\begin{align} g &= \left(1-\frac{3}{4(n_1+n_2)-9}\right)\frac{\bar x_1-\bar x_2}{s_p} \\ "
    r"\operatorname{SE}(g) &= \sqrt{\tfrac{n_1+n_2}{n_1 n_2}+\tfrac{g^2}{2(n_1+n_2)}} \end{align}",
    r"\section{Method}\label{sec:method} As in \citet{smith2011}, we fit "
    r"$\log\lambda_{ij}=\alpha+\beta x_{ij}+u_j$.",
    r"\begin{tabular}{lrr}\toprule Group & $n$ & $M$ (SD) \\ \midrule Sleep & 41 & 0.62 (0.11) \\ "
    r"Wake & 39 & 0.55 (0.14) \\ \bottomrule\end{tabular}",
)


def corpus() -> dict[str, list[str]]:
    """Samples by kind, `SAMPLES` of each, of 120 to 4,000 characters."""
    kinds: dict[str, Callable[[random.Random], str]] = {
        path.stem: _prose(path) for path in sorted((HERE / "prose").glob("*.txt"))
    }
    kinds |= {
        "code": _code(),
        "JSON results": _json,
        "BibTeX": _bibtex,
        "number tables": _table,
        "Markdown tables": _markdown_table,
        "LaTeX": _latex,
        "URLs and keys": _urls,
    }
    return {kind: _samples(kind, make) for kind, make in kinds.items()}


def conversation(samples: dict[str, list[str]], language: str) -> list[str]:
    """The messages of one conversation: prose of one language with the results and sources it rests on."""
    rng = random.Random(f"{SEED} {language}")
    texts = []
    for _ in range(10):
        kinds = (language, "JSON results", language, rng.choice(("BibTeX", "LaTeX", "Markdown tables")))
        texts += [rng.choice(samples[kind]) for kind in kinds]
    return texts


def _samples(kind: str, make: Callable[[random.Random], str]) -> list[str]:
    found = []
    for number in range(SAMPLES):
        rng = random.Random(f"{SEED} {kind} {number}")
        wanted = int(LEAST * (MOST / LEAST) ** rng.random())
        text = make(rng)
        while len(text) < wanted:
            text += "\n" + make(rng)
        found.append(text[:wanted])
    return found


def _prose(path: Path) -> Callable[[random.Random], str]:
    sentences = re.split(r"(?<=[.!?。！？؟])\s*", path.read_text(encoding="utf-8"))
    space = "" if path.stem in ("chinese", "japanese") else " "

    def make(rng: random.Random) -> str:
        start = rng.randrange(len(sentences) - 3)
        return space.join(sentences[start : start + rng.randint(2, 6)])

    return make


def _code() -> Callable[[random.Random], str]:
    files = sorted((HERE.parent / "bibgenie_desktop").glob("domain/*.py"))
    texts = [path.read_text(encoding="utf-8") for path in files]

    def make(rng: random.Random) -> str:
        lines = rng.choice(texts).splitlines()
        start = rng.randrange(max(1, len(lines) - 5))
        return "\n".join(lines[start : start + 60])

    return make


def _key(rng: random.Random) -> str:
    return "".join(rng.choices(KEY_LETTERS, k=8))


def _json(rng: random.Random) -> str:
    items = [
        {
            "id": f"u-{_key(rng)}",
            "type": rng.choice(("journalArticle", "book", "bookSection", "thesis")),
            "title": rng.choice(TITLES),
            "creators": [f"{rng.choice(NAMES)}, {rng.choice(FIRST)}" for _ in range(rng.randint(1, 4))],
            "year": rng.randint(1890, 2026),
            "doi": f"10.{rng.randint(1000, 9999)}/{_key(rng).lower()}.{rng.randint(1, 999)}",
            "tags": rng.sample(("sleep", "memory", "to read", "Methode", "★", "archive"), 2),
            "attachments": [{"id": f"u-{_key(rng)}", "kind": "pdf", "pages": rng.randint(4, 400)}],
        }
        for _ in range(4)
    ]
    result = {"total": rng.randint(4, 900), "returned": 4, "next_offset": 4, "items": items}
    return json.dumps(result, ensure_ascii=False, indent=rng.choice((None, 1)))


def _bibtex(rng: random.Random) -> str:
    name = rng.choice(NAMES)
    authors = " and ".join(f"{rng.choice(NAMES)}, {rng.choice(FIRST)}" for _ in range(rng.randint(1, 3)))
    return (
        f"@article{{{name.lower()}{rng.randint(1990, 2026)}{rng.choice('abc')},\n"
        f"  author = {{{authors}}},\n  title = {{{{{rng.choice(TITLES)}}}}},\n"
        f"  journal = {{{rng.choice(JOURNALS)}}},\n  volume = {{{rng.randint(1, 90)}}},\n"
        f"  pages = {{{rng.randint(1, 400)}--{rng.randint(401, 900)}}},\n"
        f"  doi = {{10.{rng.randint(1000, 9999)}/{_key(rng).lower()}}},\n"
        f"  issn = {{{rng.randint(1000, 9999)}-{rng.randint(1000, 9999)}}}\n}}"
    )


def _table(rng: random.Random) -> str:
    rows = ("\t" if rng.random() < 0.3 else ",",)[0]
    return "\n".join(
        rows.join(f"{rng.gauss(0, 3):.{rng.randint(1, 4)}f}" for _ in range(7)) for _ in range(20)
    )


def _markdown_table(rng: random.Random) -> str:
    lines = ["| Study | n | g | 95 % CI | Quality |", "|---|---:|---:|---|---|"]
    for _ in range(8):
        g = rng.gauss(0.3, 0.2)
        lines.append(
            f"| {rng.choice(NAMES)} {rng.randint(1990, 2026)} | {rng.randint(12, 400)} | {g:.2f} "
            f"| [{g - 0.2:.2f}, {g + 0.2:.2f}] | {rng.choice(('high', 'moderate', 'low'))} |"
        )
    return "\n".join(lines)


def _latex(rng: random.Random) -> str:
    return "\n".join(rng.sample(TEX, len(TEX)))


def _urls(rng: random.Random) -> str:
    lines = []
    for _ in range(8):
        year, page, number = rng.randint(2000, 2026), rng.randint(1, 99), rng.randint(1000, 99999)
        lines += [
            f"https://doi.org/10.{rng.randint(1000, 9999)}/s{number}-{rng.randint(0, 999):03}",
            f"https://example.org/articles/{year}/{_key(rng).lower()}?page={page}#s2",
            f"zotero://open-pdf/library/items/{_key(rng)}?page={page}&annotation={_key(rng)}",
            f"u-{_key(rng)} g{number}-{_key(rng)} ISBN 978-{rng.randint(10**9, 10**10 - 1)}",
        ]
    return "\n".join(rng.sample(lines, 16))
