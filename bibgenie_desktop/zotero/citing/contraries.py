"""Whether a sentence says something else than a stretch of a page in words that are nearly the same: another
number, a negation more or less, the opposite direction.

It knows words of English, German and French, and signs of Chinese, Japanese and Korean. What it does not know
it does not object to; which words stand where is the caller's business.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import Final

from bibgenie_desktop.zotero.model.folding import LETTERS, fold_same_length, is_cjk

_NEGATION: Final = re.compile(
    # French says it in two words, which are one negation
    r"\bn(?:e\b|'(?=[aeiouhy]))[^.;]{0,40}?\b(?:pas|jamais|aucune?s?|rien|guere|plus|ni)\b"
    r"|\bn(?:e\b|'(?=[aeiouhy]))|\b(?:pas|jamais|aucune?s?|rien|guere|nullement)\b"
    r"|\bneither\b[^.;]{0,80}?\bnor\b"
    r"|\b(?:not|no|non|never|neither|nor|none|nothing|nobody|cannot|hardly|scarcely|barely|rarely"
    r"|seldom|unable|fail(?:s|ed|ing|ure|ures)?)\b|n't\b"
    r"|\b(?:nicht|nichts|kein\w*|nie|niemals|niemand|weder|kaum|selten)\b"
    r"|\b(?:не|нет|ни|никогда)\b"
    r"|非(?!常)|未(?![来來])|不(?![仅僅但过過断斷])|[没沒無无否]"
    r"|ない|なかっ|なく|ません|せず|れず|らず|ずに"
    r"|않|없|못|아니|아닌|(?<!\w)안(?!\w)"
)
_PRIVATION: Final = re.compile(
    r"\b(?:without|lack(?:s|ed|ing)?|absen(?:t|ce)|ohne|sans|manque\w*|mangel\w*|без)\b"
)
"""These deny the next words only, not the sentence."""
_NUMBER: Final = re.compile(
    r"(?:(?<![\w)\]])[-\u2010-\u2015\u2212])?(?:\d+(?:[.,]\d+)*|(?<![\w.])[.]\d+)|[二三四五六七八九十百千两兩]+"
)
_TOKEN: Final = re.compile(rf"{_NUMBER.pattern}|[^\W\d_]+|[<>≤≥%]")
_CLAUSE: Final = re.compile(r"(?<!\d)[.,]|[.,](?!\d)|[;:!?…—。，、；：！？]|\n\s*\n")
_AROUND: Final = 3
"""Words before and after a stretch that may hold its negation, in the same clause."""

_CARDINALS: Final[Mapping[str, str]] = {
    word: str(number)
    for number, spelled in (
        *enumerate(
            (
                "zero null",
                "eins",
                "two zwei deux",
                "three drei trois",
                "four vier quatre",
                "five funf cinq",
                "six sechs",
                "seven sieben sept",
                "eight acht huit",
                "nine neun",
                "ten zehn dix",
                "eleven elf onze",
                "twelve zwolf douze",
                "thirteen dreizehn treize",
                "fourteen vierzehn quatorze",
                "fifteen funfzehn quinze",
                "sixteen sechzehn seize",
                "seventeen siebzehn",
                "eighteen achtzehn",
                "nineteen neunzehn",
                "twenty zwanzig vingt",
            )
        ),
        (30, "thirty dreissig trente"),
        (40, "forty vierzig quarante"),
        (50, "fifty funfzig cinquante"),
        (60, "sixty sechzig soixante"),
        (70, "seventy siebzig septante"),
        (80, "eighty achtzig"),
        (90, "ninety neunzig nonante"),
        (100, "hundred hundert cent"),
        (1000, "thousand tausend mille"),
        (10**6, "million millions millionen"),
        (10**9, "billion billions milliarde milliarden milliard milliards"),
    )
    for word in spelled.split()
}

_SIDES: Final[Sequence[Sequence[str]]] = (
    # Words of one side may stand for one another, words of two sides of a line may not. Written folded.
    (
        r"more|greater|larger|bigger|higher|mehr|hoher\w*|grosser\w*|plus|davantage|superieure?s?|above|over"
        r"|exceed\w*|uber\w{0,5}",
        r"less|fewer|smaller|lower|weniger|niedriger\w*|geringer\w*|kleiner\w*|moins|inferieure?s?|below|under"
        r"|unter",
        r"equal|equally|identical|unchanged|unverandert\w*|egale?s?|inchangee?s?",
    ),
    (
        r"increas\w*|rise|rises|rose|risen|rising|gain|gains|gained|grow\w*|grew|elevat\w*|enhanc\w*|improv\w*"
        r"|better|best|strengthen\w*|boost\w*|facilitat\w*|promot\w*|benefi\w*|help|helps|helped|accelerat\w*"
        r"|steig\w*|stieg\w*|gestiegen\w*|erhoh\w*|zunahm\w*|zunehm\w*|zugenommen|verbesser\w*|besser\w*"
        r"|verstark\w*|wuchs\w*|wachs\w*|gewachsen|forder\w*|beschleunig\w*"
        r"|augment\w*|accroi\w*|accru\w*|amelior\w*|hausse\w*|renforc\w*|favoris\w*|mieux|meilleure?s?",
        r"decreas\w*|reduc\w*|declin\w*|fall|falls|fell|fallen|falling|drop|drops|dropped|loss|losses|lost"
        r"|weaken\w*|impair\w*|worse|worst|worsen\w*|deteriorat\w*|diminish\w*|inhibit\w*|suppress\w*|harm"
        r"|harms|harmed|disrupt\w*|hinder\w*|attenuat\w*|slowed"
        r"|sink\w*|sank\w*|gesunken\w*|verringer\w*|abnahm\w*|abnehm\w*|abgenommen|verschlechter\w*"
        r"|schlechter\w*|reduzier\w*|verminder\w*|schwach\w*|hemm\w*|gehemmt\w*|beeintrachtig\w*|verlangsam\w*"
        r"|diminu\w*|baiss\w*|redui\w*|deterior\w*|aggrav\w*|affaibli\w*|altere\w*|degrad\w*|decroi\w*|pire",
    ),
    (r"zu", r"ab"),
    (r"on", r"off"),
    (r"only|nur|seulement", r"also|auch|aussi"),
    (r"positiv\w*|positif\w*", r"negativ\w*|negatif\w*"),
    (r"before|vor|avant|prior|preced\w*|vorher", r"after|nach|apres|follow\w*|subsequent\w*|danach"),
    (r"early|earlier|fruh\w*|tot|precoce\w*", r"late|later|spat\w*|tard\w*"),
    (r"fast|faster|quick\w*|rapid\w*|schnell\w*|vite", r"slow|slower|slowly|langsam\w*|lent\w*"),
    (r"long|longer|lang|lange\w*|longue\w*", r"short|shorter|kurz\w*|courte?s?"),
    (r"high|highly|hoch|hohe\w*|haute?s?|eleve\w*", r"low|niedrig\w*|basse?s?|faible\w*"),
    (r"large|big|great|gross\w*|grande?s?|major", r"small|little|klein\w*|gering\w*|petite?s?|minor"),
    (r"strong\w*|stark\w*|forte?s?|fort|fortement", r"weak|weaker|weakly|faible\w*"),
    (r"deep|tief\w*|profonde?\w*", r"light|shallow|leicht\w*|leger\w*"),
    (r"old|older|alt|alte\w*|age\w?", r"young|younger|jung\w*|jeune\w*"),
    (r"most|majority|mehrheit|meisten|plupart|many|viele\w*|all|alle\w*|tous|toute?s?", r"few|wenige|peu"),
    (r"always|often|immer|oft|toujours|souvent", r"never|rarely|seldom|nie|selten|jamais|rarement"),
    (r"same|gleiche\w*|meme\w*|similar\w*|ahnlich\w*", r"different\w*|verschieden\w*|anders|andere\w*"),
    (
        r"confirm\w*|support\w*|prove|proves|proved|proven|bestatig\w*|stutz\w*|belegt?\w*",
        r"refut\w*|reject\w*|contradict\w*|disprov\w*|oppos\w*|widerleg\w*|widersprech\w*|infirm\w*",
    ),
    (r"includ\w*|einschl\w*|inclu\w*", r"exclud\w*|ausschl\w*|ausgeschlossen\w*|exclu\w*"),
    (r"true|wahr|vraie?", r"false|falsch\w*|fausse|faux"),
    (r"left|links|linke\w*|gauche", r"right|rechts|rechte\w*|droite?"),
    (r"anterior|dorsal|upper|rostral", r"posterior|ventral|lower|caudal"),
    (r"cause|causes|caused|verursach\w*|provoqu\w*", r"prevent\w*|verhinder\w*|empech\w*"),
    (
        r"first|erste\w*|premier\w*",
        r"second|zweite\w*|deuxieme\w*|seconde",
        r"third|dritte\w*|troisieme\w*",
        r"fourth|vierte\w*|quatrieme\w*",
        r"fifth|funfte\w*|cinquieme\w*",
        r"last|letzte\w*|dernier\w*",
    ),
    (
        r"double[sd]?|doubling|twice|twofold|doppelt\w*|verdoppel\w*|zweimal",
        r"half|halves|halved|halb\w*|halfte|moitie|demie?",
        r"triple[sd]?|threefold|thrice|dreifach\w*|verdreifach\w*|dreimal",
        r"quarter|quarters|viertel|quart",
    ),
    (
        r"ms|milliseconds?",
        r"s|sec|seconds|sekunden?|secondes",
        r"min|minutes?|minuten",
        r"h|hours?|stunden?|heures?",
        r"days?|tage?n?|jours?",
        r"weeks?|wochen?|semaines?",
        r"months?|monate?n?|mois",
        r"years?|jahre?n?|ans?|annees?",
    ),
    (r"μg|micrograms?", r"mg|milligrams?", r"g|grams?|gramm", r"kg|kilograms?"),
    (r"nm", r"μm", r"mm|millimet\w*", r"cm|centimet\w*", r"m|met(?:er|re)s?", r"km|kilomet\w*"),
    (r"hz|hertz", r"khz", r"mhz", r"ghz"),
    (r"<|≤", r">|≥"),
)
_SIGNS: Final[Sequence[Sequence[str]]] = (
    # The same for scripts without blanks, wherever the signs stand.
    (
        r"增|増|升|提高|改善|促进|促進|強化|强化|加强|向上|上昇|증가|향상|상승|개선|늘",
        r"减|減|降|恶化|悪化|惡化|损害|損害|低下|阻害|抑制|减弱|削弱|감소|저하|악화|하락|줄",
    ),
    ("多|많", "少|적[은었]"),
    ("大|큰|크[다게]", "小(?![时時])|작"),
    ("高|높", "低|낮"),
    ("快|速|빠", "慢|遅|느"),
    ("长|長|길", "短|짧"),
    ("强|強|강[한하]", "弱|약[한하]"),
    ("前", "后|後"),
    ("早", "晚|遅"),
    ("好|良", "坏|壞|差|悪"),
    ("正", "负|負"),
    ("上", "下"),
    ("左", "右"),
    ("전", "후"),
)
_BETWEEN: Final = frozenset({"than", "als", "que", "versus", "cause", "causes", "caused", "verursacht"})
_DENYING: Final = ("un", "in", "im", "il", "ir", "dis", "non", "ab", "mis", "dys", "des", "miss")
_TURNING: Final = (
    ("in", "de"),
    ("hyper", "hypo"),
    ("over", "under"),
    ("up", "down"),
    ("pre", "post"),
    ("pra", "post"),
    ("macro", "micro"),
    ("max", "min"),
    ("pro", "anti"),
    ("inter", "intra"),
    ("intra", "extra"),
    ("en", "dis"),
    ("auf", "ab"),
    ("zu", "ab"),
    ("vor", "nach"),
)


def plain(text: str) -> str:
    """The form in which texts are compared here: one case, no accents, no hyphens at line ends."""
    text = re.sub(r"[-\u00ad\u2010-\u2014\u2212\ufffe\x02]\s*\n\s*", "", text)
    return fold_same_length(unicodedata.normalize("NFKC", text).casefold().translate(LETTERS))


def denials(text: str) -> int:
    """How many words of a text deny its sentence."""
    return len(_NEGATION.findall(plain(text)))


def contrary(quote: str, page: str, start: int, end: int) -> bool:
    """Whether `quote` says another thing than `page[start:end]`; both are `plain`."""
    low, high = _clause(page, start, end)
    here, said, there = page[start:end], quote, page[low:high]
    denied, in_stretch, around = (len(_NEGATION.findall(t)) for t in (said, here, there))
    without, missing = (len(_PRIVATION.findall(t)) for t in (said, here))
    denied, in_stretch, around = denied + without, in_stretch + missing, around + missing
    if (denied not in (in_stretch, around)) if denied else around > 0:
        return True
    mine, theirs = _tokens(said), _tokens(there)
    numbers = [t for t in theirs if _is_number(t)]
    if not _in_order((t for t in mine if _is_number(t)), iter(numbers)) or _opposed(mine, theirs):
        return True
    if _counts_another(mine, theirs) or _swapped(mine, theirs):
        return True
    if is_cjk(said) and any(_turned(_counted(s, said), _counted(s, there)) for s in _SIGNS):
        return True
    return any(
        _numbers_differ(mine[a:b], theirs[c:d]) or _opposed(mine[a:b], theirs[c:d])
        for kind, a, b, c, d in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
        if kind == "replace"
    )


def _clause(page: str, start: int, end: int) -> tuple[int, int]:
    """The stretch with the words before and after it, as far as its clause goes."""
    before = page[max(0, start - 80) : start]
    cuts = [m.end() for m in _CLAUSE.finditer(before)]
    words = [m.start() for m in re.finditer(r"\S+", before) if not cuts or m.start() >= cuts[-1]]
    low = start - len(before) + words[-_AROUND:][0] if words else start
    after = page[end : end + 80]
    cut = _CLAUSE.search(after)
    ends = [m.end() for m in re.finditer(r"\S+", after[: cut.start()] if cut else after)]
    return low, end + (ends[:_AROUND][-1] if ends else 0)


def _tokens(text: str) -> list[str]:
    """Words, numbers in one form, and signs; the characters of scripts without blanks one by one."""
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if _NUMBER.fullmatch(token):
            found.append(_number(token))
        elif is_cjk(token):
            found.extend(token)
        else:
            found.append(_CARDINALS.get(token, token))
    return found


def _number(token: str) -> str:
    """3.50, 3,5 and 3.5 are one number, so are 1,205 and 1205, and .05 and 0.05."""
    sign = "-" if not token[0].isalnum() and token[0] != "." else ""
    digits = token.lstrip("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212")
    if re.fullmatch(r"[1-9]\d{0,2}(?:[.,]\d{3})+", digits):
        digits = re.sub("[.,]", "", digits)
    digits = digits.replace(",", ".")
    if digits.count(".") == 1:
        digits = digits.rstrip("0").rstrip(".")
        digits = f"0{digits}" if digits.startswith(".") else digits
    return sign + (digits or "0")


def _is_number(token: str) -> bool:
    return token[-1].isdigit() or _NUMBER.fullmatch(token) is not None


def _in_order(wanted: Iterator[str], there: Iterator[str]) -> bool:
    return all(number in there for number in wanted)


def _swapped(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether what is compared, or causes and is caused, has changed sides."""
    middle = next((t for t in mine if t in _BETWEEN and t in theirs), "")
    if not middle:
        return False
    (left, right), (their_left, their_right) = (
        [{t for t in side if len(t) > 2 or is_cjk(t)} for side in (text[:at], text[at + 1 :])]
        for text, at in ((mine, mine.index(middle)), (theirs, theirs.index(middle)))
    )
    return bool((left - right) & (their_right - their_left)) and bool(
        (right - left) & (their_left - their_right)
    )


