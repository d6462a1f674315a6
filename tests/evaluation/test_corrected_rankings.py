"""Ranking metrics by a judge's grades, corrected by people's."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.errors import ConfigError, DatasetError
from ragstone.evaluation.corrected_rankings import corrected_rankings

QUERIES = [f"q{n}" for n in range(200)]
PASSAGES = [f"p{n}" for n in range(6)]


def made(seed: int) -> tuple[dict, dict, dict]:  # type: ignore[type-arg]
    """Return runs of two systems, a judge's grades with errors, and people's of all queries."""
    generator = np.random.default_rng(seed)
    people = {q: {p: int(p == "p0" or generator.random() < 0.2) for p in PASSAGES} for q in QUERIES}
    judge = {
        q: {p: int(p == "p0" or (g if generator.random() < 0.85 else 1 - g)) for p, g in of.items()}
        for q, of in people.items()
    }
    runs = {
        name: {q: {p: skill * people[q][p] + generator.random() for p in PASSAGES} for q in QUERIES}
        for name, skill in (("good", 0.8), ("poor", 0.2))
    }
    return runs, judge, people


@pytest.mark.parametrize("metric", ["nDCG@3", "R@3", "MRR"])
def test_a_difference_by_a_judge_is_corrected(metric: str) -> None:
    """The interval contains the difference by people's grades of all queries."""
    runs, judge, people = made(0)
    whole = corrected_rankings(runs, people, people, metric)
    some = {q: people[q] for q in QUERIES[:40]}

    found = corrected_rankings(runs, judge, some, metric, baseline="poor")

    (gap,), (true,) = found.differences, whole.differences
    assert (found.graded, found.partly) == (40, 0)
    assert (gap.system, gap.baseline) == ("good", "poor")
    assert gap.interval is not None
    assert true.difference is not None
    assert gap.interval[0] < abs(true.difference) < gap.interval[1]


def test_partly_graded_queries_are_counted_and_not_used() -> None:
    """A query whose passages people graded in part has no value by people."""
    runs, judge, people = made(1)
    some = {q: people[q] for q in QUERIES[:30]}
    some |= {q: {"p0": 1} for q in QUERIES[30:45]}

    found = corrected_rankings(runs, judge, some, "R@3")

    assert (found.graded, found.partly) == (30, 15)
    assert all(not isinstance(one, str) and one.labelled == 30 for one in found.means.values())


def test_too_few_grades_are_a_reason_and_none_are_an_error() -> None:
    """Nine graded queries give no correction."""
    runs, judge, people = made(2)

    found = corrected_rankings(runs, judge, {q: people[q] for q in QUERIES[:9]}, "R@3")

    assert found.means["good"] == "9 labels, at least 10 are needed (1 more)"
    assert found.places == {}
    with pytest.raises(DatasetError, match="none of the queries"):
        corrected_rankings(runs, judge, {"other": {"p0": 1}}, "R@3")
    with pytest.raises(ConfigError, match="no system 'goood'; did you mean 'good'"):
        corrected_rankings(runs, judge, people, "R@3", baseline="goood")
