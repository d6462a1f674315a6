"""People's mean over all items, from a judge's values of all and labels of some."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ragstone.errors import DatasetError
from ragstone.statistics.corrected import (
    CorrectedEstimate,
    LabelledItems,
    corrected,
    labelled_items,
    labels_alone,
)
from ragstone.statistics.proportions import t_exact, t_p

N = 400


def made(seed: int, labelled: int, *, right: float = 0.9) -> tuple[LabelledItems, float]:
    """Return 0/1 items whose judge is right with a probability, and the true mean."""
    generator = np.random.default_rng(seed)
    people = generator.random(N) < 0.6
    judge = np.where(generator.random(N) < right, people, ~people).astype(float)
    human = np.where(np.arange(N) < labelled, people, np.nan)
    return labelled_items(judge, human), 0.6


def test_a_biased_judge_is_corrected() -> None:
    """The estimate over many draws has the mean of people, not of a judge that is too kind."""
    found = []
    for seed in range(300):
        generator = np.random.default_rng(seed)
        people = generator.beta(2, 2, N)
        judge = np.clip(people + 0.2 + 0.1 * generator.normal(size=N), 0, 1)
        human = np.where(np.arange(N) < 40, people, np.nan)
        found.append(corrected(labelled_items(judge, human)).value)

    assert float(np.mean(found)) == pytest.approx(0.5, abs=0.004)


def test_a_constant_error_of_the_judge_changes_nothing() -> None:
    """Neither the estimate nor the trust in the judge."""
    items, _ = made(3, 60)
    one, two = (corrected(labelled_items(items.judge + error, items.human)) for error in (0.0, 0.5))

    assert 0.5 < one.trust < 1
    assert (two.value, two.trust) == pytest.approx((one.value, one.trust))


def test_the_error_is_the_spread_of_the_estimates() -> None:
    """The standard error is within a tenth of the spread over draws; labels alone have more."""
    estimates = [corrected(made(seed, 60)[0]) for seed in range(400)]
    spread = float(np.std([one.value for one in estimates]))
    alone = float(np.std([labels_alone(made(seed, 60)[0]).value for seed in range(400)]))

    assert np.mean([one.error() for one in estimates]) == pytest.approx(spread, rel=0.1)
    assert spread < 0.8 * alone


def test_weights_undo_unequal_probabilities() -> None:
    """Labels drawn more often where the judge's value is high give people's mean all the same."""
    found = []
    for seed in range(400):
        generator = np.random.default_rng(seed)
        people = generator.beta(2, 2, N)
        probability = np.where(people > 0.5, 0.3, 0.1)
        human = np.where(generator.random(N) < probability, people, np.nan)
        items = labelled_items(generator.random(N), human, weights=1 / probability)
        found.append(corrected(items).value)

    assert float(np.mean(found)) == pytest.approx(0.5, abs=0.01)


def test_strata_count_by_their_sizes() -> None:
    """A stratum that is labelled more often than others does not count for more."""
    strata = ["a"] * 300 + ["b"] * 100
    people = np.array([0.0, 0.2] * 150 + [0.8, 1.0] * 50)
    known = np.r_[0:20, 300:360]
    human = np.full(N, np.nan)
    human[known] = people[known]

    found = corrected(labelled_items(np.full(N, 0.5), human, strata=strata))

    assert found.value == pytest.approx(0.75 * 0.1 + 0.25 * 0.9)


def test_strata_with_few_labels_are_pooled() -> None:
    """A stratum with fewer than five labels is joined to another one."""
    strata = ["a"] * 200 + ["b"] * 150 + ["c"] * 50
    human = np.full(N, np.nan)
    human[np.r_[0:20, 200:210, 350:352]] = 1.0

    found = labelled_items(np.ones(N), human, strata=strata)

    assert len(set(found.strata.tolist())) == 2
    assert len(set(found.strata[200:].tolist())) == 1
    human[350:355] = 1.0
    assert len(set(labelled_items(np.ones(N), human, strata=strata).strata.tolist())) == 3


def test_clusters_widen_the_error() -> None:
    """Equal items of one cluster are one item."""
    generator = np.random.default_rng(0)
    people = np.repeat(generator.random(N // 4), 4)
    human = np.where(np.arange(N) < 100, people, np.nan)
    clusters = np.repeat(np.arange(N // 4), 4).tolist()

    alone = corrected(labelled_items(generator.random(N), human))
    clustered = corrected(labelled_items(generator.random(N), human, clusters=clusters))

    assert clustered.error() > 1.7 * alone.error()
    assert clustered.freedom == 24


@pytest.mark.parametrize("estimate", [corrected, labels_alone])
def test_no_width_is_zero(estimate: Callable[[LabelledItems], CorrectedEstimate]) -> None:
    """Labels that all agree do not exclude errors."""
    human = np.where(np.arange(N) < 30, 1.0, np.nan)

    low, high = estimate(labelled_items(np.ones(N), human)).interval(0.95, (0, 1), 1)

    assert low < 0.9
    assert high == 1


@pytest.mark.parametrize(
    ("human", "clusters", "message"),
    [
        ([1.0] * 9, None, r"9 labels, at least 10 are needed \(1 more\)"),
        ([1.0] * 12, ["a"] * N, "in one cluster"),
        ([1.0] * 12, ["a"], "unequal lengths"),
    ],
)
def test_unusable_labels_are_refused(
    human: list[float], clusters: list[str] | None, message: str
) -> None:
    """The error has the number of labels that are missing."""
    whole = np.array(human + [np.nan] * (N - len(human)))
    with pytest.raises(DatasetError, match=message):
        labelled_items(np.ones(N), whole, clusters=clusters)


@pytest.mark.parametrize("freedom", [1, 9, 29, 400])
def test_quantile_and_p_agree(freedom: int) -> None:
    """The quantile has the p that it is named after."""
    assert t_p(t_exact(0.95, freedom), freedom) == pytest.approx(0.05, rel=1e-6)
