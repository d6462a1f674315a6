"""Scales of ratings: numbers between two ends, or words from the lowest to the highest."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

from ragstone.errors import ConfigError

_NUMBER: Final = r"[-+]?\d+(?:\.\d+)?"
_RANGE: Final = re.compile(rf"\s*({_NUMBER})\s*(?:-|\.\.)\s*({_NUMBER})\s*")
_KNOWN: Final = (("no", "yes"), ("b", "tie", "a"))
"""Words whose order is known; the second ones are those of pairs."""


@dataclass(frozen=True, slots=True)
class RatingScale:
    """The values that a rater can give.

    >>> RatingScale.parse("1-4").share(2.5), RatingScale.parse("no,partly,yes").share("partly")
    (0.5, 0.5)
    """

    low: float = 0.0
    high: float = 1.0
    words: tuple[str, ...] = ()
    """The words from the lowest to the highest, in lower case; empty for a scale of numbers."""

    @classmethod
    def parse(cls, written: str) -> Self:
        """Return the scale `1-4`, or `no,partly,yes`; raise `ConfigError` for another text."""
        if match := _RANGE.fullmatch(written):
            low, high = map(float, match.groups())
            if low < high:
                return cls(low, high)
        words = tuple(word.strip().casefold() for word in written.split(","))
        if match or len(words) < 2 or not all(words) or len(set(words)) < len(words):  # noqa: PLR2004 - a scale has two ends
            raise ConfigError(
                f"the scale {written!r} is neither a range of numbers, such as 1-4, nor words from "
                "the lowest to the highest, such as no,partly,yes"
            )
        return cls(words=words)

    @classmethod
    def seen(cls, values: Iterable[float | str]) -> Self:
        """Return the scale that some values show.

        Numbers from 0 to 1 have the scale 0-1; others are between the lowest and the highest that
        was given. Of texts, only `yes` and `no`, and `a`, `b` and `tie`, have a known order.

        Raises:
            ConfigError: the values do not show their scale.
        """
        given = set(values)
        texts = {value.casefold() for value in given if isinstance(value, str)}
        numbers = {value for value in given if not isinstance(value, str)}
        if texts:
            scale = None if numbers else cls.of_words(texts)
            if scale is None:
                shown = ", ".join(sorted(map(repr, given), key=str)[:5])
                raise ConfigError(
                    f"the order of the values {shown} is unknown; give it, for example with "
                    "--scale no,partly,yes (the lowest first)"
                )
            return scale
        low, high = min(numbers, default=0.0), max(numbers, default=1.0)
        if 0 <= low <= high <= 1:
            return cls()
        if low == high:
            raise ConfigError(f"all values are {low:g}; give their scale, such as --scale 1-5")
        return cls(float(low), float(high))

    @classmethod
    def of_words(cls, words: Iterable[str]) -> Self | None:
        """Return the scale of words whose order is known, or None."""
        texts = {word.casefold() for word in words}
        return next((cls(words=known) for known in _KNOWN if texts <= set(known)), None)

    def __str__(self) -> str:
        """Return the scale as `parse` reads it."""
        return ",".join(self.words) or f"{self.low:g}-{self.high:g}"

    def __contains__(self, value: object) -> bool:
        """Return whether a rater can give this value."""
        if self.words or isinstance(value, str):
            return isinstance(value, str) and value.casefold() in self.words
        return isinstance(value, int | float) and self.low <= value <= self.high

    def share(self, value: float | str) -> float:
        """Return a value of the scale as a number from 0 (the lowest) to 1 (the highest)."""
        if isinstance(value, str):
            return self.words.index(value.casefold()) / (len(self.words) - 1)
        return (value - self.low) / (self.high - self.low)
