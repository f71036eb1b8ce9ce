"""Which library a proposal was made for: it is written there or nowhere."""

from __future__ import annotations

import hashlib

from bibgenie_desktop.zotero.service import ZoteroLibrary

_LOCAL = "users/local/"


def home_name(library: ZoteroLibrary) -> str:
    """The account and the place of a library, as a name that tells nothing of the computer."""
    place = hashlib.sha256(str(library.status.data_dir.absolute()).encode("utf-8", "replace")).hexdigest()
    return f"{library.contents.account}@{place[:12]}"


def same_home(one: str, other: str) -> bool:
    """The same account, wherever it is read from; without one the same place, also after its first sync."""
    (account, _, place), (account_now, _, place_now) = one.partition("@"), other.partition("@")
    if account == account_now and account:
        return True
    unsynced = any(not a or a.startswith(_LOCAL) for a in (account, account_now))
    return unsynced and place == place_now
