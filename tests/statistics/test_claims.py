"""RAGChecker's metrics against its published values and by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.statistics.claims import Entailed, claim_metrics

PUBLISHED = {
    "context_utilization": "context-utilisation",
    "noise_sensitivity_in_relevant": "noise-sensitivity-relevant",
    "noise_sensitivity_in_irrelevant": "noise-sensitivity-irrelevant",
}


def flags(labels: Any) -> Any:
    """Return whether each label, in lists of any depth, is `Entailment`."""
    return [flags(one) for one in labels] if isinstance(labels, list) else labels == "Entailment"


def test_the_published_example(shared_data: Callable[[str], Path]) -> None:
    """The eleven metrics of both answers, as RAGChecker's program gives them."""
    path = shared_data("ragchecker") / "example_checking_outputs.json"
    rows = json.loads(path.read_text("utf-8"))["results"]

    for row in rows:
        found = claim_metrics(
            Entailed(
                right=flags(row["answer2response"]),
                supported=flags(row["retrieved2response"]),
                recalled=flags(row["response2answer"]),
                found=flags(row["retrieved2answer"]),
            )
        )
        expected = {
            PUBLISHED.get(name, name.replace("_", "-")): value
            for name, value in row["metrics"].items()
        }
        assert found == pytest.approx(expected)


def test_every_part_by_hand() -> None:
    """Four claims: right and supported, right alone, wrong by relevant and by other passages."""
    found = claim_metrics(
        Entailed(
            right=[True, True, False, False, False],
            supported=[[True, False], [False, False], [True, True], [False, True], [False, False]],
            recalled=[True, False, True],
            found=[[True, False], [True, False], [False, False]],
        )
    )

    assert found == pytest.approx(
        {
            "precision": 0.4,
            "recall": 2 / 3,
            "f1": 0.5,
            "claim-recall": 2 / 3,
            "context-precision": 0.5,
            "context-utilisation": 0.5,
            "faithfulness": 0.6,
            "hallucination": 0.2,
            "self-knowledge": 0.2,
            "noise-sensitivity-relevant": 0.2,
            "noise-sensitivity-irrelevant": 0.2,
        }
    )


def test_what_is_undefined_is_left_out() -> None:
    """No claims in the answer, none in the gold answer, or no passage."""
    assert claim_metrics(Entailed([], [], [], [])) == {}
    no_answer = claim_metrics(Entailed([], [], [False], [[True]]))
    assert no_answer == {
        "recall": 0.0,
        "claim-recall": 1.0,
        "context-utilisation": 0.0,
        "context-precision": 1.0,
    }
    closed_book = claim_metrics(Entailed([True], [[]], [True], [[]]))
    assert closed_book["self-knowledge"] == 1
    assert "context-precision" not in closed_book
    assert "context-utilisation" not in closed_book
