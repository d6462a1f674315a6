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


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([], RatingScale()),
        ([0, 1], RatingScale()),
        ([-1, 1], RatingScale(-1, 1)),
        ([0, 2], RatingScale(0, 2)),
        ([1, 2], RatingScale(1, 2)),
        ([0.5, 0.5], RatingScale()),
        (["TIE"], RatingScale(words=("b", "tie", "a"))),
        (["no"], RatingScale(words=("no", "yes"))),
    ],
)
def test_ends_of_seen_values(values: list[float | str], scale: RatingScale) -> None:
    """Values from 0 to 1 have the whole scale; others end at what was given."""
    found = RatingScale.seen(values)

    assert found == scale
    assert all(type(end) is float for end in (found.low, found.high))


@pytest.mark.parametrize(
    ("scale", "inside", "outside"),
    [
        (RatingScale(1, 4), [1, 4, 2.5, True], [0.99, 4.01, "4", None, [1]]),
        (RatingScale.parse("no,Partly,yes"), ["no", "YES", "partly"], ["maybe", 1, None]),
        (RatingScale(), [0, 1, 0.5], [-0.1, 1.1, "yes"]),
    ],
)
def test_the_ends_belong_to_a_scale(
    scale: RatingScale, inside: list[object], outside: list[object]
) -> None:
    """Words are compared without case."""
    assert all(value in scale for value in inside)
    assert not any(value in scale for value in outside)
    assert RatingScale(2, 4).share(3.5) == 0.75
    assert RatingScale.parse("a,b,c,d").share("C") == 2 / 3
    assert str(RatingScale(-1.5, 2)) == "-1.5-2"
    with pytest.raises(ConfigError, match=r"'a', 'b', 'c', 'd', 'e' is unknown"):
        RatingScale.seen("abcdef")


def test_values_outside_of_a_scale() -> None:
    """A number is in no scale of words, and a word in no scale of numbers."""
    assert 5 not in RatingScale(1, 4)
    assert "4" not in RatingScale(1, 4)
    assert 1 not in RatingScale.parse("no,yes")
