"""The answer: passages word for word with their markers, what was looked at, and what this assistant is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bibgenie_desktop.domain.citations import MOST_QUOTED
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.domain.tokens import estimate_text
from bibgenie_desktop.providers.builtin.phrases import PHRASES, Phrases
from bibgenie_desktop.providers.builtin.plan import SEARCH, Knowledge
from bibgenie_desktop.providers.builtin.question import Question
from bibgenie_desktop.providers.builtin.results import Found, Page
from bibgenie_desktop.providers.builtin.sentences import (
    Sentence,
    figure_of,
    rank,
    statements,
    with_figure,
)
from bibgenie_desktop.providers.builtin.words import fold, stem, tokens

MOST_QUOTES = 4
TOOLS_FIT = 4_096
"""From this window on there is always room for tools: none at hand means that no library is in use."""
_A_DOCUMENT = 2
_NEAR_BEST, _NEAR_BEST_ELSEWHERE = 0.45, 0.3
"""A passage weaker than this share of the best one would only look like an answer."""

_MORE = (
    "increas",
    "improv",
    "higher",
    "enhanc",
    "greater",
    "gain",
    "benefi",
    "positiv",
    "confirm",
    "support",
    "rais",
)
_LESS = (
    "decreas",
    "reduc",
    "lower",
    "declin",
    "negativ",
    "contradict",
    "fail",
    "worse",
    "less",
    "impair",
    "no",
    "not",
)
_MORE_ELSEWHERE = ("steig", "erhoh", "verbesser", "bestatig", "augment", "amelior", "confirme", "favoris")
_LESS_ELSEWHERE = (
    "sink",
    "verringer",
    "vermind",
    "kein",
    "nicht",
    "diminu",
    "redui",
    "baiss",
    "aucun",
    "pas",
)
_SOURCE = re.compile(r"(.+? (?:\d{4}|n\.d\.)): (.*)", re.DOTALL)


def answer(
    question: Question,
    known: Knowledge,
    tools: Mapping[str, ToolSpec],
    room: int | None,
    window: int = TOOLS_FIT,
) -> str:
    """The text of the answer, at most `room` tokens by estimate. `window`: that of the model in use."""
    say = PHRASES[question.language]
    paragraphs = _paragraphs(question, known, tools, say, window)
    last = paragraphs.pop()
    while room is not None and paragraphs and estimate_text("\n\n".join([*paragraphs, last])) > room:
        paragraphs.pop()
    return "\n\n".join([*paragraphs, last])


def _paragraphs(
    question: Question, known: Knowledge, tools: Mapping[str, ToolSpec], say: Phrases, window: int
) -> list[str]:
    sources = dict.fromkeys(page.source for page in known.pages if page.source)
    topic = ", ".join(question.words) or ", ".join(_label(source) for source in sources)
    topic = topic or ", ".join(question.ids)
    if question.about_library and known.rows:
        return [say.newest.format(f"{known.total:,}"), _list(known.rows), f"_{say.self}_"]
    if not topic and not question.about_library:
        return [say.help, f"_{say.self}_"]
    if SEARCH not in tools and not known.calls:
        return [say.no_search if window < TOOLS_FIT else say.no_library, f"_{say.self}_"]
    faults = " ".join(dict.fromkeys(_escaped(fault) for fault in known.faults[:2]))
    if known.searches and all(part.state == "error" for part in known.searches):
        return [faults, f"_{say.self}_"]  # the library itself cannot be searched: that is no empty result
    quotes, direct = choose(question, known)
    named = [row for row in known.rows if question.names(row.title)]
    missing = [row for row in named or known.rows[:3] if row.gone]
    absent = "; ".join(f"“{_escaped(row.title)}”" for row in missing)
    gone = say.gone.format(absent) if absent else ""
    unread = _unreadable(named or known.rows[:3], known, say, named=bool(named))
    gone = " ".join(part for part in (*unread, gone) if part)
    if quotes:
        intro = say.found if direct or not question.words else say.related
        if not direct and (works := _works(question, known.pages)):
            beyond = question.beyond(" ".join(works.values()))
            intro, topic = (say.related, ", ".join(beyond)) if beyond else (say.work, "")
        body = _quoted(quotes)
        differ = [say.differ] if differing(quotes) else []
        looked = {page.att for page in (*known.pages, *known.hits)}
        total = max(known.total, len(looked))
        end = f"_{say.self} {say.looked.format(len(looked), total)}_"
        said = [intro.format(_in_words(topic)), *body, *differ]
        if named and gone and not any(row.pdf in looked for row in named):
            return [gone, *said, end]  # the work that was asked for comes first, then what else there is
        return [*said, *([gone] if gone else []), end]
    if known.rows:
        first = (gone, "") if named and gone else (faults, gone)
        nothing = "" if named and gone else say.unread.format(_in_words(topic))
        told = " ".join(part for part in (nothing, *first) if part)
        return [told, f"{say.matching}\n\n{_list(known.rows)}", f"_{say.self}_"]
    queries = [str(part.input.get("query", "")) for part in known.searches]
    tried = say.tried.format("; ".join(f"“{query}”" for query in queries if query)) if any(queries) else ""
    parts = [say.nothing.format(_in_words(topic)), tried, faults or say.advice]
    return [" ".join(part for part in parts if part), f"_{say.self}_"]


def _unreadable(rows: Sequence[Found], known: Knowledge, say: Phrases, *, named: bool) -> list[str]:
    """Why works cannot be read, in the tools' own words; of a named one also that it has no PDF."""
    told = []
    failed = {
        str(part.input.get("attachment_id", "")): part.sent.split("\n")[0]
        for part in known.documents
        if part.state == "error"
    }
    for row in rows:
        why = row.why or (failed.get(row.pdf) or failed.get(row.id) or "" if named else "")
        if not why and named and row.filed and not row.pdf and not row.gone:
            why = say.reads_pdfs
        if why:
            told.append(say.unreadable.format(_escaped(row.title), _escaped(why)))
    return list(dict.fromkeys(told))


