"""Numbers as text for people: means with intervals, durations, counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.statistics.summary import Summary

ABSENT = "-"


def mean_text(summary: Summary) -> str:
    """Return `0.617 [0.483, 0.733]`."""
    return f"{number(summary.mean)}{interval_text(summary.interval)}"


def number(value: float | None) -> str:
    """Return a mean or share with three decimals; a dash for None."""
    return ABSENT if value is None else f"{value:.3f}"


def interval_text(interval: tuple[float, float] | None) -> str:
    """Return ` [0.483, 0.733]`, or "" for None."""
    return "" if interval is None else f" [{interval[0]:.3f}, {interval[1]:.3f}]"


def seconds(value: float | None) -> str:
    """Return a duration in seconds with three significant digits.

    >>> seconds(0.01234), seconds(71.2)
    ('0.0123', '71.2')
    """
    return ABSENT if value is None else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"  # noqa: PLR2004


def count(value: int | None) -> str:
    """Return a count with commas between thousands."""
    return ABSENT if value is None else f"{value:,}"
