"""The real keyring on a D-Bus session of its own: works, none there, locked, silent.

Each case runs in a process of its own, as the backends keep their connection for the life of a process.
Run by `sh packaging/keyring_test.sh`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.settings.keyring_child import KEY

pytestmark = [
    pytest.mark.keyring,
    pytest.mark.skipif(not shutil.which("dbus-run-session"), reason="dbus-run-session is not installed"),
]
ROOT = Path(__file__).resolve().parents[2]
CHILD = f"{sys.executable} tests/settings/keyring_child.py"
# In the foreground, so that it can be ended; asked until it has taken its name on the bus.
START = """printf pw | gnome-keyring-daemon --foreground --unlock --components=secrets >/dev/null 2>&1 &
daemon=$!; trap 'kill $daemon 2>/dev/null' EXIT
for _ in $(seq 100); do
    dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetNameOwner \\
        string:org.freedesktop.secrets >/dev/null 2>&1 && break; sleep 0.1
done
"""
LOCK = f"""{sys.executable} -c 'import secretstorage as s
c = s.get_default_collection(s.dbus_init()); c.lock(); assert c.is_locked()'
"""
# The system's own session bus without its services, so that nothing starts by itself.
BARE_BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
<policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy></busconfig>
"""
SESSION_ONLY = [KEY, "session"]
NONE_HERE = "No system keyring is available, so the key can be kept only until you quit."
LOCKED = "The system's keyring could not be opened."


def in_session(command: str, bus: str) -> dict[str, Any]:
    """What the child told, run by `command` on a new session bus."""
    hidden = ("DBUS_SESSION_BUS_ADDRESS", "PYTHON_KEYRING_BACKEND")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    run = subprocess.run(
        ["dbus-run-session", bus, "--", "sh", "-c", command],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert KEY not in run.stderr
    told: dict[str, Any] = json.loads(run.stdout)
    return told


@pytest.fixture
def bare_bus(tmp_path: Path) -> str:
    """Options for a bus that starts no service by itself."""
    config = tmp_path / "bus.conf"
    config.write_text(BARE_BUS)
    return f"--config-file={config}"


needs_gnome = pytest.mark.skipif(
    not shutil.which("gnome-keyring-daemon"), reason="gnome-keyring is not installed"
)


@needs_gnome
def test_unlocked_keyring_keeps_a_key_between_runs_and_forgets_it(bare_bus: str) -> None:
    told = in_session(f"{START}{CHILD} 20", bare_bus)
    assert told == {
        "read_first": [None, None],
        "stored": None,
        "read_again": [KEY, "keyring"],
        "needed_by_a_local_server": None,
        "for_this_run": SESSION_ONLY,
        "forgotten": None,
        "read_last": [None, None],
    }


def test_session_without_a_keyring_says_so_and_keeps_the_key_until_the_end(bare_bus: str) -> None:
    told = in_session(f"{CHILD} 20", bare_bus)
    assert told["stored"]["title"] == NONE_HERE
    assert "BIBGENIE_BIBGENIE_TEST_API_KEY" in told["stored"]["advice"]
    assert told["read_first"] == told["read_again"] == told["read_last"] == [None, None]
    assert told["for_this_run"] == SESSION_ONLY
    assert told["forgotten"] is None


@needs_gnome
def test_locked_keyring_is_told_and_the_key_can_still_be_used_for_this_run(bare_bus: str) -> None:
    told = in_session(f"{START}{CHILD} 20 >/dev/null 2>&1\n{LOCK}{CHILD} 20", bare_bus)
    assert told["stored"]["title"] == LOCKED
    assert "until you quit" in told["stored"]["advice"]
    assert told["for_this_run"] == SESSION_ONLY
    assert told["needed_by_a_local_server"] is None


def test_keyring_that_never_answers_is_given_up_in_time(bare_bus: str) -> None:
    told = in_session(f"{CHILD} 0.5 --silent-service", bare_bus)
    for question in ("read_first", "stored", "read_again", "forgotten", "read_last"):
        assert told[question]["title"] == "The system's keyring did not answer within 0.5 seconds.", question
        assert "until you quit" in told[question]["advice"]
    assert told["for_this_run"] == SESSION_ONLY
    assert told["needed_by_a_local_server"] is None
