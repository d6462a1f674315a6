"""Causes of stored results: an experiment whose parts fail on purpose, one query per fault."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.faulty_system import FAULTS, PARTS, SEARCH, faulty
from tests.fakes.made_results import made_results

import ragstone
from ragstone.causes.order import BESIDE, VULNERABLE
from ragstone.errors import ConfigError
from ragstone.experiment.counterfactuals import Counterfactual, ask_counterfactuals
from ragstone.results.causes.document import causes_document
from ragstone.results.causes.found import FoundCauses, causes_of
from ragstone.results.causes.text import causes_text
from ragstone.results.results import Results


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return the results of the systems that fail on purpose."""
    return faulty(tmp_path_factory.mktemp("faulty"))


@pytest.fixture(scope="module")
def found(results: Results) -> FoundCauses:
    """Return their causes."""
    return causes_of(results)


@pytest.mark.parametrize("kind", FAULTS)
def test_each_fault_has_its_cause(found: FoundCauses, kind: str) -> None:
    """Under the setting with retrieved passages, with evidence."""
    one = found.find(kind, "a", "retrieved(3)")

    assert one is not None
    assert (one.cause, one.within) == FAULTS[kind], one.evidence
    assert one.evidence
    assert one.missing_trial is None


def test_no_right_answer_is_blamed(found: FoundCauses, results: Results) -> None:
    """The listed answers are exactly the wrong ones; counts add up."""
    assert found.find("right", "a", "retrieved(3)") is None
    for count in found.counts:
        listed = found.of(count.system, count.setting)
        assert len(listed) == count.wrong
        assert count.right + count.wrong + sum(count.left_out.values()) == count.answers
        assert count.answers == len(results.queries)
        shares = [s for s in found.shares if (s.system, s.setting) == (count.system, count.setting)]
        bases = [s for s in shares if s.cause in {one.base for one in listed}]
        assert sum(s.n for s in bases) == count.wrong
        assert sum(s.share for s in bases) == pytest.approx(1)
    assert {one.setting for one in found.queries} == {"retrieved(3)", "neighbours(3)"}


def test_the_document_has_the_promised_shape(results: Results, found: FoundCauses) -> None:
    """Keys and their order, as JSON."""
    document = json.loads(json.dumps(causes_document(results)))

    assert list(document) == ["causes", "gains", "queries", "marks"]
    assert list(document["causes"][0]) == ["system", "setting", "cause", "n", "share", "interval"]
    assert list(document["queries"][0]) == [
        *("query_id", "system", "setting", "cause", "within", "evidence", "missing_trial"),
    ]
    assert len(document["queries"]) == len(found.queries)
    assert causes_of(results) is found


def test_one_system_or_one_setting_can_be_chosen(found: FoundCauses) -> None:
    """An unknown name is an error with the nearest one."""
    only = found.only("a", "retrieved(3)")

    assert {(one.system, one.setting) for one in only.queries} == {("a", "retrieved(3)")}
    assert [count.system for count in found.only(system="b").counts] == ["b", "b"]
    with pytest.raises(ConfigError, match="did you mean 'retrieved\\(3\\)'"):
        found.only(setting="retrieved(4)")


def test_a_right_answer_with_a_wrong_source_is_marked(tmp_path: Path) -> None:
    """It cites another passage although the gold one was shown; it has no cause."""
    found = causes_of(faulty(tmp_path, PARTS.replace('"in winter [1]"', '"in winter [2]"')))

    marks = [one for one in found.marks if one.system == "a" and one.setting == "retrieved(3)"]
    assert [(one.query_id, one.mark) for one in marks] == [("right", "citation")]
    assert marks[0].evidence == "it cites right-0 and not the gold passage right-gold"
    assert found.find("right", "a", "retrieved(3)") is None


def test_without_the_trials_causes_are_undecided(tmp_path: Path) -> None:
    """Lost passages need none; others name the setting that is missing."""
    results = faulty(tmp_path, settings=["retrieved(3)"])
    found = causes_of(results).only("a")

    causes = {one.query_id: one.cause for one in found.queries}
    assert {causes[kind] for kind in ("distracted", "misread", "known")} == {"undecided"}
    for kind in ("miss", "low", "pushed", "dropped", "shortened", "refused", "failed", "rewrite"):
        assert causes[kind] == FAULTS[kind][0]
    assert found.missing == {"the setting gold": 3}
    text = causes_text(results, found)
    assert "distraction, reading, knowledge_conflict: add settings: gold" in text
    assert "reading, knowledge_conflict: add settings: none" in text
    assert "chunk_border: add settings: neighbours(3)" in text
    assert "3 need the setting gold" in text


