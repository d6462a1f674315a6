"""Allocation: predicted intervals are those of larger studies, and the best mix is the best."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from tests.fakes.crossed_scores import MadeScores

from ragstone.errors import ConfigError
from ragstone.statistics.allocation import allocation
from ragstone.statistics.crossed_design import crossed_design

MODEL = MadeScores(
    {"retriever": 2, "prompt": 2},
    by_factor={"retriever": 0.1},
    residual=0.1,
    repeat=0.4,
    repeats=2,
)


def test_the_predicted_width_is_that_of_a_larger_study() -> None:
    """The standard error of a difference, over 400 studies of the predicted size."""
    design = MODEL.design(np.random.default_rng(0), 2_000)
    found = allocation(design, calls=16_000)
    more = next(one for one in found.options if one.more == "repeats")
    assert more.sizes.repeats == pytest.approx(4.0)
    assert more.half_width is not None

    larger, generator, changes = replace(MODEL, repeats=4), np.random.default_rng(1), []
    for _ in range(400):
        means = larger.design(generator, 50).strata[0].scores.mean(axis=0)
        changes.append(means[:2].mean() - means[2:].mean())

    wide = NormalDist().inv_cdf(0.975) * np.std(changes) * np.sqrt(50 / 2_000)
    assert more.half_width == pytest.approx(wide, rel=0.12)


def test_sources_are_divided_by_what_they_are_averaged_over() -> None:
    """The difference of two systems has twice the variance of each source with the system."""
    found = allocation(MODEL.design(np.random.default_rng(2), 3_000))
    sources = {one.name: one for one in found.sources}

    assert (found.estimand, found.systems) == ("difference", 2)
    assert (found.sizes.queries, found.sizes.prompts, found.sizes.judges) == (3_000, 2, 1)
    assert sources["query x system"].variance == pytest.approx(0.02, rel=0.15)
    assert sources["query x system"].divided_by == ("queries",)
    assert sources["repeat"].variance == pytest.approx(0.32, rel=0.05)
    assert sources["repeat"].divided_by == ("queries", "repeats", "prompts")
    assert "query" not in sources


def test_noise_of_answers_asks_for_repeats_and_queries_ask_for_queries() -> None:
    """The order of the options follows the variances; the best mix is never worse than one."""
    noisy = replace(MODEL, residual=0.01, by_factor={}, repeats=1)
    steady = replace(MODEL, repeat=0.01, by_factor={"retriever": 0.3})

    unknown = allocation(noisy.design(np.random.default_rng(3), 100))
    found = allocation(steady.design(np.random.default_rng(4), 100))

    repeats = next(one for one in unknown.options if one.more == "repeats")
    assert repeats.half_width is None
    assert "no repeats" in repeats.reason
    assert found.options[0].more == "queries"
    assert found.best is not None
    assert found.best.half_width is not None
    assert found.options[0].half_width is not None
    assert found.options[0].half_width <= found.best.half_width * 1.02
    assert found.best.half_width < found.half_width


def test_prompts_that_turn_the_order_ask_for_prompts() -> None:
    """More queries under the same prompts cannot average the prompts out."""
    turning = MadeScores(
        {"retriever": 2, "prompt": 3},
        lambda level: 0.2 * level["retriever"] * (level["prompt"] - 1),
        residual=0.1,
    )
    found = allocation(turning.design(np.random.default_rng(5), 300), calls=600)

    assert found.options[0].more == "prompts"
    assert found.best is not None
    assert found.best.more == "prompts"
    assert (found.best.sizes.prompts, found.best.sizes.queries) == (4, 300)


def test_judges_cost_calls_and_one_judge_is_unknown() -> None:
    """A further judge costs a call per answer, a further query those of the generator too."""
    judged = MadeScores({"retriever": 2, "judge": 2}, by_factor={"judge": 0.1})
    design = judged.design(np.random.default_rng(6), 100)

    found = {one.more: one for one in allocation(design, calls=600, judged=True).options}
    lexical = MadeScores({"retriever": 2}).design(np.random.default_rng(6), 100)
    alone = {one.more: one for one in allocation(lexical, calls=600).options}

    assert found["judges"].sizes.judges == pytest.approx(5.0)
    assert found["queries"].sizes.queries == pytest.approx(200.0)
    assert found["prompts"].reason == "the variance between prompts is unknown with one prompt"
    assert alone["queries"].sizes.queries == pytest.approx(400.0)
    assert alone["judges"].reason == "no judge is called for this metric"


def test_a_single_system_has_a_mean() -> None:
    """Without a second system there is no difference; the query itself counts."""
    found = allocation(MadeScores({"prompt": 2}).design(np.random.default_rng(7), 200))

    assert found.estimand == "mean"
    assert {one.name for one in found.sources} >= {"query", "residual"}


def test_rankings_need_no_calls_and_few_calls_no_mix() -> None:
    """Both have a reason or no best mix, not a made-up number."""
    design = MadeScores({"retriever": 2}).design(np.random.default_rng(8), 50)

    free = allocation(design, generated=False)

    assert {one.half_width for one in free.options} == {None}
    assert free.best is None
    assert allocation(design, calls=1).best is None
    equal = crossed_design([1.0] * 6, list("aabbcc"), {"retriever": list("xyxyxy")})
    assert allocation(equal).best is None
    with pytest.raises(ConfigError, match="calls 0 is less than 1"):
        allocation(design, calls=0)
