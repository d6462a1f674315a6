"""Your own metrics: their values, and what they may inherit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.score import score_answers
from ragstone.types import Prediction, Query


@dataclass(frozen=True)
class Constant:
    """Returns one number of some type."""

    type_name: str = "int"
    direction = "higher"

    def score(self, answer: str) -> object:
        """Return 1 as an instance of the type."""
        return 1 if self.type_name == "int" else getattr(np, self.type_name)(1)


@dataclass(frozen=True)
class Inherited(Constant):
    """Has its `score` and its `direction` from its base."""


@pytest.mark.parametrize(
    "metric",
    [Inherited(), *map(Constant, ("float32", "float64", "int64", "uint8", "bool_"))],
    ids=str,
)
def test_any_number_is_a_score(metric: Constant) -> None:
    """A numpy number counts with its value."""
    table = score_answers(
        [parse_metric(metric)],
        [Query("q", "Which river?")],
        [Prediction("q", "Tagus")],
    )
    assert table.column("value").to_pylist() == [1.0]
