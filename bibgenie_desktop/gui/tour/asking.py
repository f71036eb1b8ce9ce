"""The first half of the tour: a question, its answer with citations, a fork, other versions."""

from __future__ import annotations

from typing import Final

from PySide6.QtWidgets import QPushButton, QToolButton

from bibgenie_desktop.gui.conversation.rows import AnswerRow
from bibgenie_desktop.gui.session_rows import SessionLine
from bibgenie_desktop.gui.tour.hands import TourFailed
from bibgenie_desktop.gui.tour.scene import ANSWER_S, Scene, Told, verified
from bibgenie_desktop.gui.welcome import StarterCard

SEEN_TEXT: Final = 300
"""Letters of an answer that make a picture worth while."""


async def welcome(scene: Scene) -> Told:
    hands, window = scene.hands, scene.window
    await hands.until(lambda: scene.desk.chats.chat is not None, "No session was opened.")
    if not window.welcome_shown:
        hands.click(hands.find(QPushButton, "newSession"))
        await hands.until(lambda: window.welcome_shown, "A new session did not show the first page.")
    if scene.desk.workspace.library_status is None:
        hands.click(hands.find(QPushButton, "sampleLibrary"))

    await hands.until(lambda: scene.desk.library.settled, "No library was read in time.", 60)
    status = scene.desk.workspace.library_status
    cards = [c for c in window.findChildren(StarterCard) if c.isVisible()]
    if status is None or not status.items:
        raise TourFailed("There is no library, or nothing is in it.")
    if not cards:
        raise TourFailed("The library holds no PDF with text, so no question can be made from it.")
    scene.questions = [c.question for c in cards]
    scene.origin = str(scene.desk.chats.chat.session_id) if scene.desk.chats.chat else ""
    return (
        "opened an empty session on the library in use",
        f"{status.items:,} items are loaded; {len(cards)} questions are offered that this library can answer",
    )


async def type_question(scene: Scene) -> Told:
    question = scene.question(0)
    scene.hands.type(scene.window.composer.edit, question)
    await scene.hands.pause(0.6)
    if scene.window.composer.text != question:
        raise TourFailed("The composer does not hold what was typed.")
    send = scene.hands.find(QToolButton, "sendButton")
    if not send.isEnabled():
        raise TourFailed(f"Send is disabled: {send.toolTip()}")
    return f"typed “{question}”", "the composer holds it and Send is enabled"


async def stream(scene: Scene) -> Told:
    hands = scene.hands
    hands.click(hands.find(QToolButton, "sendButton"))
    steps = 0
    stop_seen = False

    def look() -> bool:
        nonlocal steps, stop_seen
        row = next((r for r in reversed(scene.rows()) if isinstance(r, AnswerRow) and r.streaming), None)
        if row is not None and row.steps:
            stop = scene.window.composer.findChild(QToolButton, "stopButton")
            stop_seen = stop_seen or (stop is not None and stop.isVisible())
            if row.text or not steps:
                scene.kept = hands.picture()
            steps = max(steps, len(row.steps))
        return steps > 0 and (scene.is_idle() or (row is not None and len(row.text) > SEEN_TEXT))

    await hands.until(look, "No tool step was seen while the answer was written.", ANSWER_S)
    if not stop_seen:
        raise TourFailed("Stop did not take the place of Send.")
    return (
        "pressed Send and watched the answer being written",
        f"{steps} tool steps were shown while it streamed; Stop took the place of Send",
    )


async def read_answer(scene: Scene) -> Told:
    answer = await scene.answered(1)
    citations = await scene.checked(answer.id)
    if not any(c.state == "verified" for c in citations):
        raise TourFailed(f"None of {len(citations)} citations was found word for word on its page.")
    links = [c.link for c in citations if c.link]
    if not links or not all(link.startswith("zotero://") for link in links):
        raise TourFailed("A citation does not lead into Zotero.")
    await scene.hands.pause(0.3)
    return (
        "waited for the answer and for its quotes to be looked up in the PDFs",
        f"{verified(citations)} stand word for word on the page they name; {len(links)} lead into Zotero "
        f"(the first to {links[0]}); {answer.tool_summary.lower()}",
    )


async def fork(scene: Scene) -> Told:
    answer, before = scene.answers()[-1], len(scene.lines())
    await scene.menu_entry(answer.id, "forkAction")
    await scene.hands.until(
        lambda: scene.desk.chats.chat is not None and scene.desk.chats.chat.session_id != scene.origin,
        "Fork did not open a new session.",
    )
    await scene.open_dock("branches")
    await scene.hands.until(lambda: len(scene.lines()) == before + 1, "The fork is not in the list.")
    chat = scene.desk.chats.chat
    if chat is None or chat.session.leaf_id != answer.id or chat.session.origin_session_id != scene.origin:
        raise TourFailed("The fork does not end at the answer it was made from.")
    await scene.hands.until(
        lambda: any(r.active for r in scene.window.branches.outline.rows),
        "The branch navigator does not show where the session stands.",
    )
    line = next(x for x in scene.lines() if x.id == chat.session_id)
    if not line.depth:
        raise TourFailed("The fork does not stand under its origin.")
    return (
        "right click on the answer, “Fork from here”; opened Branches",
        f"a new session stands under its origin as {line.title}, with the same answer as its leaf and "
        "nothing copied",
    )


async def siblings(scene: Scene) -> Told:
    """Back in the origin: retry, edit, and back to the first version."""
    hands, listed = scene.hands, scene.window.sidebar.list
    at = next(i for i, x in enumerate(listed.lines) if isinstance(x, SessionLine) and x.id == scene.origin)
    hands.click(listed.viewport(), listed.visualRect(listed.model().index(at, 0)).center())
    await hands.until(lambda: scene.front() == scene.origin, "The origin did not open.")
    await hands.until(lambda: bool(scene.answers()), "The origin shows no answer.")
    first = scene.answers()[-1]
    await scene.menu_entry(first.id, "retryAction")
    await hands.until(lambda: not scene.is_idle() or scene.answers()[-1].id != first.id, "Retry did nothing.")
    retried = await scene.answered(1)
    await hands.until(
        lambda: scene.answers()[-1].siblings == (2, 2), "The new answer is not the second of two."
    )
    question = scene.asked()[-1]
    await scene.menu_entry(question.id, "editAction")
    composer = scene.window.composer
    await hands.until(lambda: composer.is_editing and composer.text == question.text, "Edit did not open.")
    composer.edit.selectAll()
    scene.ask(scene.question(1))
    await hands.until(lambda: scene.asked()[-1].id != question.id, "The edited question was not sent.")
    await scene.answered(1)
    await hands.until(
        lambda: scene.asked()[-1].siblings == (2, 2), "The edited question is not the second of two."
    )
    edited = scene.asked()[-1]
    message = scene.message(edited.id)
    before = next(
        (b for b in message.findChildren(QToolButton) if b.accessibleName() == "Previous version"), None
    )
    if before is None:
        raise TourFailed("The edited question has no switch to its other version.")
    await hands.pause()
    hands.click(before)
    await hands.until(
        lambda: scene.answers() and scene.answers()[-1].id == retried.id and scene.is_idle(),
        "The version before the edit did not come back.",
    )
    await hands.until(
        lambda: len([r for r in scene.window.branches.outline.rows if not r.on_path]) >= 2,
        "Branches does not show the other versions.",
    )
    await hands.pause(0.3)
    return (
        "Retry, then Edit with another question, then ‹ back to the first version",
        "two answers to one question and two versions of the question exist; going back showed the "
        f"answer that was read last; Branches lists {len(scene.window.branches.outline.rows)} rows",
    )
