"""Stores, reads and forgets a key, as the application does, and prints what came of it as one JSON object.

    python keyring_child.py SECONDS [--silent-service]

`--silent-service` first becomes the session's secret service, and never answers.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Awaitable
from typing import Any

from bibgenie_desktop.domain.errors import SecretStoreUnavailable
from bibgenie_desktop.settings.secrets import SecretStore

PROVIDER, KEY = "bibgenie-test", "sk-secret-0815-abcdefgh"


async def outcome(question: Awaitable[Any]) -> Any:
    try:
        return await question
    except SecretStoreUnavailable as error:
        return {"title": error.title, "advice": error.advice}


async def main(seconds: float) -> dict[str, Any]:
    keys = SecretStore({}, seconds=seconds)
    told = {
        "read_first": await outcome(keys.find(PROVIDER)),
        "stored": await outcome(keys.set(PROVIDER, KEY)),
        "read_again": await outcome(SecretStore({}, seconds=seconds).find(PROVIDER)),
        "needed_by_a_local_server": await outcome(keys.get("other", required=False)),
    }
    other = SecretStore({}, seconds=seconds)
    other.keep_for_session(PROVIDER, KEY)
    told["for_this_run"] = await outcome(other.find(PROVIDER))
    told["forgotten"] = await outcome(keys.forget(PROVIDER))
    told["read_last"] = await outcome(SecretStore({}, seconds=seconds).find(PROVIDER))
    return told


def own_the_service() -> object:
    """Takes the well-known name of the secret service on this bus; nothing reads what arrives there."""
    from jeepney import DBusAddress, new_method_call
    from jeepney.io.blocking import open_dbus_connection

    connection = open_dbus_connection()
    bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
    asked = new_method_call(bus, "RequestName", "su", ("org.freedesktop.secrets", 4))
    (answer,) = connection.send_and_get_reply(asked).body
    assert answer == 1, answer
    return connection


if __name__ == "__main__":
    logging.basicConfig(level=logging.DEBUG)
    kept = own_the_service() if "--silent-service" in sys.argv else None
    sys.stdout.write(json.dumps(asyncio.run(main(float(sys.argv[1])))))
    sys.stdout.flush()
    os._exit(0)  # as the application: a keyring that hangs in its thread must not keep it alive
