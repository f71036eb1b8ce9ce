"""Plays the steps in order, keeps their pictures, and writes down what was done and what was checked."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSize

from bibgenie_desktop.gui.tour import asking, browsing, compacting
from bibgenie_desktop.gui.tour.hands import TourFailed
from bibgenie_desktop.gui.tour.scene import Scene, Stage, Told

SIZE = QSize(1440, 900)

Step = Callable[[Scene], Awaitable[Told]]
STEPS: Final[tuple[tuple[str, str, Step], ...]] = (
    ("welcome", "The first page", asking.welcome),
    ("question", "A question", asking.type_question),
    ("streaming", "The answer is being written", asking.stream),
    ("answer", "The answer with its citations", asking.read_answer),
    ("fork", "A fork", asking.fork),
    ("siblings", "Retry and edit", asking.siblings),
    ("library", "The library beside the conversation", browsing.browse),
    ("compacting", "Compacting", compacting.compact),
    ("checkpoint", "The checkpoint", compacting.read_checkpoint),
    ("context", "The context", compacting.show_context),
    ("models", "The models", compacting.choose_models),
    ("follow-up", "After the compaction", compacting.follow_up),
    ("restart", "Read back after a restart", compacting.restart),
)


class Tour:
    """`run` raises `TourFailed` with a sentence when a step did not do what it says."""

    def __init__(self, stage: Stage, folder: Path, progress: Callable[[str], None]) -> None:
        self._stage, self._folder, self._progress = stage, folder, progress
        self._lines = ["# Guided tour\n"]

    async def run(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TourFailed(
                f"The folder {self._folder} cannot be made: {error.strerror or error}."
            ) from error
        self._stage.window.resize(SIZE)
        scene = Scene(self._stage)
        began = time.monotonic()
        try:
            for number, (name, title, step) in enumerate(STEPS, 1):
                await self._play(f"{number:02d}-{name}", title, scene, step)
        finally:
            self._lines.append(f"\n{len(STEPS)} steps, {time.monotonic() - began:.1f} s\n")
            self._write()

    async def _play(self, name: str, title: str, scene: Scene, step: Step) -> None:
        file = self._folder / f"{name}.png"
        try:
            did, checked = await step(scene)
        except TourFailed as failure:
            scene.hands.save(scene.hands.picture(), self._folder / f"{name}-failed.png")
            self._lines.append(f"\n## {name}: {title}\n\n**Failed:** {failure}\n")
            raise TourFailed(f"{name}: {failure}") from failure
        (self._folder / f"{name}-failed.png").unlink(missing_ok=True)  # of an earlier tour
        picture = scene.take_picture()
        scene.hands.save(picture, file)
        self._lines.append(
            f"\n## {name}: {title}\n\n- Done: {did}\n- Checked: {checked}\n\n![{title}]({file.name})\n"
        )
        self._progress(f"{name}: {checked}")

    def _write(self) -> None:
        (self._folder / "transcript.md").write_text("".join(self._lines), encoding="utf-8")
