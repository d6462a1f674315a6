"""Agreement of raters: pairs with common items, single values, and each rater with the others."""

from __future__ import annotations

from typing import Literal

import krippendorff
import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from ragstone.evaluation.rater_agreement import RatedValues

PEOPLE = ("ann", "ben", "eve", "sam")


def drawn(seed: int, values: tuple[float | str, ...], n: int = 60) -> RatedValues:
    """Return made-up values of four people, with gaps and two items per query."""
    generator = np.random.default_rng(seed)
    items = []
    for _ in range(n):
        truth = generator.integers(len(values))
        given = np.where(generator.random(4) < 0.6, truth, generator.integers(len(values), size=4))
        held = generator.random(4) < 0.7
        items.append({p: values[v] for p, v, h in zip(PEOPLE, given, held, strict=True) if h})
    return RatedValues(items, [place // 2 for place in range(n)], raters=PEOPLE)


@pytest.mark.parametrize("values", [("no", "partly", "yes"), (1, 2, 3, 4)])
def test_alpha_and_kappas_are_those_of_the_packages(values: tuple[float | str, ...]) -> None:
    """Krippendorff's alpha and Cohen's kappas; of a single value, alpha of two values."""
    for seed in range(5):
        rated = drawn(seed, values)
        found = rated.agreement()
        nominal = isinstance(values[0], str)
        codes = {value: place for place, value in enumerate(values)}
        table = np.array(
            [[codes[of[p]] if p in of else np.nan for of in rated.items] for p in PEOPLE]
        )
        level: Literal["nominal", "interval"] = "nominal" if nominal else "interval"
        expected = krippendorff.alpha(table, level_of_measurement=level)
        assert found.alpha.value == pytest.approx(expected, abs=1e-9)
        for pair in found.pairwise:
            two = [(of[pair.a], of[pair.b]) for of in rated.items if {pair.a, pair.b} <= of.keys()]
            counts = to_table([[codes[one] for one in row] for row in two], bins=len(values))[0]
            wanted = cohens_kappa(counts, wt=None if nominal else "quadratic").kappa
            assert pair.kappa.value == pytest.approx(wanted, abs=1e-9)
        for value, one in rated.by_value().items():
            two_values = np.where(np.isnan(table), np.nan, table == codes[value])
            wanted = krippendorff.alpha(two_values, level_of_measurement="nominal")
            assert one.value == pytest.approx(wanted, abs=1e-9)


def test_pairs_with_the_most_common_items() -> None:
    """They have the same values as among all pairs, and the order of the raters."""
    rated = drawn(1, ("no", "yes"))
    every = {(one.a, one.b): one for one in rated.agreement().pairwise}
    some = rated.agreement(most_pairs=2).pairwise

    assert rated.pairs_in_common() == len(every) == 6
    assert [every[one.a, one.b] for one in some] == list(some)
    assert min(one.kappa.n for one in some) >= sorted(o.kappa.n for o in every.values())[-2]


def test_without_a_second_rater_there_is_no_share() -> None:
    """The share of equal values needs another rater."""
    assert RatedValues([{"a": 1}], ["q"]).with_others() == {"a": (None, 0)}
    assert RatedValues([], []).agreement().alpha.value is None
