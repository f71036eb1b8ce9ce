"""The command line: arguments, nothing else. What they ask for is done by `app` and `cli`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

from bibgenie_desktop import __version__

PROG = "bibgenie-desktop"
CONFLICT = 2
INTERRUPTED, NOBODY_READS = 130, 141  # what a shell shows for SIGINT and SIGPIPE

DESCRIPTION = "A research assistant for people who keep their literature in Zotero."
EPILOG = (
    "Without a command the window opens. The commands print and change nothing; they work while it is open. "
    "The JSON they print is described in docs/cli.md."
)
STARTING = ("demo", "tour", "theme", "text_scale")
"""Options that only make sense when the application starts."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(CONFLICT, f"{self.prog}: {message}. See {PROG} --help.\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 done, 1 damage found by `check`, 2 not possible, said on standard error."""
    parser = _parser()
    defaults = argparse.Namespace(
        data_dir=None, zotero_dir=None, demo=False, tour=None, theme=None, text_scale=None, command=None
    )
    arguments = parser.parse_args(argv, defaults)
    if arguments.demo and arguments.data_dir is not None:
        parser.error("--demo uses a temporary data directory, so --data-dir cannot be given with it")
    try:
        if arguments.command is None:
            return _start(arguments)
        _refuse_starting_options(parser, arguments)
        return _print(arguments)
    except BrokenPipeError:
        # Whoever read the answer has enough; Python would complain when it closes the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    except KeyboardInterrupt:
        return INTERRUPTED


def _refuse_starting_options(parser: _Parser, arguments: argparse.Namespace) -> None:
    given = [f"--{name.replace('_', '-')}" for name in STARTING if getattr(arguments, name)]
    if getattr(arguments, "what", "") == "library" and given == ["--demo"]:
        return  # the sample library can be looked at, and a demo has nothing else
    if given:
        parser.error(f"{given[0]} only starts the application; leave it out with “{arguments.command}”")


def _start(arguments: argparse.Namespace) -> int:
    from bibgenie_desktop.app import AppOptions, run
    from bibgenie_desktop.cli.output import say
    from bibgenie_desktop.domain.errors import UserError
    from bibgenie_desktop.settings.resources import sample_library

    with ExitStack() as stack:
        data_dir, zotero_dir = arguments.data_dir, arguments.zotero_dir
        if arguments.demo:
            profile = tempfile.TemporaryDirectory(prefix="bibgenie-demo-", ignore_cleanup_errors=True)
            data_dir = Path(stack.enter_context(profile))
            zotero_dir = zotero_dir or sample_library()
        try:
            return run(
                AppOptions(
                    data_dir=data_dir,
                    zotero_dir=zotero_dir,
                    tour=arguments.tour,
                    theme=arguments.theme,
                    text_scale=arguments.text_scale,
                )
            )
        except UserError as error:
            say(error.text)
            return CONFLICT


def _print(arguments: argparse.Namespace) -> int:
    from bibgenie_desktop.cli.command import Check, Command, Export, Inspect, run
    from bibgenie_desktop.compose.options import Options
    from bibgenie_desktop.settings.resources import sample_library

    command: Command
    match arguments.command:
        case "inspect":
            command = Inspect(arguments.what, arguments.session or "", arguments.model)
        case "export":
            command = Export(arguments.session, arguments.format, arguments.output)
        case _:
            command = Check()
    zotero_dir = arguments.zotero_dir or (sample_library() if arguments.demo else None)
    return run(command, Options(arguments.data_dir, zotero_dir))


def _parser() -> _Parser:
    shared = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    options: Any = shared.add_argument_group("where and how")
    options.add_argument("--data-dir", type=_path, metavar="DIR", help="the data directory to use")
    options.add_argument(
        "--zotero-dir", type=_path, metavar="DIR", help="Zotero's data directory, whatever the settings say"
    )
    options.add_argument(
        "--demo",
        action="store_true",
        help="a temporary profile on the sample library; touches nothing of yours",
    )
    options.add_argument(
        "--tour", type=_path, metavar="DIR", help="play the main steps; a picture of each goes to DIR"
    )
    options.add_argument("--theme", choices=("light", "dark", "system"), help="colours of the window")
    options.add_argument("--text-scale", type=_percent, metavar="PERCENT", help="size of the text, 80 to 200")

    parser = _Parser(prog=PROG, description=DESCRIPTION, epilog=EPILOG, parents=[shared], allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    inspect = commands.add_parser(
        "inspect", parents=[shared], allow_abbrev=False, help="print what is stored, or the next request"
    )
    inspect.add_argument(
        "what", choices=("library", "sessions", "tree", "projection", "checkpoints", "changes")
    )
    inspect.add_argument(
        "--session", metavar="ID", type=_id, help="its id or the beginning of it; else the newest"
    )
    inspect.add_argument("--model", metavar="P/M", default="", help="projection for this model")

    commands.add_parser(
        "check", parents=[shared], allow_abbrev=False, help="verify every conversation; 1 if one is damaged"
    )

    export = commands.add_parser(
        "export", parents=[shared], allow_abbrev=False, help="a conversation as Markdown, HTML or JSON"
    )
    export.add_argument(
        "--session", metavar="ID", required=True, type=_id, help="its id or the beginning of it"
    )
    export.add_argument("--format", choices=("md", "html", "json"), required=True)
    export.add_argument("--output", type=_path, metavar="FILE", help="instead of standard output")
    return parser


def _path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("the path is empty")
    return Path(text).expanduser()


def _id(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("the id is empty")
    return text


def _percent(text: str) -> int:
    value = int(text.removesuffix("%")) if text.removesuffix("%").isdecimal() else 0
    if not 80 <= value <= 200:
        raise argparse.ArgumentTypeError(f"“{text}” is not a percentage from 80 to 200")
    return value


if __name__ == "__main__":
    sys.exit(main())
