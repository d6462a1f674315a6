"""What a report says in words."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.made_results import made_results

from ragstone.core import limits
from ragstone.results.leaderboards import Lead
from ragstone.results.sentences import gain_sentences, lead_sentence
from ragstone.statistics.summary import Summary


def _lead(gap: Summary | None) -> Lead:
    return Lead("gold", "Match", "a", Summary(0.5, 10), "b", gap)


def test_a_lead_beyond_its_interval_is_said_to_be_one() -> None:
    """An interval above 0 is told as leaving out 0."""
    said = lead_sentence(_lead(Summary(0.2, 40, interval=(0.05, 0.3))))

    assert (
        said
        == "+0.200 [+0.050, +0.300] against b on the same 40 queries; the interval leaves out 0."
    )


def test_a_lead_within_its_interval_is_not_claimed() -> None:
    """An interval that holds 0 is told as not telling the two apart."""
    for low in (-0.05, 4.9e-07):  # shown as 0
        said = lead_sentence(_lead(Summary(0.1, 40, interval=(low, 0.3))))

        assert "do not tell the two apart" in said


def test_equal_systems_are_level() -> None:
    """Where no query differs, that is said."""
    said = lead_sentence(_lead(Summary(0.0, 7, interval=(0.0, 0.0))))

    assert said == "Level with b: the same value on all of the 7 queries."


def test_nothing_is_said_without_data() -> None:
    """One system, no common query, or one cluster: no claim."""
    assert "Only one system" in lead_sentence(_lead(None))
    assert "No query" in lead_sentence(_lead(Summary(None, 0)))
    assert lead_sentence(_lead(Summary(1.0, 1))).endswith("too few to judge.")


def test_many_systems_do_not_flood_the_summary(tmp_path: Path) -> None:
    """At most a few systems' gains are told."""
    results = made_results(tmp_path, systems=[f"s{n}" for n in range(9)])

    assert len(gain_sentences(results)) == limits.MAX_GAIN_SENTENCES
