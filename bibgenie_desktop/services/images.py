"""Pictures: how large they may be, and their way into the store and from there into a request.

A picture is decoded and scaled once, where Qt is (`gui/pictures`) or in the reader of PDF files; what is kept
is what every provider takes, and is sent as it is kept. Coding it for a dialect is the encoders' work.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.parts import ImagePart
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.values import NotFound
from bibgenie_desktop.storage.worker import StoreWorker

LONGEST_EDGE: Final = 1_568
"""Pixels. Larger pictures are scaled down by the strictest common provider itself, which costs time only."""
LEAST_EDGE: Final = 8
"""Pixels of the shorter edge; narrower pictures are refused by several providers and show nothing."""
MOST_BYTES: Final = 3_500_000
"""Of one picture as it is kept: the strictest provider takes 5 MB after coding, which adds a third."""
MOST_PIXELS: Final = 40_000_000
"""Of a picture that comes in: 160 MB once it is decoded."""
MOST_FILE_BYTES: Final = 60_000_000
MOST_ATTACHED: Final = 20
"""Pictures of one message: each costs as much context as a page of text."""

_CODED = re.compile(r"((?:data:image/[a-z]+;base64,)?(?:iVBORw0KGgo|/9j/)[A-Za-z0-9+/]{16})[A-Za-z0-9+/]+=*")
"""A PNG or JPEG as encoders write it: the whole of a text."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture ready to be kept: PNG or JPEG within the limits."""

    data: bytes
    mime: str
    width: int
    height: int
    name: str


class PictureRefused(UserError):
    """A picture that cannot be taken, and why."""


def fitted(width: int, height: int) -> tuple[int, int]:
    """The size in which a picture is kept: never larger than it is. Raises `PictureRefused`."""
    if width < 1 or height < 1:
        raise PictureRefused("This picture is empty.")
    if width * height > MOST_PIXELS:
        raise PictureRefused(
            f"This picture has {width:,} × {height:,} pixels; at most 40 million can be taken.",
            "Make it smaller in a picture program, or attach a part of it.",
        )
    scale = min(1.0, LONGEST_EDGE / max(width, height))
    fitting = max(1, round(width * scale)), max(1, round(height * scale))
    if min(fitting) < LEAST_EDGE:
        raise PictureRefused(
            f"This picture has {width:,} × {height:,} pixels: too narrow to show anything.",
            "Attach a wider part of it.",
        )
    return fitting


async def keep(store: StoreWorker, pictures: Iterable[Picture]) -> tuple[ImagePart, ...]:
    """Keeps pictures by content hash and names them as parts."""
    return tuple(
        [
            ImagePart(
                await store.run(Store.put_blob, one.data, one.mime, one.width, one.height),
                one.name,
                one.mime,
                one.width,
                one.height,
            )
            for one in pictures
        ]
    )


def pictures_of(store: Store, hashes: Sequence[str]) -> dict[str, bytes]:
    """The bytes of pictures; one that is gone is left out, and its place in a request is a note."""
    found: dict[str, bytes] = {}
    for one in hashes:
        try:
            found[one] = store.blob(one).data
        except NotFound:
            continue
    return found


def abridged(body: Any) -> Any:
    """A request's body for reading: the same, with the code of each picture cut to its beginning and size."""
    match body:
        case str():
            coded = _CODED.fullmatch(body)
            return body if coded is None else f"{coded[1]}… [{len(body) * 3 // 4 / 1_000:,.0f} kB of picture]"
        case list() | tuple():
            return [abridged(each) for each in body]
        case Mapping():
            return {key: abridged(value) for key, value in body.items()}
        case _:
            return body
