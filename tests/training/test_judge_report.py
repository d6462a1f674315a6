"""The report of a trained judge: kappas, gains with intervals, and sentences."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest

from ragstone.components.judges.verdict import Item, Verdict
from ragstone.models.text_classifier import ClassifierFacts
from ragstone.training.classifier import ItemToLearn
from ragstone.training.judge_report import MAJORITY, JudgeReport, judge_report, verdict_label
from ragstone.types import Query

FACTS = ClassifierFacts(
    name="ok",
    labels=("no", "yes"),
    positive="yes",
    inputs=("query",),
    base="b",
    base_digest="d",
    max_tokens=9,
)


def report(
    people: Sequence[str], own: Sequence[str], raters: Sequence[tuple[str, ...]] = ()
) -> JudgeReport:
    """Return the report of a judge whose labels are `own`, beside the most frequent label."""
    items = [
        ItemToLearn(f"q{n}", Item(Query(f"q{n}", "?")), label, f"d{n}", raters[n] if raters else ())
        for n, label in enumerate(people)
    ]
    scores = np.array([[0.0, 2.0 if label == "yes" else -2.0] for label in own])
    return judge_report(FACTS, items, scores, {MAJORITY: ["no"] * len(items)})


def test_a_good_judge_is_better_than_the_most_frequent_label() -> None:
    """Its kappa is 1, that of a constant 0, and the interval of the gain is above 0."""
    people = ["yes", "no", "no"] * 20

    found = report(people, people)

    assert found.kappa.value == 1.0
    assert found.rivals[0].kappa.value == 0.0
    assert found.better
    assert found.labels == {"no": 40, "yes": 20}
    assert found.sentences[0].startswith("The trained judge is better than 'most frequent label'")
    assert "60 items in 60 groups" in found.sentences[0]
    json.dumps(found.to_dict())


def test_a_judge_that_guesses_is_reported_as_not_better() -> None:
    """The interval of the gain includes 0."""
    people = ["yes", "no"] * 20
    own = ["yes", "yes", "no", "no"] * 10

    found = report(people, own)

    assert not found.better
    assert "is not better than 'most frequent label'" in found.sentences[0]
    assert found.to_dict()["better"] is False


def test_people_s_own_agreement_needs_several_raters() -> None:
    """Without a second rater there is none."""
    people = ["yes", "no"] * 20
    pairs = [(label, label) for label in people]

    assert report(people, people).people is None
    agreed = report(people, people, pairs).people
    assert agreed is not None
    assert agreed.value == 1.0


@pytest.mark.parametrize(
    ("verdict", "label"),
    [
        (Verdict("q", 1.0, "no"), "no"),
        (Verdict("q", 0.7, "other"), "yes"),
        (Verdict("q", 0.2), "no"),
        (Verdict("q"), ""),
    ],
)
def test_the_label_of_another_judge(verdict: Verdict, label: str) -> None:
    """It is the word if it is a label, else the side of one half."""
    assert verdict_label(verdict, FACTS) == label
