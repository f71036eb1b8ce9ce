"""Telling a text that was extracted badly: fonts without a proper table give letters that mean nothing."""

from __future__ import annotations

import re
from typing import Final

_CID: Final = re.compile(r"\(cid:\d+\)")
_WINDOWS: Final = frozenset("€‚ƒ„†‡ˆ‰Š‹ŒŽ‘’“”˜™š›œžŸ")
"""What Windows puts where Latin-1 has no signs; not dots, dashes and bullets: some pages are full of them."""
_ODD_SHARE, _FOREIGN_SHARE, _SHORTEST = 0.05, 0.5, 40


def garbled(text: str) -> bool:
    """Whether a page's text is more likely mojibake than language."""
    signs = [c for c in text if not c.isspace()]
    if len(signs) < _SHORTEST:
        return False
    odd = sum(c == "\ufffd" or "\ue000" <= c <= "\uf8ff" or c < " " for c in signs)
    odd += sum(len(m) for m in _CID.findall(text))
    if odd > _ODD_SHARE * len(signs):
        return True
    foreign = sum("\u0080" <= c <= "\u00ff" or c in _WINDOWS for c in signs)
    return foreign > _FOREIGN_SHARE * len(signs)
