"""Scales of ratings: written, seen, and mapped to shares."""

from __future__ import annotations

import pytest

from ragstone.data.readers.rating_scales import RatingScale
from ragstone.errors import ConfigError


@pytest.mark.parametrize(
    ("written", "value", "share"),
    [("1-4", 4, 1.0), ("-2-2", -2, 0.0), ("0..100", 25, 0.25), ("No, partly ,yes", "Partly", 0.5)],
)
def test_a_scale_is_read_as_it_is_written(written: str, value: float | str, share: float) -> None:
    """The lowest value is 0, the highest 1; words have the order in which they are written."""
    scale = RatingScale.parse(written)

    assert value in scale
    assert scale.share(value) == share
    assert RatingScale.parse(str(scale)) == scale


@pytest.mark.parametrize("written", ["4-1", "3-3", "yes", "yes,yes", "yes,,no", ""])
def test_another_text_is_no_scale(written: str) -> None:
    """The error shows both forms."""
    with pytest.raises(ConfigError, match="such as 1-4, nor words"):
        RatingScale.parse(written)


def test_the_scale_that_values_show() -> None:
    """Shares stay shares; yes and no, and the values of pairs, have an order."""
    assert RatingScale.seen([1, 4, 2]) == RatingScale(1, 4)
    assert RatingScale.seen([0, 0.5]) == RatingScale.seen([1, 1]) == RatingScale()
    assert RatingScale.seen(["Yes", "no"]).share("yes") == 1
    assert RatingScale.seen(["tie", "b"]).share("a") == 1
    with pytest.raises(ConfigError, match="all values are 4; give their scale"):
        RatingScale.seen([4, 4])
    unknown: list[list[float | str]] = [["good", "bad"], ["yes", 1]]
    for values in unknown:
        with pytest.raises(ConfigError, match="--scale no,partly,yes"):
            RatingScale.seen(values)


def test_values_outside_of_a_scale() -> None:
    """A number is in no scale of words, and a word in no scale of numbers."""
    assert 5 not in RatingScale(1, 4)
    assert "4" not in RatingScale(1, 4)
    assert 1 not in RatingScale.parse("no,yes")
