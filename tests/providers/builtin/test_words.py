"""Which words of a question carry its topic, in several languages."""

from __future__ import annotations

import pytest

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.domain.parts import ResourcePart, TextPart
from bibgenie_desktop.domain.projection import ProjectedMessage, Projection, checkpoint_text
from bibgenie_desktop.providers.builtin.question import question_of
from bibgenie_desktop.providers.builtin.words import content_words, language_of, matched, stem
from tests.providers.builtin.helpers import user


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("How does sleep affect memory consolidation?", ("sleep", "memory", "consolidation")),
        ("What do the papers in my library say about REM?", ("REM",)),
        ("Wie wirkt Schlaf auf das Gedächtnis?", ("schlaf", "gedächtnis")),
        ("Welche Quellen gibt es zu Bodenkohlenstoff?", ("bodenkohlenstoff",)),
        ("Quel est l’effet du sommeil sur la mémoire ?", ("sommeil", "mémoire")),
        ("生物炭如何影响土壤水分？", ("生物炭", "影响土壤水分")),
        ("수면은 기억에 도움이 되는가", ("수면", "기억", "도움", "되는")),
        ("What is the effect of practice on the testing effect?", ("practice", "testing", "effect")),
        ("p-hacking 2015", ("hacking", "2015")),
        ("Hi", ()),
        ("?", ()),
        ("", ()),
        ("Tell me more, please", ()),
    ],
)
def test_topic_is_found(text: str, words: tuple[str, ...]) -> None:
    assert content_words(text) == words


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How does sleep affect memory?", "en"),
        ("Wie wirkt Schlaf auf das Gedächtnis?", "de"),
        ("Quel est l'effet du sommeil sur la mémoire ?", "fr"),
        ("生物炭", "en"),
        ("", "en"),
    ],
)
def test_language_is_told_by_small_words(text: str, language: str) -> None:
    assert language_of(text) == language


def test_forms_of_a_word_match_and_parts_of_others_do_not() -> None:
    stems = tuple(stem(word) for word in ("consolidation", "nap", "Gedächtnis", "soil"))
    assert matched(stems, "Naps consolidate") == {stem("nap"), stem("consolidation")}
    assert matched(stems, "a snap of topsoil and of napalm") == set()
    assert matched(stems, "GEDACHTNISSE in soils") == {stem("Gedächtnis"), stem("soil")}
    assert matched(("土壤",), "关于土壤水分") == {"土壤"}


def question(*asked: str, checkpoint: str = "") -> tuple[str, ...]:
    head = (ProjectedMessage(MessageId("c"), "checkpoint", (TextPart(checkpoint),)),) if checkpoint else ()
    return question_of(Projection((*head, *(user(text) for text in asked)))).words


@pytest.mark.parametrize("text", ["And why?", "Tell me more.", "Why is that?", "Und warum?"])
def test_follow_up_takes_the_topic_along(text: str) -> None:
    assert question("Does sleep help memory?", text) == ("sleep", "help", "memory")


def test_follow_up_puts_its_own_words_first() -> None:
    assert question("Does sleep help memory?", "And in children?")[0] == "children"


def test_new_question_leaves_the_old_topic() -> None:
    assert question("Does sleep help memory?", "Does soil hold water?") == ("soil", "hold", "water")


def test_greeting_takes_no_topic_along() -> None:
    assert question("Does sleep help memory?", "Thanks!") == ()


def test_topic_of_a_checkpoint_counts_as_asked_before() -> None:
    summary = "## Research Goal\n- [user] Does sleep help memory?\n\n## Decisions\n- [user] Use APA."
    assert question("And why?", checkpoint=checkpoint_text(summary, "")) == ("sleep", "help", "memory")


def test_attached_and_named_things_are_seen() -> None:
    resource = ResourcePart(Locator("u", "item", item="AAAA2222"), "Soil", "Soil text")
    asked = question_of(Projection((user("Compare with g12-BBBB3333", resource),)))
    assert asked.ids == ("u-AAAA2222", "g12-BBBB3333")
    assert asked.words == ()
