"""The command line's own business: arguments, exit codes, and what is started with them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import types
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop import __version__
from bibgenie_desktop.domain.errors import UserError
from tests.cli.helpers import ROOT, SAMPLE, Said, command
from tests.storage.helpers import MODEL, conversation, database, opened, turn


@dataclass
class Options:
    data_dir: Path | None
    zotero_dir: Path | None
    tour: Path | None
    theme: str | None
    text_scale: int | None


class App:
    """Stands where the window is: notes what it was started with."""

    def __init__(self) -> None:
        self.options: list[Options] = []
        self.existed: list[bool] = []
        self.refusal: UserError | None = None

    def run(self, options: Options) -> int:
        self.options.append(options)
        self.existed.append(options.data_dir is not None and options.data_dir.is_dir())
        if self.refusal is not None:
            raise self.refusal
        return 7


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> App:
    app = App()
    module: Any = types.ModuleType("bibgenie_desktop.app")
    module.AppOptions, module.run = Options, app.run
    monkeypatch.setitem(sys.modules, "bibgenie_desktop.app", module)
    return app


def child(*words: str | Path, code: str = "") -> Said:
    start = ["-c", code] if code else ["-m", "bibgenie_desktop"]
    line = [sys.executable, *start, *map(str, words)]
    done = subprocess.run(line, capture_output=True, cwd=ROOT, timeout=60, check=False)
    return Said(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def test_without_a_command_the_window_is_started_and_its_exit_code_returned(app: App, tmp_path: Path) -> None:
    assert command().code == 7
    words = ("--data-dir", tmp_path, "--zotero-dir", SAMPLE, "--tour", tmp_path / "t")
    assert command(*words, "--theme", "dark", "--text-scale", "150%").code == 7
    assert app.options == [
        Options(None, None, None, None, None),
        Options(tmp_path, SAMPLE, tmp_path / "t", "dark", 150),
    ]


def test_the_demo_has_a_profile_of_its_own_that_is_gone_afterwards(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert command("--demo").code == 7
    assert command("--demo", "--zotero-dir", tmp_path / "Zotero", "--tour", "out").code == 7
    assert app.existed == [True, True]
    assert [o.zotero_dir for o in app.options] == [SAMPLE, tmp_path / "Zotero"]
    assert list(tmp_path.iterdir()) == []


def test_a_start_that_is_refused_is_a_sentence(app: App) -> None:
    app.refusal = UserError("The data directory is in use.", "Quit the other one.")
    said = command()
    assert (said.code, said.err) == (2, "The data directory is in use. Quit the other one.\n")


def test_options_may_stand_before_or_after_the_command(tmp_path: Path) -> None:
    path = database(tmp_path)
    with opened(path) as store:
        session, _, _ = conversation(store, 1)
    where = ("--data-dir", path.parent)
    before = command(*where, "inspect", "tree", "--session", session.id)
    after = command("inspect", "tree", "--session", session.id, *where)
    assert before.json == after.json
    assert command("check", *where) == command(*where, "check")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("inspect",), "the following arguments are required: what"),
        (("inspect", "everything"), "invalid choice: 'everything'"),
        (("explode",), "invalid choice: 'explode'"),
        (("export", "--session", "x", "--format", "pdf"), "invalid choice: 'pdf'"),
        (("export", "--format", "md"), "the following arguments are required: --session"),
        (("--text-scale", "500"), "“500” is not a percentage from 80 to 200"),
        (("--theme", "pink"), "invalid choice: 'pink'"),
        (("--data-dir", ""), "the path is empty"),
        (("--demo", "--data-dir", "x"), "so --data-dir cannot be given with it"),
        (("--demo", "check"), "--demo only starts the application; leave it out with “check”"),
        (("inspect", "library", "--tour", "x"), "--tour only starts the application"),
        (("check", "--sess", "x"), "unrecognized arguments: --sess x"),
    ],
)
def test_wrong_arguments_are_one_line_and_start_nothing(
    app: App, words: tuple[str, ...], sentence: str
) -> None:
    said = command(*words)
    assert (said.code, said.out) == (2, "")
    assert sentence in said.err
    assert said.err.endswith(". See bibgenie-desktop --help.\n")
    assert said.err.count("\n") == 1
    assert app.options == []


def test_version_and_help(app: App) -> None:
    assert command("--version") == Said(0, f"bibgenie-desktop {__version__}\n", "")
    said = command("--help")
    assert said.code == 0
    for word in ("inspect", "check", "export", "--demo", "--tour", "--data-dir", "--zotero-dir"):
        assert word in said.out
    assert app.options == []


def test_no_command_loads_qt(tmp_path: Path) -> None:
    path = database(tmp_path)
    with opened(path) as store:
        session, _, _ = turn(store, store.create_session("t", MODEL), "q", "a")
    code = (
        "import sys; from bibgenie_desktop.__main__ import main\n"
        "where = ['--data-dir', sys.argv[1], '--zotero-dir', sys.argv[2]]\n"
        "lines = [['check'], ['export', '--session', sys.argv[3], '--format', 'html']]\n"
        "lines += [['inspect', w] for w in ('library', 'sessions', 'tree', 'checkpoints')]\n"
        "lines += [['inspect', 'projection', '--model', 'builtin/assistant']]\n"
        "codes = [main([*where, *line]) for line in lines]\n"
        "print(codes, [m for m in sys.modules if m.startswith(('PySide6', 'shiboken6'))], file=sys.stderr)"
    )
    said = child(path.parent, SAMPLE, session.id, code=code)
    assert (said.code, said.err) == (0, "[0, 0, 0, 0, 0, 0, 0] []\n")


def test_a_real_process_ends_with_the_code_and_the_sentence(tmp_path: Path) -> None:
    said = child("--data-dir", tmp_path / "none", "check")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("There is no data directory")
    assert said.err.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end differently there")
def test_a_reader_that_has_enough_is_no_error(tmp_path: Path) -> None:
    path = database(tmp_path)
    with opened(path) as store:
        session, _, _ = turn(
            store, store.create_session("t", MODEL), "q", "long " * 1_500_000
        )  # more than a pipe holds
    line = [sys.executable, "-m", "bibgenie_desktop", "--data-dir", str(path.parent)]
    line += ["export", "--session", session.id, "--format", "md"]
    with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(10) == b"# t\n\n---\n\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


def test_the_window_takes_what_the_command_line_gives() -> None:
    from bibgenie_desktop.app import AppOptions

    assert [f.name for f in fields(AppOptions)] == [f.name for f in fields(Options)]
