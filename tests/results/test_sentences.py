"""Sentences of a report on leads and gains."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.made_results import made_results

from ragstone.core import limits
from ragstone.results.leaderboards import Lead
from ragstone.results.oracle import gain_sentences
from ragstone.statistics.summary import Summary


def _lead(gap: Summary | None) -> Lead:
    return Lead("gold", "Match", "a", Summary(0.5, 10), "b", gap)


def test_a_lead_whose_interval_excludes_0_is_claimed() -> None:
    """The sentence of an interval above 0 claims a lead."""
    sentence = _lead(Summary(0.2, 40, interval=(0.05, 0.3))).sentence

    assert sentence == (
        "+0.200 [+0.050, +0.300] compared with b on the same 40 queries; the interval excludes 0."
    )


def test_a_lead_whose_interval_includes_0_is_not_claimed() -> None:
    """The sentence of an interval that includes 0 mentions chance."""
    for low in (-0.05, 4.9e-07):  # shown as 0
        sentence = _lead(Summary(0.1, 40, interval=(low, 0.3))).sentence

        assert "may be chance" in sentence


def test_equal_systems_are_called_equal() -> None:
    """If no query differs, the sentence contains the number of queries."""
    sentence = _lead(Summary(0.0, 7, interval=(0.0, 0.0))).sentence

    assert sentence == "Equal to b: the same value on all of the 7 queries."


def test_nothing_is_claimed_without_data() -> None:
    """There is no claim if there is one system, no common query or one cluster."""
    assert "No other system" in _lead(None).sentence
    assert "No query" in _lead(Summary(None, 0)).sentence
    assert _lead(Summary(1.0, 1)).sentence.endswith("too few for an interval.")


def test_many_systems_do_not_flood_the_summary(tmp_path: Path) -> None:
    """The number of gain sentences is limited."""
    results = made_results(tmp_path, systems=[f"s{n}" for n in range(9)])

    assert len(gain_sentences(results)) == limits.MAX_GAIN_SENTENCES
