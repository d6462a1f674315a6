"""A planned sample size has the power asked for, by the product's own test."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.statistics.difference_intervals import label_test
from ragstone.statistics.permutation import sign_flip_p
from ragstone.statistics.power import (
    Gaps,
    assumed_population,
    detectable_difference,
    intraclass_correlation,
    population,
    sample_size,
    simulated_power,
)

LABELS = np.array([0.0, 1.0])


def pilot(kind: str) -> Gaps:
    """Return the differences of two systems on 600 queries."""
    generator = np.random.default_rng(4)
    hard = generator.random(600)
    if kind == "graded":
        a, b = (np.clip(hard + generator.normal(0, 0.3, 600), 0, 1) for _ in range(2))
        return population(a, b)
    a, b = ((generator.random(600) < 0.3 + 0.5 * hard).astype(float) for _ in range(2))
    return population(a, b, None if kind == "labels" else (np.arange(600) // 4).tolist())


@pytest.mark.parametrize("kind", ["labels", "graded", "clusters"])
def test_the_tests_of_a_comparison_find_the_difference_as_often_as_asked(kind: str) -> None:
    """Asked 80 %, got 77 to 83 %: comparisons drawn from the pilot, at the planned size."""
    tilted = pilot(kind).tilted(0.15)
    found = sample_size(pilot(kind), 0.15, draws=2000)
    assert found is not None
    generator = np.random.default_rng(0)

    def is_found() -> bool:
        gaps = tilted.sums[generator.choice(len(tilted.sums), found.clusters, p=tilted.weights)]
        if kind == "labels":
            return label_test((gaps > 0).sum(), (gaps < 0).sum(), len(gaps), 0.95)[0] < 0.05
        return sign_flip_p(gaps) < 0.05

    assert np.mean([is_found() for _ in range(1000)]) == pytest.approx(0.8, abs=0.03)
    assert found.power == pytest.approx(0.8, abs=0.02)


def test_a_tilted_population_has_the_difference_and_the_same_clusters() -> None:
    """The sign is the pilot's own; the weights change, the differences do not."""
    given = population(np.array([0.0, 1, 1, 0, 1]), np.array([0.0, 0, 0, 1, 1]))

    tilted = given.tilted(0.05)

    assert given.difference == pytest.approx(-0.2)
    assert tilted.difference == pytest.approx(-0.05)
    assert tilted.sums.tolist() == given.sums.tolist()


@pytest.mark.parametrize(
    ("sums", "size", "difference", "spread", "error"),
    [
        ([0.0, 0.0, 0.0, 4.0], 1, 1.0, 3**0.5, (4 / 9) ** 0.5),  # kurtosis 7/3
        ([-1.0, 1.0, -1.0, 1.0], 1, 0.0, 1.0, 0.0),  # kurtosis 1
        ([2.0, 6.0, 2.0, 6.0], 2, 2.0, 1.0, 0.0),
        ([3.0, 3.0, 3.0, 3.0], 3, 1.0, 0.0, float("inf")),
    ],
)
def test_the_errors_of_a_pilot(
    sums: list[float], size: int, difference: float, spread: float, error: float
) -> None:
    """The relative error of a variance of n clusters is the root of (kurtosis - 1) / n."""
    gaps = Gaps(np.array(sums), np.full(4, float(size)), np.full(4, 1 / 4), labels=False)

    assert (gaps.difference, gaps.size) == pytest.approx((difference, size))
    assert gaps.spread == pytest.approx(spread)
    assert gaps.sampling_error(3) == pytest.approx(error)


def test_power_grows_with_queries_and_falls_with_the_level() -> None:
    """A corrected level needs more queries; a larger difference needs fewer."""
    assumed = assumed_population(LABELS, 0.5)

    few, many = (simulated_power(assumed.tilted(0.1), n, 0.05) for n in (50, 400))
    planned = [sample_size(assumed, 0.1, alpha=alpha) for alpha in (0.05, 0.05 / 6)]
    larger = sample_size(assumed, 0.2)

    assert few < 0.4
    assert many > 0.95
    assert planned[0] is not None
    assert planned[1] is not None
    assert larger is not None
    assert larger.queries < planned[0].queries < planned[1].queries


@pytest.mark.parametrize("correlation", [-0.1, 1.0])
def test_the_correlation_of_two_systems_is_below_one(correlation: float) -> None:
    """At 1 they would not differ on any query."""
    with pytest.raises(ConfigError, match="correlation"):
        assumed_population(LABELS, correlation)


def test_a_cluster_less_is_not_enough() -> None:
    """The least number reaches the power, if only just; ten comparisons often do just so."""
    for difference in np.linspace(0.1, 0.3, 30).tolist():
        size = sample_size(pilot("graded"), difference, draws=10)
        assert size is not None
        assert size.power >= 0.8
        planned = pilot("graded").tilted(difference)
        assert simulated_power(planned, size.clusters - 1, 0.05, draws=10) < 0.8


def test_the_detectable_difference_needs_as_many_queries_as_there_are() -> None:
    """Both questions have one answer."""
    assumed = assumed_population(LABELS, 0.3)

    least = detectable_difference(assumed, 150)

    assert least is not None
    size = sample_size(assumed, least)
    assert size is not None
    assert size.queries == pytest.approx(150, rel=0.05)
    assert detectable_difference(assumed, 3) is None


def test_dependent_queries_need_more_of_them() -> None:
    """The correlation within conversations of eight raises the number of queries."""
    alone = sample_size(assumed_population(LABELS, 0.5), 0.1)
    together = sample_size(assumed_population(LABELS, 0.5, [8], within=0.2), 0.1)

    assert alone is not None
    assert together is not None
    assert together.queries == 8 * together.clusters
    assert together.queries == pytest.approx(alone.queries * (1 + 7 * 0.2), rel=0.15)


def test_the_intraclass_correlation_is_that_of_the_draw() -> None:
    """Values that share half of their variance within a cluster."""
    generator = np.random.default_rng(1)
    names = np.repeat(np.arange(2000), 3)
    values = generator.normal(size=2000)[names] + generator.normal(size=6000)

    assert intraclass_correlation(values, names.tolist()) == pytest.approx(0.5, abs=0.05)
    assert intraclass_correlation(values, list(range(6000))) == 0


def test_the_intraclass_correlation_of_published_ratings() -> None:
    """Four judges rate six targets: ICC(1,1) is 0.17 (Shrout and Fleiss 1979)."""
    rows = ("9 2 5 8", "6 1 3 2", "8 4 6 8", "7 1 2 6", "10 5 6 9", "6 2 4 7")
    values = np.array([float(value) for row in rows for value in row.split()])
    targets = np.repeat(np.arange(6), 4).tolist()

    assert intraclass_correlation(values, targets) == pytest.approx(0.17, abs=0.005)


@pytest.mark.parametrize(
    ("difference", "power", "words"),
    [(0.0, 0.8, "above 0"), (0.1, 1.0, "power 1.0"), (1.0, 0.8, "no difference")],
)
def test_what_cannot_be_planned_is_an_error(difference: float, power: float, words: str) -> None:
    """The message has the value."""
    with pytest.raises(ConfigError, match=words):
        sample_size(assumed_population(LABELS, 0.5), difference, power=power)


def test_more_than_a_billion_queries_are_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """`limits.MAX_PLANNED_QUERIES` bounds the answer."""
    monkeypatch.setattr(limits, "MAX_PLANNED_QUERIES", 1000)

    assert sample_size(assumed_population(LABELS, 0.5), 0.01) is None
