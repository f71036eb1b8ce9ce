"""Words and numbers in the person's language.

`tr()` looks a sentence up in the installed `QTranslator`s; numbers follow the current `QLocale`. English
source strings are the keys. Installing translators is the application's business.
"""

from typing import Final

from PySide6.QtCore import QCoreApplication, QLocale

CONTEXT: Final = "BibGenie"
NARROW: Final = "\u202f"  # narrow no-break space: before % and between a number and its unit


_VISIBLE: Final = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n\r"},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),
}
_BIDI: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)
_HARMLESS: Final = {**_VISIBLE, **dict.fromkeys(_BIDI, None)}


def tr(text: str, n: int = -1) -> str:
    """The text in the person's language; `%n` is replaced by `n` and picks the plural form."""
    return QCoreApplication.translate(CONTEXT, text, None, n)


def harmless(text: str) -> str:
    """Text of others for a line of the interface: nothing in it turns the direction of what stands around
    it, and control characters are pictures of themselves."""
    return text.translate(_HARMLESS)


def visible(text: str) -> str:
    """Text with control characters as pictures; direction marks stay, for a paragraph of its own."""
    return text.translate(_VISIBLE)


def plural(n: int, one: str, many: str) -> str:
    """The sentence for one or for many, with the number in place of `{0}`; both already translated."""
    return (one if n == 1 else many).format(number(n))


def number(value: int) -> str:
    """12400 -> "12,400" or "12.400"."""
    return QLocale().toString(value)


def percent(share: float) -> str:
    """0.36 -> "36 %" with a space that neither breaks nor shouts."""
    return f"{QLocale().toString(round(share * 100))}{NARROW}%"


def thousands(value: int, digits: int = 0) -> str:
    """48210 -> "48 k"; small numbers stay whole."""
    if abs(value) < 1000:
        return number(value)
    return f"{QLocale().toString(value / 1000, 'f', digits)}{NARROW}k"
