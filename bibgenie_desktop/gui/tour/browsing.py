"""The library's step of the tour: search beside the conversation, look at an item, put it into a question."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QToolButton

from bibgenie_desktop.gui.components import Chip
from bibgenie_desktop.gui.docks.library.items import ItemList
from bibgenie_desktop.gui.docks.library.pieces import PieceLine
from bibgenie_desktop.gui.tour.hands import TourFailed
from bibgenie_desktop.gui.tour.scene import Scene, Told


async def browse(scene: Scene) -> Told:
    hands, window = scene.hands, scene.window
    await scene.open_dock("library")
    browser, listed = scene.desk.library_desk.browser, hands.find(ItemList, "libraryItems")
    await hands.until(lambda: listed.items.held > 0 and not browser.busy, "The library lists nothing.")
    whole = listed.items.rowCount()
    title = str(listed.items.index(0, 0).data())
    word = max(title.split(), key=len).strip("“”\"':;,.()")
    hands.type(window.library.browse.field, word)
    await hands.until(
        lambda: browser.listing.words == word and not browser.busy and listed.items.held > 0,
        f"A search for “{word}” found nothing.",
    )
    hands.press(window.library.browse.field, Qt.Key.Key_Down)
    await hands.until(
        lambda: window.library.browse.preview.details is not None, "The chosen item has no preview."
    )
    await hands.pause(0.2)
    details = window.library.browse.preview.details
    if details is None:
        raise TourFailed("The preview went away.")
    pieces = len(window.library.findChildren(PieceLine))
    hands.click(hands.find(QPushButton, "addToQuestion"))
    await hands.until(lambda: window.composer.attachments, "The item did not get into the question.")
    await hands.pause(0.2)
    scene.kept = hands.picture()
    found = listed.items.rowCount()
    window.composer.findChildren(Chip)[0].removed.emit(window.composer.attachments[0].key)
    await hands.until(lambda: not window.composer.attachments, "The item could not be taken out again.")
    window.library.browse.field.clear()
    hands.click(hands.find(QToolButton, "libraryToggle"))
    return (
        f"searched the library for “{word}”, looked at “{details.title}” and added it to the question",
        f"{found} of {whole:,} listed items have the word; the preview shows {pieces} files, notes and "
        "annotations; the item stood in the composer and was taken out again",
    )
