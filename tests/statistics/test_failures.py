"""Failed queries in means and differences: wrong, excluded, or the worst and the best case."""

from __future__ import annotations

import pytest

from ragstone.errors import ConfigError
from ragstone.statistics.failures import (
    POLICIES,
    Scale,
    check_policy,
    difference_between,
    summarise_scores,
)
from ragstone.statistics.significance import Family, judge
from ragstone.statistics.summary import Policy
from ragstone.types import Score, Status


def column(right: int, wrong: int, failed: int) -> dict[str, Score]:
    """Return scores of EM with these numbers of right, wrong and failed queries."""
    values = [1.0] * right + [0.0] * wrong + [None] * failed
    return {
        f"q{i}": Score(f"q{i}", "EM", v, "failed" if v is None else "scored")
        for i, v in enumerate(values)
    }


STRONG, FAILING = column(70, 30, 0), column(30, 0, 70)
"""70 of 100 right; 30 right and 70 failed."""


def test_failing_never_pays() -> None:
    """Under no policy is the system better that failed on 70 of 100 queries."""
    wins: dict[Policy, str] = {}
    for policy in POLICIES:
        scale = Scale(failures=policy)
        gap = difference_between(STRONG, FAILING, scale)
        assert gap is not None
        pair = judge("s", "f", gap, gap.p, Family(0.05, 1, "holm"), scale=scale, failed=(0, 70))
        wins[policy] = pair.outcome

    assert wins == {"wrong": "worse", "exclude": "undecided", "bounds": "undecided"}


def test_a_system_that_failed_more_often_is_not_better_if_failures_are_left_out() -> None:
    """The sentence names the failures of both."""
    scale = Scale(failures="exclude")
    strong, failing = column(0, 30, 0) | {}, column(30, 0, 70)
    gap = difference_between(strong, failing, scale)
    assert gap is not None
    assert gap.p < 0.001

    pair = judge("s", "f", gap, gap.p, Family(0.05, 1, "holm"), scale=scale, failed=(0, 70))

    assert (pair.outcome, pair.significant) == ("undecided", False)
    assert "s failed on 0 queries, f on 70; these are left out" in pair.verdict


@pytest.mark.parametrize(
    ("policy", "mean", "n", "cases"),
    [("wrong", 0.3, 100, None), ("exclude", 1.0, 30, None), ("bounds", 0.3, 100, (0.3, 1.0))],
)
def test_the_worked_case(
    policy: Policy, mean: float, n: int, cases: tuple[float, float] | None
) -> None:
    """30 right and 70 failed of 100: .3 of all, 1 of the answered."""
    scores = FAILING.values()
    found = summarise_scores(
        [s.value for s in scores], [s.status for s in scores], Scale(failures=policy)
    )

    assert (found.mean, found.n, found.failed) == (mean, n, 70)
    assert (found.mean_of_answered, found.mean_of_all) == (1.0, 0.3)
    assert (found.policy, found.worst_and_best, found.answered) == (policy, cases, 30)
    assert found.interval is not None
    assert found.interval[1] > (0.99 if policy != "wrong" else 0.35)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (Scale(), (0.0, 0.0)),
        (Scale(direction="lower"), (1.0, 1.0)),
        (Scale((1.0, 10.0), failures="bounds"), (1.0, 10.0)),
        (Scale((1.0, 10.0), "lower", "bounds"), (10.0, 1.0)),
        (Scale(failures="exclude"), None),
        (Scale(direction="neutral"), None),
        (Scale(None), None),
    ],
)
def test_what_counts_for_a_failed_query(scale: Scale, expected: tuple[float, float] | None) -> None:
    """The worst value is at the lower or the upper end of the range, if there is one."""
    assert scale.counted(Score("q", "m", None, "failed")) == expected


@pytest.mark.parametrize("status", ["unscored", "not_applicable"])
def test_a_metric_that_failed_is_not_the_systems_failure(status: Status) -> None:
    """A verdict that could not be read never counts as wrong."""
    found = summarise_scores([1.0, None], ["scored", status], Scale())

    assert (found.mean, found.n, found.failed) == (1.0, 1, 0)
    assert found.unscored + found.not_applicable == 1


def test_bounds_contain_every_way_in_which_failures_can_end() -> None:
    """The interval of a difference contains those of both extremes, and p is the larger one."""
    scale = Scale(failures="bounds")
    few = difference_between(STRONG, column(95, 4, 1), scale)
    many = difference_between(STRONG, FAILING, scale)

    assert few is not None
    assert many is not None
    assert few.p < 0.001
    assert few.interval is not None
    assert few.interval[0] > 0
    assert many.p == 1.0
    assert many.interval is not None
    assert many.interval[0] < 0 < many.interval[1]


def test_a_misspelt_policy_is_an_error_with_the_nearest() -> None:
    """The message lists all policies."""
    with pytest.raises(ConfigError, match=r"did you mean 'exclude'.*wrong, exclude, bounds"):
        check_policy("exlude")
