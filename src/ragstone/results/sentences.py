"""Sentences of a report; none claims more than its interval allows."""

from __future__ import annotations

from ragstone.core import limits
from ragstone.results.leaderboards import Lead, context_gains
from ragstone.results.reader import StoredResults
from ragstone.statistics.summary import Summary


def lead_sentence(lead: Lead) -> str:
    """Return the lead of the best system over the second best, and whether it may be chance."""
    gap = lead.difference
    if gap is None:
        return "Only one system was measured here."
    if gap.mean is None:
        return f"No query has a value from both this and {lead.runner_up}."
    if gap.interval == (0.0, 0.0):
        return f"Equal to {lead.runner_up}: the same value on all of the {gap.n} queries."
    difference = f"{signed(gap)} compared with {lead.runner_up} on the same {gap.n} queries"
    if gap.interval is None:
        return f"{difference}: too few to judge."
    if lead.is_clear:
        return f"{difference}; the interval excludes 0."
    return f"{difference}; the interval includes 0, so the difference may be chance."


def gain_sentences(results: StoredResults) -> list[str]:
    """Return the effect of gold context over no context, for the systems with the best means."""
    gains = [gain for gain in context_gains(results) if gain.difference and gain.difference.n]
    best = sorted(gains, key=lambda gain: -(gain.summary.mean or 0.0))[: limits.MAX_GAIN_SENTENCES]
    return [
        f"{gain.best}: gold context changes {gain.metric} by {signed(gain.difference)} compared "
        f"with no context ({gain.difference.n} queries)."
        for gain in gains
        if gain in best and gain.difference
    ]


def signed(summary: Summary) -> str:
    """Return a difference with sign and interval, as text with Unicode minus signs.

    >>> from ragstone.statistics.summary import Summary
    >>> signed(Summary(0.125, 8, interval=(-0.25, 0.5)))
    '+0.125 [\N{MINUS SIGN}0.250, +0.500]'
    """
    mean = "" if summary.mean is None else _signed(summary.mean)
    if summary.interval is None:
        return mean
    low, high = summary.interval
    return f"{mean} [{_signed(low)}, {_signed(high)}]"


def _signed(value: float) -> str:
    rounded = f"{value:+.3f}"
    return "0" if float(rounded) == 0 else rounded.replace("-", "\N{MINUS SIGN}")
