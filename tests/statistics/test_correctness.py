"""The rule that calls an answer correct."""

from __future__ import annotations

import pytest

from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.correctness import Correctness


@pytest.mark.parametrize(
    ("written", "rule", "right", "wrong"),
    [
        ("Match", Correctness("Match"), 1.0, 0.0),
        ("F1>=.5", Correctness("F1", ">=", 0.5), 0.5, 0.499),
        ("F1 > 0.5", Correctness("F1", ">", 0.5), 0.501, 0.5),
        ("Errors <= 2", Correctness("Errors", "<=", 2.0), 2.0, 3.0),
        ("Errors < 1e1", Correctness("Errors", "<", 10.0), 9.0, 10.0),
        ("numeric(tolerance=0.01) >= 1", Correctness("numeric(tolerance=0.01)", ">=", 1.0), 1, 0),
    ],
)
def test_a_rule_is_a_metric_or_a_threshold(
    written: str, rule: Correctness, right: float, wrong: float
) -> None:
    """The four operators; a rule is read as it is written."""
    found = Correctness.parse(written)

    assert found == rule == Correctness.parse(str(rule))
    assert found.labels({"a": right, "b": wrong, "c": None}) == {"a": 1.0, "b": 0.0, "c": None}


@pytest.mark.parametrize("written", ["F1 >=", "F1 >= half", ">= 0.5", "F1 >= nan", "F1 >== 0.5 <"])
def test_a_rule_without_metric_or_number_is_refused(written: str) -> None:
    """The error has the rule and an example."""
    with pytest.raises(ConfigError, match=r"not a rule for correct answers; .* F1 >= 0\.5"):
        Correctness.parse(written)


def test_a_graded_value_needs_a_threshold() -> None:
    """Half a correct answer is an error that names the way out."""
    with pytest.raises(DatasetError, match=r"0\.5 of F1 is neither 1 .* correct: 'F1 >= 0\.5'"):
        Correctness("F1").label(0.5)
