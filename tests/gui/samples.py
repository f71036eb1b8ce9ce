# ruff: noqa: E501 - running text
"""Made-up rows for pictures and tests. Texts and numbers are illustrative, not quotations."""

from typing import Final

from bibgenie_desktop.gui.conversation.card import CardView, ProposalCard
from bibgenie_desktop.gui.conversation.rows import (
    AnswerRow,
    AttachmentView,
    CheckpointRow,
    CitationView,
    Row,
    StepView,
    UserRow,
    VerbatimRow,
    WidgetRow,
)

HU: Final = '[[u-HUTM2020 p.4 "real but small"]]'
CORDI: Final = "[[u-CORD2021 p.3 “may be smaller, more task-specific and less robust”]]"
RASCH: Final = '[[u-RASC2013 p.22 "less than their number suggests"]]'

ANSWER: Final = f"""\
The benefit is **real but small**, and it depends on sleep stage and on how well the material was learned before \
sleep. Across 91 experiments Hu and colleagues put the pooled effect at *g* = 0.29 {HU}; it is larger in slow-wave \
sleep and absent in REM.

| Stage | Experiments | Hedges’ *g* | 95 % CI | Source |
|:--|--:|--:|:--|:--|
| N2 | 15 | 0.32 | 0.04 – 0.60 | Hu et al. 2020 |
| Slow-wave | 53 | 0.27 | 0.20 – 0.35 | Hu et al. 2020 |
| REM | 11 | −0.04 | −0.29 – 0.21 | Hu et al. 2020 |

Cordi and Rasch warn that benefits “may be smaller, more task-specific and less robust” than early work implied \
{CORDI}. If each study adds its own heterogeneity, the pooled estimate weights them as

$$\\hat\\theta = \\frac{{\\sum_i w_i\\, y_i}}{{\\sum_i w_i}}, \\qquad w_i = \\frac{{1}}{{s_i^2 + \\tau^2}}$$

so the many small studies before 2015 count for less than their number suggests {RASCH}. To repeat the estimate \
from your extracted table, with $\\tau^2$ as usual:

```python
import pandas as pd
d = pd.read_csv("tmr_effects.csv").query("stage == 'SWS'")
w = 1 / (d.se**2 + tau2)          # DerSimonian–Laird weights
print(f"g = {{(w * d.g).sum() / w.sum():.2f}}")
```
"""

CITATIONS: Final = {
    HU: CitationView("Hu et al. 2020, p. 218", "verified", "zotero://open-pdf/library/items/HUTM2020?page=4"),
    CORDI: CitationView(
        "Cordi & Rasch 2021, p. 3",
        "verified",
        "zotero://open-pdf/library/items/CORD2021?page=3",
        "may be smaller, more task-specific and less robust",
        "How robust are sleep-mediated memory benefits?",
        "Cordi & Rasch 2021 · Current Opinion in Neurobiology",
        "3",
    ),
    RASCH: CitationView("Rasch & Born 2013, p. 702", "paraphrase"),
}

QUESTION: Final = (
    "How large is the benefit of targeted memory reactivation, by sleep stage? Give confidence intervals and say "
    "what changed after 2015."
)
CHIPS: Final = (AttachmentView("Hu et al. 2020"), AttachmentView("Cordi & Rasch 2021"))
STEPS: Final = (
    StepView("search", "“targeted memory reactivation” sleep stage, 2015–", "12 items"),
    StepView("search", "full text: “Hedges’ g” slow-wave", "7 passages"),
    StepView("article", "Hu et al. 2020, pp. 218–224", "7 pages"),
)
RUNNING: Final = StepView("article", "Reading Cordi & Rasch 2021, pp. 1–7", state="running")
PARTIAL: Final = f"""\
I found three papers in *Sleep › Consolidation › TMR* that report effects by stage. Two of them give standard \
errors, so a small meta-regression is possible {HU}.

The moderators worth testing first are **pre-sleep accuracy**, the **number of cues** and whether the cue fell in \
the up-state of the slow oscill"""
SUMMARY: Final = (
    ("Research Goal", "- [user] Review chapter on sleep-dependent consolidation; section 4 judges TMR."),
    (
        "User Requirements and Constraints",
        "- [user] Humans only, after 2009, effect sizes with confidence intervals.\n"
        "- [user] Cite by printed page.",
    ),
    ("Research Progress", "- [inference] Nothing recorded."),
    (
        "Findings and Evidence",
        "- [tool] Nesting of slow oscillations, spindles and ripples shown intracranially (u-STAR2015 p. 1681).\n"
        "  - [tool] Found in 12 patients, all with epilepsy\n"
        "  - two of them without ripples\n"
        "- [inference] The link to behaviour is not shown by that: the recordings were made without a task, and "
        "what is said about memory rests on other studies.",
    ),
    (
        "Key Zotero Resources",
        "- [tool] u-HUTM2020 Hu et al. 2020, pp. 218–224\n- [tool] u-CORD2021 Cordi & Rasch 2021",
    ),
    ("Decisions", "Nothing recorded."),
    ("Next Steps", "- [user] Compare pooled effects by stage; check Cordi & Rasch for failed replications."),
    ("Critical Context", "- [inference] Nothing recorded."),
)


