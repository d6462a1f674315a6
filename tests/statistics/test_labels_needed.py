"""Labels that an interval still needs: the same widths as the estimates, now and later."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.corrected import corrected, labelled_items, labels_alone
from ragstone.statistics.labels_needed import half_width_with, labels_needed
from ragstone.statistics.proportions import t_exact


def made(size: int, right: float, seed: int = 1) -> tuple[Floats, Floats]:
    """Return people's values of all items, and those of a model that is right this often."""
    generator = np.random.default_rng(seed)
    people = (generator.random(size) < 0.6).astype(np.float64)
    model = np.where(generator.random(size) < right, people, 1 - people)
    return people, model


def hidden(people: Floats, labels: int) -> Floats:
    """Return people's values, all but the first ones hidden."""
    return np.where(np.arange(len(people)) < labels, people, np.nan)


@pytest.mark.parametrize("clustered", [False, True])
def test_the_half_width_now_is_that_of_the_estimates(clustered: bool) -> None:
    """Both estimates, with and without clusters of five items."""
    people, model = made(500, 0.9)
    names = [str(place // 5) for place in range(500)] if clustered else None
    human = hidden(people, 100)
    found = labels_needed(human, 0.05, model=model, clusters=names)
    items = labelled_items(model, human, clusters=names)

    assert found.alone is not None
    assert found.with_model is not None
    assert found.alone.half_width == pytest.approx(labels_alone(items).half_width(0.95), abs=1e-12)
    expected = corrected(items).half_width(0.95)
    assert found.with_model.half_width == pytest.approx(expected, abs=1e-12)


def test_without_a_model_it_is_students_interval() -> None:
    """The smallest n with t s / sqrt(n) of at most the wanted half width."""
    people, _ = made(2000, 1.0)
    human = hidden(people, 60)
    found = labels_needed(human, 0.05).alone
    deviation = float(people[:60].std(ddof=0))
    assert found is not None
    assert found.more is not None

    def width(n: int) -> float:
        return float(t_exact(0.95, n - 1) * deviation / np.sqrt(n - 1))

    n = 60 + found.more
    assert width(n) <= 0.05 < width(n - 1)


def test_the_width_that_is_forecast_comes_out_later() -> None:
    """On average over draws, within a few per cent, with and without the model."""
    ratios = []
    for seed in range(20):
        people, model = made(2000, 0.9, seed)
        early = labelled_items(model, hidden(people, 100))
        late = labelled_items(model, hidden(people, 400))
        for estimate in (corrected, labels_alone):
            forecast = half_width_with(early, estimate(early), 400, 0.95)
            ratios.append(forecast / estimate(late).half_width(0.95))

    assert np.mean(ratios) == pytest.approx(1, abs=0.05)


def test_a_good_model_saves_labels_and_a_bad_one_costs_none() -> None:
    """The model's labels count as much as they are worth."""
    people, good = made(3000, 0.95)
    bad = made(3000, 0.5)[1]
    human = hidden(people, 100)
    of_good, of_bad = (labels_needed(human, 0.04, model=one) for one in (good, bad))
    for found in (of_good, of_bad):
        assert found.alone is not None
        assert found.with_model is not None
    assert of_good.with_model.more < 0.6 * of_good.alone.more  # type: ignore[union-attr, operator]
    assert of_bad.with_model.more > 0.9 * of_bad.alone.more  # type: ignore[union-attr, operator]


def test_what_cannot_be_known_yet() -> None:
    """Too few labels, one cluster, a model without all items, too few items, enough already."""
    people, model = made(100, 0.9)
    assert labels_needed(hidden(people, 4), 0.05).missing == 6
    assert labels_needed(hidden(people, 20), 0.05, clusters=["a"] * 20 + ["b"] * 80).missing == 1
    partly = labels_needed(hidden(people, 20), 0.05, model=hidden(model, 50))
    assert partly.with_model is None
    assert partly.alone is not None
    assert partly.alone.more is None
    assert 0.05 < partly.alone.at_most < partly.alone.half_width
    enough = labels_needed(hidden(people, 90), 0.2).alone
    assert enough is not None
    assert enough.more == 0
    assert labels_needed(np.array([]), 0.05).missing == 10
