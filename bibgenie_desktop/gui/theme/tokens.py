"""Design tokens: colour roles, space, radii, type, and the pairs that must stay readable.

Pure values, no Qt. How they reach the screen is `theme.py`'s business.
"""

from dataclasses import dataclass, fields
from typing import Final


@dataclass(frozen=True, slots=True)
class Colors:
    """Colour roles. Every widget takes its colours from here, by role, never by value."""

    # surfaces, back to front
    canvas: str  # conversation, editor areas
    side: str  # sidebar, docks, toolbar
    raised: str  # cards, popovers, composer
    sunken: str  # code, wells, search fields
    bubble: str  # user message
    hover: str  # hover on side/canvas
    pressed: str
    selected: str  # current row in lists
    tooltip: str
    # lines
    line: str  # hairlines, card borders (decorative)
    line_strong: str  # hovered card borders, splitter
    outline: str  # borders that identify a control: 3:1
    # text
    text: str
    text2: str  # secondary
    text3: str  # meta, placeholders: still 4.5:1
    on_tooltip: str
    # the one accent
    accent: str  # text, icons, focus ring
    accent_fill: str  # primary buttons, progress
    accent_fill_hover: str
    accent_soft: str  # tinted backgrounds
    on_accent: str
    # meanings, each as text + soft background
    ok: str
    ok_soft: str
    warn: str
    warn_soft: str
    bad: str
    bad_soft: str
    # context meter, by kind, in stacking order
    kind_system: str
    kind_tools: str
    kind_checkpoint: str
    kind_tail: str
    kind_draft: str
    kind_reserve: str
    # code
    code_keyword: str
    code_string: str
    code_number: str
    code_comment: str
    code_name: str
    # selected text, and the focus ring on a filled button
    selection: str
    focus_on_fill: str


LIGHT: Final = Colors(
    canvas="#FFFFFF", side="#F7F6F3", raised="#FFFFFF", sunken="#F4F3EF", bubble="#F4F3EF",
    hover="#EEECE7", pressed="#E5E3DC", selected="#E9E7E0", tooltip="#26272B",
    line="#E8E6E0", line_strong="#D5D2CA", outline="#8C8A83",
    text="#1E1F22", text2="#56585E", text3="#64666C", on_tooltip="#F3F2EE",
    accent="#3454A4", accent_fill="#3B5DB5", accent_fill_hover="#304F9F", accent_soft="#ECF0FA",
    on_accent="#FFFFFF",
    ok="#22693F", ok_soft="#EBF4EE", warn="#7F5200", warn_soft="#FAF4E4",
    bad="#A52A25", bad_soft="#FAEFED",
    kind_system="#23345F", kind_tools="#6D7E9E", kind_checkpoint="#A8742A", kind_tail="#3B5DB5",
    kind_draft="#8FA9E6", kind_reserve="#C9C6BD",
    code_keyword="#7A3E9D", code_string="#22693F", code_number="#8A4B08", code_comment="#686A70",
    code_name="#2B4C9B", selection="#CBD8F7", focus_on_fill="#14244F",
)  # fmt: skip

DARK: Final = Colors(
    canvas="#18191C", side="#131416", raised="#202226", sunken="#25272B", bubble="#222428",
    hover="#282A2F", pressed="#33363C", selected="#2D2F35", tooltip="#33363C",
    line="#2C2E33", line_strong="#3E4147", outline="#767980",
    text="#E6E5E1", text2="#B0B1B3", text3="#95979C", on_tooltip="#F0EFEC",
    accent="#9FB6F4", accent_fill="#4A69C2", accent_fill_hover="#4461B4", accent_soft="#232A3C",
    on_accent="#FFFFFF",
    ok="#7CC494", ok_soft="#1B2A21", warn="#DDB163", warn_soft="#2E2617",
    bad="#F0958D", bad_soft="#351F1E",
    kind_system="#C9D3EC", kind_tools="#7C89A3", kind_checkpoint="#CF9A4C", kind_tail="#6586DE",
    kind_draft="#3F5596", kind_reserve="#4A4D54",
    code_keyword="#C79BE6", code_string="#8FCBA2", code_number="#E0AE72", code_comment="#95979C",
    code_name="#9FB6F4", selection="#34466F", focus_on_fill="#DCE5FD",
)  # fmt: skip

ROLES: Final = tuple(f.name for f in fields(Colors))

SPACE: Final = (2, 4, 6, 8, 12, 16, 24, 32, 48)
RADIUS: Final = {"chip": 5, "control": 7, "card": 10, "sheet": 14}

# Sizes are multiples of the system font's size (13 px in the pictures).
TYPE: Final = {
    "caption": 0.85,  # 11: section heads, badges
    "small": 0.92,  # 12: meta, secondary rows
    "body": 1.0,  # 13: interface
    "read": 1.19,  # 15.5: conversation
    "title": 1.19,  # 15.5: dialog and session titles
    "display": 1.85,  # 24: welcome only
}
WEIGHT: Final = {"regular": 400, "medium": 500, "semibold": 600}

# First family found wins. The interface uses the system's font; INTERFACE only where the system names none.
INTERFACE: Final = ("Inter", "Noto Sans", "Open Sans", "Cantarell", "Ubuntu", "DejaVu Sans")
READING_SERIF: Final = (
    "Charter", "Iowan Old Style", "Source Serif 4", "Charis SIL", "Sitka Text", "Georgia", "Noto Serif",
)  # fmt: skip
MONO: Final = (
    "SF Mono", "Cascadia Mono", "JetBrains Mono", "Menlo", "Consolas", "Noto Sans Mono", "DejaVu Sans Mono",
)  # fmt: skip

_SURFACES: Final = ("canvas", "side", "raised", "sunken", "bubble")
_CODE: Final = ("code_keyword", "code_string", "code_number", "code_comment", "code_name")

# (text role, background role, least contrast)
PAIRS: Final = (
    *((t, b, 4.5) for t in ("text", "text2", "text3") for b in (*_SURFACES, "hover", "selected")),
    *(("accent", b, 4.5) for b in (*_SURFACES, "accent_soft", "hover", "selected")),
    ("on_accent", "accent_fill", 4.5),
    ("on_accent", "accent_fill_hover", 4.5),
    ("on_tooltip", "tooltip", 4.5),
    ("text", "selection", 4.5),
    *((k, b, 4.5) for k in ("ok", "warn", "bad") for b in (*_SURFACES[:4], f"{k}_soft")),
    *(("text", f"{k}_soft", 4.5) for k in ("ok", "warn", "bad", "accent")),
    *(("text2", f"{k}_soft", 4.5) for k in ("ok", "warn", "bad", "accent")),
    *((c, "sunken", 4.5) for c in _CODE),
    *(("outline", b, 3.0) for b in ("canvas", "side", "raised")),
    *(("accent", b, 3.0) for b in ("canvas", "side", "raised", "selected")),  # focus ring
    *((k, "side", 3.0) for k in ("kind_system", "kind_tools", "kind_checkpoint", "kind_tail")),
)  # fmt: skip


def luminance(color: str) -> float:
    """Relative luminance (WCAG 2)."""
    channels = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a: str, b: str) -> float:
    """Contrast ratio of two colours (WCAG 2): 1 to 21."""
    hi, lo = sorted((luminance(a), luminance(b)), reverse=True)
    return (hi + 0.05) / (lo + 0.05)
