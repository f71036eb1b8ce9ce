"""A keyring in memory behind the real store of secrets, real connections, the way into a test's Zotero."""

from __future__ import annotations

from collections.abc import Mapping

from bibgenie_desktop.net.blocking import BlockingHttp
from bibgenie_desktop.settings.secrets import SERVICE, SecretStore
from bibgenie_desktop.zotero.online.writing import Connections, ZoteroWriting

NOWHERE = "http://127.0.0.1:9/api"
"""A port where nothing listens."""


class MemoryKeyring:
    """What a system keyring does, for one test."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self.kept = dict(known or {})

    def get_password(self, service_name: str, username: str) -> str | None:
        assert service_name == SERVICE
        return self.kept.get(username)

    def set_password(self, service_name: str, username: str, password: str) -> None:
        assert service_name == SERVICE
        self.kept[username] = password

    def delete_password(self, service_name: str, username: str) -> None:
        assert service_name == SERVICE
        del self.kept[username]


def secrets(keyring: MemoryKeyring, environment: Mapping[str, str] | None = None) -> SecretStore:
    return SecretStore(environment or {}, keyring=lambda: keyring)


def connections(seconds: float = 5.0) -> Connections:
    return Connections(
        local=lambda: BlockingHttp(local=True, seconds=seconds),
        asking=lambda: BlockingHttp(local=True, seconds=30.0),
        web=lambda: BlockingHttp(local=True, seconds=seconds),
    )


def writing(
    keyring: MemoryKeyring | None = None,
    *,
    local: str = NOWHERE,
    web: str = NOWHERE,
    environment: Mapping[str, str] | None = None,
    seconds: float = 5.0,
) -> ZoteroWriting:
    store = secrets(keyring or MemoryKeyring(), environment)
    return ZoteroWriting(store, connections(seconds), local=local, web=web)
