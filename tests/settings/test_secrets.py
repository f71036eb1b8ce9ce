"""Keys: where they are looked for, and what happens where the keyring fails or hangs."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import traceback

import keyring.errors
import pytest

from bibgenie_desktop.domain.errors import SecretStoreUnavailable
from bibgenie_desktop.settings.secrets import SecretStore, environment_name


class Ring:
    """A keyring in memory that counts what it is asked."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.reads = 0

    def get_password(self, service_name: str, username: str) -> str | None:
        self.reads += 1
        return self.kept.get((service_name, username))

    def set_password(self, service_name: str, username: str, password: str) -> None:
        self.kept[service_name, username] = password

    def delete_password(self, service_name: str, username: str) -> None:
        del self.kept[service_name, username]


class LockedRing(Ring):
    def get_password(self, service_name: str, username: str) -> str | None:
        raise keyring.errors.InitError("Failed to unlock the collection: Prompt dismissed")

    def set_password(self, service_name: str, username: str, password: str) -> None:
        raise keyring.errors.InitError("Failed to unlock the collection: Prompt dismissed")


class ForgetfulRing(Ring):
    def set_password(self, service_name: str, username: str, password: str) -> None:
        pass


def store(ring: Ring | None = None, seconds: float = 5.0, **environment: str) -> SecretStore:
    made = ring or Ring()
    return SecretStore(environment, keyring=lambda: made, seconds=seconds)


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("openai", "BIBGENIE_OPENAI_API_KEY"),
        ("my-lab.2", "BIBGENIE_MY_LAB_2_API_KEY"),
    ],
)
def test_variable_is_named_after_the_provider(provider: str, name: str) -> None:
    assert environment_name(provider) == name


async def test_environment_comes_before_everything() -> None:
    ring = Ring()
    keys = store(ring, BIBGENIE_LAB_API_KEY=" from-env ")
    await keys.set("lab", "from-ring")
    keys.keep_for_session("lab", "from-session")
    assert await keys.find("lab") == ("from-env", "environment")


async def test_key_is_kept_in_the_keyring_under_the_known_names() -> None:
    ring = Ring()
    keys = store(ring)
    assert await keys.get("lab") is None
    await keys.set("lab", " secret\n")
    assert ring.kept == {("BibGenie", "lab"): "secret"}
    assert await store(ring).find("lab") == ("secret", "keyring")


async def test_keyring_is_read_once_not_at_each_request() -> None:
    ring = Ring()
    ring.kept["BibGenie", "lab"] = "secret"
    keys = store(ring)
    for _ in range(3):
        assert await keys.get("lab") == "secret"
    assert ring.reads == 1


async def test_forgotten_key_is_gone_everywhere() -> None:
    ring = Ring()
    keys = store(ring)
    await keys.set("lab", "secret")
    await keys.forget("lab")
    await keys.forget("lab")
    assert ring.kept == {}
    assert await keys.find("lab") == (None, None)


async def test_machine_without_keyring_has_no_keys_but_can_keep_one_for_this_run() -> None:
    keys = SecretStore({})  # the real package; its backend in tests is the one that always fails
    assert await keys.get("lab") is None
    with pytest.raises(SecretStoreUnavailable, match="No system keyring") as caught:
        await keys.set("lab", "secret-0815")
    assert "BIBGENIE_" in caught.value.advice
    assert "secret-0815" not in "".join(traceback.format_exception(caught.value)).replace('"secret-0815"', "")
    keys.keep_for_session("lab", "secret-0815")
    assert await keys.find("lab") == ("secret-0815", "session")
    await keys.forget("lab")
    assert await keys.get("lab") is None


async def test_locked_keyring_is_told_unless_the_key_may_be_missing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    keys = store(LockedRing())
    with pytest.raises(SecretStoreUnavailable, match="could not be opened"):
        await keys.get("lab")
    assert await keys.get("lab", required=False) is None
    with pytest.raises(SecretStoreUnavailable):
        await keys.set("lab", "secret-0815")
    assert "secret-0815" not in caplog.text


async def test_keyring_that_keeps_nothing_is_noticed() -> None:
    with pytest.raises(SecretStoreUnavailable):
        await store(ForgetfulRing()).set("lab", "secret")


async def test_keyring_that_hangs_is_given_up_and_does_not_hold_the_end() -> None:
    released = threading.Event()
    threads: list[threading.Thread] = []

    class HangingRing(Ring):
        def get_password(self, service_name: str, username: str) -> str | None:
            threads.append(threading.current_thread())
            released.wait(10)
            return None

    keys = store(HangingRing(), seconds=0.05)
    with pytest.raises(SecretStoreUnavailable, match="did not answer"):
        await keys.get("lab")
    assert threads[0].daemon
    released.set()
    threads[0].join(5)


async def test_backend_that_raises_anything_is_a_sentence() -> None:
    class OddRing(Ring):
        def get_password(self, service_name: str, username: str) -> str | None:
            raise RuntimeError("D-Bus went away")

    with pytest.raises(SecretStoreUnavailable):
        await store(OddRing()).get("lab")


def test_importing_does_not_load_the_keyring() -> None:
    code = "import sys, bibgenie_desktop.settings.secrets; sys.exit('keyring' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=30).returncode == 0
