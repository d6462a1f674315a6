"""Agreement of raters, compared with the packages krippendorff and statsmodels."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import krippendorff
import numpy as np
import pytest
from statsmodels.stats import inter_rater

from ragstone.data.readers.ratings import HumanRating, RatedItem
from ragstone.evaluation.rated_properties import RatedProperty, rated_properties

TABLES = 60
WORDS = ("bad", "fair", "good", "great", "superb")


def table(seed: int) -> np.ndarray[Any, Any]:
    """Return ratings of raters (rows) by item, with gaps that are NaN; two raters share items."""
    rng = np.random.default_rng(seed)
    raters, items, grades = rng.integers(2, 6), rng.integers(8, 30), rng.integers(2, 6)
    truth = rng.integers(0, grades, items)
    noise = rng.integers(0, grades, (raters, items))
    found = np.where(rng.random((raters, items)) < 0.6, truth, noise).astype(float)
    found[rng.random((raters, items)) < 0.25] = np.nan
    return found


def agreement(values: np.ndarray[Any, Any], level: Any) -> RatedProperty:
    """Return what `data ratings` shows of a table; nominal values are words."""
    ratings = [
        HumanRating(
            RatedItem(f"q{item}", "s"),
            "p",
            str(rater),
            WORDS[int(value)] if level == "nominal" else value,
        )
        for (rater, item), value in np.ndenumerate(values)
        if not np.isnan(value)
    ]
    options = {} if level == "nominal" else {"level": level}
    return rated_properties(ratings, **options)["p"]


@pytest.mark.parametrize("seed", range(TABLES))
def test_alpha_and_kappa_are_those_of_the_packages(seed: int) -> None:
    """Alpha of every level, and the kappa of every pair: plain for words, quadratic for numbers.

    The kappa of two raters who gave one value only is undefined.
    """
    values = table(seed)
    for level in ("nominal", "ordinal", "interval"):
        found = agreement(values, level)
        expected = krippendorff.alpha(values, level_of_measurement=level)
        assert found.alpha.value == pytest.approx(expected, abs=1e-9)
        kappas = {(one.a, one.b): one.kappa.value for one in found.pairwise}
        for a, b in combinations(range(len(values)), 2):
            both = ~np.isnan(values[a]) & ~np.isnan(values[b])
            grades = np.unique(values[[a, b]][:, both])
            if len(grades) < 2:
                assert kappas.get((str(a), str(b))) is None
                continue
            places = [np.searchsorted(grades, values[rater, both]) for rater in (a, b)]
            counts = np.zeros((len(grades), len(grades)))
            np.add.at(counts, tuple(places), 1)
            weights = None if level == "nominal" else "quadratic"
            kappa = inter_rater.cohens_kappa(counts, wt=weights, return_results=False)
            assert kappas[str(a), str(b)] == pytest.approx(float(kappa), abs=1e-9)
