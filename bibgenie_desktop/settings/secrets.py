"""Keys of providers: from the environment, the system's keyring, or this run's memory. Never from or to a
file.

The keyring may open a prompt and block, or not exist; it is asked in a thread of its own, with a time
limit, only when a key is needed. Importing this module touches nothing.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypeVar

from bibgenie_desktop.domain.errors import SecretStoreUnavailable

SERVICE = "BibGenie"
PROMPT_SECONDS = 60.0
"""Long enough to type a password into the keyring's prompt."""

SecretSource = Literal["environment", "keyring", "session"]

T = TypeVar("T")

logger = logging.getLogger(__name__)


class Keyring(Protocol):
    """What is used of the `keyring` package."""

    def get_password(self, service_name: str, username: str) -> str | None: ...

    def set_password(self, service_name: str, username: str, password: str) -> None: ...

    def delete_password(self, service_name: str, username: str) -> None: ...


def environment_name(provider: str) -> str:
    """The variable that holds the key of a provider."""
    return f"BIBGENIE_{re.sub(r'[^A-Za-z0-9]', '_', provider).upper()}_API_KEY"


def system_keyring() -> Keyring:
    """The system's keyring. Choosing its backend takes time: called in the thread, at the first need."""
    import keyring

    return keyring.get_keyring()


def forbid_core_dumps() -> None:
    """A dump of this process would hold the keys in use: the system is asked to write none. Where it knows no
    such limit, nothing happens."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


class SecretStore:
    """Reads in the order environment, keyring, session; writes to the keyring, or for this run on request."""

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        keyring: Callable[[], Keyring] = system_keyring,
        seconds: float = PROMPT_SECONDS,
    ) -> None:
        self._environment = environment
        self._make_keyring = keyring
        self._seconds = seconds
        self._session: dict[str, str] = {}
        self._read: dict[str, str] = {}

    async def get(self, provider: str, *, required: bool = True) -> str | None:
        """The key, None where there is none.

        A keyring that exists but cannot be opened raises `SecretStoreUnavailable`; with `required` False (an
        endpoint that may do without a key) it counts as empty.
        """
        return (await self.find(provider, required=required))[0]

    async def find(self, provider: str, *, required: bool = True) -> tuple[str | None, SecretSource | None]:
        """The key and where it is from."""
        if key := self._environment.get(environment_name(provider), "").strip():
            return key, "environment"
        if provider in self._session:
            return self._session[provider], "session"
        if provider not in self._read:
            try:
                found = await self._ask(provider, lambda ring: ring.get_password(SERVICE, provider))
            except _NoKeyring:
                found = None
            except SecretStoreUnavailable:
                if required:
                    raise
                found = None
            if not found:
                return None, None
            # Kept: a prompt for each request would be unbearable.
            self._read[provider] = found
        return self._read[provider], "keyring"

    async def set(self, provider: str, key: str) -> None:
        """Store in the keyring. Raises `SecretStoreUnavailable`; `keep_for_session` is then the way."""
        key = key.strip()

        def store(ring: Keyring) -> str | None:
            ring.set_password(SERVICE, provider, key)
            return ring.get_password(SERVICE, provider)

        if (
            await self._ask(provider, store) != key
        ):  # a keyring that is switched off takes everything and keeps nothing
            raise _NoKeyring(provider)
        self._session.pop(provider, None)
        self._read[provider] = key

    def keep_for_session(self, provider: str, key: str) -> None:
        """Keep in memory until the application ends."""
        self._session[provider] = key.strip()

    async def forget(self, provider: str) -> None:
        """Remove the key from the keyring and from memory; a variable of the environment stays."""
        self._session.pop(provider, None)
        self._read.pop(provider, None)

        def remove(ring: Keyring) -> None:
            if ring.get_password(SERVICE, provider) is not None:
                ring.delete_password(SERVICE, provider)

        try:
            await self._ask(provider, remove)
        except _NoKeyring:
            return

    async def _ask(self, provider: str, question: Callable[[Keyring], T]) -> T:
        """Ask the keyring in a daemon thread: one that hangs in a prompt must not keep the application
        alive."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def settle(method: Callable[[Any], None], value: Any) -> None:
            if not answer.done():
                method(value)

        def run() -> None:
            try:
                result = question(self._make_keyring())
            except Exception as error:  # noqa: BLE001 - backends are plug-ins and raise what they like
                self._report(loop, settle, answer.set_exception, error)
            else:
                self._report(loop, settle, answer.set_result, result)

        threading.Thread(target=run, name="keyring", daemon=True).start()
        try:
            return await asyncio.wait_for(answer, self._seconds)
        except TimeoutError as error:
            raise SecretStoreUnavailable(
                f"The system's keyring did not answer within {self._seconds:g} seconds.",
                "Look for a password prompt, or enter the key again to use it until you quit.",
            ) from error
        except SecretStoreUnavailable:
            raise
        except Exception as error:
            logger.warning("the keyring failed: %s", type(error).__name__)
            if type(error).__name__ == "NoKeyringError":
                raise _NoKeyring(provider) from error
            raise SecretStoreUnavailable(
                "The system's keyring could not be opened.",
                "Unlock it and try again, or enter the key again to use it until you quit.",
            ) from error

    @staticmethod
    def _report(
        loop: asyncio.AbstractEventLoop,
        settle: Callable[..., None],
        method: Callable[[Any], None],
        value: Any,
    ) -> None:
        try:
            loop.call_soon_threadsafe(settle, method, value)
        except RuntimeError:  # the loop is closed: nobody waits any more
            logger.debug("the keyring answered after the end")


class _NoKeyring(SecretStoreUnavailable):
    """There is none at all, so nothing can be in it."""

    def __init__(self, provider: str) -> None:
        name = environment_name(provider)
        super().__init__(
            "No system keyring is available, so the key can be kept only until you quit.",
            f"Install GNOME Keyring or KWallet, or set the variable {name}.",
        )
