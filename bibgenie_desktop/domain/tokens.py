"""A token estimate of text that needs no tokenizer and leans high: by character class, linear, so parts
add up.

The weights were fitted at a high quantile on the largest of four tokenizers' counts, then rounded up;
`docs/performance.md` has the figures. Characters are counted by whole-text operations instead of one by one,
because the meter estimates everything that a model sees.
"""

from __future__ import annotations

import json
import re
from typing import Final

VERSION: Final = 2
"""Changes whenever a weight below does: cached estimates carry it."""

_WORD: Final = 1.3
_LETTER: Final = 0.6  # each letter beyond the sixth of a word: long words are cut in pieces
_CAPITAL, _EDGE, _DIGIT, _PUNCTUATION, _GAP = 0.38, 0.4, 1.2, 0.64, 1.1
_ACCENTED: Final = 1.3  # é, ü, ß and the like: a letter of its word that often is a token of its own
_SIGN: Final = 1.5  # §, «, non-breaking space
_RARE_ACCENTED: Final = 3.8  # ł, ř, ğ: vocabularies know few words with them
_LOOSE_ACCENT: Final = 3.8 - 0.76  # a combining one, on top of its block's weight
_SCRIPTS: Final = (
    # Weight and blocks of 256 characters, first and last.
    (0.76, ((0x03, 0x04),)),  # Greek, Cyrillic
    (1.18, ((0x05, 0x10), (0x12, 0x1C))),  # Armenian, Hebrew, Arabic, Indic and their neighbours
    (1.13, ((0x34, 0x9F), (0xF9, 0xFA))),  # Han
    (1.08, ((0x30, 0x30),)),  # kana
    (1.52, ((0x11, 0x11), (0xAC, 0xD7))),  # Hangul
    # Symbols, old Greek, full width; of the two halves of what lies above, as emoji, the first.
    (1.8, ((0x1D, 0x1D), (0x1F, 0x2F), (0x31, 0x33), (0xA0, 0xAB), (0xD8, 0xDB), (0xE0, 0xF8), (0xFB, 0xFF))),
)
_FULL_STOP: Final = 1.8 - 1.08  # 、 and 。 stand in the block of kana and cost more
_RARE: Final = re.compile("[\u0100-\u02ff\u1e00-\u1eff]")
_LOOSE: Final = re.compile("[\u0300-\u036f]")
_STOPS: Final = re.compile("[\u3000-\u303f]+")
_GAPS: Final = re.compile(rb"\t[ \t]*|  [ \t]*")


def _kind(byte: int) -> bytes:
    """The class of a Latin-1 character: capital, small, accented, digit, punctuation, sign or none."""
    character = bytes([byte])
    if byte >= 0x80:
        return b"a" if byte >= 0xC0 and byte not in (0xD7, 0xF7) else b"s"
    if character.isalpha():
        return b"C" if character.isupper() else b"c"
    if character.isdigit():
        return b"d"
    return b"p" if 0x20 < byte < 0x7F else b" "


def _script(block: int) -> int:
    """Which of `_SCRIPTS` a block belongs to, counted from 1; 0 for Latin."""
    for number, (_, spans) in enumerate(_SCRIPTS, 1):
        if any(first <= block <= last for first, last in spans):
            return number
    return 0


_KINDS: Final = b"".join(map(_kind, range(256)))
_BLOCKS: Final = bytes(map(_script, range(256)))
_LETTERS: Final = bytes(kind in b"Cca" for kind in _KINDS)


def estimate_text(text: str) -> int:
    """Tokens of a text; 0 only for the empty one."""
    if not text:
        return 0
    total = 0.0
    if not text.isascii():
        foreign, rare = _foreign(text)
        total += foreign
        if rare:
            text, count = _RARE.subn("ÿ", text)
            total += (_RARE_ACCENTED - _ACCENTED) * count
    # Whatever Latin-1 does not have becomes a question mark here and was counted above.
    latin = text.encode("latin-1", "replace")
    replaced = latin.count(b"?") - text.count("?")
    kinds = latin.translate(_KINDS)
    words, beyond = _words(latin)
    capitals, digits = kinds.count(b"C"), kinds.count(b"d")
    edges = kinds.count(b"cC") if capitals else 0
    if digits:
        edges += sum(map(kinds.count, (b"cd", b"Cd", b"dc", b"dC")))
    total += _WORD * words + _LETTER * beyond + _CAPITAL * capitals + _EDGE * edges + _DIGIT * digits
    total += _PUNCTUATION * (kinds.count(b"p") - replaced)
    if not text.isascii():
        total += _ACCENTED * kinds.count(b"a") + _SIGN * kinds.count(b"s")
    if b"  " in latin or b"\t" in latin:
        total += _GAP * len(_GAPS.findall(latin))
    return int(total) + 1


def _foreign(text: str) -> tuple[float, bool]:
    """The cost of what Latin-1 does not have, and whether there are rare accented letters beside it."""
    blocks = text.encode("utf-16-be", "surrogatepass")[::2]
    scripts = blocks.translate(_BLOCKS)
    total = sum(weight * scripts.count(number) for number, (weight, _) in enumerate(_SCRIPTS, 1))
    if b"\x30" in blocks:
        total += _FULL_STOP * sum(map(len, _STOPS.findall(text)))
    if b"\x03" in blocks:
        total += _LOOSE_ACCENT * len(_LOOSE.findall(text))
    return total, any(block in blocks for block in (b"\x01", b"\x02", b"\x1e"))


def _words(latin: bytes) -> tuple[int, int]:
    """How many words there are, and how many letters of them lie beyond a word's first six.

    One byte a character, 1 for a letter, read as one large number: shifting it by a character lays each
    letter on its neighbour, and a letter with six letters before it is one beyond.
    """
    letters = int.from_bytes(latin.translate(_LETTERS), "little")
    two = letters & (letters << 8)
    four = two & (two << 16)
    seven = four & (four << 24)
    return letters.bit_count() - two.bit_count(), seven.bit_count()


def as_json(value: object) -> str:
    """The compact JSON that requests carry and estimates count."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
