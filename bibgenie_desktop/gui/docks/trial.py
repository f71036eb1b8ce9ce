"""What Compact would do, before it does it: shown at the foot of the Context dock."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QFrame

from bibgenie_desktop.gui.components import box, column, icon_button, label, row
from bibgenie_desktop.gui.tr import number, plural, thousands, tr

MOST_TURNS = 200
"""What pays later than that does not pay in any conversation."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A dry run in words and figures. `nothing`: why there is nothing to compact. Tokens throughout."""

    nothing: str = ""
    turns: int = 0
    first: str = ""
    last: str = ""
    kept: int = 0
    before: int = 0
    after: int = 0
    cost: int = 0
    dollars: str = ""
    pays_after: int | None = None
    cache_lost: bool = True
    cache: str = ""
    """What is lost of the provider's warm cache, in a sentence."""

    def sentences(self) -> tuple[str, ...]:
        if self.nothing:
            return (self.nothing, tr("Nothing was changed."))
        if not self.turns:
            goes = tr("The checkpoint itself would be written anew.")
        elif self.turns == 1:
            goes = tr("1 turn would be summarised: “{0}”.").format(self.first)
        else:
            goes = tr("{0} turns would be summarised, from “{1}” to “{2}”.").format(
                number(self.turns), self.first, self.last
            )
        stays = plural(self.kept, tr("{0} turn stays word for word."), tr("{0} turns stay word for word."))
        sizes = tr("The request goes from {0} to about {1} tokens.").format(
            thousands(self.before, 1), thousands(self.after, 1)
        )
        words = (
            tr("It costs as much as {0} input tokens, the lost prompt cache included")
            if self.cache_lost
            else tr("It costs as much as {0} input tokens")
        )
        cost = words.format(thousands(self.cost, 1))
        cost += f" ({self.dollars})." if self.dollars else "."
        if self.pays_after is None or self.pays_after > MOST_TURNS:
            pays = tr("It would not pay for itself.")
        else:
            pays = plural(self.pays_after, tr("It pays after {0} turn."), tr("It pays after {0} turns."))
        said = (goes, stays, sizes, cost, self.cache, pays, tr("Nothing was changed."))
        return tuple(words for words in said if words)

    def frees(self) -> str:
        if self.nothing:
            return tr("Nothing to compact")
        if not self.turns:
            return tr("Would renew the checkpoint")
        return tr("Would free about {0} tokens").format(thousands(max(0, self.before - self.after)))


class TrialCard(QFrame):
    """The sentences of a trial, and a way to put them away."""

    def __init__(self, trial: Trial) -> None:
        super().__init__()
        self.setObjectName("trialCard")
        close = icon_button("close", tr("Put away"), size=24, object_name="closeTrial")
        close.clicked.connect(self.hide)
        lines = [
            label(words, "small", "2" if place else "", wrap=True)
            for place, words in enumerate(trial.sentences())
        ]
        inner = column(
            row(label(tr("If you compact now"), "strong"), None, close),
            *lines,
            spacing=4,
            margins=(12, 8, 8, 10),
        )
        self.setLayout(column(box(inner, card="accent"), spacing=0))
        self.setAccessibleName(" ".join(trial.sentences()))
