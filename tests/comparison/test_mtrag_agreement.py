"""Agreement of the annotators of mtRAG's released human evaluation equals known values."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.statistics.agreement import absolute_agreement, high_agreement, krippendorff_alpha
from ragstone.statistics.correlation import pearson, spearman

SharedData = Callable[[str], Path]

KNOWN = {  # property: alpha (interval), share on which all agree
    "faithfulness": (0.55, 0.44),
    "completeness": (0.39, 0.57),
    "naturalness": (0.30, 0.77),
    "appropriateness": (0.05, 0.47),
}
CORRELATED = {"RougeL": 0.477, "rb_agg": 0.482, "rb_llm": 0.463, "rl_f": 0.762}
"""Pearson with the mean human faithfulness over the 318 responses of the two models."""
RANKED = {"rl_f": 0.635, "Bert-KPrec": 0.654, "rb_agg": 0.515, "rb_llm": 0.289}
"""Spearman with the same; scipy gives these too."""


@pytest.fixture(scope="module")
def evaluations(shared_data: SharedData) -> list[dict[str, Any]]:
    """Return the 477 rated responses: 159 tasks, three systems."""
    folder = shared_data("mtrag") / "human_evaluations"
    with gzip.open(folder / "reference_subset_with_human_evaluations.json.gz") as file:
        found: list[dict[str, Any]] = json.load(file)["evaluations"]
    return found


def ratings(evaluation: dict[str, Any], name: str) -> list[float]:
    """Return the ratings of the two or three annotators."""
    return [float(given["value"]) for given in evaluation["annotations"][name].values()]


@pytest.mark.parametrize("name", KNOWN)
def test_alpha_and_absolute_agreement_are_the_known_ones(
    evaluations: list[dict[str, Any]], name: str
) -> None:
    """Alpha on the interval level and the share of full agreement, to two decimals."""
    rows = [ratings(one, name) for one in evaluations]
    clusters = [one["task_id"].split("<::>")[0] for one in evaluations]
    alpha, absolute = KNOWN[name]

    found = krippendorff_alpha(rows, level="interval", clusters=clusters)

    assert (found.n, found.left_out) == (477, 0)
    assert found.value == pytest.approx(alpha, abs=0.005)
    assert found.interval is not None
    assert found.interval[0] < alpha < found.interval[1]
    assert absolute_agreement(rows).mean == pytest.approx(absolute, abs=0.005)
    assert (high_agreement(rows).mean or 0) > absolute


def test_metrics_correlate_with_people_as_known(evaluations: list[dict[str, Any]]) -> None:
    """Pearson and Spearman to three decimals, over the answers of the two models."""
    rows = [one for one in evaluations if one["model_id"] != "reference"]
    people = [sum(r) / len(r) for r in (ratings(one, "faithfulness") for one in rows)]

    for name, expected in CORRELATED.items():
        found = pearson(values(rows, name), people, resamples=1)
        assert found.n == 318
        assert found.value == pytest.approx(expected, abs=0.0005)
    for name, expected in RANKED.items():
        found = spearman(values(rows, name), people, resamples=1)
        assert found.value == pytest.approx(expected, abs=0.0005)


def values(rows: list[dict[str, Any]], name: str) -> list[float]:
    """Return a metric's stored values."""
    return [next(iter(one["annotations"][name].values()))["value"] for one in rows]
