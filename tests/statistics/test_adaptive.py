"""Adaptive contests: the budget, early stops, error rates, and unbiased means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

import numpy as np
import pytest

from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.statistics.adaptive import (
    AdaptiveRules,
    Contest,
    Values,
    decide,
    estimate,
    run_contests,
)

Scores = Mapping[str, Mapping[str, float]]


def made(means: Mapping[str, float], queries: int, seed: int = 0) -> dict[str, dict[str, float]]:
    """Return 0/1 scores of systems with these means; difficult queries are so for all."""
    drawn = np.random.default_rng(seed)
    hard = drawn.random(queries)
    return {
        name: {f"q{i}": float(0.5 * hard[i] + 0.5 * drawn.random() < mean) for i in range(queries)}
        for name, mean in means.items()
    }


def contest(scores: Scores, name: str = "c", seed: int = 0) -> Contest:
    """Return a contest on the queries of some scores."""
    return Contest.of(name, scores, next(iter(scores.values())), seed=seed)


def asking(
    contests: Sequence[Contest], scores: Mapping[str, Scores]
) -> Callable[[], dict[str, Values]]:
    """Return what looks up the scores of the drawn queries."""
    return lambda: {
        c.name: {s: {q: scores[c.name][s][q] for q in c.queries_of(s)} for s in c.systems}
        for c in contests
    }


def run(scores: Scores, rules: AdaptiveRules, seed: int = 0) -> Contest:
    """Return one contest that has ended."""
    one = contest(scores, seed=seed)
    budget = run_contests([one], rules, asking([one], {"c": scores}))
    assert one.answers <= budget
    return one


def test_a_clear_winner_ends_the_contest_early() -> None:
    """The worse systems are stopped with the look and the difference; no more is asked."""
    one = run(made({"good": 0.9, "bad": 0.2, "none": 0.05}, 500), AdaptiveRules())

    assert (one.state, one.leader, one.left) == ("decided", "good", ("good",))
    assert one.stopped["none"].look == 1
    assert one.stopped["none"].difference < -0.5
    assert one.answers < 0.1 * 3 * 500


def test_the_best_is_hardly_ever_stopped() -> None:
    """Of equal systems each is stopped in at most 5 % of the draws, over all looks."""
    stopped = [
        len(run(made({"a": 0.5, "b": 0.5, "c": 0.5}, 400, seed), AdaptiveRules(share=0.6)).stopped)
        for seed in range(60)
    ]

    assert fmean(stopped) / 3 <= 0.05


def test_systems_that_are_behind_wait() -> None:
    """The closest rivals get the most queries, and the budget is spent on them."""
    scores = made({"a": 0.75, "b": 0.72, "c": 0.55, "d": 0.5}, 1000)

    one = run(scores, AdaptiveRules())

    assert one.state == "budget"
    assert min(one.asked["a"], one.asked["b"]) > 1.5 * max(one.asked["c"], one.asked["d"])
    assert 0.18 * 4000 < one.answers <= 0.2 * 4000


def test_undecided_contests_share_what_decided_ones_leave() -> None:
    """A contest that is close gets more than its share of the budget."""
    scores = {"easy": made({"a": 0.9, "b": 0.1}, 300), "close": made({"a": 0.6, "b": 0.58}, 300)}
    contests = [contest(held, name) for name, held in scores.items()]

    budget = run_contests(contests, AdaptiveRules(share=0.3), asking(contests, scores))

    assert [one.state for one in contests] == ["decided", "budget"]
    assert contests[1].answers > 0.6 * budget


def test_equivalent_systems_end_a_contest() -> None:
    """With a margin, a contest ends when all systems left are within it of the leader."""
    same = made({"a": 0.5}, 600)["a"]

    one = run({"a": same, "b": {**same, "q0": 1 - same["q0"]}}, AdaptiveRules(1.0, margin=0.1))

    assert (one.state, one.stopped) == ("equivalent", {})
    assert one.drawn < 600


def test_all_queries_are_the_last_round() -> None:
    """With the whole budget, systems that are not told apart answer everything."""
    one = run(made({"a": 0.5, "b": 0.5}, 60), AdaptiveRules(share=1.0))

    assert (one.state, one.answers) == ("complete", 120)


def test_the_draw_is_unbiased_and_common() -> None:
    """Over the seeds, means of the first queries are those of all; systems share their queries."""
    scores = made({"a": 0.7, "b": 0.7}, 100)
    found = []
    for seed in range(300):
        one = contest(scores, seed=seed)
        one.draw(10)
        found.append(fmean(scores["a"][q] for q in one.queries_of("a")))
        assert one.queries_of("a") == one.queries_of("b")

    assert fmean(found) == pytest.approx(fmean(scores["a"].values()), abs=0.03)


def test_the_interval_holds_over_all_looks() -> None:
    """It is wider than that of a single look, and contains the mean of all queries."""
    scores = made({"a": 0.7, "b": 0.6}, 300)
    held = 0
    for seed in range(40):
        one = run(scores, AdaptiveRules(), seed)
        values = {q: scores["a"][q] for q in one.queries_of("a")}
        low, high = estimate(one, values, AdaptiveRules()).interval or (0.0, 0.0)
        single = estimate(one, values, AdaptiveRules(looks=1)).interval or (0.0, 1.0)
        assert low < single[0]
        assert single[1] < high
        held += low <= fmean(scores["a"].values()) <= high

    assert held >= 39


def test_queries_that_do_not_count_are_left_out() -> None:
    """A system without any value is neither stopped nor the leader."""
    scores = made({"a": 0.9, "b": 0.1, "c": 0.5}, 200)
    one = contest(scores)
    known = asking([one], {"c": scores})
    run_contests([one], AdaptiveRules(), lambda: {"c": {**known()["c"], "c": {}}})

    assert one.leader == "a"
    assert list(one.stopped) == ["b"]


def test_the_rules_unless_they_are_given() -> None:
    """They are part of what a campaign promises."""
    assert AdaptiveRules() == AdaptiveRules(0.2, 8, 24, 0.05, None, 0)


def test_wrong_rules_are_named() -> None:
    """`limits.MAX_LOOKS` bounds the looks; each value has a range."""
    for rules in (
        {"share": 0},
        {"share": 1.5},
        {"looks": limits.MAX_LOOKS + 1},
        {"first": 1},
        {"alpha": 0.5},
        {"margin": 0},
    ):
        with pytest.raises(ConfigError, match=f"adaptive: {next(iter(rules))} is"):
            AdaptiveRules(**rules)


def test_the_first_look_spends_at_most_half_of_the_budget() -> None:
    """Else a small budget would not last for a second one."""
    assert AdaptiveRules(share=0.1, first=100).planned(1000, 1) == 50
    assert AdaptiveRules(share=0.1, first=30).planned(1000, 1) == 30


def test_a_round_that_is_too_dear_is_shortened_as_little_as_possible() -> None:
    """A thousandth of the queries more would exceed the budget."""
    scores = made({"a": 0.5, "b": 0.5}, 1000)
    for queries in (0, 1, 64, 511, 512, 999):
        assert run(scores, AdaptiveRules(share=(queries + 0.5) / 1000, looks=1)).drawn == queries


def test_a_contest_is_not_complete_while_a_system_waits() -> None:
    """The leader may have answered everything."""
    scores = made({"a": 0.5, "b": 0.5, "c": 0.5}, 40)
    one = contest(scores)
    one.draw(20)
    one.behind = ("c",)
    one.draw(40)
    decide(one, asking([one], {"c": scores})()["c"], AdaptiveRules(), 1)
    assert (one.state, len(one.left)) == ("open", 3)

    one.behind = ()
    one.draw(40)
    decide(one, asking([one], {"c": scores})()["c"], AdaptiveRules(), 2)
    assert one.state == "complete"
