"""Causes and gains as a report shows them: the trials with retrieved passages are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from ragstone.causes.order import CAUSES
from ragstone.results.adaptability import MIXED
from ragstone.results.causes.found import CauseCounts, CauseShare, FoundCauses, causes_of
from ragstone.results.causes.gains import Gain, gains_of
from ragstone.results.causes.sought import Unsought, nothing_to_find, unsought
from ragstone.results.charts.causes import causes_chart, gain_points, gains_chart
from ragstone.results.charts.parts import MOST_SERIES, Spec
from ragstone.results.reader import StoredResults
from ragstone.results.same_rows import SameRows

_OfTrial = TypeVar("_OfTrial", CauseCounts, Gain)


@dataclass(frozen=True)
class TrialCauses:
    """The causes of one trial's wrong answers, the refined ones below those that they refine."""

    count: CauseCounts
    shares: tuple[CauseShare, ...]


@dataclass(frozen=True)
class ShownCauses:
    """The causes and gains of an experiment for its report."""

    trials: tuple[TrialCauses, ...]
    gains: tuple[Gain, ...]
    """Those that can be above 0, in the order of the pipeline."""
    gain_trials: int
    """Number of trials whose gains could be drawn."""
    chart: Spec | None
    gain_chart: Spec | None
    meanings: tuple[tuple[str, str], ...]
    missing: tuple[tuple[str, int], ...]
    """Trial that would decide causes -> number of wrong answers."""
    unsought: tuple[Unsought, ...]
    refining: frozenset[str] = frozenset(cause.name for cause in CAUSES if cause.refines)
    """Causes whose answers are counted under another cause too."""


def shown_causes(results: StoredResults, same: SameRows) -> ShownCauses | None:
    """Return the causes and gains; None if the experiment has nothing to find them by."""
    if nothing_to_find(results):
        return None
    found = causes_of(results)
    counts = [one for one in found.counts if same.is_first(one.system, one.setting)]
    trials = tuple(TrialCauses(one, _shares(found, one)) for one in counts)
    if not any(one.count.wrong for one in trials):
        return None
    gains = [
        one
        for one in gains_of(results)
        if same.is_first(one.system, one.setting) and (one.gain or one.missing_trial)
    ]
    points = gain_points(_mixed(gains))
    names = dict.fromkeys(point["name"] for point in points)
    drawn = list(names)[:MOST_SERIES]
    named = {share.cause for one in trials for share in one.shares}
    return ShownCauses(
        trials,
        tuple(gains),
        len(names),
        causes_chart("Causes of wrong answers", found, _mixed(counts)),
        gains_chart("Gains of perfect steps", [p for p in points if p["name"] in drawn]),
        tuple((cause.name, cause.meaning) for cause in CAUSES if cause.name in named),
        tuple(found.missing.items()),
        tuple(unsought(results)),
    )


def _shares(found: FoundCauses, count: CauseCounts) -> tuple[CauseShare, ...]:
    place = (count.system, count.setting)
    return tuple(one for one in found.shares if (one.system, one.setting) == place)


def _mixed(found: Sequence[_OfTrial]) -> list[_OfTrial]:
    return [one for one in found if one.setting.startswith(MIXED)]
