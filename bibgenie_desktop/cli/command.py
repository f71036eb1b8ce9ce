"""What was asked for, and how a command ends: an answer on standard output or a sentence on standard error.

Exit codes: 0 done, 1 `check` found damage, 2 the command could not be carried out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bibgenie_desktop.cli.changes import changes
from bibgenie_desktop.cli.check import check
from bibgenie_desktop.cli.checkpoints import checkpoints
from bibgenie_desktop.cli.library import inspect_library
from bibgenie_desktop.cli.output import emit, emit_json, save, say
from bibgenie_desktop.cli.projection import projection
from bibgenie_desktop.cli.reading import find_session, reader
from bibgenie_desktop.cli.sessions import sessions
from bibgenie_desktop.cli.tree import tree
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.messages import Session
from bibgenie_desktop.services.export import ExportFormat, gather, write
from bibgenie_desktop.storage.store import Store

DONE, DAMAGED, REFUSED = 0, 1, 2

ABOUT_ONE_SESSION: Final[dict[str, Callable[[Store, Session], Any]]] = {
    "tree": tree,
    "checkpoints": checkpoints,
}


@dataclass(frozen=True, slots=True)
class Inspect:
    """`session` empty: the most recently updated one; `model` empty: the session's own."""

    what: str
    session: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    pass


@dataclass(frozen=True, slots=True)
class Export:
    """`output` None: standard output."""

    session: str
    format: ExportFormat
    output: Path | None = None


Command = Inspect | Check | Export


def run(command: Command, options: Options) -> int:
    """Carries a command out. Whatever a person can cause ends as a sentence, never as a traceback."""
    try:
        with tempfile.TemporaryDirectory(prefix="bibgenie-") as private, ExitStack() as stack:
            return _run(command, options, Path(private), stack)
    except UserError as error:
        say(error.text)
        return REFUSED


def _run(command: Command, options: Options, private: Path, stack: ExitStack) -> int:
    if isinstance(command, Inspect) and command.what == "library":
        emit_json(inspect_library(options, private))
        return DONE
    store = stack.enter_context(reader(options.data, private))
    match command:
        case Check():
            report = check(store)
            emit_json(report)
            return DONE if report["ok"] else DAMAGED
        case Export():
            material = gather(store, find_session(store, command.session).id)
            text = write(material, command.format)
            if command.output is None:
                emit(text)
            else:
                save(text, command.output)
        case Inspect(what="sessions"):
            emit_json(sessions(store))
        case Inspect(what="changes"):
            emit_json(changes(store))
        case Inspect(what="projection"):
            session = find_session(store, command.session)
            emit_json(projection(store, session, options, private, command.model))
        case Inspect():
            emit_json(ABOUT_ONE_SESSION[command.what](store, find_session(store, command.session)))
    return DONE
