"""Your own metrics: their values, and what they may inherit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.score import score_answers
from ragstone.core.schemas import table_to_scores
from ragstone.errors import ConfigError
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


@dataclass(frozen=True)
class Given:
    """Returns what its table has for an answer."""

    direction = "higher"
    range = (0.0, 1.0)

    def score(self, answer: str) -> object:
        """Return one of the values, or raise."""
        return {"half": 0.5, "none": None, "inf": float("inf"), "nan": np.nan, "text": "1"}[answer]


def test_a_value_that_is_not_a_score_has_its_reason() -> None:
    """None does not apply; an error, a text and a number that is not finite are not scored."""
    answers = ["half", "none", "inf", "nan", "text", "else"]
    queries = [Query(answer, "?") for answer in answers]
    table = score_answers(
        [parse_metric(Given())], queries, [Prediction(answer, answer) for answer in answers]
    )

    assert [(one.value, one.status) for one in table_to_scores(table)] == [
        (0.5, "scored"),
        (None, "not_applicable"),
        *[(None, "unscored")] * 4,
    ]
    assert [one.reason for one in table_to_scores(table)][:5] == [
        "",
        "Given does not apply",
        "Given returned inf; a score is a finite number",
        "Given returned nan; a score is a finite number",
        "Given returned '1'; a score is a number, or None if the metric does not apply",
    ]


@dataclass(frozen=True)
class Ranged:
    """Returns one number; its range is an attribute."""

    value: float
    range: ClassVar[tuple[float, float] | None] = (0.0, 1.0)
    direction = "higher"

    def score(self, answer: str) -> float | None:
        """Return the number."""
        return self.value


@dataclass(frozen=True)
class Unlimited(Ranged):
    """Has no range."""

    range: ClassVar[tuple[float, float] | None] = None


@pytest.mark.parametrize("metric", [Ranged(0.0), Ranged(1.0), Unlimited(-2.0), Unlimited(2.0)])
def test_the_check_accepts_the_ends_of_the_range(metric: Ranged) -> None:
    """A metric without a range may have any value."""
    own: Any = parse_metric(metric)
    own.check(None)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_the_check_refuses_a_value_outside_of_the_range(value: float) -> None:
    """So does it a value that is not a score."""
    own: Any = parse_metric(Ranged(value))
    with pytest.raises(ConfigError, match="Ranged"):
        own.check(None)
