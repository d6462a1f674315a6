"""Mean ranks over data sets, against Demsar's figures and scipy."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.errors import DatasetError
from ragstone.statistics.mean_ranks import mean_ranks, studentized_range_quantile

DEMSAR = {
    "C4.5": "763 599 954 628 882 936 661 583 775 1000 940 619 972 957",
    "C4.5+m": "768 591 971 661 888 931 668 583 838 1000 962 666 981 978",
    "C4.5+cf": "771 590 968 654 886 916 609 563 866 1000 965 614 975.1 946",
    "C4.5+m+cf": "798 569 967 657 898 931 685 625 875 1000 962 669 975 970",
}
"""Table 6 of Demsar (2006): AUC of four classifiers on 14 data sets, in thousandths.

Two values that are equal in print, 975, have different ranks there."""
NEMENYI = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)
"""Table 5a of Demsar (2006): critical values at 0.05 for 2 to 10 classifiers."""


def test_the_example_of_the_paper_comes_out() -> None:
    """Ranks 3.143, 2.000, 2.893, 1.964; F 3.69; CD 1.25 at 0.05."""
    found = mean_ranks({name: list(map(float, text.split())) for name, text in DEMSAR.items()})
    assert list(found.mean_ranks.values()) == pytest.approx([3.143, 2.0, 2.893, 1.964], abs=5e-4)
    chi = 12 * 14 / 20 * (sum(rank**2 for rank in found.mean_ranks.values()) - 25)
    assert 13 * chi / (14 * 3 - chi) == pytest.approx(3.69, abs=0.005)
    # The paper's F is without the correction for ties, which raises it.
    assert found.statistic == pytest.approx(4.185, abs=0.001)
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    assert found.p < 0.05
    # The paper finds no pair at 0.05: 3.143 - 1.964 is 1.179.
    assert {place.group for place in found.places.values()} == {1}


@pytest.mark.parametrize(("k", "critical"), [*enumerate(NEMENYI, start=2)])
def test_critical_values_are_the_published_ones(k: int, critical: float) -> None:
    """The quantiles of the range over the square root of 2."""
    assert studentized_range_quantile(0.95, k) / 2**0.5 == pytest.approx(critical, abs=1e-3)


def test_p_agrees_with_scipy() -> None:
    """The F test with ties, against scipy's Friedman statistic and F distribution."""
    stats = pytest.importorskip("scipy.stats")
    drawn = np.random.default_rng(0).integers(0, 6, size=(4, 9)).astype(float)
    found = mean_ranks({str(n): row.tolist() for n, row in enumerate(drawn)})
    chi = stats.friedmanchisquare(*drawn).statistic
    f = 8 * chi / (9 * 3 - chi)
    assert found.statistic == pytest.approx(f)
    assert found.p == pytest.approx(stats.f.sf(f, 3, 24))


def test_clear_orders_make_groups() -> None:
    """Twelve data sets of one order separate the first system from the last ones."""
    found = mean_ranks(
        {name: [value] * 12 for name, value in zip("abcd", (4, 3, 2, 1), strict=True)}
    )
    assert found.statistic is None
    assert found.p < 1e-9
    assert found.places["a"].rank == (1, 2)
    assert found.places["d"].group > 1
    lower = mean_ranks({"a": [1, 1], "b": [2, 2]}, lower_is_better=True)
    assert lower.systems == ("a", "b")
    equal = mean_ranks({"a": [1, 1], "b": [1, 1]})
    assert (equal.statistic, equal.p) == (0.0, 1.0)


@pytest.mark.parametrize("values", [{"a": [1, 2]}, {"a": [1], "b": [2]}, {"a": [1, 2], "b": [1]}])
def test_too_little_is_refused(values: dict[str, list[float]]) -> None:
    """One system, one data set, or unequal numbers."""
    with pytest.raises(DatasetError, match="mean ranks need two systems"):
        mean_ranks(values)
