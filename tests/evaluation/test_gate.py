"""The gate: verdicts on bounds, several metrics, failures, other data and planned looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ragstone.core.schemas import scores_to_table
from ragstone.errors import ConfigError, UnknownMetric
from ragstone.evaluation.evaluation import Evaluation
from ragstone.evaluation.gate import gate, queries_to_decide
from ragstone.evaluation.scored_systems import Scores
from ragstone.statistics.paired import paired_difference
from ragstone.types import Score


def scores(values: Sequence[float | None], metric: str = "EM") -> list[Score]:
    """Return scores of q0, q1, ...; None is a failed query."""
    return [
        Score(f"q{i}", metric, v, "failed" if v is None else "scored") for i, v in enumerate(values)
    ]


def changed(losses: int, wins: int, n: int = 400) -> tuple[list[Score], list[Score]]:
    """Return a baseline that is right on half of the queries, and a version that differs."""
    old = [float(i % 2) for i in range(n)]
    right = [i for i in range(n) if i % 2]
    wrong = [i for i in range(n) if not i % 2]
    flips = {*right[:losses], *wrong[:wins]}
    return scores(old), scores([1 - v if i in flips else v for i, v in enumerate(old)])


@pytest.mark.parametrize(
    ("losses", "wins", "verdict"),
    [(0, 0, "pass"), (30, 30, "undecided"), (40, 5, "worse"), (5, 40, "pass"), (4, 0, "pass")],
)
def test_the_one_sided_bounds_decide(losses: int, wins: int, verdict: str) -> None:
    """The interval is the two-sided one at 90 %, whose ends are the one-sided bounds at 95 %."""
    old, new = changed(losses, wins)

    found = gate(new, baseline=old, metrics="EM", margin=0.03)

    values = [[s.value or 0.0 for s in side] for side in (old, new)]
    expected = paired_difference(*values, confidence=0.9)
    assert found.verdict == verdict
    assert found.metrics[0].interval == expected.interval
    assert found.metrics[0].difference == expected.difference


def test_a_small_loss_passes_and_is_named() -> None:
    """The loss is shown to be above 0 and below the margin."""
    old, new = changed(7, 0)

    found = gate(new, baseline=old, metrics="EM", margin=0.05)

    assert (found.verdict, found.exit_code) == ("pass", 0)
    assert "a loss is shown, which is smaller than the margin" in str(found)


def test_worse_beats_undecided_beats_pass() -> None:
    """Each metric has its margin; the worst verdict counts."""
    bad, open_, good = changed(40, 5), changed(30, 30), changed(0, 0)
    sides = [
        [replace(s, metric=name) for name, pair in parts for s in pair[side]]
        for side in (0, 1)
        for parts in [[("bad", bad), ("open", open_), ("good", good)]]
    ]

    def verdict(*metrics: str) -> str:
        return gate(sides[1], baseline=sides[0], metrics=metrics, margin=0.03).verdict

    assert verdict("good", "open", "bad") == "worse"
    assert verdict("good", "open") == "undecided"
    assert verdict("good") == "pass"
    margins = gate(sides[1], baseline=sides[0], metrics=["good", "open"], margin=[0.03, 0.2])
    assert (margins.verdict, [m.margin for m in margins.metrics]) == ("pass", [0.03, 0.2])


def test_less_is_better_turns_the_sign() -> None:
    """A lower latency is a positive change."""
    rng = np.random.default_rng(1)
    slow = 2 + rng.random(60)
    old, new = scores(slow.tolist(), "s"), scores((slow - 0.5 + rng.random(60) / 9).tolist(), "s")
    options: dict[str, Any] = {"metrics": "s", "margin": 0.1, "lower_is_better": ["s"]}

    faster, slower = gate(new, baseline=old, **options), gate(old, baseline=new, **options)

    assert (faster.verdict, slower.verdict) == ("pass", "worse")
    assert (faster.metrics[0].difference or 0) > 0 > (slower.metrics[0].difference or 0)


def test_failures_count_as_wrong_and_never_help() -> None:
    """If failed queries are left out, a version that fails more does not pass."""
    old, _ = changed(0, 0)
    new = [replace(s, value=None, status="failed") if i < 40 else s for i, s in enumerate(old)]
    options: dict[str, Any] = {"metrics": "EM", "margin": 0.03}

    assert gate(new, baseline=old, **options).verdict == "worse"
    left_out = gate(new, baseline=old, failures="exclude", **options)
    assert (left_out.verdict, left_out.queries_to_decide) == ("undecided", None)
    assert "failed on 40, the baseline on 0" in str(left_out)
    rate = gate(new, baseline=old, metrics="failure rate", margin=0.03)
    assert rate.verdict == "worse"
    assert gate(old, baseline=old, metrics="failure rate", margin=0.03).verdict == "pass"


def test_the_number_of_queries_that_decide_is_about_right() -> None:
    """With that many queries of the same kind the verdict stays open no longer."""
    old, new = changed(30, 30)
    found = gate(new, baseline=old, metrics="EM", margin=0.03)
    needed = found.queries_to_decide or 0
    assert 400 < needed < 4000

    factor = -(-needed // 400)
    more = changed(30 * factor, 30 * factor, 400 * factor)
    assert gate(more[1], baseline=more[0], metrics="EM", margin=0.03).verdict == "pass"
    assert "an equal system passes with a probability of" in str(found)


def test_equal_values_need_enough_queries() -> None:
    """Few equal values do not show that others are equal: the number is Tango's."""
    same = scores([1.0] * 20)

    found = gate(same, baseline=same, metrics="EM", margin=0.02)

    needed = found.queries_to_decide or 0
    assert found.verdict == "undecided"
    assert gate(scores([1.0] * needed), baseline=scores([1.0] * needed), metrics="EM",
                margin=0.02).verdict == "pass"  # fmt: skip
    one = paired_difference([1.0, 0.0], [1.0, 1.0], clusters=["a", "a"])
    assert queries_to_decide(one, 0.0, 0.02) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "EM", "margin": 0}, "margin 0 is not above 0"),
        ({"metrics": "EM", "margin": [0.1, 0.2]}, "2 margins for 1 metrics"),
        ({"metrics": [], "margin": 0.1}, "at least one metric"),
        ({"metrics": "EM", "margin": 0.1, "looks": 0}, "looks is 0"),
        ({"metrics": "EM", "margin": 0.1, "failures": "ignore"}, "failures is 'ignore'"),
    ],
)
def test_wrong_arguments_are_named(options: dict[str, Any], message: str) -> None:
    """The error has the value and what is allowed."""
    old, new = changed(1, 1)
    with pytest.raises(ConfigError, match=message):
        gate(new, baseline=old, **options)


