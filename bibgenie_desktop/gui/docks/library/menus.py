"""The menus of items and of their pieces. Every entry reports a wish; nothing is done here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QWidget

from bibgenie_desktop.gui.components import Menu
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.services.library.item_details import Piece

COPIES = (
    ("citation", "Citation"),
    ("bibliography", "Reference"),
    ("link", "Markdown link"),
    ("bibtex", "BibTeX"),
    ("ris", "RIS"),
    ("csl-json", "CSL-JSON"),
    ("citekey", "Citation key"),
)
STYLED = ("citation", "bibliography")


def item_menu(
    ids: tuple[str, ...], style: str, wish: Callable[[str, tuple[str, ...]], None], parent: QWidget
) -> Menu:
    """`wish` gets `add`, `ask`, `open`, `sessions`, `style` or `copy:FORM`, and the ids."""
    menu = Menu(parent)
    one = None if len(ids) == 1 else tr("Choose one item for this.")
    for what, words, icon, reason in (
        ("add", tr("Add to question"), "plus", None),
        ("ask", tr("Ask about this item") if not one else tr("Ask about these items"), "edit", None),
        ("open", tr("Open in Zotero"), "external", one),
    ):
        menu.entry(words, partial(wish, what, ids), icon=icon, reason=reason, object_name=f"item_{what}")
    menu.addSeparator()
    copy = menu.submenu(tr("Copy"), icon="copy")
    copy.setObjectName("itemCopyMenu")
    for form, words in COPIES:
        said = f"{tr(words)} ({style})" if style and form in STYLED else tr(words)
        copy.entry(said, partial(wish, f"copy:{form}", ids), object_name=f"item_copy_{form}")
    copy.addSeparator()
    copy.entry(tr("Citation style…"), partial(wish, "style", ids), object_name="item_style")
    menu.addSeparator()
    menu.entry(
        tr("Show sessions that used this item"),
        partial(wish, "sessions", ids),
        icon="search",
        reason=one,
        object_name="item_sessions",
    )
    menu.aboutToHide.connect(menu.deleteLater)
    return menu


def piece_menu(piece: Piece, wish: Callable[[str, tuple[str, ...]], None], parent: QWidget) -> Menu:
    """`wish` gets `add`, `ask`, `link` (with the link) or `text` (with the words)."""
    menu = Menu(parent)
    none = None if piece.link else tr("Zotero cannot be opened at this place.")
    text = "\n\n".join(t for t in (piece.text, piece.comment) if t)
    menu.entry(tr("Add to question"), partial(wish, "add", (piece.id,)), icon="plus", object_name="piece_add")
    menu.entry(tr("Ask about this in a new session"), partial(wish, "ask", (piece.id,)), icon="edit")
    menu.entry(tr("Open in Zotero"), partial(wish, "link", (piece.link,)), icon="external", reason=none)
    menu.entry(tr("Copy text"), partial(wish, "text", (text,)), icon="copy")
    menu.aboutToHide.connect(menu.deleteLater)
    return menu
