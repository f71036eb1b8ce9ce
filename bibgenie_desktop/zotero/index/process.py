"""Starting the process that makes an index, following it, and ending it when it is not wanted any more."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.index import schema as index_schema
from bibgenie_desktop.zotero.source import TakingCancelled

ENDED: Final = "ended"


class BuildFailed(Exception):
    """The process could not be started, or ended without a result."""


def build_apart(
    target: Path,
    database: Path,
    keys_in: Path | None,
    facts: Mapping[str, str],
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
    *,
    quiet: bool = False,
) -> None:
    """Blocks; `quiet` leaves other programs the processor first.

    Raises `LibraryUnavailable`, `TakingCancelled` and `BuildFailed`; then no file is left.
    """
    job = {
        "target": str(target.absolute()),
        "database": str(database.absolute()),
        "keys_in": str(keys_in) if keys_in else "",
        "facts": dict(facts),
        "quiet": quiet,
    }
    try:
        process = subprocess.Popen(
            worker_command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except OSError as error:
        raise BuildFailed from error
    gone = threading.Event()
    watcher = threading.Thread(target=_watch, args=(process, cancelled, gone), daemon=True)
    watcher.start()
    try:
        result = _follow(process, job, progress)
    finally:
        gone.set()
        watcher.join()
        _end(process)
    given_up = cancelled()
    if result.get("built") and not given_up:
        return
    for path in (target, index_schema.unfinished(target)):
        index_schema.remove(path)
    if given_up:
        raise TakingCancelled
    if "title" in result:
        raise LibraryUnavailable(str(result["title"]), str(result["advice"]))
    raise BuildFailed(str(result.get("failed", ENDED)))


def _follow(
    process: subprocess.Popen[bytes], job: Mapping[str, object], progress: Callable[[int, int], None]
) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    said: dict[str, Any] = {}
    try:
        process.stdin.write(json.dumps(job).encode("ascii") + b"\n")
        process.stdin.flush()
        for line in process.stdout:
            said = json.loads(line)
            if "done" in said:
                progress(int(said["done"]), int(said["total"]))
    except (OSError, ValueError):
        return {}
    return said


def _watch(process: subprocess.Popen[bytes], cancelled: Callable[[], bool], gone: threading.Event) -> None:
    while not gone.wait(0.1):
        if cancelled():
            with contextlib.suppress(OSError):
                process.kill()
            return


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def worker_command() -> tuple[str, ...]:
    """A frozen program starts itself with `--index-worker`."""
    if getattr(sys, "frozen", False):
        return (sys.executable, "--index-worker")
    return (sys.executable, "-m", "bibgenie_desktop.zotero.index.worker")


def _environment() -> dict[str, str]:
    environment = dict(os.environ)
    package_parent = str(Path(__file__).resolve().parents[2])
    known = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = f"{package_parent}{os.pathsep}{known}" if known else package_parent
    return environment
