"""The page of ratings: charts by scale, many systems, hostile names."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.fakes.made_results import HOSTILE

from ragstone.data.readers.rated_set import RatedSet
from ragstone.data.readers.ratings import HumanRating, RatedItem
from ragstone.results.ratings_page import render_ratings, write_ratings
from ragstone.results.ratings_report import make_ratings


def rated(*systems: str, high: float = 4) -> RatedSet:
    """Return ratings of two people for three queries."""
    ratings = [
        HumanRating(RatedItem(f"q{n}", system), name, rater, value)
        for n in range(3)
        for place, system in enumerate(systems)
        for rater in ("ann", "ben")
        for name, value in (("fluency", 1 + (n + place) % 4), ("wins", high * (place % 2)))
    ]
    return RatedSet("mine", tuple(ratings))


def titles(page: str) -> list[str]:
    """Return the titles of the charts."""
    return re.findall(r'<figcaption dir="auto">(.*?) <span>', page)


def test_properties_on_large_scales_have_a_chart_of_their_own() -> None:
    """Otherwise the others would be a dot."""
    small = titles(render_ratings(make_ratings(rated("s", "t"))))
    large = titles(render_ratings(make_ratings(rated("s", "t", high=100))))

    assert small == ["Means of the systems by property"]
    assert large == [*small, "Means of the systems by property (large scales)"]


def test_many_systems_are_rows() -> None:
    """There are only so few colours."""
    page = render_ratings(make_ratings(rated(*(f"s{n}" for n in range(12)))))

    (chart,) = re.findall(r'data-chart="chart-1">(.*?)</script>', page)
    assert len({point["row"] for point in json.loads(chart)["data"]["values"]}) == 12


def test_hostile_names_are_texts(tmp_path: Path) -> None:
    """No name becomes an element."""
    path = tmp_path / "page.html"
    write_ratings(make_ratings(rated(*HOSTILE[:3])), path)

    page = path.read_text(encoding="utf-8")
    assert "<img src=x" not in page
    assert "</script><script>document" not in page
