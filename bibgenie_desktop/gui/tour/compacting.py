"""The second half of the tour: compaction, what the model sees, the models, and a restart."""

from __future__ import annotations

import json
from typing import Any, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from bibgenie_desktop.domain.states import Action
from bibgenie_desktop.gui.conversation.rows import VerbatimRow
from bibgenie_desktop.gui.popovers.models import ModelLine, verdict_words
from bibgenie_desktop.gui.tour.hands import Hands, TourFailed
from bibgenie_desktop.gui.tour.scene import ANSWER_S, Scene, Told, verified
from bibgenie_desktop.services import events

HALF_A_THOUGHT: Final = "One more thing that I have not finished typ"


async def compact(scene: Scene) -> Told:
    hands = scene.hands
    count = len(scene.answers())
    scene.ask(scene.question(2))
    await scene.answered(count + 1)
    ended: list[events.CompactionEnded] = []
    shut = 0
    scene.desk.chats.compaction_ended.connect(ended.append)

    def look() -> bool:
        nonlocal shut
        front, bar = scene.desk.chats.front, scene.window.toolbar
        if not ended and front is not None and front.progress is not None and front.progress.written:
            refused = [scene.desk.chats.refusal(a) for a in (Action.CHOOSE_MODEL, Action.COMPACT)]
            banner = scene.window.bottom.banner("compaction")
            if all(refused) and banner is not None and banner.isVisible():
                shut += not bar.switcher.isEnabled() and not bar.compact.isEnabled()
                scene.kept = hands.picture()
        return bool(ended)

    try:
        hands.click(hands.find(QPushButton, "compactAction"))
        await hands.until(look, "The compaction did not end.", ANSWER_S)
    finally:
        scene.desk.chats.compaction_ended.disconnect(ended.append)
    if ended[0].outcome != "done":
        raise TourFailed(f"The compaction ended as {ended[0].outcome}: {ended[0].message}")
    if not shut:
        raise TourFailed("No banner with progress was seen, or models and Compact stayed enabled.")
    return (
        f"asked “{scene.question(2)}”, then pressed Compact",
        "a banner showed the progress with Cancel while models and Compact were disabled; "
        f"{ended[0].tokens_before:,} tokens became {ended[0].tokens_after:,}",
    )


async def read_checkpoint(scene: Scene) -> Told:
    await scene.hands.until(lambda: scene.is_idle() and bool(scene.checkpoints()), "There is no divider.")
    point = scene.checkpoints()[-1]
    scene.checkpoint = point.id
    if len(point.sections) != 8:
        raise TourFailed(f"The checkpoint has {len(point.sections)} of 8 sections.")
    kept = [r for r in scene.rows() if isinstance(r, VerbatimRow)]
    if not kept:
        raise TourFailed("Nothing says where the word-for-word part begins.")
    message = scene.message(point.id)
    scene.hands.click(scene.hands.find(QPushButton, "checkpointToggle", message))
    await scene.hands.pause(0.3)
    scene.window.conversation.scroll_to(point.id)
    await scene.hands.pause(0.3)
    return (
        "opened the divider",
        f"the summary has its eight sections and {point.resources} resources; the newest turn is kept "
        "word for word; every message is still there",
    )


