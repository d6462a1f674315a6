"""The order of systems by a judge against people's: by run, by query, with coverage."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.errors import DatasetError
from ragstone.statistics.order_agreement import RatedAnswers, order_agreement

SYSTEMS = ("a", "b", "c")


def answers_of(queries: int, systems: tuple[str, ...] = SYSTEMS) -> RatedAnswers:
    """Return an answer of each system to each query; two queries are a conversation."""
    ids = [query for query in range(queries) for _ in systems]
    return RatedAnswers([*systems] * queries, ids, [query // 2 for query in ids])


def test_agreement_by_run_can_be_perfect_where_that_by_query_is_low() -> None:
    """Errors on single answers cancel in the means of the systems."""
    generator = np.random.default_rng(0)
    people = np.tile([0.9, 0.5, 0.1], 200) + generator.normal(0, 1, 600)
    judge = np.tile([1.0, 0.5, 0.0], 200) + generator.normal(0, 1.5, 600)

    found = order_agreement(people.tolist(), judge.tolist(), answers_of(200))

    assert found is not None
    assert [one.system for one in found.systems] == ["a", "b", "c"]
    assert found.by_run["kendall"].value == found.by_run["tau_ap"].value == 1
    assert found.by_run["kendall"].interval is not None
    by_query = found.by_query["kendall"]
    assert by_query.mean is not None
    assert by_query.interval is not None
    assert -0.1 < by_query.interval[0] < by_query.mean < by_query.interval[1] < 0.4
    assert (found.swapped, found.pairs, by_query.n) == (0, 3, 200)


def test_agreement_by_query_is_the_mean_over_queries() -> None:
    """A query that people do not order is left out; one that the judge does not order counts 0."""
    people = [1, 0, 0.5, 1, 0, 0.5, 1, 1, 1, 1, 0, 0.5]
    judge = [1, 0, 0.5, 0, 1, 0.5, 0, 1, 0.5, 1, 1, 1]

    found = order_agreement(people, judge, answers_of(4))

    assert found is not None
    kendall = found.by_query["kendall"]
    assert (kendall.mean, kendall.n, kendall.not_applicable) == (0, 3, 1)


def test_coverage_counts_answers_and_systems_without_a_verdict() -> None:
    """Means are over the answers with both values; a system without one has no place."""
    people: list[float | None] = [1, 0, 0.5] * 10
    judge: list[float | None] = [1, 0, None] * 10
    judge[0] = None

    found = order_agreement(people, judge, answers_of(10))

    assert found is not None
    assert (found.answers.count, found.answers.n) == (19, 30)
    assert (found.covered.count, found.covered.n) == (2, 3)
    assert (found.by_run["kendall"].n, found.by_run["kendall"].left_out) == (2, 1)
    assert [(one.system, one.judged, one.answers.count) for one in found.systems] == [
        ("a", 1.0, 9), ("b", 0.0, 10), ("c", None, 0),
    ]  # fmt: skip


def test_a_reversed_pair_is_named_only_if_tests_show_it() -> None:
    """Both differences are clear and opposite, or nothing is named."""
    generator = np.random.default_rng(1)
    people = np.tile([0.9, 0.1, 0.5], 60) + generator.normal(0, 0.3, 180)
    opposite = np.tile([0.1, 0.9, 0.5], 60) + generator.normal(0, 0.3, 180)
    unclear = np.tile([0.49, 0.51, 0.5], 60) + generator.normal(0, 3, 180)

    shown = order_agreement(people.tolist(), opposite.tolist(), answers_of(60))
    not_shown = order_agreement(people.tolist(), unclear.tolist(), answers_of(60))

    assert shown is not None
    assert not_shown is not None
    assert ("a", "b") in shown.reversed
    assert shown.by_run["kendall"].value == -1
    assert not_shown.reversed == ()


def test_two_systems_have_one_pair_and_an_interval_that_spans_everything() -> None:
    """With an unclear difference, resamples have both orders."""
    generator = np.random.default_rng(2)
    people, judge = generator.normal(0, 1, (2, 80)).tolist()

    found = order_agreement(people, judge, answers_of(40, ("a", "b")))

    assert found is not None
    assert found.pairs == 1
    assert found.by_run["kendall"].interval == (-1, 1)


def test_one_system_has_no_order_and_one_cluster_no_interval() -> None:
    """None, or a value without interval; no verdict at all gives no value."""
    assert order_agreement([1, 0], [1, 0], answers_of(2, ("a",))) is None
    single = order_agreement([1, 0], [1, 0], answers_of(1, ("a", "b")))
    nothing = order_agreement([1, 0], [None, None], answers_of(1, ("a", "b")))

    assert single is not None
    assert single.by_run["kendall"].interval is None
    assert nothing is not None
    assert nothing.by_run["kendall"].value is None
    assert nothing.by_query["kendall"].n == 0
    with pytest.raises(DatasetError, match="2 answers, but 1 values"):
        order_agreement([1], [1, 0], answers_of(1, ("a", "b")))


def test_systems_with_answers_to_different_queries_are_compared_by_run_alone() -> None:
    """No query has answers of two systems."""
    answers = RatedAnswers(["a"] * 20 + ["b"] * 20, list(range(40)), list(range(40)))

    found = order_agreement([1, 0.8] * 10 + [0.1, 0] * 10, [1.0] * 20 + [0.0] * 20, answers)

    assert found is not None
    assert found.by_run["kendall"].value == 1
    assert (found.by_query["kendall"].mean, found.by_query["kendall"].not_applicable) == (None, 40)


def test_equal_gaps_of_few_clusters_are_no_test() -> None:
    """Two queries without any spread show nothing; of twelve, all with one sign do."""

    def found(queries: int) -> tuple[tuple[str, str], ...]:
        ids = [n for n in range(queries) for _ in "ab"]
        answers = RatedAnswers(["a", "b"] * queries, ids, ids)
        agreement = order_agreement([1, 0] * queries, [0, 1] * queries, answers, resamples=100)
        assert agreement is not None
        return agreement.reversed

    assert found(2) == ()
    assert found(12) == (("a", "b"),)
