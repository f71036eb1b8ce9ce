"""The ground every test stands on.

User directories point to a temporary place, the network ends at loopback, no variable of the person's
environment gets in, the keyring is the one that always fails; a test that leaves a thread, a task, a Qt timer
or a window behind fails.
`async def` tests run on a plain asyncio loop, or on a qasync loop where the test uses `qapp` or `qtbot`.
Long proofs take the fixture `soak`. Shared code of a folder is imported as `tests.<folder>.helpers`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.harness import (
    PATIENCE,
    NetworkGuard,
    Proof,
    Soak,
    is_async,
    leftover_threads,
    parse_seeds,
    watched,
)

# Before anything imports Qt or keyring; child processes inherit it. Set QT_QPA_PLATFORM to watch the windows.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_API"] = "pyside6"
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
if sys.platform not in ("win32", "darwin"):
    os.environ["LC_ALL"] = "C.UTF-8"  # Qt warns about other locales on bare machines, and dates would differ

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "WS_PROXY", "WSS_PROXY", "NO_PROXY")
LEDGER = pytest.StashKey[list[Proof]]()
OPT_IN = ("keyring",)
_NUMBERS = itertools.count()

for profile, options in {
    "ci": {"derandomize": True},
    "soak": {"max_examples": 2_000, "suppress_health_check": [hypothesis.HealthCheck.too_slow]},
}.items():
    hypothesis.settings.register_profile(profile, deadline=None, print_blob=True, database=None, **options)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("long proofs")
    group.addoption("--soak", action="store_true", help="run the long proofs in full")
    group.addoption(
        "--seeds", metavar="START:END", type=parse_seeds, help="run these seeds of the long proofs"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEDGER] = []
    if not config.getoption("--hypothesis-profile", None):
        hypothesis.settings.load_profile("soak" if config.getoption("--soak") else "ci")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = config.getoption("markexpr") or ""
    for item in items:
        if item.get_closest_marker("soak") and not config.getoption("--soak"):
            item.add_marker(pytest.mark.skip(reason="a long proof: make soak"))
        for name in OPT_IN:
            if item.get_closest_marker(name) and name not in asked:
                item.add_marker(pytest.mark.skip(reason=f"only with -m {name}"))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    proofs = config.stash[LEDGER]
    if proofs:
        terminalreporter.section("long proofs, cases run")
        for proof in sorted(proofs, key=lambda p: p.test):
            terminalreporter.line(proof.line())


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not is_async(pyfuncitem.obj):
        return None
    marker = pyfuncitem.get_closest_marker("patience")
    patience = float(marker.args[0]) if marker else PATIENCE
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    factory = None
    if "qapp" in pyfuncitem.fixturenames:
        from bibgenie_desktop.gui.loop import event_loop

        app = pyfuncitem.funcargs.get("qapp") or pyfuncitem._request.getfixturevalue("qapp")
        app.setQuitOnLastWindowClosed(False)  # else closing a window ends the loop under the test
        factory = lambda: event_loop(app)  # noqa: E731
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(watched(pyfuncitem.obj, arguments, patience))
    return True


@pytest.fixture(scope="session")
def network_guard() -> Iterator[NetworkGuard]:
    """Refuses what leaves the machine. A test that provokes this on purpose clears `attempts`."""
    guard = NetworkGuard()
    with pytest.MonkeyPatch.context() as patch:
        guard.install(patch)
        yield guard


@pytest.fixture(autouse=True)
def _stays_on_this_machine(network_guard: NetworkGuard) -> Iterator[None]:
    network_guard.attempts.clear()
    yield
    if network_guard.attempts:
        pytest.fail("wanted to leave this machine: " + ", ".join(network_guard.attempts), pytrace=False)


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def home(_homes: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A fresh home directory of this test; everything the system calls a user directory lies in it."""
    home = _homes / str(next(_NUMBERS))
    runtime = home / "run"
    runtime.mkdir(parents=True, mode=0o700)
    places = {
        "HOME": home,
        "USERPROFILE": home,
        "APPDATA": home / "AppData" / "Roaming",
        "LOCALAPPDATA": home / "AppData" / "Local",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_STATE_HOME": home / ".local" / "state",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_RUNTIME_DIR": runtime,
    }
    for name, place in places.items():
        monkeypatch.setenv(name, str(place))
    real_keyring = request.node.get_closest_marker("keyring") is not None
    for name in list(os.environ):
        if name.upper() in PROXIES or name.startswith("BIBGENIE_"):
            monkeypatch.delenv(name)
    unwanted = "PYTHON_KEYRING_BACKEND" if real_keyring else "DBUS_SESSION_BUS_ADDRESS"
    monkeypatch.delenv(unwanted, raising=False)
    return home


@pytest.fixture(autouse=True)
def _no_threads_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = leftover_threads(before)
    if left:
        pytest.fail("threads left behind: " + ", ".join(left), pytrace=False)


@pytest.fixture(autouse=True)
def _nothing_of_qt_left(request: pytest.FixtureRequest) -> Iterator[None]:
    if "qapp" not in request.fixturenames:
        yield
        return
    from tests.leftovers import live_qt_objects

    app = request.getfixturevalue("qapp")
    before = live_qt_objects(app)
    yield
    left = live_qt_objects(app) - before
    if left:
        pytest.fail("left behind: " + ", ".join(sorted(name for _, name in left)), pytrace=False)


@pytest.fixture
def soak(request: pytest.FixtureRequest) -> Soak:
    """How many cases to run: `soak.count(reduced, full)`, or walk through `soak.seeds(reduced, full)`."""
    config = request.config
    return Soak(
        test=request.node.nodeid.split("/")[-1],
        full=config.getoption("--soak"),
        seeds_asked=config.getoption("--seeds"),
        ledger=config.stash[LEDGER],
    )


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of fixtures beside the checkout; tests that want it are skipped where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("no folder of shared fixtures beside the checkout")
    return folder