async def show_context(scene: Scene) -> Told:
    hands = scene.hands
    await scene.open_dock("context")
    await hands.until(
        lambda: scene.window.toolbar.meter.view is not None and scene.window.toolbar.meter.view.parts[2] > 0,
        "The context meter shows no checkpoint.",
    )
    hands.click(hands.find(QPushButton, "fullRequest"))
    await hands.until(lambda: bool(scene.dialogs()), "The full request was not shown.")
    dialog = scene.dialogs()[-1]
    shown = dialog.findChildren(QPlainTextEdit)[0].toPlainText()
    body = await scene.body()
    if json.loads(shown) != body:
        raise TourFailed("The request that is shown is not the one that would be sent.")
    _check_checkpoint(body)
    dialog.accept()
    hands.click(hands.find(QPushButton, "tryCompact"))
    await hands.until(lambda: bool(scene.window.context.trial_words), "Try Compact said nothing.")
    hands.click(hands.find(QPushButton, "checkpointHead"))
    await hands.pause(0.3)
    view = scene.window.toolbar.meter.view
    size = view.used if view is not None else 0
    return (
        "opened Context, the full request, Try Compact and the checkpoint",
        f"Try Compact says: {scene.window.context.trial_words}; "
        f"the next request takes {size:,} tokens, of which the checkpoint is one part; the JSON shown is "
        f"exactly what would be sent, with {len(body.get('messages', ()))} messages",
    )


async def choose_models(scene: Scene) -> Told:
    hands = scene.hands
    hands.type(scene.window.composer.edit, scene.question(1))
    await hands.pause(0.5)
    hands.click(hands.find(QPushButton, "modelSwitcher"))
    await hands.until(lambda: bool(scene.sheets()), "The list of models did not open.")
    sheet = scene.sheets()[-1]
    lines = sheet.findChildren(ModelLine)
    chat = scene.desk.chats.chat
    if chat is None or len(lines) != len(scene.desk.workspace.profiles()):
        raise TourFailed("Not every model is listed.")
    verdicts = await chat.verdicts(scene.desk.chats.drafts.now)
    said = "; ".join(f"{v.profile.label}: {verdict_words(v)[2]}" for v in verdicts)
    await hands.pause(0.2)
    scene.kept = hands.picture()
    sheet.close()
    return "typed another question and opened the models", f"each model has its verdict ({said})"


async def follow_up(scene: Scene) -> Told:
    count = len(scene.answers())
    question = scene.window.composer.text
    body = await scene.body()
    _check_checkpoint(body)
    scene.hands.press(scene.window.composer.edit, Qt.Key.Key_Return)
    answer = await scene.answered(count + 1)
    if scene.asked()[-1].text != question:
        raise TourFailed("Another question was sent than the one that was typed.")
    await scene.open_dock("branches")
    citations = await scene.checked(answer.id)
    await scene.hands.pause(0.3)
    return (
        f"sent “{question}”",
        "the request began with the checkpoint and carried the kept turn and the question; "
        f"{verified(citations)} of the answer are verified",
    )


async def restart(scene: Scene) -> Told:
    hands = scene.hands
    before = [(r.id, getattr(r, "text", "")) for r in scene.rows()]
    sessions = {x.id for x in scene.lines()}
    hands.type(scene.window.composer.edit, HALF_A_THOUGHT)
    await scene.stage.restart()
    scene.hands = hands = Hands(scene.stage.window)
    await hands.until(
        lambda: scene.front() == scene.origin and bool(scene.rows()), "The session is not shown."
    )
    await hands.until(
        lambda: [(r.id, getattr(r, "text", "")) for r in scene.rows()] == before,
        "After the restart the conversation is not what it was.",
    )
    await hands.until(lambda: {x.id for x in scene.lines()} == sessions, "A session is missing.")
    if scene.window.composer.text != HALF_A_THOUGHT:
        raise TourFailed("What was being typed did not survive the restart.")
    if not any(c.id == scene.checkpoint for c in scene.checkpoints()):
        raise TourFailed("The checkpoint did not survive the restart.")
    await scene.checked(scene.answers()[-1].id)
    await hands.pause(0.3)
    return (
        "quit in the middle of a sentence and started again on the same data",
        f"{len(sessions)} sessions, {len(before)} rows, the checkpoint and the half-typed text are back",
    )


def _check_checkpoint(body: dict[str, Any]) -> None:
    if "<checkpoint>" not in json.dumps(body, ensure_ascii=False):
        raise TourFailed("The next request does not contain the checkpoint.")
