"""Proposals of answers to label."""

from __future__ import annotations

import pytest
from tests.fakes.made_results import made_results

from ragstone.data.readers.ratings import Inclusion
from ragstone.errors import ConfigError, UnknownMetric
from ragstone.results.calibrate import calibrate
from ragstone.results.next_labels import LabelPlan, next_labels
from ragstone.results.reader import StoredResults


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StoredResults:
    """Return an experiment of two systems."""
    return made_results(tmp_path_factory.mktemp("store"), queries=120)


def answered(results: StoredResults, plan: LabelPlan) -> tuple[dict, dict]:  # type: ignore[type-arg]
    """Return labels and inclusions of a plan whose answers people labelled as the judge did."""
    values = {(t.system, t.setting): t.values("Match") for t in results.trials}
    labels: dict[tuple[str, str], dict[str, float]] = {}
    inclusions: dict[tuple[str, str], dict[str, Inclusion]] = {}
    for one in plan.proposals:
        key = (one.system, one.setting)
        labels.setdefault(key, {})[one.query_id] = values[key][one.query_id] or 0.0
        inclusion = Inclusion(one.inclusion_probability, one.round)
        inclusions.setdefault(key, {})[one.query_id] = inclusion
    return labels, inclusions


def test_whole_queries_are_proposed_and_repeat_by_seed(results: StoredResults) -> None:
    """The answers to a drawn query that the judge graded; the rest is too few for a query."""
    plan = next_labels(results, "Match", 51, settings=["gold"])

    by_query: dict[str, set[str]] = {}
    for one in plan.proposals:
        by_query.setdefault(one.query_id, set()).add(one.system)
    trials = [t for t in results.trials if t.setting == "gold"]
    graded = {q: {t.system for t in trials if t.values("Match")[q] is not None} for q in by_query}
    assert (len(by_query), plan.left, plan.queries) == (25, 51 - len(plan.proposals), {"gold": 25})
    assert by_query == graded
    assert next_labels(results, "Match", 51, settings=["gold"]) == plan
    assert next_labels(results, "Match", 51, settings=["gold"], seed=1) != plan


def test_a_second_use_proposes_other_queries_of_the_next_round(results: StoredResults) -> None:
    """The labels of both rounds give a corrected difference."""
    first = next_labels(results, "Match", 40, settings=["gold"])
    labels, inclusions = answered(results, first)
    options = {"settings": ["gold"], "labels": labels, "inclusions": inclusions}
    second = next_labels(results, "Match", 40, **options)  # type: ignore[arg-type]

    assert {one.round for one in second.proposals} == {2}
    known = {one.query_id for one in first.proposals}
    assert not known & {one.query_id for one in second.proposals}
    more, drawn = answered(results, second)
    labels = {key: {**of, **more[key]} for key, of in labels.items()}
    inclusions = {key: {**of, **drawn[key]} for key, of in inclusions.items()}
    trials = calibrate(results, "Match", labels, inclusions=inclusions)
    (found,) = (t.difference for t in trials if t.setting == "gold" and t.difference)
    assert found.labelled >= 30
    assert found.difference == pytest.approx(found.judge_difference)


def test_too_few_labels_are_named(results: StoredResults) -> None:
    """Less than a query is an error; less than a correction needs is a note."""
    with pytest.raises(ConfigError, match="give at least 8, 80 for a correction"):
        next_labels(results, "Match", 7)
    plan = next_labels(results, "Match", 8, settings=["gold"])
    assert plan.notes == (
        "gold: 4 queries would have labels of all systems; a correction needs 10",
    )


def test_all_queries_can_be_drawn(results: StoredResults) -> None:
    """More labels than answers propose every answer with probability 1, and count the rest."""
    plan = next_labels(results, "Match", 10_000, settings=["gold"], systems=results.systems[:1])

    assert {one.inclusion_probability for one in plan.proposals} == {1.0}
    assert plan.left == 10_000 - len(plan.proposals)


def test_unknown_names_are_refused(results: StoredResults) -> None:
    """Metric, setting, system and baseline."""
    with pytest.raises(UnknownMetric, match="did you mean 'Match'"):
        next_labels(results, "Math", 50)
    for options in ({"settings": ["gol"]}, {"systems": ["x"]}, {"baseline": "x"}):
        with pytest.raises(ConfigError, match=r"no (setting|system)"):
            next_labels(results, "Match", 50, **options)
