"""Rules of the house that no linter knows: read from the sources, so they hold without a display."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "bibgenie_desktop"
LONGEST_MODULE = 400


def modules(*folders: Path) -> Iterator[tuple[str, ast.Module]]:
    """Name relative to the project and syntax tree of every Python file in the folders."""
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"), str(path))


def calls(tree: ast.Module, *names: str) -> Iterator[int]:
    """Lines where something is called by one of these names, as a function or as a method."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)
            if name in names:
                yield node.lineno


def imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def test_the_rules_look_at_the_real_package() -> None:
    assert {"bibgenie_desktop/__init__.py", "bibgenie_desktop/domain/messages.py"} <= {
        name for name, _ in modules(PACKAGE)
    }


def test_no_module_outgrows_its_subject() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_bytes().splitlines())
        for path in PACKAGE.rglob("*.py")
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_MODULE} == {}


def test_every_module_says_what_it_owns() -> None:
    assert [name for name, tree in modules(PACKAGE) if tree.body and not ast.get_docstring(tree)] == []


def test_only_the_theme_sets_style_sheets() -> None:
    offenders = [
        f"{name}:{line}"
        for name, tree in modules(PACKAGE)
        if not name.startswith("bibgenie_desktop/gui/theme")
        for line in calls(tree, "setStyleSheet")
    ]
    assert offenders == []


def test_no_dialog_runs_a_loop_of_its_own() -> None:
    """`exec()` inside the event loop stops every running answer; dialogs are opened and awaited.

    A drag has no other way, in Qt's own views as here; timers and answers go on during it.
    """
    offenders = [
        f"{name}:{line}"
        for name, tree in modules(PACKAGE / "gui")
        if not name.endswith("docks/library/dragging.py")
        for line in calls(tree, "exec", "exec_")
    ]
    assert offenders == []


def test_only_the_command_line_prints() -> None:
    offenders = [
        f"{name}:{line}"
        for name, tree in modules(PACKAGE)
        if not name.startswith("bibgenie_desktop/cli/")
        for line in calls(tree, "print")
    ]
    assert offenders == []


def test_tests_use_no_mocks() -> None:
    """Mock objects in place of Qt slots crash some PySide6 versions, and they agree with everything."""
    offenders = [
        f"{name}:{line} {imported}"
        for name, tree in modules(ROOT / "tests")
        for line, imported in imports(tree)
        if imported.startswith(("unittest.mock", "mock.", "pytest_mock"))
    ]
    assert offenders == []


def test_nothing_names_a_place_on_the_machine_it_was_written_on() -> None:
    roots = [PACKAGE, ROOT / "tests", ROOT / "docs", ROOT / "packaging", ROOT / "benchmarks"]
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "Makefile"]
    files += [p for root in roots for p in root.rglob("*") if p.suffix in {".py", ".md", ".sh", ".toml"}]
    places = ["/" + "work/", "/" + "root/", "/" + "home/runner"]
    offenders = [
        str(path.relative_to(ROOT)) for path in files if any(p in path.read_text("utf-8") for p in places)
    ]
    assert offenders == []


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None and True are immortal from Python 3.12 on")
def test_this_pyside_does_not_lose_references_to_none() -> None:
    """PySide6 6.12.0 loses one reference to None with each void method; before Python 3.12 that is fatal."""
    probe = textwrap.dedent(
        """
        import sys
        from PySide6.QtCore import QCoreApplication, QObject, QPoint, Signal, Slot

        class Thing(QObject):
            told = Signal()

            @Slot()
            def on_told(self):
                pass

        spare = [None] * 10_000, [True] * 10_000, [False] * 10_000
        app, thing, point = QCoreApplication([]), Thing(), QPoint()
        thing.told.connect(thing.on_told)
        before = [sys.getrefcount(x) for x in (None, True, False)]
        for _ in range(300):
            thing.told.emit()
            point.setX(1)
            thing.setObjectName("x")
            point.isNull()
        after = [sys.getrefcount(x) for x in (None, True, False)]
        print(min(b - a for a, b in zip(before, after)))
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=True
    )
    assert int(done.stdout) > -100, (
        "each call loses a reference: this PySide6 must not be used on this Python"
    )
