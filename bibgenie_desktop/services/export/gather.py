"""What an export needs, read from a store in one go, and the one door to every format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from bibgenie_desktop.domain.ids import SessionId
from bibgenie_desktop.domain.messages import (
    AssistantMessage,
    Checkpoint,
    Message,
    Path,
    PendingReply,
    Session,
)
from bibgenie_desktop.domain.parts import Part, images_of
from bibgenie_desktop.domain.topology import BrokenNode, DamagedBranch, Placeholder
from bibgenie_desktop.services.export.html import export_html
from bibgenie_desktop.services.export.markdown import export_markdown
from bibgenie_desktop.services.export.proposals import Fate, fates_of
from bibgenie_desktop.services.export.whole import export_json
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.values import Blob, NotFound, StoredDraft

ExportFormat: TypeAlias = Literal["md", "html", "json"]
FORMATS: Final[tuple[ExportFormat, ...]] = ("md", "html", "json")


@dataclass(frozen=True, slots=True)
class Material:
    """Everything about one session that a format may want. `damage` is why its path has placeholders."""

    session: Session
    path: tuple[Message | Placeholder, ...]
    damage: str
    nodes: tuple[Message | BrokenNode, ...]
    drafts: tuple[StoredDraft, ...]
    pending: PendingReply | None
    blobs: Mapping[str, Blob]
    fates: Mapping[str, Fate]
    """What has become of its proposals, by the ids of their calls."""


def gather(store: Store, session_id: SessionId) -> Material:
    """Reads only; also from a damaged session. Usage: `await worker.run(gather, session_id)`."""
    session = store.session(session_id)
    path = whole_path(store, session)
    pending = store.open_branch(session_id, 1).pending
    nodes = store.nodes(session.tree_id)
    drafts = store.drafts(session_id)
    parts: list[Part] = [p for n in nodes if not isinstance(n, BrokenNode | Checkpoint) for p in n.parts]
    parts += [part for stored in drafts for part in stored.draft.attached]
    parts += pending.parts if pending is not None else ()
    return Material(
        session=session,
        path=path.readable if isinstance(path, DamagedBranch) else path,
        damage=path.reason if isinstance(path, DamagedBranch) else "",
        nodes=nodes,
        drafts=drafts,
        pending=pending,
        blobs=_blobs(store, parts),
        fates=fates_of(store, [n.id for n in nodes if isinstance(n, AssistantMessage)]),
    )


def write(material: Material, format: ExportFormat) -> str:
    """The text of the file. Pure; may take a while for a long conversation."""
    match format:
        case "md":
            return export_markdown(material.session, material.path, material.damage, material.fates)
        case "html":
            pictures = {sha: blob.data for sha, blob in material.blobs.items()}
            return export_html(material.session, material.path, pictures, material.damage, material.fates)
        case "json":
            return export_json(
                material.session,
                material.nodes,
                material.drafts,
                material.pending,
                tuple(material.blobs.values()),
                material.fates,
            )


def whole_path(store: Store, session: Session) -> Path | DamagedBranch:
    """A session's path from its first message to its leaf, checked."""
    damaged = store.check_session(session.id)
    if damaged is not None:
        return damaged
    return store.path_to(session.leaf_id) if session.leaf_id is not None else ()


def _blobs(store: Store, parts: Iterable[Part]) -> dict[str, Blob]:
    """The pictures that are there; a missing one is no reason to export nothing."""
    found: dict[str, Blob] = {}
    for blob in dict.fromkeys(image.blob for image in images_of(parts)):
        try:
            found[blob] = store.blob(blob)
        except NotFound:
            continue
    return found
