"""Pictures of the conversation and its parts, for looking at: `python -m tests.gui.gallery FOLDER [light]
[200]`.

Not a test. Every scene is a real window, shown on the platform that Qt finds and saved as PNG.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication, QFrame, QProgressBar, QPushButton, QWidget

from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.components import Banner, box, column, push
from bibgenie_desktop.gui.composer import ComposerState
from bibgenie_desktop.gui.composer_dock import ComposerDock
from bibgenie_desktop.gui.conversation.citation_card import make_popover
from bibgenie_desktop.gui.conversation.rows import Row
from bibgenie_desktop.gui.conversation.view import ConversationView
from tests.gui import samples
from tests.gui.fit import LongTranslator


def window(rows: list[Row], dock: ComposerDock) -> QFrame:
    view = ConversationView()
    frame = box(column(view, dock, spacing=0), surface="canvas")
    frame.view = view  # type: ignore[attr-defined]
    view.set_rows(rows)
    return frame


def main_scene() -> QWidget:
    dock = ComposerDock()
    dock.composer.set_attachments(samples.CHIPS[:1])
    dock.composer.set_state(ComposerState(share=0.36))
    return window(samples.main_rows(), dock)


def streaming_scene() -> QWidget:
    dock = ComposerDock()
    dock.composer.set_text("And is there an effect of cue ")
    dock.composer.set_state(ComposerState(streaming=True, share=0.41))
    return window(samples.streaming_rows(), dock)


def compacting_scene() -> QWidget:
    dock = ComposerDock()
    dock.composer.set_text("Now compare the three stages with a moderator analysis.")
    dock.composer.set_attachments(samples.CHIPS)
    dock.composer.set_state(ComposerState(share=0.94, frozen="Sent when compaction is through"))
    bar = QProgressBar()
    bar.setRange(0, 100)
    bar.setValue(62)
    bar.setTextVisible(False)
    cancel = push("Cancel", dense=True, object_name="cancelCompactionButton")
    words = "3,720 of about 6,000 tokens written. Your message is sent afterwards."
    banner = Banner("accent", "Compacting earlier context…", words, [cancel], icon="compact", extra=bar)
    dock.set_banner("compaction", banner)
    frame = window(samples.compacted_rows(), dock)
    frame.after = lambda: (frame.view.focus_row("c1"), frame.view.message_widget("c1").toggle_fold())  # type: ignore[attr-defined]
    return frame


def editing_scene() -> QWidget:
    dock = ComposerDock()
    dock.composer.set_text(
        "Collect the effect sizes for TMR from my library,\nand mark those without standard error."
    )
    dock.composer.set_editing(True)
    dock.composer.set_state(ComposerState(share=1.07, send_reason="Too large by 12,400 tokens"))
    dock.set_banner(
        "overshoot",
        Banner(
            "bad",
            "Draft too large by 12,400 tokens",
            "Compacting would free 9,800. Remove an attachment, shorten the text, or choose a larger model.",
            [push("Choose model…", dense=True), push("Show context", "quiet", dense=True)],
            icon="context",
        ),
    )
    dock.toasts.show_toast("Forked. You are in the new session.", icon="fork", action="Undo", on_action=print)
    return window(samples.many_rows(40), dock)


def card_scene() -> QWidget:
    holder = QFrame()
    holder.setProperty("surface", "canvas")
    sheet, _ = make_popover(samples.CITATIONS[samples.CORDI], holder, hover=False)
    holder.sheet = sheet  # type: ignore[attr-defined]
    holder.after = lambda: sheet.open_centred(holder)  # type: ignore[attr-defined]
    return holder


def hover_scene() -> QWidget:
    frame = window(samples.compacted_rows()[:3], ComposerDock())
    frame.after = lambda: frame.view.focus_row("u1")  # type: ignore[attr-defined]
    return frame


def proposal_scene() -> QWidget:
    return window(samples.card_rows(), ComposerDock())


def editing_card_scene() -> QWidget:
    frame = window(samples.card_rows(), ComposerDock())
    frame.after = lambda: frame.findChild(QPushButton, "editFirstButton").click()  # type: ignore[attr-defined]
    return frame


def wide_scene() -> QWidget:
    return window(samples.wide_rows(), ComposerDock())


def summary_scene() -> QWidget:
    rows = samples.compacted_rows()
    frame = window(rows[3:5], ComposerDock())

    def opened() -> None:
        frame.view.message_widget("c1").toggle_fold()  # type: ignore[attr-defined]
        frame.findChild(QPushButton, "showAllSections").click()

    frame.after = opened  # type: ignore[attr-defined]
    return frame


SCENES: dict[str, Callable[[], QWidget]] = {
    "main": main_scene,
    "streaming": streaming_scene,
    "compacting": compacting_scene,
    "editing": editing_scene,
    "card": card_scene,
    "hover": hover_scene,
    "proposal": proposal_scene,
    "editing-card": editing_card_scene,
    "wide": wide_scene,
    "summary": summary_scene,
}


def settle(app: QApplication, seconds: float = 0.4) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        app.processEvents()
        time.sleep(0.01)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--modes", nargs="*", default=["light", "dark"])
    parser.add_argument("--scales", nargs="*", type=int, default=[100, 200])
    parser.add_argument("--scenes", nargs="*", default=list(SCENES))
    parser.add_argument("--long", action="store_true", help="in a language a third longer than English")
    parser.add_argument("--size", nargs=2, type=int, default=[900, 900])
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    look = theme.install(app)
    translator = LongTranslator()
    if arguments.long:
        QCoreApplication.installTranslator(translator)
    for mode in arguments.modes:
        for scale in arguments.scales:
            look.set_appearance(
                theme.Appearance(mode=mode, scale=scale / 100, reduced_motion=True, interface_family="Inter")
            )
            for name in arguments.scenes:
                scene = SCENES[name]()
                scene.resize(*arguments.size)
                scene.show()
                settle(app, 0.2)
                if hasattr(scene, "after"):
                    scene.after()
                settle(app, 1.2 if name == "main" else 0.2)
                shown = getattr(scene, "sheet", scene)
                shown.grab().save(str(arguments.folder / f"{name}-{mode}-{scale}.png"))
                for view in scene.findChildren(ConversationView):
                    view.close_math()
                scene.close()
                scene.deleteLater()
                settle(app, 0.05)


if __name__ == "__main__":
    main()
