"""Reading Zotero's profile files: profiles.ini and the JavaScript of prefs.js.

It turns text into values and knows nothing of where the files lie; `discovery` does.
"""

from __future__ import annotations

import configparser
import re
from dataclasses import dataclass
from pathlib import Path

_PREF = re.compile(
    r'^\s*user_pref\(\s*"((?:[^"\\]|\\.)*)"\s*,\s*(?:"((?:[^"\\]|\\.)*)"|(true|false)|(-?\d{1,20}))\s*\)\s*;',
    re.MULTILINE,
)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)", re.DOTALL)
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile of Zotero: its name and its directory."""

    name: str
    directory: Path
    is_default: bool


def read_profiles(directory: Path) -> tuple[Profile, ...]:
    """The profiles that `directory/profiles.ini` names, the default one first (without a mark: the last)."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string((directory / "profiles.ini").read_text("utf-8-sig", errors="replace"))
    except (OSError, configparser.Error):
        return ()
    found = []
    for section in parser.sections():
        entry = parser[section]
        if not section.lower().startswith("profile") or not entry.get("path"):
            continue
        path = Path(entry["path"])
        if entry.get("isrelative", "1").strip() == "1":
            path = directory.joinpath(*entry["path"].split("/"))
        found.append(Profile(entry.get("name", section), path, entry.get("default", "").strip() == "1"))
    if found and not any(p.is_default for p in found):
        last = found[-1]
        found[-1] = Profile(last.name, last.directory, True)
    return tuple(sorted(found, key=lambda p: not p.is_default))


def read_prefs(profile: Path) -> dict[str, str | int | bool]:
    """The preferences stored in a profile; a missing or unreadable file has none."""
    try:
        text = (profile / "prefs.js").read_text("utf-8", errors="replace")
    except (OSError, ValueError):  # ValueError: no system has such a path
        return {}
    return parse_prefs(text)


def parse_prefs(text: str) -> dict[str, str | int | bool]:
    """The values of the `user_pref` lines; a later line wins, as in Zotero."""
    prefs: dict[str, str | int | bool] = {}
    for match in _PREF.finditer(text):
        name, string, truth, number = match.groups()
        if string is not None:
            prefs[unescape(name)] = unescape(string)
        else:
            prefs[unescape(name)] = truth == "true" if truth else int(number)
    return prefs


def unescape(text: str) -> str:
    """The value of the inside of a JavaScript string literal; surrogate pairs become one character."""

    def one(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "ux" and len(code) > 1:
            return chr(int(code[1:], 16))
        return _SHORT.get(code, code)

    plain = _ESCAPE.sub(one, text)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