def test_a_metric_of_one_side_is_refused() -> None:
    """A metric that the baseline does not have is not silently left out."""
    old, new = changed(1, 1)
    more = [*new, *scores([1.0] * 9, "F1")]
    with pytest.raises(ConfigError, match="baseline has no scores of F1"):
        gate(more, baseline=old, metrics=["EM", "F1"], margin=0.1)
    with pytest.raises(UnknownMetric, match="did you mean 'EM'"):
        gate(new, baseline=old, metrics="EN", margin=0.1)


def test_a_baseline_of_other_data_is_refused() -> None:
    """Another corpus, other gold answers or few common queries need `common`."""
    old, new = (
        Evaluation({}, scores_to_table(side), corpus_digest="a", gold_answers={"q0": ("x",)})
        for side in changed(0, 0)
    )
    cases: dict[str, Scores] = {
        "the corpora differ": replace(new, corpus_digest="b"),
        "the gold answers of 1 queries differ": replace(new, gold_answers={"q0": ("y",)}),
        "only 100 of 400 queries are common": changed(0, 0)[1][:100],
    }
    for message, other in cases.items():
        with pytest.raises(ConfigError, match=f"{message}.*--common"):
            gate(other, baseline=old, metrics="EM", margin=0.2)
        accepted = gate(other, baseline=old, metrics="EM", margin=0.2, common=True)
        assert message in str(accepted)
    assert gate(new, baseline=old, metrics="EM", margin=0.2).notes == ()


def test_looks_stop_early_at_a_clear_loss() -> None:
    """The bounds are those of the look, so that a wide one ends no analysis by chance."""
    old, new = changed(150, 0)

    found = gate(new, baseline=old, metrics="EM", margin=0.03, looks=5, seed=3)

    assert found.verdict == "worse"
    assert found.used < found.queries == 400
    assert found.used == 80 * found.look
    assert found.metrics[0].n == found.used
    assert "ended at look" in str(found)
    assert found == gate(new, baseline=old, metrics="EM", margin=0.03, looks=5, seed=3)


def test_looks_draw_whole_clusters() -> None:
    """A conversation is in one batch."""
    old, new = changed(0, 0)
    clusters = {s.query_id: int(s.query_id[1:]) // 8 for s in old}

    found = gate(new, baseline=old, metrics="EM", margin=0.2, looks=5, clusters=clusters)

    assert found.used % 8 == 0
    assert found.metrics[0].clusters == found.used // 8


def test_the_gate_is_wrong_about_as_often_as_it_says() -> None:
    """A small simulation: equal systems exit 1, and a loss of the margin exits 0, in about 5 %."""
    rng = np.random.default_rng(5)
    verdicts: dict[tuple[float, int], Counter[str]] = {}
    for change in (0.0, -0.1):
        for _ in range(120):
            drawn = rng.random(200)
            gains, losses = (0.3 + change) / 2, (0.3 - change) / 2
            signs = (drawn < gains) * 1 - ((drawn >= gains) & (drawn < gains + losses))
            before = np.where(signs == 0, rng.random(200) < 0.5, signs < 0).astype(float)
            sides = [scores(values.tolist()) for values in (before, before + signs)]
            for looks in (1, 4):
                found = gate(sides[1], baseline=sides[0], metrics="EM", margin=0.1, looks=looks)
                verdicts.setdefault((change, looks), Counter())[found.verdict] += 1

    for looks in (1, 4):
        assert verdicts[0.0, looks]["worse"] <= 12
        assert verdicts[-0.1, looks]["pass"] <= 12
        assert verdicts[0.0, looks]["pass"] >= 80
