"""Weighted means and differences of strata."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ragstone.statistics.failures import Scale
from ragstone.statistics.stratified import Stratum, stratified_difference, stratified_summary
from ragstone.types import Score


def stratum(
    weight: float,
    values: Sequence[float | None],
    prefix: str,
    clusters: dict[str, str] | None = None,
) -> Stratum:
    """Return a stratum of queries `prefix0`, `prefix1`, ...; None is a failure."""
    scores = {
        f"{prefix}{n}": Score(f"{prefix}{n}", "EM", v, "failed" if v is None else "scored")
        for n, v in enumerate(values)
    }
    return Stratum(weight, scores, clusters or {}, Scale())


def test_the_mean_has_the_weights_and_failures_count() -> None:
    """0.7 x 0.5 + 0.3 x 1; a failure counts as 0."""
    found = stratified_summary([stratum(0.7, [1.0, None], "a"), stratum(0.3, [1.0] * 4, "b")])
    assert found.mean == pytest.approx(0.65)
    assert (found.n, found.failed) == (6, 1)
    assert found.interval is not None
    assert 0 <= found.interval[0] < 0.65 < found.interval[1] <= 1


def test_one_stratum_is_its_queries() -> None:
    """To the digit."""
    one = stratum(1.0, [1.0, 0.0, 1.0, 1.0], "a")
    assert stratified_summary([one]) == one.summary()


def test_a_stratum_without_a_value_has_no_mean() -> None:
    """A mean without it would have other weights."""
    found = stratified_summary([stratum(0.5, [1.0], "a"), stratum(0.5, [], "b")])
    assert found.mean is None
    assert stratified_difference([stratum(1, [], "a")], [stratum(1, [], "a")]) is None


def test_intervals_cover_the_mean() -> None:
    """95 % intervals of the mean of two strata hold the true mean in 93 to 97 % of simulations."""
    generator, covered, times = np.random.default_rng(3), 0, 600
    for _ in range(times):
        first = generator.binomial(1, 0.3, 60).astype(float).tolist()
        second = generator.binomial(1, 0.8, 40).astype(float).tolist()
        found = stratified_summary([stratum(0.5, first, "a"), stratum(0.5, second, "b")])
        assert found.interval
        covered += found.interval[0] <= 0.55 <= found.interval[1]
    assert 0.93 <= covered / times <= 0.975


def test_clusters_across_strata_widen_the_interval() -> None:
    """Equal values in both strata of a cluster are one observation."""
    values = [float(n % 2) for n in range(40)]
    names = {f"{p}{n}": f"c{n}" for p in "ab" for n in range(40)}
    apart = stratified_summary([stratum(0.5, values, "a"), stratum(0.5, values, "b")])
    crossing = stratified_summary(
        [stratum(0.5, values, "a", names), stratum(0.5, values, "b", names)]
    )
    assert apart.interval
    assert crossing.interval
    ratio = (crossing.interval[1] - crossing.interval[0]) / (apart.interval[1] - apart.interval[0])
    assert ratio == pytest.approx(2**0.5, rel=0.02)


def test_a_difference_has_the_weights() -> None:
    """The order of two systems turns with the weights; the test is that of the weighted sums."""
    first = [0.0] * 10, [1.0] * 10
    second = [1.0] * 10, [0.0] * 10

    def difference(share: float) -> float:
        weights = share, 1 - share
        a, b = (
            [stratum(w, v, p) for w, v, p in zip(weights, side, "ab", strict=True)]
            for side in (first, second)
        )
        found = stratified_difference(a, b)
        assert found
        assert found.interval == pytest.approx((found.difference, found.difference))
        return found.difference

    assert difference(0.7) == pytest.approx(0.4)
    assert difference(0.2) == pytest.approx(-0.6)


def test_two_clusters_have_a_standard_error_and_no_interval() -> None:
    """One cluster has neither; that of gaps 0 and 1 is a half."""
    for values, error in (([0.0, 1.0], 0.5), ([1.0], None)):
        a, b = stratum(1.0, [0.0] * len(values), "a"), stratum(1.0, values, "a")
        found = stratified_difference([a], [b])
        assert found
        assert (found.standard_error, found.interval) == (error, None)
