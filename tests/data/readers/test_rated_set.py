"""Sets of ratings: the chosen property, scales, second ratings, several files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.data.readers.rated_set import RatedSet, joined_sets
from ragstone.data.readers.rating_scales import RatingScale
from ragstone.data.readers.ratings import HumanRating, RatedItem, check_unique
from ragstone.errors import ConfigError, DatasetError


def rating(name: str, value: float | str, rater: str = "ann", line: int = 1) -> HumanRating:
    """Return a rating of a query."""
    return HumanRating(RatedItem("q", "s"), name, rater, value, line=line, path=Path("r.jsonl"))


def test_the_property_is_chosen() -> None:
    """The set's first one, the only one, or the one that is named."""
    both = RatedSet("r", (rating("f", 1), rating("c", 2)))

    assert RatedSet("r", both.ratings, first="c").chosen() == "c"
    assert RatedSet("r", both.ratings[:1]).chosen() == "f"
    assert both.chosen("c") == "c"
    assert both.only(["c"]).properties == ("c",)
    with pytest.raises(ConfigError, match=r"r.jsonl has the properties f, c; choose with"):
        both.chosen()
    with pytest.raises(ConfigError, match=r"r.jsonl has no ratings of the property 'x'"):
        both.chosen("x")


def test_a_rating_outside_of_its_scale_is_named() -> None:
    """With file, line, value and scale, whether the scale is given or declared."""
    held = RatedSet(
        "r", (rating("f", 1), rating("f", 5, "ben", 7)), scales={"f": RatingScale(1, 4)}
    )

    with pytest.raises(
        DatasetError, match=r"r.jsonl, line 7: the value 5 of 'f'.*scale 1-4"
    ) as one:
        held.scale_of("f")
    assert (one.value.path, one.value.line) == (Path("r.jsonl"), 7)
    assert held.scale_of("f", RatingScale(1, 5)) == RatingScale(1, 5)


def test_one_rating_per_rater_and_item() -> None:
    """In one file and in two."""
    first, second = rating("f", 1), rating("f", 2, line=9)

    with pytest.raises(DatasetError, match=r"line 9: a second rating of 'f' by 'ann'.*line 1"):
        check_unique([first, second])
    with pytest.raises(DatasetError, match="a second rating"):
        joined_sets([RatedSet("a", (first,)), RatedSet("b", (second,))])


def test_files_are_joined() -> None:
    """Different scales of one property are an error."""
    one = RatedSet("a", (rating("f", 1),), scales={"f": RatingScale(1, 4)})
    two = RatedSet("b", (rating("f", 2, "ben"),), scales={"f": RatingScale(1, 5)})

    with pytest.raises(DatasetError, match="the scale 1-5 of 'f', another file 1-4"):
        joined_sets([one, two])
    assert joined_sets([one]) is one
    assert len(joined_sets([one, RatedSet("b", two.ratings)]).ratings) == 2