def _counts_another(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether the word after a number stands there after other numbers only."""
    numbers: dict[str, set[str]] = {}
    for number, word in pairwise(theirs):
        if _is_number(number):
            numbers.setdefault(word, set()).add(number)
    return any(_is_number(n) and n not in numbers.get(word, {n}) for n, word in pairwise(mine))


def _numbers_differ(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    numbers = {t for t in theirs if _is_number(t)}
    return bool(numbers) and any(_is_number(t) and t not in numbers for t in mine)


def _opposed(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether some word stands against one of the other text."""
    only, other = Counter(mine) - Counter(theirs), Counter(theirs) - Counter(mine)
    if not only or not other:
        return False
    for sides in range(len(_SIDES)):
        if _turned(_sided(sides, only), _sided(sides, other)):
            return True
    return any(_opposite(a, b) or _opposite(b, a) for a in only for b in other)


def _sided(number: int, found: Counter[str]) -> list[int]:
    return [sum(n for t, n in found.items() if side.fullmatch(t)) for side in _compiled(number)]


@lru_cache(maxsize=len(_SIDES))
def _compiled(number: int) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(side) for side in _SIDES[number])


def _counted(sides: Sequence[str], text: str) -> list[int]:
    return [len(re.findall(side, text)) for side in sides]


def _turned(mine: Sequence[int], theirs: Sequence[int]) -> bool:
    """Whether one text has a side more than the other, and the other another side more than it."""
    return any(a > b for a, b in zip(mine, theirs, strict=True)) and any(
        b > a for a, b in zip(mine, theirs, strict=True)
    )


def _opposite(word: str, other: str) -> bool:
    """`unstable` and `stable`, `hypertension` and `hypotension`, whatever their endings."""
    for prefix in _DENYING:
        if len(other) >= 4 and word.startswith(prefix + other[:6]):
            return True
    for up, down in _TURNING:
        if word.startswith(up) and other.startswith(down):
            rest, left = word[len(up) :], other[len(down) :]
            if len(rest) >= 3 and len(left) >= 3 and rest[:5] == left[:5]:
                return True
    return False
