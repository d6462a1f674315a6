"""Verdicts on a difference among all tests of a comparison, as one sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragstone.statistics.failures import Scale
from ragstone.statistics.paired import Correction, Difference, paired_difference
from ragstone.statistics.significance import Family, judge

LEAD = paired_difference([0.0] * 12, [0.1, 0.2, 0.1, 0.3, 0.1, 0.2, 0.1, 0.2, 0.1, 0.3, 0.2, 0.1])
NEAR = paired_difference([0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0])


def verdict(found: Difference, p: float, *, tests: int = 1, lower: bool = False) -> str:
    """Return the sentence about new against old after Holm."""
    scale = Scale(direction="lower" if lower else "higher")
    return judge("old", "new", found, p, Family(0.05, tests, "holm"), scale=scale).verdict


def test_a_lead_is_written_with_interval_and_p() -> None:
    """The correction is named only if there are several tests."""
    assert verdict(LEAD, 0.0005).startswith("new is better than old by 0.1667 [0.1")
    assert verdict(LEAD, 0.0005).endswith("p=0.0005")
    assert verdict(LEAD, 0.00001, tests=3).endswith("p<0.0001 after Holm")


def test_the_better_system_depends_on_the_metrics_direction() -> None:
    """If lower values are better, the other system leads by the same size."""
    assert verdict(LEAD, 0.01, lower=True).startswith("old is better than new by 0.1667 [0.1")


def test_a_p_above_the_level_is_not_a_lead() -> None:
    """The verdict depends on the corrected p, not on the interval."""
    assert verdict(LEAD, 0.051).startswith("no difference shown between old and new (p=0.051)")
    assert verdict(NEAR, 1.0) == "no difference shown between old and new: the means are equal"
    planned = replace(LEAD, n=10_000, difference=0.001, standard_error=0.0005)
    assert "about 9,600 more queries" in verdict(planned, 0.06)


def test_one_cluster_has_no_sample_size() -> None:
    """Without a standard error there is no sample size, but a verdict."""
    found = paired_difference([0.0, 0.0], [1.0, 0.0], clusters=["c", "c"])

    pair = judge("old", "new", found, found.p, Family(0.05, 1, "holm"))

    assert (pair.minimum_detectable, pair.more_queries) == (None, None)
    assert pair.verdict == "no difference shown between old and new (p=1)"


@pytest.mark.parametrize(("correction", "alpha"), [("holm", 0.005), ("none", 0.05)])
def test_sample_sizes_are_planned_for_the_correction(correction: Correction, alpha: float) -> None:
    """Ten corrected tests are planned at a tenth of the level."""
    assert Family(0.05, 10, correction).planned_alpha == pytest.approx(alpha)


def test_a_difference_of_rounding_has_no_sample_size() -> None:
    """A sample size of more than a billion queries is not reported."""
    found = paired_difference([0.0, 1.0, 0.0, 1.0], [1.0, 1e-12, 0.0, 1.0])

    assert judge("old", "new", found, 1.0, Family(0.05, 1, "holm")).more_queries is None


@pytest.mark.parametrize("interval", [(-0.02, 0.01), (-0.01, 0.02)])
def test_the_margin_itself_is_not_within_it(interval: tuple[float, float]) -> None:
    """Systems are equivalent if the whole interval is nearer to 0."""
    found = replace(LEAD, interval=interval)
    outcomes = [Family(0.05, 1, "holm", margin).outcome(found, 1.0) for margin in (0.02, 0.021)]

    assert outcomes == ["undecided", "equivalent"]
