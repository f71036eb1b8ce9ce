"""The Library dock: browsing and searching Zotero, and what this conversation used of it."""

from bibgenie_desktop.gui.docks.library.panel import LibraryPanel
from bibgenie_desktop.gui.docks.library.values import LibraryFacts, ListHead, PlaceRow, Texts, UsedSource

__all__ = ["LibraryFacts", "LibraryPanel", "ListHead", "PlaceRow", "Texts", "UsedSource"]
