"""The judge `trained`: metrics, settled items, keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.components.judges.trained import Trained, input_names, input_texts
from ragstone.components.judges.verdict import Item
from ragstone.core.registry import create
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.text_classifier import ClassifierFacts, write_facts
from ragstone.protocols import Services
from ragstone.types import Message, Query

FACTS = ClassifierFacts(
    name="attributable",
    labels=("no", "yes"),
    positive="yes",
    inputs=("query", "answer", "passages"),
    base="b",
    base_digest="d",
    max_tokens=16,
)


def judge(folder: Path, facts: ClassifierFacts = FACTS) -> Trained:
    """Return the judge of a folder with facts alone."""
    folder.mkdir(exist_ok=True)
    write_facts(folder, facts)
    found: Trained = create("judges", f"trained({folder})", where="test")
    return found


@pytest.mark.parametrize(
    ("labels", "metrics"),
    [
        (("no", "yes"), ("attributable", "attributable:probability")),
        (("a", "b", "c"), ("attributable:a", "attributable:b", "attributable:c")),
    ],
)
def test_two_labels_are_one_metric_and_more_have_one_each(
    tmp_path: Path, labels: Sequence[str], metrics: tuple[str, ...]
) -> None:
    """The probability is a metric of its own."""
    made = judge(tmp_path / "x", replace(FACTS, labels=tuple(labels)))

    assert made.metrics[: len(metrics)] == metrics
    assert made.metrics[-1] == "attributable:probability"
    assert str(replace(made, metric="mine")) == "mine"


def test_a_moved_folder_has_the_same_key_and_another_threshold_another(tmp_path: Path) -> None:
    """The key has the content, not the place."""
    made, moved = judge(tmp_path / "x"), judge(tmp_path / "y")
    other = judge(tmp_path / "z", replace(FACTS, threshold=0.7))

    assert made.key_values == moved.key_values
    assert made.key_values != other.key_values


def test_items_that_lack_a_text_are_settled(tmp_path: Path) -> None:
    """A failed answer fails, an answer without context is not applicable; no model is loaded."""
    made = judge(tmp_path / "x")
    failed = Item(Query("q", "?"), None, ("text",), problem="timeout")
    bare = Item(Query("q", "?"), "An answer")

    verdicts = made.verdicts([failed, bare], Services())

    assert [one.status for one in verdicts] == ["failed", "not_applicable"]
    assert [one.reason for one in verdicts] == [
        "no answer to judge: timeout",
        "no passages to read",
    ]


def test_no_folder_and_a_wrong_folder_are_errors(tmp_path: Path) -> None:
    """Both are found before anything is run."""
    with pytest.raises(ConfigError, match="needs the output folder of a training"):
        Trained()
    with pytest.raises(ModelFileError, match="is not the folder of a trained classifier"):
        Trained(model=str(tmp_path))


def test_the_texts_of_an_item() -> None:
    """They are in the order of the input; an unknown one is named."""
    query = Query("q", "Where?", ("Here", "There"), (Message("user", "Hi"),))
    item = Item(query, "Here.", ("one", "two"))

    assert input_texts(item, input_names("gold+answer + passages")) == (
        "Here\nThere",
        "Here.",
        "one\ntwo",
    )
    with pytest.raises(ConfigError, match=r"unknown text .pasages.; did you mean .passages."):
        input_names("query + pasages")
