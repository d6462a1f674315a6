"""label and numeric: rules, names, bad options, and the figures beside the mean."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support import answer_value

from ragstone.components.metrics.parse import parse_metric
from ragstone.errors import ConfigError
from ragstone.evaluation.score_files import evaluate_answers

THREE = "label(yes, no, maybe)"


@pytest.mark.parametrize(
    ("answer", "gold", "value"),
    [
        ("yes", "yes", 1.0),
        ("Yes.", "yes", 1.0),
        ("**Yes**, it does.", "Yes", 1.0),
        ("The answer is no.", "no", 1.0),
        ("No evidence supports it.", "no", 1.0),
        ("Yes, there is no doubt.", "yes", 1.0),
        ("yes and no", "yes", 0.0),
        ("Yes or no.", "yes", 0.0),
        ("Yes. No.", "yes", 0.0),
        ("maybe yes", "yes", 0.0),
        ("Not yes, but maybe.", "maybe", 1.0),
        ("It isn't no, it is yes.", "yes", 1.0),
        ("yes rather than maybe", "yes", 1.0),
        ("I do not know.", "no", 0.0),
        ("Yesterday", "yes", 0.0),
        ("", "yes", 0.0),
    ],
)
def test_the_option_stated_is_compared(answer: str, gold: str, value: float) -> None:
    """One option without negation; several and none are wrong."""
    assert answer_value(THREE, answer, [gold]) == value


def test_options_in_other_scripts() -> None:
    """Scripts without spaces have no word border."""
    assert answer_value("label(是, 否)", "答案是 是。", ["是"]) == 1.0
    assert answer_value("label(да, нет)", "Ответ: да!", ["да"]) == 1.0
    assert answer_value("label(да, нет)", "дата", ["да"]) == 0.0


def test_abstentions_and_macro_f1_stand_beside_the_accuracy() -> None:
    """Abstentions are wrong in the accuracy and counted apart; a failure does not abstain."""
    gold = {"a": ["yes"], "b": ["no"], "c": ["no"], "d": ["maybe"], "e": ["42"], "f": ["yes"]}
    answers = {"a": "Yes.", "b": "No.", "c": "I cannot say.", "d": "Yes.", "e": "42", "f": None}

    found = evaluate_answers(answers, gold, [THREE])

    assert found[THREE].mean == pytest.approx(2 / 5)
    assert found[THREE].not_applicable == 1
    held = found.to_dict()["label(yes,no,maybe)"]
    # yes: 1 of 2 guesses, 1 of 2 truths; no: 1 of 1, 1 of 2; maybe: none
    assert held["macro_f1"] == pytest.approx((2 / 4 + 2 / 3 + 0) / 3)
    assert held["abstained"] == 1


def test_pubmedqa_labels_score_themselves(shared_data: Callable[[str], Path]) -> None:
    """Each final decision is one of the three options."""
    path = shared_data("pubmedqa") / "pqal_non_test.json.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = json.load(file)
    rows = list(rows.values()) if isinstance(rows, dict) else rows
    gold = {str(i): [row["final_decision"]] for i, row in enumerate(rows)}

    found = evaluate_answers({i: f"{g[0].title()}." for i, g in gold.items()}, gold, [THREE])

    assert found[THREE].mean == 1.0
    assert found[THREE].n == len(rows)
    assert found.to_dict()["label(yes,no,maybe)"]["macro_f1"] == 1.0


@pytest.mark.parametrize(
    ("answer", "gold", "value"),
    [
        ("It is 1,500.", "1500", 1.0),
        ("1.5 million", "1500000", 1.0),
        ("15 million", "1.5 million", 0.0),
        ("5 thousand", "5000", 1.0),
        ("5 hundred", "500", 1.0),
        ("5 lakh", "500000", 1.0),
        ("2億", "0.2 billion", 1.0),
        ("2 trillion", "2000 billion", 1.0),
        ("1.5 km", "1500 m", 1.0),
        ("1500", "1.5 km", 1.0),
        ("1500 kg", "1500 m", 0.0),
        ("90 minutes", "1.5 hours", 1.0),
        ("15 %", "15 percent", 1.0),
        ("$5", "€5", 0.0),
        ("5 dollars", "$5", 1.0),
        ("It costs 5.", "about 5", 1.0),
        ("-5", "5", 0.0),
        ("½", "0.5", 1.0),
        ("10²", "100", 1.0),
        ("10^400", "100", 0.0),
        ("0^-1", "100", 0.0),
        ("१५ करोड़", "150 million", 1.0),
        ("1.5万", "15000", 1.0),
        ("20 °C", "20 °F", 0.0),
        ("On 5 January 2020.", "2020-01-05", 1.0),
        ("January 5th, 2020", "5 Jan 2020", 1.0),
        ("January 6, 2020", "5 Jan 2020", 0.0),
        ("2020", "5 January 2020", 0.0),
        ("On 5 January 2020.", "5", 0.0),
        ("none", "5", 0.0),
        ("", "5", 0.0),
    ],
)
def test_numbers_units_and_dates(answer: str, gold: str, value: float) -> None:
    """The same quantity in any spelling and unit of its kind; whole dates."""
    assert answer_value("numeric", answer, [gold]) == value


def test_the_tolerance_is_relative_to_the_gold_value() -> None:
    """1 % of 100 is 1."""
    assert answer_value("numeric(tolerance=0.01)", "101", ["100"]) == 1.0
    assert answer_value("numeric(tolerance=0.01)", "101.5", ["100"]) == 0.0
    assert answer_value("numeric(tolerance=0.01)", "-99", ["-100"]) == 1.0


def test_a_gold_answer_without_a_number_is_not_applicable() -> None:
    """It has no value, with the reason."""
    gold = {"a": ["Paris", "5"], "b": ["Paris"]}
    found = evaluate_answers({"a": "5", "b": "5"}, gold, ["numeric"])

    assert (found["numeric"].mean, found["numeric"].n, found["numeric"].not_applicable) == (1, 1, 1)


def test_names_and_bad_options() -> None:
    """Names are canonical and parse back; bad options are refused."""
    assert str(parse_metric(THREE)) == "label(yes,no,maybe)"
    assert parse_metric(str(parse_metric(THREE))) == parse_metric(THREE)
    assert str(parse_metric("label(yes, no)")) == "label"
    assert str(parse_metric('label(true, false, "not given")')) == 'label("true","false",not given)'
    assert str(parse_metric("numeric(tolerance=0.01)")) == "numeric(tolerance=0.01)"
    for name in ("label(yes)", "label(yes, yes)", "numeric(tolerance=-1)", "nDCG(3, 4)"):
        with pytest.raises(ConfigError):
            parse_metric(name)
