"""Tests of paired differences: p values equal enumeration and binomial probabilities."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.permutation import SMALLEST_P, mcnemar, sign_flip_p, sign_flip_rows

LABELS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


def test_p_is_the_share_of_sign_choices_as_extreme() -> None:
    """The test enumerates all choices of signs of a few differences."""
    gaps = np.array([0.3, -0.1, 0.25, 0.4, 0.05])
    sums = [abs(np.dot(signs, gaps)) for signs in itertools.product((-1, 1), repeat=5)]

    assert sign_flip_p(gaps) == np.mean([s >= gaps.sum() - 1e-12 for s in sums])


@pytest.mark.parametrize("kind", ["even", "thirds", "uneven"])
def test_the_transform_agrees_with_enumeration(kind: str) -> None:
    """For 18 differences, more than are enumerated, the transform equals enumeration."""
    generator = np.random.default_rng(2)
    whole = generator.integers(-4, 7, 18)
    gaps = {"even": whole / 4, "thirds": whole / 3 * 0.1, "uneven": generator.normal(0.3, 1, 18)}[
        kind
    ]
    signs = 1 - 2 * (np.arange(2**18)[:, None] >> np.arange(18) & 1)
    listed = float((np.abs(signs @ gaps) >= abs(gaps.sum()) - 1e-9).mean())

    assert sign_flip_p(gaps) == pytest.approx(listed, rel=2e-3 if kind == "uneven" else 1e-9)


def test_recalls_are_on_the_grid_of_the_transform() -> None:
    """Sums of fifths, quarters and thirds are counted exactly, so that ties are ties."""
    sixtieths = np.random.default_rng(0).choice([-60, -30, -20, -15, -12, 0, 12, 15, 40, 60], 60)
    ways = {0: 1}
    for step in sixtieths.tolist():
        sums = [(s + sign * step, count) for s, count in ways.items() for sign in (-1, 1)]
        ways = {}
        for total, count in sums:
            ways[total] = ways.get(total, 0) + count
    observed = abs(int(sixtieths.sum()))
    exact = sum(count for s, count in ways.items() if abs(s) >= observed) / 2**60

    assert sign_flip_p(sixtieths / 60) == pytest.approx(exact, rel=1e-9)


def test_many_values_are_counted_exactly_too() -> None:
    """Of 2,000 sevenths and 9,500 ones, 1,050 and 4,850 are positive: two binomial variables."""

    def heads(n: int) -> Floats:
        logs = np.array([math.lgamma(k + 1) for k in range(n + 1)])
        found: Floats = np.exp(logs[n] - logs - logs[::-1] - n * math.log(2))
        return found

    ones = np.zeros(7 * 9_500 + 1)
    ones[::7] = heads(9_500)
    below = np.convolve(heads(2_000), ones)[: 950 + 7 * 4_650 + 1]

    gaps = np.repeat([1 / 7, -1 / 7, 1.0, -1.0], [1_050, 950, 4_850, 4_650])
    assert sign_flip_p(gaps) == pytest.approx(2 * below.sum(), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1e-4, 1e4, 1e300])
def test_values_of_any_size_have_a_p(scale: float) -> None:
    """A factor changes nothing."""
    gaps = np.random.default_rng(1).normal(0.4, 1, 30)

    assert sign_flip_p(scale * gaps) == pytest.approx(sign_flip_p(gaps), abs=1e-3)


@pytest.mark.parametrize("kind", ["labels", "recalls", "graded", "outliers"])
@pytest.mark.parametrize("n", [10, 20, 45, 300])
def test_many_rows_have_the_p_of_each_row(kind: str, n: int) -> None:
    """Counts of the same values: the same p, within a few thousandths."""
    generator = np.random.default_rng(n)
    values = {
        "labels": np.array([-1.0, 0.0, 1.0]),
        "recalls": np.array([-1.0, -0.5, -0.25, 0.0, 1 / 3, 0.8]),
        "graded": generator.normal(0.2, 1, 80),
        "outliers": generator.lognormal(0, 1.5, 80) - 1.5,
    }[kind]
    counts = generator.multinomial(n, np.ones(len(values)) / len(values), 20)

    each = [sign_flip_p(np.repeat(values, row)) for row in counts]

    assert sign_flip_rows(values, counts) == pytest.approx(each, abs=5e-3)


def test_rows_of_a_few_values_far_apart_are_counted() -> None:
    """A series would need too many frequencies for tenths up to 100."""
    values = np.array([-100.0, -60.1, -0.1, 0.1, 33.3, 100.0])
    counts = np.random.default_rng(0).multinomial(6, np.ones(6) / 6, 20)

    each = [sign_flip_p(np.repeat(values, row)) for row in counts]

    assert sign_flip_rows(values, counts) == pytest.approx(each)


def test_rows_of_values_far_apart_are_exact() -> None:
    """Their sums have gaps, in which a series would be wrong by 0.2."""
    generator = np.random.default_rng(3)
    values = np.array([0.1, 0.3, 0.7, 2.9, 11.3, 47.1, 233.7, 981.3])
    values[::2] *= -1
    counts = generator.integers(1, 4, (40, len(values)))

    each = [sign_flip_p(np.repeat(values, row)) for row in counts]

    assert sign_flip_rows(values, counts) == pytest.approx(each, abs=1e-12)


@settings(deadline=None)
@given(LABELS)
def test_for_binary_labels_permutation_is_mcnemar(pairs: list[tuple[bool, bool]]) -> None:
    """Each pair of labels that differs is a throw of a fair coin."""
    a, b = np.array(pairs, dtype=float).T

    assert sign_flip_p(b - a) == pytest.approx(mcnemar(a, b).exact_p, rel=1e-6)


def test_mid_p_is_below_exact_p_if_the_split_is_uneven() -> None:
    """9 to 2: exact 2 P(X <= 2), mid-p less P(X = 2)."""
    a = np.array([0.0] * 9 + [1.0] * 2 + [1.0] * 5)
    b = np.array([1.0] * 9 + [0.0] * 2 + [1.0] * 5)

    found = mcnemar(a, b)

    assert (found.wins, found.losses, found.odds_ratio) == (9, 2, 4.5)
    assert found.exact_p == pytest.approx(2 * (1 + 11 + 55) / 2**11)
    assert found.mid_p == pytest.approx(2 * (1 + 11 + 55 / 2) / 2**11)


def test_no_difference_gives_p_one() -> None:
    """Without a pair that differs, p is 1."""
    assert sign_flip_p(np.zeros(5)) == 1.0
    assert mcnemar(np.ones(3), np.ones(3)).exact_p == 1.0
    assert mcnemar(np.ones(3), np.ones(3)).odds_ratio == 1.0


def test_one_difference_alone_gives_p_one() -> None:
    """Both signs of a single cluster are equally extreme."""
    assert sign_flip_p(np.array([0.7])) == 1.0


def test_a_p_below_rounding_is_raised_to_the_smallest() -> None:
    """A p too small to compute is raised to `SMALLEST_P`, not reported as 0."""
    assert sign_flip_p(np.full(500, 0.1)) == SMALLEST_P


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=60), st.floats(0.01, 100))
def test_scale_and_direction_do_not_matter(gaps: list[float], scale: float) -> None:
    """The p is between 0 and 1, and the same for scaled or negated differences."""
    values = np.array(gaps)

    p = sign_flip_p(values)

    assert 0 < p <= 1
    assert sign_flip_p(-values) == pytest.approx(p, rel=1e-6)
    assert sign_flip_p(values * scale) == pytest.approx(p, rel=1e-2)


def test_under_no_difference_p_is_below_5_percent_about_5_percent_of_the_time() -> None:
    """The test holds its level in 1,000 seeded simulations."""
    generator = np.random.default_rng(11)

    found = np.mean([sign_flip_p(generator.laplace(size=12)) <= 0.05 for _ in range(1_000)])

    assert 0.035 <= found <= 0.065
