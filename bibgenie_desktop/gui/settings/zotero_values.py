"""What the Zotero page and the dialog of the web library show: values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bibgenie_desktop.gui.settings.values import Tone

KEY_PAGE = "https://www.zotero.org/settings/keys/new"
KEY_PAGE_SHOWN = "zotero.org/settings/keys"


@dataclass(frozen=True, slots=True)
class LiveView:
    """The Zotero on this computer: how it is, and what to do where something is wished of it."""

    text: str
    fix: str = ""
    tone: Tone = "3"
    looking: bool = False


@dataclass(frozen=True, slots=True)
class WebView:
    """How testing or fetching goes. `share` is None where nothing can be counted yet."""

    text: str = ""
    tone: Tone = "2"
    busy: Literal["", "test", "fetch"] = ""
    share: float | None = None
    resumes: bool = False
    """A fetch was stopped or failed; the next one goes on where it was."""
