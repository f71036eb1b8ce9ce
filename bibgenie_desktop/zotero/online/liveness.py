"""Whether Zotero runs on this computer and lets other applications in: two GETs on loopback, past any proxy.

For the settings to say so, and for nothing else: the library is read without any of it. Blocks for a second
or two at most.
"""

from __future__ import annotations

import http.client
from dataclasses import dataclass
from typing import Final, Literal

from bibgenie_desktop.zotero.local.running import PORT

State = Literal["open", "off", "old", "closed", "taken", "silent"]
"""`open`: the local interface answers. `off`: its switch is off. `old`: a Zotero without one. `closed`:
nothing is on the port. `taken`: another program is. `silent`: something is, but does not answer."""
SECONDS: Final = 1.5
_MOST: Final = 4_096


@dataclass(frozen=True, slots=True)
class Liveness:
    """`version` is Zotero's, where it says so."""

    state: State
    version: str = ""
    port: int = PORT


def look_for_zotero(port: int = PORT, seconds: float = SECONDS) -> Liveness:
    """Asks the port of Zotero who is there, and whether its local interface is switched on."""
    try:
        ping = _get(port, "/connector/ping", seconds)
        if ping is None or not ping.is_zotero:
            return Liveness("taken", port=port)
        answer = _get(port, "/api/", seconds)
    except ConnectionRefusedError:
        return Liveness("closed", port=port)
    except TimeoutError:
        return Liveness("silent", port=port)
    except OSError:
        return Liveness("closed", port=port)
    states: dict[int, State] = {200: "open", 403: "off", 404: "old"}
    state = states.get(answer.status, "off") if answer is not None else "silent"
    return Liveness(state, ping.version, port)


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    version: str
    text: str

    @property
    def is_zotero(self) -> bool:
        return bool(self.version) or "zotero" in self.text.lower()


def _get(port: int, path: str, seconds: float) -> _Answer | None:
    """An answer; None where it is not one of HTTP."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", path, headers={"User-Agent": "BibGenie", "Connection": "close"})
        response = connection.getresponse()
        text = response.read(_MOST).decode("utf-8", "replace")
        return _Answer(response.status, response.getheader("X-Zotero-Version") or "", text)
    except http.client.HTTPException:
        return None
    finally:
        connection.close()
