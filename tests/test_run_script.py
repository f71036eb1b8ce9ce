"""`make run` opens the window where it can and plays the tour elsewhere; the application is a stand-in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there is always a display")

SCRIPT = Path(__file__).resolve().parents[1] / "packaging" / "run.sh"


def run(tmp_path: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    package = tmp_path / "bibgenie_desktop"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        "import os, sys\n"
        "print('started', *sys.argv[1:], 'on', os.environ.get('QT_QPA_PLATFORM'))\n"
        "sys.exit(3 if '--fail' in sys.argv else 0)\n"
    )
    # PYTHONSAFEPATH: the working directory, which holds the real package, does not come first.
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"}
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        environment.pop(name, None)
    command = ["sh", str(SCRIPT), sys.executable, *arguments]
    done = subprocess.run(
        command, env=environment | variables, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout


def test_without_a_display_the_tour_is_played(tmp_path: Path) -> None:
    code, printed = run(tmp_path)
    assert code == 0
    assert "There is no display here" in printed
    assert "started --demo --tour build/tour on offscreen" in printed
    assert "build/tour\n" in printed.splitlines(keepends=True)[-1]


def test_a_display_that_is_gone_counts_as_none(tmp_path: Path) -> None:
    code, printed = run(tmp_path, DISPLAY=":7654")
    assert code == 0
    assert "No window can be opened on the display :7654" in printed
    assert "started --demo --tour build/tour on offscreen" in printed


def test_with_a_display_the_window_opens_with_the_arguments_given(tmp_path: Path) -> None:
    code, printed = run(tmp_path, "--zotero-dir", "a b", DISPLAY=":1", QT_QPA_PLATFORM="offscreen")
    assert (code, printed) == (0, "started --zotero-dir a b on offscreen\n")


def test_a_tour_that_failed_fails_make(tmp_path: Path) -> None:
    code, printed = run(tmp_path, "--fail")
    assert code == 3
    assert "pictures and the transcript" not in printed
