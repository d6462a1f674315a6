"""Replies are read as translations; what cannot be one has a reason and no text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from ragstone.calls.types import Failure, Reply
from ragstone.components.judges.reply_parsing import Unreadable
from ragstone.components.translation_checks import SourceText
from ragstone.components.translator import SYSTEM, USER, Translator, one_line, whole_text
from ragstone.core.component import Outcome
from ragstone.core.spec import ComponentSpec
from ragstone.errors import ConfigError
from ragstone.testing import ScriptedCalls

GERMAN = "Der Fluss fließt durch die alte Stadt und mündet nach vielen Windungen in das Meer."
ENGLISH = "The river runs through the old town and, after many bends, flows into the sea."
FRENCH = "Le fleuve traverse la vieille ville et se jette dans la mer après bien des méandres."


@dataclass(frozen=True)
class Texts(Translator):
    """A component that translates texts."""

    model: ComponentSpec = "local"
    max_tokens: int = 50
    system: str = SYSTEM
    user: str = USER


def outcomes(reply: str | Reply | Failure, *texts: SourceText) -> Iterator[Outcome[str]]:
    """Return the outcomes of texts if the model always gives one reply."""
    calls = ScriptedCalls(lambda _: reply)
    return Texts().translations(texts, calls.services(), title="")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "the model wrote nothing"),
        ("<think>Hm", "the reply ends within the model's thinking"),
        ("I can\u2019t help to translate that.", "the model refused"),
        ("I'm unable to assist with this request.", "the model refused"),
        (GERMAN.upper(), "the reply is the text itself"),
        (FRENCH, "the reply is in French"),
        ("yes " * 200, "the reply is far longer than the text"),
        (Reply("The river runs", "length"), "the reply was truncated after 50 tokens"),
    ],
)
def test_a_reply_that_does_not_count_has_a_reason(reply: str | Reply, reason: str) -> None:
    """There is no text, and the reply is not asked for again."""
    (found,) = outcomes(reply, SourceText(GERMAN, "en", "de"))

    assert found.value == ""
    assert found.reason.startswith(f"not translated: {reason}")
    assert not found.retry


def test_a_failed_call_is_made_again() -> None:
    """The reason is that of the call."""
    (found,) = outcomes(Failure("no route"), SourceText("Wo?", "en"))

    assert found == Outcome("", "not translated: no route", retry=True)


def test_a_translation_is_read() -> None:
    """Thinking, a title and quotes are removed; names may stay as they are."""
    text = SourceText(GERMAN, "en", "de")

    assert list(outcomes(f'<think>Hm.</think>Translation: "{ENGLISH}"', text)) == [Outcome(ENGLISH)]
    name = SourceText("Nikolaus Kopernikus", "en", "de")
    assert list(outcomes("Nikolaus Kopernikus", name)) == [Outcome("Nikolaus Kopernikus")]


def test_equal_texts_have_one_call_and_some_have_none() -> None:
    """A blank text and one in the target language stay as they are."""
    calls = ScriptedCalls(lambda _: "One.")
    texts = [
        SourceText("Eins.", "en", "de"),
        SourceText(" ", "en"),
        SourceText("One thing.", "en", "en"),
        SourceText("Eins.", "en", "de"),
        SourceText("Eins.", "fr", "de"),
    ]

    found = list(Texts().with_replies(texts, calls.services(), title=""))

    assert [outcome.value for outcome, _ in found] == ["One.", " ", "One thing.", "One.", "One."]
    assert [reply is not None for _, reply in found] == [True, False, False, False, True]
    assert len(calls.asked) == 2
    assert calls.asked[1].messages[-1][1] == "Translate into French:\n\nEins."


def test_templates_may_name_the_language_of_the_text() -> None:
    """An unknown one is "another language"; the text and the language are required."""
    calls = ScriptedCalls(lambda _: "x")
    own = Texts(system="", user="{source} to {language}: {text}")
    texts = [SourceText("Eins.", "en", "de"), SourceText("Zwei.", "en")]

    list(own.translations(texts, calls.services(), title=""))

    prompts = [request.messages[-1][1] for request in calls.asked]
    assert prompts == ["German to English: Eins.", "another language to English: Zwei."]
    with pytest.raises(ConfigError, match="text"):
        Texts(user="Into {language}.")


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("«Où est-ce?»", "Où est-ce?"),
        ("Here it is:\n\nWhere is it?", "Where is it?"),
        ("Query: where: here?", "where: here?"),
        ("12:30 train", "12:30 train"),
        ("**Translation:** Where is it?", "Where is it?"),
        ("English translation: Where is it?", "Where is it?"),
        ("Translation (English):\nWhere is it?", "Where is it?"),
        ("\u200f”أين النهر؟“\u200f", "أين النهر؟"),
        ("『どこ\uff1f』", "どこ\uff1f"),
        ("", ""),
    ],
)
def test_a_line_is_read_tolerantly(reply: str, found: str) -> None:
    """Quotes of many kinds, a sentence before and colons are accepted."""
    assert one_line(reply, "Wo?") == found


@pytest.mark.parametrize(
    "reply", ["River\n\nNote: the name stays.", "1. River\n2. Flow", "River\nLet me know!"]
)
def test_several_lines_are_no_translation_of_one(reply: str) -> None:
    """A remark below the translation is not searched for; a text of several lines may have it."""
    with pytest.raises(Unreadable, match="the text has one line, and the reply 2: "):
        one_line(reply, "Fluss")

    assert one_line("One.\nTwo.", "Eins.\nZwei.") == "One. Two."


@pytest.mark.parametrize(
    ("reply", "text", "found"),
    [
        ("One.\n\nTwo.\n", "Eins.\n\nZwei.", "One.\n\nTwo."),
        ("Sure! Here is the translation:\n\nOne.", "Eins.", "One."),
        ("Here is the list:\nOne.", "Hier ist die Liste:\nEins.", "Here is the list:\nOne."),
        ('"One" and "two"', "Eins", '"One" and "two"'),
        ('"One."', '"Eins."', '"One."'),
        ("**Translation:** One.", "Eins.", "One."),
        ("\u200f”أين؟“\u200f", "Wo?", "أين؟"),
        ("\u2018One.\u2019", "Eins.", "One."),
        ("„Eins.“", "One.", "Eins."),
        ("", "Eins.", ""),
    ],
)
def test_a_whole_text_is_read(reply: str, text: str, found: str) -> None:
    """A preface about the translation goes; quotes and lines of the text stay."""
    assert whole_text(reply, text) == found
