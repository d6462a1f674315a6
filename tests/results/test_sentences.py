"""Sentences of a report on leads and gains."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.fakes.made_results import made_results

from ragstone.core import limits
from ragstone.results.html import render_report
from ragstone.results.leaderboards import Lead
from ragstone.results.lesson import lesson
from ragstone.results.oracle import gain_sentences
from ragstone.results.kept_board import leaderboard_parts
from ragstone.statistics.paired import paired_difference
from ragstone.statistics.significance import Family, judge
from ragstone.statistics.summary import Summary


def _lead(a: list[float], b: list[float], **more: Any) -> Lead:
    """Return the lead of `a` over `b`, as one of three corrected tests."""
    gap = paired_difference(b, a)
    pair = judge("b", "a", gap, min(1.0, 3 * gap.p), Family(0.05, 3, "holm"))
    return Lead("gold", "Match", "a", Summary(0.5, 10), "b", pair, **more)


def test_a_difference_that_the_corrected_test_shows_is_claimed() -> None:
    """The sentence has the size, the interval, p and the number of queries."""
    lead = _lead([1.0] * 20, [1.0] * 5 + [0.0] * 15)

    assert lead.is_clear
    assert lead.sentence.startswith("a is better than b by 0.7500 [0.")
    assert lead.sentence.endswith("after Holm.")


def test_a_difference_that_may_be_chance_is_not_claimed() -> None:
    """The sentence says how many queries would decide and what these queries can show."""
    lead = _lead([1.0] * 6 + [0.0] * 4, [1.0] * 4 + [0.0] * 6)

    assert not lead.is_clear
    assert lead.sentence.startswith("no difference shown between b and a")
    assert "more queries would settle a difference of this size" in lead.sentence
    assert "these queries show differences from 0." in lead.sentence


def test_systems_that_are_tied_and_other_metrics_are_named() -> None:
    """A lead over the second best says who shares its rank and what other metrics say."""
    others = {"better": ["F1"], "undecided": ["EM", "ROUGE-L"]}
    lead = _lead([1.0, 0.0], [0.0, 1.0], tied=("b", "c"), others=others)

    assert lead.sentence.endswith(
        ". Not told apart from a: b, c. Other metrics: better by F1; undecided by EM, ROUGE-L."
    )


def test_a_card_names_the_first_systems_of_the_group() -> None:
    """The best one comes first; the number of the others is shown."""
    lead = _lead([1.0, 0.0], [0.0, 1.0], tied=("b", "c", "d", "e"))

    assert lead.leaders == "a, b, c and 2 others"
    assert replace(lead, tied=lead.tied[:-1]).leaders == "a, b, c and 1 other"
    assert limits.SHOWN_LEADERS == 3


def test_equal_systems_are_called_equal() -> None:
    """If no query differs, the sentence contains the number of queries."""
    assert _lead([1.0] * 7, [1.0] * 7).sentence == ("b and a have the same value on all 7 queries.")


def test_nothing_is_claimed_without_data() -> None:
    """There is no claim if there is one system or no common query."""
    alone = Lead("gold", "Match", "a", Summary(0.5, 10))

    assert alone.sentence == "there is nothing to compare it with."
    assert replace(alone, runner_up="b").sentence.startswith("no query has a value for both")


def test_many_systems_do_not_flood_the_summary(tmp_path: Path) -> None:
    """The number of gain sentences is limited."""
    results = made_results(tmp_path, systems=[f"s{n}" for n in range(9)])

    assert len(gain_sentences(results, results.systems)) == limits.MAX_GAIN_SENTENCES


def test_the_first_sentence_says_what_was_learnt(tmp_path: Path) -> None:
    """The effect of gold context, and of retrieval in its place, on the best system."""
    results = made_results(tmp_path)
    assert lesson(results).startswith("Gold context changes Match of bm25 + small by +0.")
    assert "and its own passages in place of them (retrieved(3)) by" in lesson(results)
    assert str(next(iter(leaderboard_parts(results)))).startswith(lesson(results))
    assert f'<p class="lesson">{lesson(results)}</p>' in render_report(results)


def test_without_gold_context_it_is_the_best_system_with_its_mean(tmp_path: Path) -> None:
    """One system under one setting has no comparison; failed answers are counted."""
    found = lesson(made_results(tmp_path, systems=("mine",), settings=("none",)))
    assert found.startswith("mine has Match 0.")
    assert found.endswith(" of them without an answer.")
