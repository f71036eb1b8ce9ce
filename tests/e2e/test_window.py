"""The application as a person starts it: the tour from end to end, and quitting in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources" / "sample-library"


def start(*arguments: str) -> subprocess.Popen[str]:
    environment = dict(
        os.environ, QT_QPA_PLATFORM="offscreen", PYTHONPATH=str(ROOT), PYTHONWARNINGS="error::ResourceWarning"
    )
    command = [sys.executable, "-m", "bibgenie_desktop", *arguments]
    return subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_tour_on_the_sample_library_does_what_it_says(tmp_path: Path) -> None:
    process = start("--demo", "--tour", str(tmp_path / "tour"))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, f"{out}\n{err}"
    pictures = sorted(p.name for p in (tmp_path / "tour").glob("*.png"))
    assert len(pictures) == 13
    assert pictures[0] == "01-welcome.png"
    transcript = (tmp_path / "tour" / "transcript.md").read_text(encoding="utf-8")
    for picture in pictures:
        assert f"({picture})" in transcript
    assert "Traceback" not in err


def test_tour_on_a_library_without_pdfs_fails_with_a_sentence(tmp_path: Path) -> None:
    library = tmp_path / "Zotero"
    library.mkdir()
    (library / "zotero.sqlite").write_bytes((SAMPLE / "zotero.sqlite").read_bytes())
    arguments = ("--data-dir", str(tmp_path / "data"), "--zotero-dir", str(library))
    process = start(*arguments, "--tour", str(tmp_path / "tour"))
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "01-welcome" in err
    assert "Traceback" not in err


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send there")
def test_interrupt_ends_the_window_in_order(tmp_path: Path) -> None:
    data = tmp_path / "data"
    process = start("--data-dir", str(data), "--zotero-dir", str(SAMPLE))
    log = data / "logs" / "bibgenie.log"
    end = time.monotonic() + 30
    while not log.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert "was never awaited" not in err
    # Only this person may read what was written, wherever it is copied to.
    open_to_others = [p.name for p in data.rglob("*") if p.is_file() and p.stat().st_mode & 0o077]
    assert open_to_others == []


def test_a_data_directory_in_use_is_said_in_a_sentence(tmp_path: Path) -> None:
    data = tmp_path / "data"
    first = start("--data-dir", str(data), "--zotero-dir", str(SAMPLE))
    try:
        end = time.monotonic() + 30
        while not (data / "logs" / "bibgenie.log").exists() and time.monotonic() < end:
            time.sleep(0.1)
        second = start("--data-dir", str(data))
        _, err = second.communicate(timeout=60)
        assert second.returncode != 0
        assert "Traceback" not in err
        assert err.strip()
    finally:
        first.terminate()
        first.communicate(timeout=30)
