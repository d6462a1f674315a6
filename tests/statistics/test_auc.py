"""AUC equals its definition by pairs; proportions and t quantiles equal other libraries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.statistics.auc import auc
from ragstone.statistics.proportions import proportion, t_quantile

ITEMS = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30)


@given(items=ITEMS)
@settings(max_examples=60, deadline=None)
def test_auc_is_the_share_of_pairs_in_the_right_order(items: list[tuple[int, bool]]) -> None:
    """Equal values count one half; AUC is undefined if all items are of one kind."""
    ups = [v for v, positive in items if positive]
    downs = [v for v, positive in items if not positive]

    found = auc([float(v) for v, _ in items], [p for _, p in items], resamples=10)

    if not ups or not downs:
        assert found.value is None
        return
    pairs = [1.0 if u > d else 0.5 if u == d else 0.0 for u in ups for d in downs]
    assert found.value == pytest.approx(sum(pairs) / len(pairs))


@pytest.mark.parametrize(("exact", "method"), [(False, "agresti_coull"), (True, "beta")])
def test_intervals_of_shares_agree_with_statsmodels(*, exact: bool, method: str) -> None:
    """Counts from 0 to n give the same intervals; below 13 items they are Clopper-Pearson's."""
    from statsmodels.stats.proportion import proportion_confint

    for count in (0, 1, 7, 20):
        assert proportion(count, 20, exact=exact).interval == pytest.approx(
            np.clip(proportion_confint(count, 20, method=method), 0, 1), abs=1e-9
        )
    assert proportion(5, 12).interval == pytest.approx(
        proportion_confint(5, 12, method="beta"), abs=1e-9
    )


def test_students_t_agrees_with_scipy() -> None:
    """The relative error is below 1 % from 5 degrees of freedom, and below 1e-4 from 20."""
    from scipy.stats import t

    assert t_quantile(0.975, 5) == pytest.approx(t.ppf(0.975, 5), rel=0.01)
    assert t_quantile(0.975, 20) == pytest.approx(t.ppf(0.975, 20), rel=1e-4)
