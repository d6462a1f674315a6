"""Statistics against scipy, statsmodels and krippendorff, on seeded and drawn inputs."""

from __future__ import annotations

from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats import inter_rater
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels
from statsmodels.stats.multitest import multipletests

from ragstone.statistics.agreement import Level, cohen_kappa, fleiss_kappa, krippendorff_alpha
from ragstone.statistics.bootstrap import ratio_interval
from ragstone.statistics.correlation import kendall, pearson, spearman
from ragstone.statistics.paired import adjust, paired_difference
from ragstone.statistics.permutation import mcnemar, sign_flip_p

COLUMNS = st.integers(5, 40).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-4, 4), min_size=n, max_size=n)] * 2)
)


def drawn(kind: str, n: int) -> np.ndarray:
    """Return seeded values of the kinds that metrics give."""
    generator = np.random.default_rng(n)
    return {
        "binary": (generator.random(n) < 0.7).astype(float),
        "recall": generator.integers(0, 6, n) / 5,
        "continuous": generator.beta(2, 3, n),
        "skewed": generator.lognormal(0, 0.7, n),
    }[kind]


@pytest.mark.parametrize("n", [25, 200, 2_000])
@pytest.mark.parametrize("kind", ["binary", "recall", "continuous", "skewed"])
def test_intervals_equal_scipys_within_its_sampling_error(kind: str, n: int) -> None:
    """Each end is within four standard errors of the end of 20,000 BCa resamples.

    The error of a percentile is sqrt(q (1 - q) / resamples) over the density there, about 0.019
    standard errors of the mean at 2.5 %; binary means move in steps of 1 / n besides.
    """
    values = drawn(kind, n)
    theirs = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=20_000,
        method="BCa",
        batch=1_000,
        rng=np.random.default_rng(1),
    )
    error = theirs.standard_error
    step = 1 / n if kind == "binary" else 0.2 / n if kind == "recall" else 0.0

    found = ratio_interval(values, np.ones(n), 0.95)

    for mine, their in zip(found, theirs.confidence_interval, strict=True):
        assert abs(mine - their) <= 4 * 0.025 * error + 1.01 * step


def test_paired_interval_and_p_equal_scipys_within_sampling_error() -> None:
    """The bootstrap of a paired difference, and the permutation test of it by signs."""
    generator = np.random.default_rng(0)
    a = generator.random(300)
    b = np.clip(a + generator.normal(0.02, 0.2, 300), 0, 1)

    def difference(x: np.ndarray, y: np.ndarray, axis: int) -> Any:
        return np.mean(y, axis=axis) - np.mean(x, axis=axis)

    interval = stats.bootstrap(
        (a, b), difference, paired=True, n_resamples=20_000, batch=1_000, rng=generator
    )
    p = stats.permutation_test(
        (a, b),
        difference,
        permutation_type="samples",
        n_resamples=20_000,
        batch=1_000,
        rng=generator,
    ).pvalue

    found = paired_difference(a, b)

    assert found.interval == pytest.approx(
        tuple(interval.confidence_interval), abs=4 * 0.025 * interval.standard_error
    )
    assert found.p == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 20_000))


@pytest.mark.parametrize(("wins", "losses"), [(0, 5), (3, 9), (40, 61), (300, 250)])
def test_binary_tests_equal_statsmodels(wins: int, losses: int) -> None:
    """McNemar's exact p, and the permutation test of the same labels."""
    a = np.array([0.0] * wins + [1.0] * losses + [1.0] * 7)
    b = np.array([1.0] * wins + [0.0] * losses + [1.0] * 7)
    theirs = mcnemar_of_statsmodels([[7, losses], [wins, 0]], exact=True).pvalue

    assert mcnemar(a, b).exact_p == pytest.approx(theirs)
    assert sign_flip_p(b - a) == pytest.approx(theirs, rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_corrections_equal_statsmodels(p: list[float]) -> None:
    """Holm and Benjamini-Hochberg."""
    for mine, theirs in (("holm", "holm"), ("benjamini-hochberg", "fdr_bh")):
        expected = multipletests(p, method=theirs)[1]
        assert adjust(p, mine) == pytest.approx(expected)  # type: ignore[arg-type]  # both allowed


@settings(max_examples=80, deadline=None)
@given(COLUMNS)
def test_correlations_equal_scipys(columns: tuple[list[int], list[int]]) -> None:
    """Pearson, Spearman with ties and Kendall's tau-b equal scipy's values."""
    x, y = columns
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert pearson(x, y, resamples=1).value is None
        return

    assert pearson(x, y, resamples=1).value == pytest.approx(stats.pearsonr(x, y).statistic)
    assert spearman(x, y, resamples=1).value == pytest.approx(stats.spearmanr(x, y).statistic)
    assert kendall(x, y, resamples=1).value == pytest.approx(stats.kendalltau(x, y).statistic)


def test_correlation_intervals_equal_scipys_within_sampling_error() -> None:
    """Percentile bootstrap of Spearman's correlation with 5,000 resamples on either side."""
    generator = np.random.default_rng(2)
    x = generator.normal(size=150)
    y = np.round(x + generator.normal(size=150))

    def rho(first: np.ndarray, second: np.ndarray) -> float:
        return float(stats.spearmanr(first, second).statistic)

    theirs = stats.bootstrap(
        (x, y),
        rho,
        paired=True,
        vectorized=False,
        n_resamples=2_000,
        method="percentile",
        rng=generator,
    )

    found = spearman(x, y, resamples=5_000).interval

    assert found == pytest.approx(
        tuple(theirs.confidence_interval), abs=4 * 0.08 * theirs.standard_error
    )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.none() | st.integers(1, 4), min_size=4, max_size=4), min_size=2, max_size=20
    ),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_alpha_equals_krippendorff(rows: list[list[int | None]], level: Level) -> None:
    """Any number of ratings per item; with one distinct rating both are undefined."""
    mine = krippendorff_alpha(rows, level=level, resamples=1)
    table = np.array([[np.nan if r is None else float(r) for r in row] for row in rows]).T
    kept = {r for row in rows for r in row if r is not None and sum(x is not None for x in row) > 1}
    if len(kept) < 2:
        assert mine.value is None
        return

    assert mine.value == pytest.approx(
        krippendorff.alpha(reliability_data=table, level_of_measurement=level), abs=1e-9
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=20))
def test_kappas_equal_statsmodels(rows: list[list[int]]) -> None:
    """Fleiss of three raters, Cohen of the first two, plain and weighted."""
    first, second, _ = zip(*rows, strict=True)
    if len({rating for row in rows for rating in row}) > 1:
        counts, _ = inter_rater.aggregate_raters(np.array(rows))
        assert fleiss_kappa(rows, resamples=1).value == pytest.approx(
            inter_rater.fleiss_kappa(counts), abs=1e-9
        )
    if len({*first, *second}) > 1:
        size = sorted({*first, *second})
        table = np.array([[sum((a, b) == (i, j) for a, b in zip(first, second, strict=True))
                           for j in size] for i in size])  # fmt: skip
        for mine, theirs in (("none", None), ("linear", "linear"), ("quadratic", "quadratic")):
            expected = inter_rater.cohens_kappa(table, wt=theirs, return_results=False)
            found = cohen_kappa(first, second, weights=mine, resamples=1)  # type: ignore[arg-type]
            assert found.value == pytest.approx(expected, abs=1e-9)
