"""The evidence that stored results have for causes of changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.made_results import made_results

import ragstone
from ragstone.results.changes import answer_evidence
from ragstone.results.record import SystemEntry
from ragstone.results.results import Results


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return made-up results of two systems."""
    made = made_results(tmp_path_factory.mktemp("made"), queries=40)
    return Results(made.store, made.record)


def with_generator(results: Results, **parameters: str) -> Results:
    """Return the results as if each generator had these parameters."""
    made = {"component": "generators/made", "parameters": parameters}
    systems = tuple(SystemEntry(s, {"generator": made}) for s in results.systems)
    return Results(results.store, replace(results.record, systems=systems))


def test_the_way_of_each_answer_is_known(results: Results) -> None:
    """Gold passages, candidates, contexts and generator come from the stored steps."""
    system = results.systems[0]
    found = answer_evidence(results, system, "retrieved(3)")

    assert found.qrels == results.qrels
    assert set(found.contexts) == set(results.queries)
    assert found.rankings
    assert found.repeats == {}


def test_prompt_and_generator_are_told_apart(results: Results) -> None:
    """A changed text of the prompt changes the prompt alone, another model the generator alone."""
    system, setting = results.systems[0], "gold"
    first, prompt, model = (
        answer_evidence(with_generator(results, **given), system, setting)
        for given in (
            {"user": "{query}", "model": "small"},
            {"user": "Answer: {query}", "model": "small"},
            {"user": "{query}", "model": "large"},
        )
    )

    assert (first.prompt != prompt.prompt, first.generator == prompt.generator) == (True, True)
    assert (first.prompt == model.prompt, first.generator != model.generator) == (True, True)


def test_settings_of_one_system_differ_in_what_was_shown(results: Results) -> None:
    """From retrieved passages to gold alone, a gain is gold that is shown or noise that is gone."""
    system = results.systems[0]
    found = ragstone.compare(
        results.evaluation(system, "retrieved(3)"),
        results.evaluation(system, "gold"),
        names=["retrieved", "gold"],
        metrics=["Match"],
    )

    gains = {one.cause for one in found.changes("Match") if one.better}
    assert gains
    assert gains <= {"now_retrieved", "now_shown", "noise_removed", "failure"}
    total = sum(len(one.better) + len(one.worse) for one in found.changes("Match"))
    assert total == len(found.flipped())


def test_a_ranking_alone_has_causes(results: Results) -> None:
    """Ranking metrics change by the places of gold passages."""
    a, b = (results.evaluation(system, "retrieved(3)") for system in results.systems)
    found = ragstone.compare(a, b, names=["a", "b"], metrics=["nDCG@10"])

    causes = {one.cause for one in found.changes("nDCG@10")}
    assert causes
    assert causes <= {"now_retrieved", "not_retrieved", "order_changed"}
