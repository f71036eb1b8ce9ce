"""What the settings say of a provider: of its key, its models, and each step of its test."""

from __future__ import annotations

from urllib.parse import urlsplit

from bibgenie_desktop.domain.entries import ModelEntry, ProviderEntry
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.gui.settings.values import KeyView, ModelLine, TestView, Tone
from bibgenie_desktop.gui.tr import number, plural, tr
from bibgenie_desktop.services.configuring.provider_setup import KeyState
from bibgenie_desktop.services.configuring.provider_test import (
    AddressChecked,
    Asked,
    Failed,
    KeyFound,
    ModelsListed,
    Passed,
    TestEvent,
    WindowFound,
    WordCame,
)
from bibgenie_desktop.settings.preferences import SMALLEST_WINDOW


def host_of(entry: ProviderEntry) -> str:
    """The part of an address by which people know it."""
    try:
        return urlsplit(entry.base_url).netloc or entry.base_url or entry.kind
    except ValueError:
        return entry.base_url


def key_words(state: KeyState | None, *, nearby: bool) -> KeyView:
    """`state` None: nothing is stored yet."""
    place = state.place if state is not None else None
    if state is not None and state.title and not nearby:
        return KeyView(f"{state.title} {state.advice}".strip(), "warn")
    if state is not None and place == "environment":
        said = tr("From the variable {0}, which comes before a key that is entered here.")
        return KeyView(said.format(state.variable), held=True)
    if place == "keyring":
        said = tr("In the system keyring. Never written to files, logs or exports.")
        return KeyView(said, held=True, forgettable=True)
    if place == "session":
        said = tr(
            "Kept for this run only; it is gone when you quit. Never written to files, logs or exports."
        )
        return KeyView(said, held=True, forgettable=True)
    if nearby:
        return KeyView(tr("Servers on this computer or nearby mostly need none: leave it empty."))
    return KeyView(tr("It goes into the system keyring. Never written to files, logs or exports."))


def model_line(profile: ModelProfile, entry: ModelEntry) -> ModelLine:
    own = number(entry.context_window) if entry.context_window is not None else ""
    return ModelLine(
        id=entry.id,
        name=profile.label,
        window=number(profile.window),
        set_window=own,
        output=number(profile.max_output) if profile.max_output is not None else "?",
        reads=tr("text, images") if profile.vision else tr("text"),
        assumed=profile.window_source == "assumed",
    )


def window_of(text: str) -> int | None:
    """A window as people write it: `128000`, `128,000`, `128k`; None for no text. Raises `UserError`."""
    plain = text.strip().casefold()
    if not plain:
        return None
    thousands = plain.endswith("k")
    digits = "".join(c for c in plain.removesuffix("k") if c not in " ,._'\u00a0\u202f")
    if not digits.isdecimal() or len(digits) > 9:
        raise UserError(tr("“{0}” is no number of tokens.").format(text.strip()), tr("Write it like 128000."))
    window = int(digits) * (1000 if thousands else 1)
    if window < SMALLEST_WINDOW:
        raise UserError(
            tr("A window of {0} tokens is too small.").format(number(window)),
            tr("At least {0} are needed.").format(number(SMALLEST_WINDOW)),
        )
    return window


class TestNotes:
    """Gathers the events of one test into what is shown of it."""

    __test__ = False

    def __init__(self) -> None:
        self._details: list[str] = []
        self._models: int | None = None
        self._word = ""
        self._keyless = False
        self.state: tuple[str, Tone] = (tr("Not tested yet"), "3")
        self.view = TestView(tr("Testing…"), "2", running=True)

    def take(self, event: TestEvent) -> None:
        match event:
            case AddressChecked(base_url):
                self._details.append(tr("Address: {0}").format(base_url))
            case KeyFound(place):
                self._keyless = place is None
                self._details.append(tr("Without a key") if place is None else _places()[place])
            case ModelsListed(models, milliseconds, note):
                self._models = len(models) or None
                found = plural(len(models), tr("{0} model listed"), tr("{0} models listed"))
                said = tr("{0} after {1} ms").format(found, number(milliseconds))
                self._details.append(note or said)
            case WindowFound(model, window, source, trained):
                self._details.append(_window_words(model, window, source, trained))
            case Asked(model, url):
                self._details.append(tr("Asked {0} at {1}").format(model, url))
                self._details.append("")
            case WordCame(text, _):
                self._word += text
                self._details[-1] = tr("It said: “{0}”").format(self._word.strip())
            case Passed(_, milliseconds):
                self._pass(milliseconds)
                return
            case Failed(_, title, advice):
                self.fail(f"{title} {advice}".strip(), title)
                return
        self.view = TestView(tr("Testing…"), "2", True, tuple(d for d in self._details if d))

    def fail(self, text: str, short: str = "") -> None:
        self.view = TestView(text, "bad", False, tuple(d for d in self._details if d))
        self.state = (short or text, "bad")

    def _pass(self, milliseconds: int) -> None:
        said = tr("Works. First word after {0} ms.").format(number(milliseconds))
        if self._models is not None:
            models = plural(self._models, tr("{0} model"), tr("{0} models"))
            said = tr("Works. First word after {0} ms, {1}.").format(number(milliseconds), models)
        self.view = TestView(said, "ok", False, tuple(d for d in self._details if d))
        self.state = (tr("Connected · no key needed") if self._keyless else tr("Connected"), "ok")


def _places() -> dict[str, str]:
    return {
        "typed": tr("With the key that is typed"),
        "keyring": tr("With the key from the system keyring"),
        "session": tr("With the key that is kept for this run"),
        "environment": tr("With the key from the environment"),
    }


def _window_words(model: str, window: int, source: str, trained: int | None) -> str:
    sources = {
        "user": tr("set by you"),
        "learned": tr("loaded by the server"),
        "provider": tr("from the provider"),
        "catalogue": tr("from the catalogue"),
        "assumed": tr("assumed"),
    }
    said = tr("Window of {0}: {1} tokens, {2}").format(model, number(window), sources[source])
    if trained is not None and trained > window:
        said = tr("{0}; the model could have {1}").format(said, number(trained))
    return said
