"""Pages and marked areas as pictures for the rest of the application; drawn by the worker process."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.zotero.files.documents import Documents
from bibgenie_desktop.zotero.model.annotations import Annotation

DEFAULT_DPI: Final = 110
AREA_DPI: Final = 200
"""At least, for a part of a page: it is small, and drawn larger it is read better."""
LONGEST_EDGE: Final = 1_568
MOST_CACHED_BYTES: Final = 3_500_000
MOST_CACHED_EDGE: Final = 4_000
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class PageImage:
    """A PNG; `index` counts pages from 0. `whole`: the page, not an area of it."""

    data: bytes
    width: int
    height: int
    index: int
    label: str
    whole: bool


async def page_image(
    documents: Documents, path: Path, index: int, dpi: int, area: Sequence[float] = ()
) -> PageImage:
    """Raises `DocumentUnreadable`."""
    info = await documents.info(path)
    if not 0 <= index < info.pages:
        raise DocumentUnreadable("This document has no such page.", f"It has pages 1 to {info.pages}.")
    request = {"op": "image", "page": index, "dpi": dpi, "edge": LONGEST_EDGE, "area": list(area)}
    answer = await documents.ask(path, request)
    return PageImage(
        base64.b64decode(str(answer["png"])),
        int(answer["width"]),
        int(answer["height"]),
        index,
        info.labels[index] if info.labels else "",
        not area,
    )


def cached_image(data_dir: Path, annotation: Annotation, library_id: str) -> PageImage | None:
    """The picture that Zotero itself drew of an annotation; None without a usable one."""
    cache = data_dir / "cache"
    folder = cache / "library" if library_id == "u" else cache / "groups" / library_id.removeprefix("g")
    try:
        with (folder / f"{annotation.key}.png").open("rb") as file:
            data = file.read(MOST_CACHED_BYTES + 1)
    except OSError:
        return None
    if len(data) > MOST_CACHED_BYTES or len(data) < 33 or not data.startswith(_SIGNATURE):
        return None
    width, height = struct.unpack(">II", data[16:24])
    if not (8 <= width <= MOST_CACHED_EDGE and 8 <= height <= MOST_CACHED_EDGE):
        return None
    page = annotation.place.page_index
    return PageImage(data, width, height, page if page is not None else -1, annotation.page_label, False)
