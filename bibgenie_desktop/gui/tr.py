"""Words and numbers in the person's language.

`tr()` looks a sentence up in the installed `QTranslator`s; numbers follow the current `QLocale`. English
source strings are the keys. Installing translators is the application's business.
"""

from typing import Final

from PySide6.QtCore import QCoreApplication, QLocale

CONTEXT: Final = "BibGenie"
NARROW: Final = "\u202f"  # narrow no-break space: before % and between a number and its unit


def tr(text: str, n: int = -1) -> str:
    """The text in the person's language; `%n` is replaced by `n` and picks the plural form."""
    return QCoreApplication.translate(CONTEXT, text, None, n)


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
