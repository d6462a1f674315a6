"""Verdicts on planned comparisons."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.made_results import made_results

from ragstone.experiment.analysis_file import AnalysisSpec
from ragstone.results.reader import StoredResults
from ragstone.results.verdict import planned_analysis, verdicts

SYSTEMS = ("one", "two", "three", "four", "five")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> StoredResults:
    """Return made-up results of five systems; each is worse than the one before."""
    return made_results(
        tmp_path_factory.mktemp("store"), queries=90, systems=SYSTEMS, settings=("none", "gold")
    )


def planned(results: StoredResults, **analysis: Any) -> StoredResults:
    """Return results whose experiment file has an analysis."""
    file = {**results.record.file, "analysis": AnalysisSpec(**analysis).model_dump()}
    dated = {"recorded": "2026-03-02T10:00:00+00:00", "after_results": False}
    return replace(results, record=replace(results.record, file=file, analysis=dated))


def test_without_an_analysis_nothing_is_planned(made: StoredResults) -> None:
    """There is no verdict."""
    assert planned_analysis(made) is None
    assert verdicts(made) == []


def test_a_named_comparison_has_a_verdict_per_setting(made: StoredResults) -> None:
    """On b against a; the same pair by other metrics is exploratory, and corrected apart."""
    found = verdicts(planned(made, comparisons=[["one", "five"]]))

    main = [one for one in found if not one.exploratory]
    assert [(one.a, one.b, one.metric, one.setting) for one in main] == [
        ("one", "five", "Match", "none"),
        ("one", "five", "Match", "gold"),
    ]
    assert main[1].outcome == "worse"
    assert main[1].difference < 0
    assert main[1].p < main[1].adjusted_p < 0.05
    assert main[1].sentence.startswith("Match under gold: one is better than five by ")
    others = [one for one in found if one.exploratory]
    assert {one.metric for one in others} >= {"F1", "nDCG@10"}
    assert {one.setting for one in others} == {"none", "gold", ""}
    assert all(one.sentence.endswith("(exploratory).") for one in others)


@pytest.mark.parametrize(
    ("analysis", "pairs"),
    [
        ({"baseline": "two"}, [("two", name) for name in SYSTEMS if name != "two"]),
        ({"comparisons": {"baseline": "two"}}, [("two", n) for n in SYSTEMS if n != "two"]),
        ({"comparisons": [["four", "one"]]}, [("four", "one")]),
        ({}, [(a, b) for n, a in enumerate(SYSTEMS) for b in SYSTEMS[n + 1 :]]),
    ],
)
def test_comparisons_are_pairs_or_a_baseline(
    made: StoredResults, analysis: dict[str, Any], pairs: list[tuple[str, str]]
) -> None:
    """By default they are all pairs."""
    found = verdicts(planned(made, headline="F1", **analysis))

    main = [one for one in found if not one.exploratory and one.setting == "gold"]
    assert [(one.a, one.b) for one in main] == pairs
    assert {one.metric for one in main} == {"F1"}


def test_a_ranking_metric_decides_retrieval(made: StoredResults) -> None:
    """The setting is empty."""
    found = verdicts(planned(made, headline="nDCG@10", comparisons=[["one", "five"]]))

    assert [(one.setting, one.metric) for one in found if not one.exploratory] == [("", "nDCG@10")]


def test_a_margin_calls_small_differences_equivalent(made: StoredResults) -> None:
    """Only with a margin, and only planned comparisons."""
    wide = verdicts(planned(made, comparisons=[["one", "two"]], margin=0.9))
    none = verdicts(planned(made, comparisons=[["one", "two"]]))

    outcomes = {one.outcome for one in wide if not one.exploratory}
    assert "equivalent" in outcomes
    assert "undecided" not in outcomes
    assert {one.outcome for one in (*none, *wide) if one.exploratory} <= {
        "better",
        "worse",
        "undecided",
    }


def test_the_population_restricts_the_queries(made: StoredResults) -> None:
    """Queries with the label's values are compared; the correction can be chosen."""
    pair = {"comparisons": [["one", "five"]], "correction": "none"}
    whole, part = (
        verdicts(planned(made, **pair, population=labels))
        for labels in ({}, {"domain": ["ferries", "museum"]})
    )

    assert 0 < part[0].n < whole[0].n
    assert all(one.p == one.adjusted_p for one in whole)


def test_the_analysis_says_when_it_was_recorded(made: StoredResults) -> None:
    """With the metric, the correction, and whether results were known."""
    analysis = planned_analysis(planned(made, margin=0.1, population={"domain": "museum"}))

    assert analysis is not None
    assert analysis.sentence == (
        "Match, domain: museum; correction holm, margin 0.1; recorded 2026-03-02 10:00 UTC, before "
        "any results of this experiment"
    )


def test_a_store_without_the_date_says_so(tmp_path: Path) -> None:
    """An empty date is not a date."""
    results = planned(made_results(tmp_path))
    undated = replace(results, record=replace(results.record, analysis={}))

    assert "not recorded" in getattr(planned_analysis(undated), "sentence", "")
