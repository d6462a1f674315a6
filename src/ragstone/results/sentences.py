"""What a report says in words: as much as the intervals allow, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.core import limits
from ragstone.results.leaderboards import context_gains

if TYPE_CHECKING:
    from ragstone.results.leaderboards import Lead
    from ragstone.results.reader import StoredResults
    from ragstone.statistics.summary import Summary


def lead_sentence(lead: Lead) -> str:
    """Say how far the best system is ahead of the next one, and whether that is beyond chance."""
    gap = lead.difference
    if gap is None:
        return "Only one system was measured here."
    if gap.mean is None:
        return f"No query has a value from both this and {lead.runner_up}."
    if gap.interval == (0.0, 0.0):
        return f"Level with {lead.runner_up}: the same value on all of the {gap.n} queries."
    said = f"{signed(gap)} against {lead.runner_up} on the same {gap.n} queries"
    if gap.interval is None:
        return f"{said}: too few to judge."
    if lead.tells_apart:
        return f"{said}; the interval leaves out 0."
    return f"{said}; the interval holds 0: these data do not tell the two apart."


def gain_sentences(results: StoredResults) -> list[str]:
    """Say what the gold context changes against no context, for the systems that end highest."""
    gains = [gain for gain in context_gains(results) if gain.difference and gain.difference.n]
    best = sorted(gains, key=lambda gain: -(gain.summary.mean or 0.0))[: limits.MAX_GAIN_SENTENCES]
    return [_gain_sentence(gain) for gain in gains if gain in best]


def _gain_sentence(gain: Lead) -> str:
    changed = "" if gain.difference is None else signed(gain.difference)
    count = 0 if gain.difference is None else gain.difference.n
    return (
        f"{gain.best}: gold context changes {gain.metric} by {changed} against no context "
        f"({count} queries)."
    )


def signed(summary: Summary) -> str:
    """Return a difference with its sign and interval, true minus signs.

    >>> from ragstone.statistics.summary import Summary
    >>> signed(Summary(0.125, 8, interval=(-0.25, 0.5)))
    '+0.125 [\N{MINUS SIGN}0.250, +0.500]'
    """
    told = "" if summary.mean is None else _signed(summary.mean)
    if summary.interval is None:
        return told
    low, high = summary.interval
    return f"{told} [{_signed(low)}, {_signed(high)}]"


def _signed(value: float) -> str:
    rounded = f"{value:+.3f}"
    return "0" if float(rounded) == 0 else rounded.replace("-", "\N{MINUS SIGN}")