def test_failures_that_are_excluded_have_no_cause(tmp_path: Path) -> None:
    """They are counted beside, as in every other number."""
    found = causes_of(faulty(tmp_path, failures="exclude"))
    (count,) = found.only("a", "retrieved(3)").counts

    assert found.find("failed", "a", "retrieved(3)") is None
    assert count.left_out == {"failed answers are excluded": 1}


MIRAGE = {
    "noise_vulnerability": VULNERABLE,
    "context_insensitivity": ("reading",),
    "context_misinterpretation": ("knowledge_conflict",),
}
"""MIRAGE's outcome -> the causes that it is the sum of, among wrong answers."""


@pytest.mark.parametrize("planted", [True, False])
def test_the_causes_agree_with_mirage(tmp_path: Path, *, planted: bool) -> None:
    """Each of MIRAGE's outcomes is the sum of its causes and of what is counted beside."""
    results = faulty(tmp_path) if planted else made_results(tmp_path, queries=150)
    found = causes_of(results)
    compared = [row for row in results.adaptability if row.adaptability.n]
    assert len(compared) == (2 if planted else 4)
    for row in compared:
        items = [item for item in row.adaptability.items if not item.mixed]
        listed = {one.query_id: one.base for one in found.of(row.system, row.setting)}
        shares = {one.cause: one.n for one in found.only(row.system, row.setting).shares}
        outside = [cause for q, cause in listed.items() if q in row.adaptability.left_out]
        assert len(listed) == len(items) + len(outside)
        for outcome, causes in MIRAGE.items():
            mine = [listed[item.query_id] for item in items if item.outcome == outcome]
            beside = [cause for cause in mine if cause in BESIDE]
            assert {*mine} <= {*causes, *BESIDE}
            assert len(mine) == sum(shares.get(cause, 0) for cause in causes) + len(beside)
        assert {*outside} <= {*BESIDE}


def test_reasons_why_there_are_no_causes(tmp_path: Path, results: Results) -> None:
    """No rule, no answers, no mixed setting: each with what to add."""
    empty = made_results(tmp_path, settings=("none", "gold"))
    assert "add settings: retrieved(5)" in causes_text(empty, causes_of(empty))
    record = replace(results.record, file={**results.record.file, "correct": None})
    bare = Results(results.store, record)
    assert causes_document(bare) == {"causes": [], "gains": [], "queries": [], "marks": []}
    assert "add the key correct, such as correct: Match" in causes_text(bare, causes_of(bare))
    unanswered = Results(results.store, replace(results.record, trials=()))
    assert "add a generator" in causes_text(unanswered, causes_of(unanswered))


def test_the_text_lists_causes_and_wrong_answers(results: Results, found: FoundCauses) -> None:
    """Shares with intervals, refinements below their cause, evidence."""
    text = causes_text(results, found.only("a", "retrieved(3)"))

    assert "15 of 16" in text
    assert "of which chunk_border" in text
    assert "chunk_border (within retrieval_miss)" in text
    assert "Wrong answers (15)" in text
    assert "failed: the server is down" in text


def test_wrong_answers_in_the_terminal_are_limited(tmp_path: Path) -> None:
    """The first ones, and the number of the others."""
    results = made_results(tmp_path, queries=40)
    found = causes_of(results)

    assert len(found.queries) > 40
    more = f"and {len(found.queries) - 40} more: choose with --system and --setting"
    assert more in causes_text(results, found)


def test_deciding_counterfactuals_decide_causes(tmp_path: Path) -> None:
    """Trials that were asked later count as those of the run, for the queries that they ask."""
    results = faulty(
        tmp_path,
        systems={"a": {**SEARCH, "generator": "parts.py:Reader"}},
        settings=["retrieved(3)"],
    )
    open_ones = ("distracted", "misread", "known", "border")
    before = causes_of(results)
    assert before.missing == {"the setting gold": 4}
    experiment = ragstone.load_experiment(tmp_path / "e.yaml")
    settings = ("none", "gold", "neighbours(3)")
    wanted = [
        Counterfactual(open_ones, settings, purpose="deciding"),
        Counterfactual(
            ("rewrite",), ("retrieved(3)",), parts={"query_former": "rewrite"}, purpose="deciding"
        ),
        Counterfactual(("failed",), settings, purpose="exploratory"),
    ]
    ask_counterfactuals(experiment, wanted)

    after = causes_of(Results.load(results.store, results.name))
    for kind in (*open_ones, "rewrite"):
        one = after.find(kind, "a", "retrieved(3)")
        assert one is not None
        assert (one.cause, one.within) == FAULTS[kind]
    assert [count.wrong for count in after.counts] == [count.wrong for count in before.counts]
    assert {one.setting for one in after.queries} == {"retrieved(3)"}
