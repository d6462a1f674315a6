"""Gains of perfect steps, from the labels of counterfactual trials."""

from __future__ import annotations

from itertools import product

import pytest

from ragstone.causes.gains import STEPS, QueryLabels, labels_after, step_gains


def gain(step: str, *queries: QueryLabels) -> float:
    """Return the mean gain of a perfect step."""
    found = {one.step: one for one in step_gains(queries)}
    after = found[step].after  # type: ignore[index]
    return sum(a - q.label for a, q in zip(after, queries, strict=True)) / len(queries)


def test_lost_gold_is_gained_by_the_step_that_lost_it() -> None:
    """With the label of the trial in which gold comes first; gold alone is a bound for it."""
    lost = QueryLabels(0.0, lost="ranking", with_gold=1.0, gold_first=0.0)
    assert gain("ranking", lost) == 0
    bound = QueryLabels(0.0, lost="ranking", with_gold=1.0)
    assert gain("ranking", bound) == 1
    assert [gain(step, bound) for step in STEPS if step != "ranking"] == [0] * (len(STEPS) - 1)
    found = {one.step: (one.is_bound, one.unmeasured) for one in step_gains([lost, bound])}
    assert found["ranking"] == (True, 1)
    assert found["retrieval"] == (False, 0)


def test_gold_alone_and_a_perfect_reader() -> None:
    """Gold alone may also lose: the label of the trial counts, whatever it is."""
    shown = QueryLabels(1.0, with_gold=0.0)
    assert gain("noise", shown) == -1
    assert gain("reader", QueryLabels(0.0, with_gold=0.0)) == 1
    assert gain("reader", QueryLabels(0.0, lost="retrieval", with_gold=1.0)) == 0


def test_failures_and_refusals() -> None:
    """No step gains a failed answer; a perfect refusal gains what was wrongly refused or not."""
    assert all(gain(step, QueryLabels(0.0, failed=True, with_gold=1.0)) == 0 for step in STEPS)
    missed = QueryLabels(0.0, has_gold=False, wrong_refusal=True)
    assert [step for step in STEPS if gain(step, missed)] == ["refusal"]
    assert all(gain(step, QueryLabels(0.0, has_gold=False)) == 0 for step in STEPS)


def test_shapley_values_add_up_to_the_gain_of_all_steps() -> None:
    """Over every combination of labels; a step that changes nothing has the value 0."""
    queries = [
        QueryLabels(label, lost=lost, with_gold=gold, gold_first=first)
        for label, lost, gold, first in product(
            (0.0, 1.0), (None, *STEPS[:3]), (0.0, 1.0, None), (0.0, 1.0, None)
        )
    ]
    found = step_gains(queries)
    before = sum(query.label for query in queries) / len(queries)
    together = float(labels_after(queries, STEPS).mean())
    assert sum(one.shapley for one in found) == pytest.approx(together - before)
    assert {one.step: one.shapley for one in found}["refusal"] == 0


def test_two_steps_share_what_only_both_gain() -> None:
    """Gold lost in retrieval and wrong with gold: half to retrieval, half to the reader."""
    found = {
        one.step: one for one in step_gains([QueryLabels(0.0, lost="retrieval", with_gold=0.0)])
    }
    assert (found["retrieval"].shapley, found["reader"].shapley) == (0.5, 0.5)
    assert sum(found["retrieval"].after) == sum(found["reader"].after) == 0


def test_no_query() -> None:
    """Gains of nothing are 0."""
    assert [(one.after, one.shapley) for one in step_gains([])] == [((), 0.0)] * len(STEPS)
