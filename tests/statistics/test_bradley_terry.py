"""Bradley-Terry strengths: by hand, from a simulation with known strengths, and bad battles."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ragstone.errors import DatasetError
from ragstone.statistics.bradley_terry import Battle, BradleyTerry, bradley_terry
from ragstone.statistics.resampling import Bootstrap


def battles(*counts: tuple[str, str, int, int], ties: int = 0) -> list[Battle]:
    """Return battles, each on its own query, from (a, b, wins of a, wins of b)."""
    values = [
        (a, b, value)
        for a, b, won, lost in counts
        for value in [1.0] * won + [0.0] * lost + [0.5] * ties
    ]
    return [Battle(str(n), a, b, value) for n, (a, b, value) in enumerate(values)]


def strengths(found: BradleyTerry) -> dict[str, float]:
    """Return system -> strength."""
    return {one.system: one.strength for one in found.strengths}


def test_three_systems_by_hand() -> None:
    """Odds of 2, 2 and 4 are those of the strengths log 2, 0 and -log 2."""
    found = bradley_terry(battles(("a", "b", 2, 1), ("b", "c", 2, 1), ("a", "c", 4, 1)))

    assert strengths(found) == {
        "a": pytest.approx(math.log(2)),
        "b": pytest.approx(0, abs=1e-9),
        "c": pytest.approx(-math.log(2)),
    }
    assert [(one.system, one.rank, one.n, one.wins) for one in found.strengths] == [
        ("a", 1, 8, 6.0),
        ("b", 2, 6, 3.0),
        ("c", 3, 8, 2.0),
    ]
    assert found.strengths[0].win_rate == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert (found.battles, found.queries, found.ties, found.regularised) == (11, 11, 0, False)


def test_a_tie_is_half_a_win_of_each() -> None:
    """Two wins, one loss and two ties: 3 of 5, the strengths are half the log of the odds."""
    found = bradley_terry(battles(("a", "b", 2, 1), ties=2))
    assert strengths(found)["a"] == pytest.approx(math.log(3 / 2) / 2)
    assert found.ties == 2


def test_a_system_that_wins_all_is_told() -> None:
    """With a virtual tie: 3.5 wins against 0.5, so log 7 / 2; equal systems share a rank."""
    found = bradley_terry(battles(("a", "b", 3, 0)))
    assert found.regularised
    assert strengths(found)["a"] == pytest.approx(math.log(7) / 2)
    even = bradley_terry(battles(("a", "b", 1, 1)))
    assert [one.rank for one in even.strengths] == [1, 1]
    assert 0 < even.regularised_resamples < 1
    assert not even.regularised


def test_the_intervals_of_two_systems_mirror_each_other() -> None:
    """Their strengths have the sum 0 in every resample."""
    a, b = (one.interval for one in bradley_terry(battles(("a", "b", 12, 8))).strengths)
    assert a is not None
    assert b is not None
    assert a == pytest.approx((-b[1], -b[0]))


def test_one_query_has_no_interval() -> None:
    """A query is one observation, however many battles it has."""
    found = bradley_terry([Battle("q", "a", "b", 1.0), Battle("q", "a", "b", 0.0)])
    assert {(one.interval, one.rank_interval) for one in found.strengths} == {(None, None)}


def test_battles_of_a_query_are_drawn_together() -> None:
    """Ten copies of each battle on its own query leave the interval as it was."""
    once = battles(("a", "b", 12, 8))
    first = bradley_terry(once).strengths[0]
    again = bradley_terry([one for one in once for _ in range(10)]).strengths[0]
    assert again.interval == pytest.approx(first.interval)
    assert again.rank_interval == first.rank_interval


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([], "there is no battle"),
        ([Battle("q", "a", "a", 1.0)], "two systems"),
        ([Battle("q", "a", "b", 0.7)], "the value 1, 0.5 or 0"),
        (battles(("a", "b", 1, 1), ("c", "d", 1, 1)), "no battle connects a, b with c, d"),
    ],
)
def test_battles_that_rank_nothing(given: list[Battle], problem: str) -> None:
    """The reason names the systems."""
    with pytest.raises(DatasetError, match=problem):
        bradley_terry(given)


def test_rank_intervals_contain_the_true_rank() -> None:
    """Known strengths, an effect of each query and a tenth of ties: at least 95 of 100."""
    true = np.array([0.45, 0.15, -0.15, -0.45])
    random = np.random.default_rng(5)
    inside = []
    for repetition in range(60):
        made = []
        for query in range(30):
            own = true + random.normal(0, 0.5, len(true))
            for a in range(len(true)):
                for b in range(a + 1, len(true)):
                    chance = 1 / (1 + math.exp(own[b] - own[a]))
                    value = 0.5 if random.random() < 0.1 else float(random.random() < chance)
                    made.append(Battle(str(query), f"s{a}", f"s{b}", value))
        found = bradley_terry(made, Bootstrap(resamples=200, seed=repetition))
        for one in found.strengths:
            low, high = one.rank_interval or (0, 0)
            inside.append(low <= int(one.system[1]) + 1 <= high)
    assert np.mean(inside) >= 0.95
