"""The Zotero library as the window uses it: browsing, previews, attaching, references, and its texts' index.

Also the two questions that conversations answer about works: which ones a session used, and which sessions
used one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.messages import Checkpoint, Message
from bibgenie_desktop.domain.topology import DamagedBranch, Placeholder
from bibgenie_desktop.domain.works import ids_used
from bibgenie_desktop.services.export.gather import whole_path
from bibgenie_desktop.services.images import Picture, PictureRefused
from bibgenie_desktop.services.library.attaching import Attaching
from bibgenie_desktop.services.library.browsing import Browsing
from bibgenie_desktop.services.library.item_details import Details
from bibgenie_desktop.services.library.referencing import Referencing
from bibgenie_desktop.services.showing import Showing
from bibgenie_desktop.services.tools.arguments import BadArguments
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.worker import StoreWorker
from bibgenie_desktop.zotero.index.fulltext import Coverage
from bibgenie_desktop.zotero.model.library import Contents
from bibgenie_desktop.zotero.service import ZoteroLibrary

__all__ = ["Coverage", "LibraryRoom"]


class LibraryRoom:
    """Belongs to one library; with another one, there is another room."""

    def __init__(self, library: ZoteroLibrary, store: StoreWorker) -> None:
        self._library, self._store = library, store
        self.browsing = Browsing(library)
        self.details = Details(library)
        self.attaching = Attaching(library)
        self.referencing = Referencing(library)
        self._showing = Showing(library)

    @property
    def coverage(self) -> Coverage:
        return self._library.coverage

    async def index_texts(self, progress: Callable[[Coverage], None]) -> None:
        """Reads the texts of the files that are not indexed yet; what was done stays when it is cancelled."""
        await self._library.index_texts(progress)

    def is_picture(self, full_id: str) -> bool:
        """Whether an annotation marks a picture or is a drawing."""
        mark = self._library.contents.annotations.get(full_id)
        return mark is not None and mark.type in ("image", "ink")

    async def picture_of(self, full_id: str, page: str = "") -> Picture:
        """What an annotation marks, or a page of a PDF by its number or label. Raises `UserError`."""
        try:
            marked = full_id in self._library.contents.annotations
            shown = self._showing.annotation(full_id) if marked else self._showing.page(full_id, page)
            return (await shown).picture
        except BadArguments as error:
            raise PictureRefused(str(error)) from error

    async def used_by(self, session_id: SessionId) -> tuple[str, ...]:
        """The items that a session's whole path used, in the order of first use."""
        path = await self._store.run(_path, session_id)
        used = [
            full_id
            for message in path
            if not isinstance(message, Placeholder | Checkpoint)
            for full_id in ids_used(message.parts)
        ]
        return await self._library.apart(lambda: _items_of(used, self._library.contents))

    async def sessions_using(self, full_id: str) -> tuple[SessionId, ...]:
        """The sessions whose path used an item or one of its files, the newest first; the trash included."""
        item = self._library.item(full_id)
        ids: Sequence[str] = (full_id, *(a.id for a in item.attachments)) if item is not None else (full_id,)
        messages: list[MessageId] = []
        after = ""
        while True:
            found, after = await self._store.run(Store.using, ids, after)
            messages += found
            if not after:
                break
        return await self._store.run(Store.sessions_through, messages) if messages else ()


def _items_of(ids: Sequence[str], contents: Contents) -> tuple[str, ...]:
    """The items that ids of items and attachments lead to, each once."""
    found: dict[str, None] = {}
    for full_id in dict.fromkeys(ids):
        attachment = contents.attachments.get(full_id)
        item = attachment.item_id if attachment is not None else full_id
        if item in contents.items:
            found[item] = None
    return tuple(found)


def _path(store: Store, session_id: SessionId) -> tuple[Message | Placeholder, ...]:
    path = whole_path(store, store.session(session_id))
    return path.readable if isinstance(path, DamagedBranch) else path
