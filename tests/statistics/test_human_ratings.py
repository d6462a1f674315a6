"""Human ratings are combined into values, preferences and win rates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.data.readers.inspector_raget import AnswerRating, read_inspection
from ragstone.errors import ConfigError
from ragstone.statistics.human_ratings import (
    Preference,
    consolidated,
    preferences_of,
    ratings_by_item,
    win_rates,
)

GIVEN = [
    AnswerRating("q", system, "win-rate", rater, value)
    for rater, values in (("a", (100, 50, 0)), ("b", (50, 50, 0)))
    for system, value in zip("xyz", values, strict=True)
]


def test_ratings_are_combined_by_mean_or_median() -> None:
    """Ratings of other properties do not count."""
    other = AnswerRating("q", "x", "naturalness", "a", 4)

    assert consolidated([*GIVEN, other], "win-rate", "mean")["x"] == {"q": 75.0}
    assert consolidated([*GIVEN, other], "naturalness") == {"x": {"q": 4}}
    with pytest.raises(ConfigError, match="mean or median"):
        consolidated(GIVEN, "win-rate", "mode")  # type: ignore[arg-type]


def test_values_become_preferences_with_ties() -> None:
    """Three systems give three comparisons per annotator."""
    found = preferences_of(GIVEN, "win-rate")

    assert len(found) == 6
    assert Preference("q", "b", "x", "y", "") in found
    assert Preference("q", "a", "y", "z", "y") in found
    assert ratings_by_item(GIVEN, "win-rate")["q", "y"] == {"a": 50, "b": 50}


def test_a_tie_counts_one_half_by_default() -> None:
    """System x wins three of its four comparisons and ties one."""
    preferences = preferences_of(GIVEN, "win-rate")

    assert win_rates(preferences)["x"].mean == 0.875
    assert win_rates(preferences, tie=0.0)["x"].mean == 0.75
    assert win_rates(preferences)["z"].mean == 0.0
    with pytest.raises(ConfigError, match="between 0 and 1"):
        win_rates(preferences, tie=2)


def test_the_released_win_rates_are_near_the_papers(
    shared_data: Callable[[str], Path],
) -> None:
    """59.4, 48.2 and 48.1 over 150 tasks; the paper's table 6 has 59.3, 47.8 and 47.4 over 152."""
    folder = shared_data("mtrag") / "human_evaluations"
    held = read_inspection(folder / "reference_subset_with_human_evaluations.json.gz")
    wanted = {
        query.query_id
        for query in held.dataset.queries
        if query.labels["answerability"] in ("answerable", "partial")
    }
    ratings = [rating for rating in held.ratings if rating.query_id in wanted]

    rates = {
        system: sum(values.values()) / len(values)
        for system, values in consolidated(ratings, "win-rate", "mean").items()
    }

    assert len(wanted) == 150
    assert rates == {
        "reference": pytest.approx(59.44, abs=0.01),
        "gpt-4o": pytest.approx(48.22, abs=0.01),
        "llama-3.1-405b-instruct": pytest.approx(48.11, abs=0.01),
    }
