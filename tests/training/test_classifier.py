"""A classifier is learnt from people's labels, kept, used as a judge, and compared with people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ragstone.components.judges.verdict import Item
from ragstone.errors import ConfigError
from ragstone.models.text_classifier import ClassifierFacts
from ragstone.training.classifier import (
    ItemToLearn,
    calibrated,
    classifier_facts,
    known_labels,
)
from ragstone.training.judge_recipe import JudgeRecipe
from ragstone.types import Query


def labelled(label: str, number: int, raters: tuple[str, ...] = ()) -> ItemToLearn:
    """Return an item whose query contains its label's word."""
    item = Item(Query(f"q{number}", f"{label} question {number}"))
    return ItemToLearn(f"q{number}", item, label, f"d{number}", raters)


def test_a_rare_label_and_items_without_a_label_are_left_out_and_noted() -> None:
    """A label that was seen once cannot be learnt; the others are kept."""
    items = [labelled(("yes", "no")[n % 2], n) for n in range(20)]
    items += [labelled("maybe", 20), labelled("", 21)]

    kept, notes = known_labels(items, 10)

    assert {one.label for one in kept} == {"yes", "no"}
    assert len(kept) == 20
    assert notes == [
        "1 items of the label 'maybe' were left out: a label needs 10 (least)",
        "1 items without one label by most people were left out",
    ]


@pytest.mark.parametrize(
    ("labels", "found"), [([], "none"), (["yes"] * 12, "yes 12"), (["", ""], "none")]
)
def test_one_label_is_nothing_to_learn(labels: list[str], found: str) -> None:
    """The error has the number of items of each label, and the way out."""
    items = [labelled(label, number) for number, label in enumerate(labels)]

    with pytest.raises(ConfigError, match=rf"needs two labels .* found: {found}; label more"):
        known_labels(items, 10)


def test_a_label_that_the_training_part_lacks_is_an_error() -> None:
    """A classifier cannot give a label that it never saw."""
    recipe = JudgeRecipe(data="x", output="y")
    parts = {"train": [labelled("no", 1)], "test": [labelled("yes", 2)], "validation": []}

    with pytest.raises(ConfigError, match="no item with the label 'yes' is in the training part"):
        classifier_facts(recipe, "ok", parts, "query")


@pytest.mark.usefixtures("bundled_digest")
@pytest.mark.parametrize(
    ("labels", "written", "positive"),
    [
        (["no", "yes"], "", "yes"),
        (["a", "a", "b"], "", "b"),
        (["a", "b", "c"], "", ""),
        (["a", "b", "c"], "c", "c"),
    ],
)
def test_the_positive_label(labels: list[str], written: str, positive: str) -> None:
    """It is yes, the rarer one of two, none of more, or the one that the file names."""
    recipe = JudgeRecipe(data="x", output="y", positive=written)
    items = [labelled(label, number) for number, label in enumerate(labels)]

    facts = classifier_facts(recipe, "ok", {"train": items}, "query + passages")

    assert facts.positive == positive
    assert facts.inputs == ("query", "passages")


def test_an_unknown_positive_label_is_an_error() -> None:
    """The message lists the labels."""
    recipe = JudgeRecipe(data="x", output="y", positive="maybe")
    items = [labelled("yes", 1), labelled("no", 2)]

    with pytest.raises(ConfigError, match="no item has the label 'maybe'; the labels are no, yes"):
        classifier_facts(recipe, "ok", {"train": items}, "query")


@pytest.fixture
def bundled_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not need the weights of the bundled encoder."""
    monkeypatch.setattr("ragstone.training.classifier.weights_digest", lambda *_, **__: "d" * 64)


def test_numbers_are_fitted_only_if_the_judge_in_use_applies_them() -> None:
    """The judge of a causal base takes the likelier word, so its report does too."""
    facts = ClassifierFacts(
        name="ok", labels=("no", "yes"), positive="yes", inputs=("query",), base="x",
        base_digest="", max_tokens=9,
    )  # fmt: skip
    items = [labelled("yes", 1), labelled("no", 2), labelled("yes", 3)]
    scores = np.array([[0.0, -1.0], [0.0, -3.0], [0.0, -0.5]])
    found = calibrated(facts, scores, items)
    assert found.threshold < 0.5
    assert found.temperature != 1
    causal = replace(facts, judge="support")
    assert calibrated(causal, scores, items) == causal
