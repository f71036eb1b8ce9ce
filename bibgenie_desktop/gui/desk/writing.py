"""What the person writes: the draft and what is attached to it, in the composer and on its way out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.parts import Draft, ImagePart, ResourcePart
from bibgenie_desktop.domain.states import Action, SessionState
from bibgenie_desktop.gui.components import Banner
from bibgenie_desktop.gui.composer import ComposerState
from bibgenie_desktop.gui.composer_edit import Dropped
from bibgenie_desktop.gui.docks.context import ContextView
from bibgenie_desktop.gui.pictures.dialog import PictureDialog
from bibgenie_desktop.gui.presenters.chat import ChatPresenter
from bibgenie_desktop.gui.presenters.drafts import Attached
from bibgenie_desktop.gui.presenters.pictures import Offered, Place, Refused
from bibgenie_desktop.gui.presenters.transcript import attachments_of
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.gui.window import MainWindow
from bibgenie_desktop.services.images import MOST_ATTACHED


class Writing(QObject):
    """The composer of a window and the draft of the session in front."""

    draft_changed = Signal(object)
    conversation_offered = Signal(str)
    """The path of a file that may be an exported conversation."""

    def __init__(self, window: MainWindow, chats: ChatPresenter, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._chats = window, chats
        self._view, self._composer, self._bottom = window.conversation, window.composer, window.bottom
        self._attached: Draft = Draft()
        self._share: float | None = None
        self._pictures = chats.pictures
        self._view.set_thumbnails(self._pictures.thumbnails)
        self._composer.set_thumbnails(self._pictures.thumbnails)
        self._connect()

    def _connect(self) -> None:
        chats, composer = self._chats, self._composer
        chats.drafts.shown.connect(self._on_draft_shown)
        chats.drafts.editing_changed.connect(self._on_editing_changed)
        chats.drafts.unsaved_changed.connect(self._on_unsaved_changed)
        composer.send_requested.connect(self._on_send_requested)
        composer.send_refused.connect(self._on_send_refused)
        composer.stop_requested.connect(chats.stop)
        composer.draft_changed.connect(self._on_draft_typed)
        composer.edit_last_requested.connect(chats.edit_last)
        composer.edit_cancelled.connect(self._on_edit_cancelled)
        composer.attachment_removed.connect(self._on_attachment_removed)
        composer.dropped.connect(self._on_dropped)
        composer.attach_requested.connect(self._on_attach_requested)
        composer.picture_requested.connect(self._pictures.open)
        self._view.picture_requested.connect(self._pictures.open)
        self._pictures.taken.connect(self._on_pictures_taken)
        self._pictures.refused.connect(self._on_pictures_refused)
        self._pictures.reading_changed.connect(self.refresh)
        self._pictures.opened.connect(self._on_picture_opened)
        self._window.welcome.starter_chosen.connect(self._on_starter_chosen)

    # -- state

    def show_context(self, view: ContextView) -> None:
        self._share = view.share
        self.refresh()

    def refresh(self) -> None:
        """What the session allows the composer now."""
        chats = self._chats
        chat = chats.chat
        if chat is None:
            return
        state = chats.state
        place = self._place()
        reading = place is not None and self._pictures.is_reading(place)
        waiting = tr("A picture is still being read") if reading else None
        self._composer.set_note(self._unseen())
        self._composer.set_state(
            ComposerState(
                send_reason=chats.refusal(Action.SEND) or waiting,
                streaming=state in (SessionState.STREAMING, SessionState.AWAITING_APPROVAL),
                stop_reason=chats.refusal(Action.STOP),
                frozen=self._frozen(),
                read_only=tr("Read-only: a message can be sent in the copy")
                if state is SessionState.READ_ONLY
                else "",
                share=self._share if chat.damaged is None else None,
                queue_reason=chats.refusal(Action.QUEUE) or waiting,
            )
        )

    def _frozen(self) -> str:
        chat = self._chats.chat
        compacting = self._chats.state is SessionState.COMPACTING
        if chat is not None and (chat.waiting is not None or (compacting and self._chats.drafts.is_sending)):
            return tr("This message is sent when the earlier context has been compacted.")
        return ""

    # -- the draft

    def _draft(self) -> Draft:
        return Draft(self._composer.text, self._attached.attached)

    def _on_draft_shown(self, draft: Draft) -> None:
        self._attached = draft
        self._composer.set_text(draft.text)
        self._composer.set_attachments(attachments_of(draft.attached))
        self.draft_changed.emit(draft)

    def _on_draft_typed(self, _text: str) -> None:
        draft = self._draft()
        self._chats.drafts.typed(draft)
        self.draft_changed.emit(draft)

    def attach(self, parts: Sequence[ImagePart | ResourcePart]) -> None:
        """Adds pictures or Zotero resources to what is being written; what is there already is not added
        twice. Says why where nothing can be written now. An annotation that marks a picture brings it."""
        place = self._place()
        reason = self._composer.state.read_only or self._composer.state.frozen
        if reason or place is None:
            self._window.toast(tr("Not attached"), reason or tr("No session is open."), tone="accent")
            return
        now = self._attached.attached
        new = new_among(parts, now)
        pictures = [part for part in (*now, *new) if isinstance(part, ImagePart)]
        if len(pictures) > MOST_ATTACHED:
            over = set(pictures[MOST_ATTACHED:])
            new = tuple(part for part in new if part not in over)
            said = tr("A message takes at most {0} pictures.").format(MOST_ATTACHED)
            self._window.toast(tr("Not all are attached"), said, tone="accent")
        if not new:
            return
        self._change(Draft(self._composer.text, (*now, *new)))
        self._composer.focus_text()
        self._pictures.take_marked([part for part in new if isinstance(part, ResourcePart)], place)

    def _change(self, draft: Draft) -> None:
        self._on_draft_shown(draft)
        self._chats.drafts.typed(draft)
        self.refresh()

    def _on_attachment_removed(self, key: str) -> None:
        views = attachments_of(self._attached.attached)
        parts = zip(self._attached.attached, views, strict=True)
        kept = tuple(part for part, view in parts if view.key != key)
        self._change(Draft(self._composer.text, kept))

    # -- pictures

    def _place(self) -> Place | None:
        chat = self._chats.chat
        return (chat.session_id, self._chats.drafts.editing) if chat is not None else None

    def _unseen(self) -> str:
        """That the session's model does not see what is attached."""
        chat = self._chats.chat
        if chat is None or not any(isinstance(part, ImagePart) for part in self._attached.attached):
            return ""
        name = self._pictures.blind(chat.session.model)
        return (
            tr("{0} is not known to see pictures: it is told their names and sizes.").format(name)
            if name
            else ""
        )

    def _on_attach_requested(self) -> None:
        dialog = QFileDialog(self._window, tr("Attach pictures"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        pictures = tr("Pictures ({0})").format("*.png *.jpg *.jpeg *.gif *.webp *.bmp *.tif *.tiff *.heic")
        dialog.setNameFilters([pictures, tr("All files (*)")])
        dialog.filesSelected.connect(self._on_files_chosen)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _on_files_chosen(self, files: list[str]) -> None:
        self._take([Offered(Path(file), Path(file).name) for file in files])

    def _on_dropped(self, dropped: Dropped) -> None:
        offered = [Offered(Path(file), Path(file).name) for file in dropped.files]
        if dropped.image is not None:
            offered.append(Offered(dropped.image, self._name_of_pasted()))
        self._take(offered)

    def _name_of_pasted(self) -> str:
        """Numbered, so that question and answer can tell them apart."""
        taken = {view.text for view in self._composer.attachments}
        names = (tr("Pasted picture {0}").format(number) for number in range(1, len(taken) + 2))
        return next(name for name in names if name not in taken)

    def _take(self, offered: Sequence[Offered]) -> None:
        exports = [one for one in offered if isinstance(one.source, Path) and one.source.suffix == ".json"]
        for one in exports:
            self.conversation_offered.emit(str(one.source))
        offered = [one for one in offered if one not in exports]
        if not offered:
            return
        place = self._place()
        reason = self._composer.state.read_only or self._composer.state.frozen
        if reason or place is None:
            self._window.toast(tr("Not attached"), reason or tr("No session is open."), tone="accent")
        else:
            self._pictures.take(offered, place)

    def _on_pictures_taken(self, place: Place, parts: Attached) -> None:
        if place == self._place():
            self.attach(parts)
        else:
            self._pictures.attach_later(place, parts)

    def _on_pictures_refused(self, refused: list[Refused]) -> None:
        names = ", ".join(f"“{one.name}”" for one in refused[:3]) + (" …" if len(refused) > 3 else "")
        said = " ".join(dict.fromkeys(one.error.text for one in refused))
        self._window.toast(tr("Not attached: {0}").format(names), said, tone="warn")

    def _on_picture_opened(self, name: str, image: QImage) -> None:
        PictureDialog(name, image, self._window).open()

    def _on_unsaved_changed(self, error: UserError | None) -> None:
        """True as long as it is shown: it goes as soon as the text is stored."""
        shown = self._bottom.banner("unsaved")
        if error is None:
            self._bottom.set_banner("unsaved", None)
            return
        title = tr("What you are writing is not saved yet. It is tried again.")
        if isinstance(shown, Banner):
            shown.say(title, str(error))
        else:
            self._bottom.set_banner("unsaved", Banner("bad", title, str(error), object_name="unsavedBanner"))

    # -- sending

    def _on_send_requested(self, _text: str) -> None:
        self._chats.drafts.now = self._draft()
        self._chats.send(self._draft())
        self._view.scroll_to_end()

    def send_anyway(self) -> None:
        """Without the compaction that failed or was cancelled."""
        self._chats.send_anyway(self._draft())

    def _on_starter_chosen(self, question: str) -> None:
        draft = Draft(question)
        self._composer.set_text(question)
        self._chats.drafts.now = draft
        self._chats.send(draft)

    def _on_send_refused(self, reason: str) -> None:
        self._window.toast(tr("Not sent"), reason, tone="accent")

    # -- editing

    def edit_last(self) -> None:
        """The last question into the composer; what stands there now comes back after the edit."""
        self._composer.flush_draft()
        self._chats.edit_last()

    def leave_edit(self) -> bool:
        """False where nothing is being edited."""
        if not self._composer.is_editing:
            return False
        self._on_edit_cancelled()
        return True

    def _on_editing_changed(self, message_id: object) -> None:
        words = ""
        if message_id is not None and not self._chats.is_newest(str(message_id)):
            words = tr("Editing as a new branch: what follows this message leaves the view, and is kept")
        self._composer.set_editing(message_id is not None, words)
        if message_id is not None:
            self._composer.focus_text()

    def _on_edit_cancelled(self) -> None:
        if self._chats.chat is not None:
            self._chats.drafts.cancel_edit(self._chats.chat)


def new_among(parts: Sequence[ImagePart | ResourcePart], now: Attached) -> Attached:
    """Each once; the same picture under another name is the same."""
    blobs = {part.blob for part in now if isinstance(part, ImagePart)}
    new: dict[ImagePart | ResourcePart, None] = {}
    for part in parts:
        if isinstance(part, ImagePart):
            if part.blob in blobs:
                continue
            blobs.add(part.blob)
        if part not in now:
            new[part] = None
    return tuple(new)
