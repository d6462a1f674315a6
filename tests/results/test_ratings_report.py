"""The tables of people's ratings: what they show, by label, of pairs, and bad scales."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.core.tables import TextTable
from ragstone.data.readers.rated_layouts import read_rated
from ragstone.data.readers.rated_set import RatedSet
from ragstone.data.readers.rating_scales import RatingScale
from ragstone.data.readers.ratings import HumanRating, RatedItem
from ragstone.errors import DatasetError
from ragstone.results.ratings_report import RatingsReport, make_ratings


def rating(query: str, system: str, value: float | str, rater: str = "a") -> HumanRating:
    """Return a rating of helpfulness."""
    item = RatedItem(query, system)
    return HumanRating(item, "helpfulness", rater, value, line=3, path=Path("r.jsonl"))


def tables(report: RatingsReport) -> dict[str, TextTable]:
    """Return title -> table."""
    return {part.title: part for part in report.parts() if isinstance(part, TextTable)}


def test_means_and_win_rates_by_group() -> None:
    """A table of the systems for all, and one per value of the label."""
    given = [rating(q, s, v) for q, s, v in (("q", "s", 3), ("q", "t", 1), ("r", "s", 2))]

    report = make_ratings(RatedSet("mine", tuple(given)), by="system")

    shown = tables(report)
    assert list(shown["Systems"].rows[0])[:2] == ["s", "2"]
    assert str(shown["Win rates"].rows[0][2]).startswith("1.000")
    assert {"Systems (system s)", "Systems (system t)"} <= shown.keys()
    assert set(report.to_dict()["by"]["values"]) == {"s", "t"}
    assert report.sentence == "3 ratings of mine"


def test_words_and_single_raters_have_dashes() -> None:
    """Nothing is computed that the ratings do not define."""
    given = [rating("q", "s", "odd"), rating("r", "s", "fine")]

    report = make_ratings(RatedSet("mine", tuple(given)))

    assert list(tables(report)) == ["Agreement of the raters"]
    assert list(tables(report)["Agreement of the raters"].rows[0][4:]) == ["-"] * 4
    with pytest.raises(DatasetError, match=r"r.jsonl, line 3: the value 'odd' .* scale no,yes"):
        make_ratings(RatedSet("mine", tuple(given)), scale=RatingScale.parse("no,yes"))


def test_yes_and_no_have_an_order() -> None:
    """The mean is the share of yes."""
    given = [rating("q", "s", "yes"), rating("r", "s", "No")]

    found = make_ratings(RatedSet("mine", tuple(given))).to_dict()

    assert found["properties"]["helpfulness"]["systems"]["s"]["mean"] == 0.5


def test_the_two_labellers_of_ragchecker(shared_data: Callable[[str], Path]) -> None:
    """Alpha, the kappa of the two, win rates and RAGChecker's own difference."""
    held = read_rated(shared_data("ragchecker")).only(["overall"])

    found = make_ratings(held).to_dict()

    overall = found["properties"]["overall"]
    assert overall["alpha"] == pytest.approx(0.699, abs=0.001)
    (pair,) = overall["pairwise"]
    assert (pair["a"], pair["b"], pair["n"]) == ("labeller 1", "labeller 2", 280)
    assert pair["kappa"] == pytest.approx(0.698, abs=0.001)
    assert overall["systems"] == overall["win_rates"]
    assert found["correlations"][0]["value"] == pytest.approx(0.661, abs=0.001)
    assert "Win rates" not in tables(make_ratings(held))
