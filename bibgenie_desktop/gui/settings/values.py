"""What the settings show and what they report: values only, so that pages and presenter need not know each
other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from bibgenie_desktop.domain.entries import ProviderKind

Tone = Literal["ok", "warn", "bad", "2", "3"]


@dataclass(frozen=True, slots=True)
class ProviderLine:
    """A provider in the list; `id` empty: it cannot be changed."""

    id: str
    name: str
    where: str
    state: str
    tone: Tone
    current: bool = False


@dataclass(frozen=True, slots=True)
class ProviderForm:
    """What the fields are filled with. `new`: it is not stored yet."""

    id: str
    kind: ProviderKind
    address: str
    new: bool
    plain: bool = False
    proxy: str = ""
    ca_file: str = ""
    note: str = ""
    key_page: str = ""


@dataclass(frozen=True, slots=True)
class Typed:
    """What the fields hold now. The key is in no representation of it."""

    id: str
    kind: ProviderKind
    address: str
    key: str = field(default="", repr=False)
    plain: bool = False
    proxy: str = ""
    ca_file: str = ""


@dataclass(frozen=True, slots=True)
class KeyView:
    """`held`: there is a key, which is never shown. `keepable`: the keyring refused the typed one."""

    text: str
    tone: Tone = "3"
    held: bool = False
    forgettable: bool = False
    keepable: bool = False


@dataclass(frozen=True, slots=True)
class ModelLine:
    """A model of the provider in the form. `set_window`: the person's own figure, empty if there is none."""

    id: str
    name: str
    window: str
    set_window: str
    output: str
    reads: str
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class TestView:
    """How a test goes: a sentence, and what was found on the way."""

    text: str = ""
    tone: Tone = "2"
    running: bool = False
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that new sessions can start with."""

    ref: str
    name: str
    current: bool