def main_rows() -> list[Row]:
    """A question and a full answer with other versions."""
    answer = AnswerRow(
        "a1",
        ANSWER,
        STEPS,
        "Searched 3×, read 2 papers · 8 s",
        citations=CITATIONS,
        meta="Claude Sonnet 4.5 · 14:02 · 3.2 k tokens",
        siblings=(2, 3),
    )
    return [UserRow("u1", QUESTION, CHIPS, meta="14:01"), answer]


def streaming_rows() -> list[Row]:
    """An answer that is being written."""
    return [
        CheckpointRow("c1", "Compacted · 48 k → 6 k", SUMMARY, 9),
        UserRow("u1", "Which moderators would you test, and do my papers give what it needs?", CHIPS[:1]),
        AnswerRow(
            "a1",
            PARTIAL,
            (*STEPS, RUNNING),
            "Searching and reading · 6 s",
            citations=CITATIONS,
            streaming=True,
        ),
    ]


def compacted_rows() -> list[Row]:
    """The verbatim part, a checkpoint, and an answer that broke off."""
    return [
        VerbatimRow(),
        UserRow("u1", "Collect the effect sizes for TMR from my library.", siblings=(1, 2), meta="16 Nov"),
        AnswerRow(
            "a1",
            f"I extracted 38 effects from 21 papers into a table {HU}.",
            STEPS,
            "Searched 5×, read 9 papers · 31 s",
            citations=CITATIONS,
            meta="Claude Sonnet 4.5 · 16 Nov · 5.9 k tokens",
        ),
        CheckpointRow("c1", "Compacted · 48 k → 6 k", SUMMARY, 9, can_compare=True),
        UserRow("u2", "Now compare the three stages with a moderator analysis.", CHIPS, waiting=True),
        AnswerRow(
            "a2",
            "The moderators worth testing",
            status="failed",
            error_title="The answer broke off",
            error_advice="The connection closed after 1,204 tokens. What arrived is kept.",
            meta="Claude Sonnet 4.5 · 14:09",
        ),
    ]


NOTE: Final = """# TMR: pooled effects by stage

- **N2** g = 0.32 [0.04, 0.60], k = 15
- **Slow-wave** g = 0.27 [0.20, 0.35], k = 53
- **REM** g = −0.04 [−0.29, 0.21], k = 11

Hu et al. 2020, pp. 218–221"""
CARD: Final = CardView(
    "call_1",
    "Save a note in Zotero?",
    "Under “Promoting memory consolidation during sleep” (Hu et al. 2020), in My Library",
    NOTE,
    verb="Save note",
)
TAGS_CARD: Final = CardView(
    "call_2",
    "Change tags in Zotero?",
    "Hu et al. 2020: Promoting memory consolidation during sleep",
    "meta-analysis\nTMR\n-to read",
    icon="tag",
    verb="Change tags",
    add=("meta-analysis", "TMR"),
    remove=("to read",),
)


def card_rows(card: CardView = CARD) -> list[Row]:
    """A proposal that waits for the person."""
    return [
        UserRow("u1", "Save the three estimates as a note on the Hu paper.", meta="14:02"),
        AnswerRow(
            "a1",
            "I would add this note to the item and two tags. Nothing is written until you accept it.",
            STEPS[2:],
            "Read 1 paper · 2 s",
        ),
        WidgetRow("call_1", lambda: ProposalCard(card), "proposal"),
    ]


WIDE: Final = """\
Each row is one study; the identifiers are those of the publishers.

| Study | Design | Participants | Cue | Stage | Baseline | Effect (Hedges’ *g*) | 95 % CI | Identifier |
|:--|:--|--:|:--|:--|--:|--:|:--|:--|
| Rudoy 2009 | within | 12 | sounds of objects | SWS | 0.71 | 0.48 | 0.10 – 0.86 | 10.1126/science.1179013 |
| Antony 2012 | within | 16 | melodies | SWS | 0.64 | 0.62 | 0.21 – 1.03 | 10.1038/nn.3152 |
| Schreiner 2015 | between | 68 | Dutch words | NREM | 0.55 | 0.40 | 0.02 – 0.78 | https://doi.org/10.1093/cercor/bhu139 |

```python
effects = pd.read_csv("tmr_effects.csv").query("stage == 'SWS' and design == 'within'").assign(w=lambda d: 1 / (d.se**2 + tau2))
print(effects)
```
"""


def wide_rows() -> list[Row]:
    """A table and a line of code that are wider than the column."""
    return [
        UserRow("u1", "All of it in one table, please.", meta="14:02"),
        AnswerRow("a1", WIDE, meta="model · 14:03"),
    ]


def many_rows(count: int, words: int = 130) -> list[Row]:
    """A long conversation: questions and answers in turn."""
    rows: list[Row] = []
    for i in range(count):
        if i % 2 == 0:
            rows.append(UserRow(f"m{i}", f"Question {i}: what about effect {i} in slow-wave sleep?"))
        else:
            text = f"Answer **{i}**. " + " ".join(
                f"word{(i * 7 + k) % 97}" for k in range(words * (1 + i % 4))
            )
            rows.append(AnswerRow(f"m{i}", text + f"\n\n- point {i}\n- another\n", meta=f"model · {i}"))
    return rows
