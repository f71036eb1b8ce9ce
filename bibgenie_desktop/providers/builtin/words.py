"""Words of questions and texts: comparing them, and telling those that carry a topic from those that do
not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final, Literal

Language = Literal["en", "de", "fr"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# `without`, `ohne` and `sans` are none: a night without sleep is another topic than a night's sleep.
_STOP: Final[dict[Language, frozenset[str]]] = {
    "en": _set(
        """a about above after again against all also am an and any are as at be because been before being
        below between both but by can could did do does doing down during each else ever every few for from
        further get give had has have having he her here hers him his how however i if in into is it its
        itself just let like many may me might mine more most much must my no nor not now of off on once
        only or other ought our out over own per perhaps please same say says she should show so some such
        tell than that the their them then there these they this those though through to too under until up
        upon us very want was we were what whatever when where whether which while who whom whose why will
        with within would yes you your explain describe summarize summarise summary compare discuss
        mention find look search know think mean according main different difference hi hello hey thanks
        thank ok okay test anything something everything really actually role one two matter matters affect
        affects affected influence influences influenced impact impacts"""
    ),
    "de": _set(
        """ab aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis
        bist bitte da dabei dadurch damit dann darf darin darum das dass dazu dein deine dem den denn der
        des dessen deshalb die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem
        einen einer eines er es etwa etwas euch fur gab gegen gibt hab habe haben hat hatte hatten hier hin
        hinter ich ihm ihn ihnen ihr ihre ihrem ihren im in ins ist ja jede jedem jeden jeder jedes jetzt
        kann kannst kein keine keinen keiner konnen konnte mal man mehr mein meine meinem meinen mich mir
        mit muss mussen nach nicht nichts noch nun nur ob oder sagen sagt sagte sehr sein seine seinem
        seinen seiner seit sich sie sind so sollen sollte sondern sowie uber um und uns unser unsere unter
        vom von vor wann war waren warum was wegen weil welche welchem welchen welcher welches wem wen wenn
        wer werden wie wieder wieso will wir wird wirkt wo worden wurde wurden zeig zeige zu zum zur
        zwischen zusammenfassung erklare vergleiche finde suche hallo danke
        beeinflusst beeinflussen einfluss wirkung"""
    ),
    "fr": _set(
        """a ai alors apres as au aucun aussi autre aux avait avant avec avez avoir avons c ca car ce cela
        celle celui ces cet cette ceux chaque chez ci comme comment contre d dans de dedans depuis des deux
        devrait dit dois doit donc dont du elle elles en encore entre es est et etaient etait etant etc ete
        etre eu eux fait faire faut font ici il ils j je jusque l la laquelle le lequel les lesquels leur
        leurs lui ma mais me meme mes mieux moi moins mon n ne ni nos notre nous on ont ou par parce pas
        peu peut peuvent plus pour pourquoi pouvez quand que quel quelle quelles quels qu qui quoi sa
        se selon ses si son sont sous sur ta te tes toi ton tous tout toute toutes tres trop tu un une vers
        vos votre vous y affecte affectent influence influencent
        explique decris resume compare trouve cherche montre bonjour salut merci"""
    ),
}

_META: Final = _set(
    """article articles book books citation citations collection database document documents evidence
    findings information library literature item items paper papers publication publications reference
    references research result results source sources studies study text texts topic zotero artikel aufsatz
    aufsatze belege bibliothek buch bucher erkenntnisse ergebnisse forschung literatur quelle quellen
    studie studien texte veroffentlichungen bibliotheque etude etudes livre livres litterature ouvrage
    recherche recherches resultats texte author authors autor autoren auteur auteurs"""
)
"""Words about the library itself; they narrow a search to nothing."""

_RELATION: Final = re.compile(r"\b(?:effects?|effets?) (?=of\b|de\b|du\b|des\b)", re.IGNORECASE)
"""Asks how one thing acts on another, where `the testing effect` is a thing itself."""

_LIBRARY: Final = frozenset(
    {"library", "zotero", "bibliothek", "bibliotheque", "collection", "papers", "items"}
)

_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_RUN: Final = re.compile(f"[{_CJK}]+")
_TOKEN: Final = re.compile(f"[{_CJK}]+|[^\\W_{_CJK}]+")
_CJK_PARTICLES: Final = re.compile(
    "为什么|什么|怎么样|怎么|怎样|如何|是否|哪些|哪个|可以|关于|请问|告诉我|有没有|以及|对于"
    "|[的了吗呢吧啊在和与对有是及我你他她它们这那]|[\u3040-\u309f]+"
)
_KOREAN_ENDING: Final = re.compile("(에서|으로|에게|부터|까지|은|는|이|가|을|를|의|에|과|와|로|도)$")
_ENDING: Final = re.compile("(ings?|ed|es|s|en|er|e|n)$")
_LETTERS: Final = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ß": "ss", "ı": "i"})


def fold(text: str) -> str:
    """Without case and accents."""
    text = unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS)
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def tokens(text: str) -> list[str]:
    """The words of a text as they stand; a run of Chinese, Japanese or Korean letters is one."""
    return _TOKEN.findall(unicodedata.normalize("NFC", text))


def is_cjk(text: str) -> bool:
    return _CJK_RUN.search(text) is not None


def language_of(text: str) -> Language:
    """The language whose small words a text uses most; English where nothing tells."""
    folded = [fold(token) for token in tokens(text)]
    counts = {name: sum(word in stop for word in folded) for name, stop in _STOP.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > counts["en"] else "en"


def content_words(text: str) -> tuple[str, ...]:
    """The words that carry the topic, in order, each once."""
    text = _RELATION.sub(" ", text)
    language = language_of(text)
    stop = _STOP[language] | (_STOP["en"] if language == "en" else frozenset())
    found: dict[str, str] = {}
    for token in tokens(text):
        for piece in _segments(token):
            plain = fold(piece)
            if not _carries(plain) or plain in stop or plain in _META:
                continue
            found.setdefault(plain, piece if is_cjk(piece) or piece.isupper() else piece.lower())
    return tuple(found.values())


def asks_about_library(text: str) -> bool:
    """Whether a question without a topic is about what there is at all."""
    return any(fold(token) in _LIBRARY for token in tokens(text))


def stem(word: str) -> str:
    """The beginning that the forms of a word share; short words and Chinese ones stay whole."""
    plain = fold(word)
    if is_cjk(plain) or len(plain) <= 3:
        return plain
    if len(plain) <= 5:
        return plain.removesuffix("s") if not plain.endswith("ss") else plain
    return plain[: max(5, len(plain) - 3)]


def plainer(word: str) -> str:
    """A word without the ending of a plural or a verb, for a search that matches beginnings."""
    plain = fold(word)
    return plain if is_cjk(plain) or len(plain) <= 5 else _ENDING.sub("", plain)


def pattern_of(stems: Iterable[str]) -> str:
    """A regular expression for a word that begins with one of the stems; a very short one is a whole word."""
    return "|".join(re.escape(s) if is_cjk(s) else rf"\b{re.escape(s)}{_end(s)}" for s in stems)


def matched(stems: tuple[str, ...], text: str) -> frozenset[str]:
    """Which stems begin a word of the text."""
    folded = fold(text)
    return frozenset(s for s in stems if re.search(pattern_of((s,)), folded))


def _end(stem: str) -> str:
    return r"s?\b" if len(stem) <= 3 else ""


def _segments(token: str) -> list[str]:
    if not is_cjk(token):
        return [token]
    if re.fullmatch("[\uac00-\ud7af]+", token):
        return [_KOREAN_ENDING.sub("", token) if len(token) > 2 else token]
    return [piece for piece in _CJK_PARTICLES.split(token) if piece]


def _carries(plain: str) -> bool:
    if is_cjk(plain):
        return len(plain) > 1
    return len(plain) > 2 or (len(plain) == 2 and plain.isalpha()) or plain.isdigit()
