"""Agreement within groups: values as for the group alone, and tests with few false alarms."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest

from ragstone.statistics.agreement import cohen_kappa
from ragstone.statistics.agreement_by_group import agreement_by_group
from ragstone.statistics.correlation import spearman
from ragstone.statistics.resampling import Bootstrap

FEW = Bootstrap(resamples=200)
Groups: TypeAlias = dict[str, dict[str, list[int]]]


def graded(
    generator: np.random.Generator, queries: int, worse: float = 1.0
) -> tuple[list[float], list[float], Groups, list[int]]:
    """Return judge, people, groups and clusters of three systems; the judge errs more on one."""
    size = 3 * queries
    system = np.tile(np.arange(3), queries)
    kind = np.repeat(generator.choice(3, queries, p=[0.6, 0.25, 0.15]), 3)
    truth = np.repeat(generator.normal(size=queries), 3) * 0.7 + generator.normal(size=size)
    error = generator.normal(size=size) * np.where(kind == 1, worse, 1.0)
    people, judge = (np.round(np.clip(one, -2, 2) * 2) / 2 for one in (truth, truth + error))
    groups = {
        "system": {str(v): np.flatnonzero(system == v).tolist() for v in range(3)},
        "kind": {str(v): np.flatnonzero(kind == v).tolist() for v in range(3)},
    }
    return judge.tolist(), people.tolist(), groups, np.repeat(np.arange(queries), 3).tolist()


def test_agreement_is_that_of_the_group_alone() -> None:
    """Spearman of values, or kappa of words; answers without a verdict are counted."""
    judge, people, groups, clusters = graded(np.random.default_rng(0), 40)
    words = [("yes" if p > 0 else "no", "yes" if j > 0 else "no")
             for p, j in zip(people, judge, strict=True)]  # fmt: skip
    own = groups["system"]["1"]
    partly: list[float | None] = [None if place == own[0] else v for place, v in enumerate(judge)]

    by_rank = agreement_by_group(partly, people, groups, clusters=clusters, bootstrap=FEW)
    by_word = agreement_by_group(
        judge, people, groups, labels=words, clusters=clusters, bootstrap=FEW
    )

    ranks = spearman([judge[p] for p in own[1:]], [people[p] for p in own[1:]], resamples=1)
    kappa = cohen_kappa([words[p][0] for p in own], [words[p][1] for p in own], resamples=1)
    assert by_rank[1].agreement.value == pytest.approx(ranks.value)
    assert (by_rank[1].items, by_rank[1].agreement.n, by_rank[1].agreement.left_out) == (40, 39, 1)
    assert by_word[1].agreement.value == pytest.approx(kappa.value)
    assert by_word[1].people == pytest.approx(np.mean([people[p] for p in own]))
    assert by_word[1].bias.failed == 0


def test_a_worse_group_is_named_and_others_are_not() -> None:
    """In 15 draws: the group with four times the errors, and rarely another one."""
    generator = np.random.default_rng(1)
    found = [
        [(one.label, one.value) for one in agreement_by_group(
            judge, people, groups, clusters=clusters, bootstrap=FEW) if one.worse]
        for judge, people, groups, clusters in (graded(generator, 150, 4.0) for _ in range(15))
    ]  # fmt: skip

    assert sum(("kind", "1") in named for named in found) >= 12
    assert sum(any(one != ("kind", "1") for one in named) for named in found) <= 2


def test_equal_groups_are_rarely_called_worse() -> None:
    """At most 5 % of 40 draws, and three more for chance, name one of six equal groups."""
    generator = np.random.default_rng(2)
    alarms = 0
    for _ in range(40):
        judge, people, groups, clusters = graded(generator, 60)
        found = agreement_by_group(judge, people, groups, clusters=clusters, bootstrap=FEW)
        alarms += any(one.worse for one in found)

    assert alarms <= 5


def test_small_groups_are_shown_and_never_tested() -> None:
    """Below 30 answers or 10 clusters on a side, p is None; below 3, so is the agreement."""
    judge, people, _, clusters = graded(np.random.default_rng(3), 40)
    groups = {"kind": {"small": list(range(29)), "tiny": [100, 101], "none": []}}
    few_clusters = [place % 9 for place in range(120)]

    small, tiny, none = agreement_by_group(judge, people, groups, clusters=clusters, bootstrap=FEW)
    halves = {"half": {"one": list(range(60)), "two": list(range(60, 120))}}
    clustered = agreement_by_group(judge, people, halves, clusters=few_clusters, bootstrap=FEW)

    assert small.agreement.interval is not None
    assert small.difference is not None
    assert [one.p for one in (small, tiny, none, *clustered)] == [None] * 5
    assert (tiny.agreement.value, none.agreement.value, none.people) == (None, None, None)


def test_two_groups_of_a_label_are_one_test() -> None:
    """Their p is the same, and Holm counts it once."""
    judge, people, _, clusters = graded(np.random.default_rng(4), 60)
    halves = {"half": {"one": list(range(90)), "two": list(range(90, 180))}}
    twice = {**halves, "same": halves["half"]}

    one, two = agreement_by_group(judge, people, halves, clusters=clusters, bootstrap=FEW)
    again = agreement_by_group(judge, people, twice, clusters=clusters, bootstrap=FEW)

    assert one.p == two.p
    assert [other.p for other in again] == [one.p] * 4
    assert one.difference == pytest.approx(-(two.difference or 0))


def test_no_verdict_at_all_gives_empty_groups() -> None:
    """Every number is None, and nothing fails."""
    (found,) = agreement_by_group([None] * 4, [1.0, 0.0] * 2, {"system": {"a": [0, 1]}})

    assert (found.agreement.value, found.bias.mean, found.p, found.worse) == (
        None,
        None,
        None,
        False,
    )


def test_equal_agreement_has_no_difference() -> None:
    """The last bits of two perfect correlations are no difference to test."""
    people = np.random.default_rng(0).random(120).tolist()
    groups = {"half": {"a": list(range(50)), "b": list(range(50, 120))}}

    for one in agreement_by_group(people, people, groups, bootstrap=FEW):
        assert (one.agreement.value, one.difference, one.p, one.worse) == (1.0, 0.0, 1.0, False)
