"""A trained classifier in the place of a model that labels queries."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from ragstone.building.trained_labels import TrainedLabeller
from ragstone.cli import root
from ragstone.components.judges.verdict import Item
from ragstone.models.text_classifier import ClassifierFacts, write_facts
from ragstone.types import Query


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a classifier without weights."""
    facts = ClassifierFacts(
        name="kind",
        labels=("a", "b", "c"),
        positive="",
        inputs=("query",),
        base="b",
        base_digest="d",
        max_tokens=8,
    )
    write_facts(tmp_path, facts)
    return tmp_path


def test_the_taxonomy_is_the_label_that_was_learnt(folder: Path) -> None:
    """No item needs a call."""
    made = TrainedLabeller(str(folder))

    assert (made.taxonomy_name, made.labels) == ("kind", ("a", "b", "c"))
    assert made.without_call(Item(Query("q", "?"))).asked is False
    assert made.examples == ()


def test_a_taxonomy_beside_a_classifier_is_refused(folder: Path) -> None:
    """The classifier has labels of its own."""
    asked = ["data", "label", "sample", "-o", "x.jsonl", "--model", str(folder)]

    planned = CliRunner().invoke(root, [*asked, "--plan"])
    found = CliRunner().invoke(root, [*asked, "--taxonomy", "know-your-rag"])

    assert "at most 0 calls" in planned.output
    assert found.exit_code != 0
    assert "is a trained classifier with labels of its own" in found.output + str(found.exception)
