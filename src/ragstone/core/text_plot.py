"""Intervals drawn as lines of text on one scale, for terminals."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Estimate: TypeAlias = tuple[float, tuple[float, float] | None]
"""A value and its interval."""
WIDTH: Final = 33
"""Characters of a plot: with a name and figures beside it, it fits into 80 columns."""
_LINES: Final = tuple("·│─┼├┤●")
_ASCII: Final = tuple(".:-+[]o")
"""The track, the mark, a line, a line across the mark, both ends of a line, and the value."""


@dataclass(frozen=True, slots=True)
class IntervalPlot:
    """A line of text per interval, and the scale that they share."""

    axis: str
    """Both ends of the scale, and the marks between them if there is room."""
    rows: tuple[str, ...]


def plot_intervals(
    values: Sequence[Estimate | None], *, marks: Sequence[float] = (0.0,), width: int = WIDTH
) -> IntervalPlot:
    r"""Return intervals drawn with their values on one scale.

    Lines are drawn in ASCII if the encoding of standard output has no box characters.

    Args:
        values: estimates to draw; None for a row without a value.
        marks: values that every row marks, which the scale includes.
        width: characters of a row.

    >>> found = plot_intervals([(0.25, (0.0, 0.5)), (-0.25, None), None], width=22)
    >>> print(found.axis, *found.rows, sep="\n")
    -0.25  0           0.5
    ·······├──────●──────┤
    ●······│··············
    ·······│··············
    """
    drawn = [one for one in values if one is not None]
    ends = [*marks, *(value for value, _ in drawn), *(e for _, held in drawn for e in held or ())]
    low, high = (min(ends), max(ends)) if ends else (0.0, 0.0)
    if low == high:
        low, high = low - 1, high + 1
    signs = _LINES if _encodable("".join(_LINES)) else _ASCII

    def place(value: float) -> int:
        return round((value - low) / (high - low) * (width - 1))

    marked = [place(one) for one in marks]
    rows = []
    for one in values:
        value, interval = (None, None) if one is None else one
        row = _line(marked, [place(end) for end in interval or ()], width, signs)
        if value is not None:
            row[place(value)] = signs[-1]
        rows.append("".join(row))
    return IntervalPlot(_axis(low, high, marks, marked, width), tuple(rows))


def _line(
    marked: Sequence[int], ends: Sequence[int], width: int, signs: Sequence[str]
) -> list[str]:
    """Return the characters of a row without its value."""
    track, mark, line, crossing, first, last, _ = signs
    row = [track] * width
    for place in marked:
        row[place] = mark
    if ends:
        low, high = ends
        row[low : high + 1] = [crossing if row[p] == mark else line for p in range(low, high + 1)]
        row[low], row[high] = first, last
    return row


def _axis(
    low: float, high: float, marks: Sequence[float], marked: Sequence[int], width: int
) -> str:
    places = 2 - math.floor(math.log10(high - low))

    def text_of(value: float) -> str:
        return f"{round(value, places) + 0.0:.3g}"

    left, right = text_of(low), text_of(high)
    axis = list(f"{left}{right:>{width - len(left)}}")
    for value, place in zip(marks, marked, strict=True):
        text = text_of(value)
        around = axis[max(0, place - 1) : place + len(text) + 1]
        if low < value < high and not "".join(around).strip():
            axis[place : place + len(text)] = text
    return "".join(axis)


def _encodable(text: str) -> bool:
    """Return whether standard output can show a text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
