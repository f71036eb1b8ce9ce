"""The application with its window: starts the loop, shows the window, and ends everything in order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import logging.handlers
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from bibgenie_desktop import __version__
from bibgenie_desktop.compose import options as composing
from bibgenie_desktop.compose.application import Application
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.collector import Collector
from bibgenie_desktop.gui.desk.desk import Desk
from bibgenie_desktop.gui.dialogs import FaultDialog
from bibgenie_desktop.gui.loop import event_loop
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.theme import Appearance, Mode
from bibgenie_desktop.gui.tour import Tour, TourFailed
from bibgenie_desktop.gui.tr import number, tr
from bibgenie_desktop.gui.turns import short_turns
from bibgenie_desktop.gui.welcome import LibraryOffer
from bibgenie_desktop.gui.window import MainWindow
from bibgenie_desktop.services.library.starters import starters
from bibgenie_desktop.settings.preferences import Preferences

log = logging.getLogger(__name__)

INTERFACE_FONT: Final = "interface"
"""The preference that sets conversations in the interface font."""
WINDOWLESS: Final = ("offscreen", "minimal")
LONGEST_END_S: Final = 12.0
LOG_NAME: Final = "bibgenie.log"
LOG_SIZE, LOG_FILES = 1_000_000, 3


@dataclass(frozen=True, slots=True)
class AppOptions:
    """What the command line said. `theme` and `text_scale` (in percent) beat the preferences for this run."""

    data_dir: Path | None = None
    zotero_dir: Path | None = None
    tour: Path | None = None
    theme: Mode | None = None
    text_scale: int | None = None


def run(options: AppOptions, arguments: Sequence[str] = ()) -> int:
    """Runs until the person leaves (or the tour is through); the exit code.

    Raises `UserError` where the application cannot start, after saying so in a window if there are any.
    """
    os.umask(0o077)  # whatever the application writes, logs and settings included, is for this person alone
    qt = QApplication.instance()
    app = qt if isinstance(qt, QApplication) else QApplication([sys.argv[0], *arguments])
    app.setApplicationName("BibGenie")
    app.setApplicationDisplayName("BibGenie")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("bibgenie-desktop")
    app.setQuitOnLastWindowClosed(False)  # the loop, not Qt, decides when to end
    if QLocale.system().language() == QLocale.Language.C:
        # "C" writes numbers without separators and months as it likes.
        QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    theme.install(app, _appearance(options, Preferences()))
    short_turns()
    collector = Collector()
    collector.start()
    try:
        with asyncio.Runner(loop_factory=lambda: event_loop(app)) as runner:
            return runner.run(_run(options))
    finally:
        collector.stop()


async def _run(options: AppOptions) -> int:
    application = Application(composing.Options(options.data_dir, options.zotero_dir))
    try:
        await application.open()
    except UserError as error:
        if options.tour is None and QApplication.platformName() not in WINDOWLESS:
            await _say(error)
        raise
    theme.current().set_appearance(_appearance(options, application.preferences))
    running = Running(application, options)
    try:
        return await running.until_closed()
    finally:
        await running.end()


class Running:
    """One window on one application, from its first picture to its end; for the tour, several in a row."""

    def __init__(self, application: Application, options: AppOptions) -> None:
        self.options = options
        self.closing = asyncio.Event()
        self._fault: FaultDialog | None = None
        self._log_file = _start_log(application.data.logs)
        self._old_hook = sys.excepthook
        self._build(application)

    def _build(self, application: Application) -> None:
        self.application = application
        self.tasks = Tasks(self._on_fault)
        shape = None if self.options.tour is not None else application.data.root / "window.ini"
        self.window = MainWindow(shape)
        self.desk = Desk(
            self.window,
            application.workspace,
            _Libraries(application),
            self.tasks,
            keep_appearance=self._keep_appearance,
            adjustable=application,
        )
        self.window.close_requested.connect(self.closing.set)

    async def until_closed(self) -> int:
        loop = asyncio.get_running_loop()
        sys.excepthook = self._on_exception
        loop.set_exception_handler(self._on_loop_exception)
        for each in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError, RuntimeError):  # Windows has none in its loop
                loop.add_signal_handler(each, self.closing.set)
        await self._show()
        if self.options.tour is None:
            await self.closing.wait()
            return 0
        try:
            await Tour(self, self.options.tour, _say_progress).run()
        except TourFailed as failure:
            sys.stderr.write(f"{failure}\n")
            return 1
        return 0

    async def _show(self) -> None:
        self.window.show()
        await self.desk.start()
        self._announce()

    async def restart(self) -> None:
        """Ends everything and starts anew on the same data, as after quitting."""
        size = self.window.size()
        application = Application(self.application.options)
        await self._close()
        await application.open()
        self._build(application)
        self.window.resize(size)
        await self._show()

    async def _close(self) -> None:
        """Running answers end, what was being written is kept, the window goes."""
        try:
            async with asyncio.timeout(LONGEST_END_S):
                await self.desk.finish()
        except TimeoutError:  # what is not stored by now comes back as a recovered answer
            log.warning("the end took too long")
        self.window.leave()
        await self.application.close()
        self.window.deleteLater()

    async def end(self) -> None:
        await self._close()
        loop = asyncio.get_running_loop()
        for each in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(each)
        sys.excepthook = self._old_hook
        loop.set_exception_handler(None)
        if self._log_file is not None:
            logging.getLogger().removeHandler(self._log_file)
            self._log_file.close()

    def _announce(self) -> None:
        """What happened before the window was there."""
        recovered = self.application.recovered
        if recovered:
            titles = {r.session.id: r.session.title for r in self.desk.sessions.rows}
            first = titles.get(recovered[0].session_id) or tr("an earlier session")
            said = (
                tr("An interrupted answer was recovered in “{0}”.").format(first)
                if len(recovered) == 1
                else tr("{0} interrupted answers were recovered.").format(number(len(recovered)))
            )
            self.window.toast(said, tr("What had arrived is kept. Retry asks again."), tone="accent")
        for notice in self.application.notices:
            self.window.toast(tr("Not everything could be set up"), notice, tone="warn")
        announcing = self.desk.front.announcing
        announcing.show_settings_fault(self.application.config_fault)
        announcing.reread_requested.connect(self._on_reread_requested)

    def _on_reread_requested(self) -> None:
        self.tasks.start(self._read_config_again(), "read the settings again")

    async def _read_config_again(self) -> None:
        try:
            await self.application.read_config()
        except UserError as error:
            self.desk.front.announcing.show_settings_fault(error)
            return
        self.desk.front.announcing.show_settings_fault(None)
        theme.current().set_appearance(_appearance(self.options, self.application.preferences))
        self.window.toast(tr("The settings were read again."))

    def _keep_appearance(self, appearance: object) -> None:
        if not isinstance(appearance, Appearance):
            return
        try:
            self.application.preferences = self.application.config.set_appearance(
                theme=appearance.mode,
                text_scale=round(appearance.scale * 100),
                reading_font="" if appearance.serif else INTERFACE_FONT,
            )
        except UserError as error:
            self.desk.show_error(error)

    # -- faults of ours

    def _on_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self.closing.set()
            return
        self._on_fault(error.with_traceback(trace))

    def _on_loop_exception(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            self._on_fault(error)
        else:
            log.error("%s", context.get("message"))

    def _on_fault(self, error: BaseException) -> None:
        """Logged with its traceback; shown once, however often it happens. The draft is kept."""
        if isinstance(error, UserError):
            self.desk.show_error(error)
            return
        log.error("fault", exc_info=error)
        self.window.composer.flush_draft()
        if self._fault is None and not self.closing.is_set() and self.options.tour is None:
            details = "".join(traceback.format_exception_only(error)).strip()
            where = str(self.application.data.logs / LOG_NAME) if self._log_file is not None else ""
            self._fault = FaultDialog(details, where, self.window)
            self._fault.finished.connect(self._on_fault_closed)
            self._fault.open()

    def _on_fault_closed(self) -> None:
        self._fault = None


class _Libraries:
    """What the window may do with libraries, out of the application."""

    def __init__(self, application: Application) -> None:
        self._application = application

    def offers(self) -> tuple[LibraryOffer, ...]:
        found = [
            LibraryOffer(
                str(c.data_dir),
                tr("Use {0}").format(c.profile or c.data_dir.name),
                str(c.data_dir),
            )
            for c in self._application.candidates()
        ]
        sample = LibraryOffer("", tr("Use the sample library"), tr("Thirty works on sleep and memory"))
        return (*found, sample)

    async def choose(self, path: Path | None) -> None:
        await self._application.choose_library(path)

    async def load(self) -> None:
        await self._application.load_library()

    async def watch(self, changed: Callable[[], None]) -> None:
        library = self._application.library
        if library is not None:
            await library.watch(lambda _status: changed())

    async def starters(self, most: int) -> tuple[str, ...]:
        library = self._application.library
        if library is None:
            return ()
        try:
            return await starters(library, most)
        except UserError:
            return ()


def _start_log(folder: Path) -> logging.Handler | None:
    """A log of what the application did, without what people wrote; None where it cannot be written."""
    try:
        handler = logging.handlers.RotatingFileHandler(
            folder / LOG_NAME, maxBytes=LOG_SIZE, backupCount=LOG_FILES, encoding="utf-8"
        )
    except OSError:
        return None
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    handler.setLevel(logging.INFO)
    root = logging.getLogger()
    root.addHandler(handler)
    if root.level == logging.NOTSET or root.level > logging.INFO:
        root.setLevel(logging.INFO)
    return handler


def _appearance(options: AppOptions, preferences: Preferences) -> Appearance:
    return Appearance(
        mode=options.theme or preferences.theme,
        scale=(options.text_scale or preferences.text_scale) / 100,
        serif=preferences.reading_font != INTERFACE_FONT,
        reduced_motion=options.tour is not None,
    )


def _say_progress(line: str) -> None:
    sys.stdout.write(f"{line}\n")


async def _say(error: UserError, parent: QWidget | None = None) -> None:
    """Why the application cannot start."""
    box = QMessageBox(QMessageBox.Icon.Warning, "BibGenie", error.title, parent=parent)
    box.setInformativeText(error.advice)
    closed = asyncio.get_running_loop().create_future()
    box.finished.connect(closed.set_result)
    box.open()
    await closed
    box.deleteLater()