def choose(question: Question, known: Knowledge) -> tuple[list[Sentence], bool]:
    """The passages to quote, grouped by document, and whether they hold words of the question.

    Where none does, and where a work is asked for by its title, it is quoted with what it reports.
    """
    works = _works(question, known.pages)
    pages = [page for page in known.pages if page.att in works] if works else known.pages
    words = question.beyond(" ".join(works.values())) if works else question.words
    stems = tuple(stem(word) for word in words)
    ranked = rank(pages, stems, quantity=question.quantity) if stems else []
    direct = bool(ranked)
    if not direct:
        ranked = [
            Sentence(page, text, 1.0 + abs(_direction(text)) + with_figure(text), frozenset())
            for page, text in statements(pages)
            if len(text) <= MOST_QUOTED
        ]
        ranked.sort(key=lambda s: -s.score)
    fresh = [s for s in ranked if s.text not in question.quoted_before] or ranked
    chosen: list[Sentence] = []
    for most, near in ((1, _NEAR_BEST_ELSEWHERE), (_A_DOCUMENT, _NEAR_BEST)):  # every document first
        for sentence in fresh:
            if sentence.score < near * fresh[0].score or len(chosen) >= MOST_QUOTES:
                break
            if sum(s.page.att == sentence.page.att for s in chosen) >= most or _said(sentence, chosen):
                continue
            chosen.append(sentence)
    if question.quantity and chosen and not any(with_figure(s.text) for s in chosen):
        # The figure often stands beside the sentence that has the words.
        figure = next(filter(None, (_figure_beside(s, known.pages) for s in chosen)), None)
        if figure is not None:
            place = next(n for n, s in enumerate(chosen) if s.page.att == figure.page.att)
            chosen = [*chosen[:place], figure, *chosen[place:]][:MOST_QUOTES]
    first_seen = {s.page.att: place for place, s in reversed(list(enumerate(chosen)))}
    return sorted(chosen, key=lambda s: (first_seen[s.page.att], s.page.number)), direct


def _works(question: Question, pages: Sequence[Page]) -> dict[str, str]:
    """Titles of the documents that the question names, by their ids."""
    titles = {page.att: _title(page.source) for page in pages}
    return {att: title for att, title in titles.items() if question.names(title)}


def _figure_beside(sentence: Sentence, pages: Sequence[Page]) -> Sentence | None:
    """A figure of the same page, else of the same document."""
    same = [page for page in pages if page.att == sentence.page.att]
    return figure_of([page for page in same if page.number == sentence.page.number]) or figure_of(same)


def _said(sentence: Sentence, chosen: Sequence[Sentence]) -> bool:
    text = fold(sentence.text)
    return any(text in fold(s.text) or fold(s.text) in text for s in chosen)


def differing(quotes: Sequence[Sentence]) -> bool:
    """Whether two documents speak of the same words, one of more, the other of less."""
    return any(
        one.page.att != other.page.att
        and len(one.stems & other.stems) >= 2
        and _direction(one.text) * _direction(other.text) < 0
        for place, one in enumerate(quotes)
        for other in quotes[place + 1 :]
    )


def _direction(text: str) -> int:
    words = [fold(token) for token in tokens(text)]
    up = any(word.startswith(_MORE + _MORE_ELSEWHERE) for word in words)
    down = any(
        word == cue if len(cue) <= 4 else word.startswith(cue)
        for word in words
        for cue in _LESS + _LESS_ELSEWHERE
    )
    return -1 if down else 1 if up else 0


def _quoted(quotes: Sequence[Sentence]) -> list[str]:
    """A paragraph for each document: who says it, the words, the marker."""
    paragraphs: dict[str, str] = {}
    for sentence in quotes:
        page = sentence.page
        marker = f'[[{page.att} p.{page.number} "{sentence.text}"]]'
        passage = f"“{_escaped(sentence.text)}” {marker}"
        if page.att in paragraphs:
            paragraphs[page.att] += f" {passage}"
        else:
            paragraphs[page.att] = f"{_named(page.source)}{passage}"
    return list(paragraphs.values())


def _label(source: str) -> str:
    match = _SOURCE.fullmatch(source)
    return match[1] if match else source


def _title(source: str) -> str:
    match = _SOURCE.fullmatch(source)
    return match[2] if match else source


def _named(source: str) -> str:
    if match := _SOURCE.fullmatch(source):
        title = match[2] if len(match[2]) <= 90 else match[2][:89].rstrip() + "…"
        return f"**{_escaped(match[1])}**, {_escaped(title)}: "
    return f"**{_escaped(source)}**: " if source else ""


def _list(rows: Sequence[Found]) -> str:
    return "\n".join(f"- {_described(row)} [[{row.id}]]" for row in rows[:10])


def _described(row: Found) -> str:
    who = ", ".join(part for part in (row.authors, row.year) if part)
    return _escaped(f"{row.title} ({who})" if who else row.title)


def _in_words(topic: str) -> str:
    return f"*{_escaped(topic)}*"


def _escaped(text: str) -> str:
    """Signs of Markdown as themselves."""
    return re.sub(r"([\\`*_$<>\[\]|~])", r"\\\1", " ".join(text.split()))
