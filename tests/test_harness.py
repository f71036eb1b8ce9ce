"""The guards of tests/conftest.py do guard: each is tried on a small test session of its own."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import keyring
import keyring.errors
import pytest

from tests.harness import NetworkBlocked, NetworkGuard, is_local, parse_seeds

ROOT = Path(__file__).resolve().parents[1]


def outcome(tmp_path: Path, body: str, *options: str) -> str:
    """What pytest prints for one file of tests under this project's conftest and configuration."""
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "test_it.py").write_text(textwrap.dedent(body))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.conftest",
        "-c",
        str(ROOT / "pyproject.toml"),
    ]
    command += ["--rootdir", str(tmp_path), *options, str(folder)]
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "BIBGENIE_X_API_KEY": "secret",
        "HTTPS_PROXY": "http://p:1",
    }
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    return done.stdout + done.stderr


def test_leaving_threads_tasks_timers_and_the_network_fail_a_test(tmp_path: Path) -> None:
    printed = outcome(
        tmp_path,
        """
        import asyncio, socket, threading
        import pytest
        from PySide6.QtCore import QTimer
        from PySide6.QtWidgets import QWidget

        stop = threading.Event()

        def test_thread():
            threading.Thread(target=stop.wait, args=(4,), name="forgotten thread").start()

        async def test_task():
            asyncio.get_running_loop().create_task(asyncio.sleep(30), name="forgotten task")
            await asyncio.sleep(0)

        @pytest.mark.patience(0.2)
        async def test_hangs():
            await asyncio.Event().wait()

        def test_timer(qapp):
            timer = QTimer(qapp, objectName="forgotten timer")
            timer.start(100_000)

        windows = []

        def test_window(qtbot):
            windows.append(QWidget(objectName="forgotten window"))
            windows[0].show()

        def test_swallowed_network():
            try:
                socket.socket().connect(("192.0.2.1", 80))
            except Exception:
                pass

        def test_environment():
            import os
            assert "BIBGENIE_X_API_KEY" not in os.environ and "HTTPS_PROXY" not in os.environ

        def test_qt_warning(qtbot):
            QTimer.singleShot(-1, lambda: None)
        """,
    )
    assert "threads left behind: forgotten thread" in printed
    assert "tasks left behind: forgotten task (sleep)" in printed
    assert "the test did not end within 0.2 s" in printed
    assert "left behind: timer" in printed
    assert "forgotten timer" in printed
    assert "left behind: window forgotten window" in printed
    assert "wanted to leave this machine: a connection to ('192.0.2.1', 80)" in printed
    assert "FAILED" in printed
    assert "test_environment" not in printed
    assert "test_qt_warning" in printed


def test_long_proofs_say_what_they_ran_and_where_to_go_on(tmp_path: Path) -> None:
    body = """
        import pytest

        def test_counted(soak):
            assert soak.count(3, 500) > 0

        def test_walked(soak):
            for seed in soak.seeds(10, 1000):
                assert seed != 7

        @pytest.mark.soak
        def test_only_long():
            pass
        """
    printed = outcome(tmp_path, body)
    assert "test_it.py::test_counted: 3 of 500" in printed
    assert "test_it.py::test_walked: 10 of 1000 – stopped at seed 7; go on with --seeds 7:10" in printed
    assert "1 skipped" in printed


def test_seeds_are_exactly_those_asked_for(tmp_path: Path) -> None:
    body = """
        def test_walked(soak):
            assert list(soak.seeds(10, 1000)) == [8, 9, 10]
        """
    assert "test_it.py::test_walked: 3 of 1000 (seeds 8 to 10)" in outcome(
        tmp_path, body, "--soak", "--seeds", "8:11"
    )


@pytest.mark.parametrize("text", ["5", "5:", "a:b", "7:7", "9:3", ":4"])
def test_a_malformed_range_of_seeds_is_refused(text: str) -> None:
    with pytest.raises(pytest.UsageError, match="START:END"):
        parse_seeds(text)


@pytest.mark.parametrize(
    ("address", "local"),
    [
        (("127.0.0.1", 1), True),
        (("127.9.9.9", 1), True),
        (("::1", 1, 0, 0), True),
        (("localhost", 1), True),
        ("/run/bus", True),
        (("0.0.0.0", 1), False),
        (("192.168.1.4", 1), False),
        (("example.org", 443), False),
        (("localhost.example.org", 443), False),
    ],
)
def test_only_loopback_is_local(address: object, local: bool) -> None:
    assert is_local(address) is local


async def test_async_tests_run_on_a_plain_loop_and_reach_loopback() -> None:
    assert type(asyncio.get_running_loop()).__module__.startswith("asyncio")
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()


async def test_async_tests_with_qt_run_on_the_qt_loop(qtbot: object) -> None:
    assert type(asyncio.get_running_loop()).__module__.startswith("qasync")
    await asyncio.sleep(0.001)


def test_user_directories_are_in_the_home_of_this_test(home: Path) -> None:
    assert Path.home() == home
    assert list(home.iterdir()) == [home / "run"]


def test_the_keyring_always_fails() -> None:
    with pytest.raises(keyring.errors.NoKeyringError):
        keyring.get_password("BibGenie", "x")


def test_names_beyond_this_machine_are_not_looked_up(network_guard: NetworkGuard) -> None:
    with pytest.raises(NetworkBlocked):
        socket.getaddrinfo("example.org", 443)
    network_guard.attempts.clear()
