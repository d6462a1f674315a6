"""The plots of wrong answers: their causes, and the gain of a perfect step."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.causes.order import CAUSES
from ragstone.results.causes.found import FoundCauses, causes_of
from ragstone.results.causes.gains import gains_of
from ragstone.results.causes.sought import nothing_to_find
from ragstone.results.charts import parts
from ragstone.results.charts.causes import causes_chart, gain_points, gains_chart
from ragstone.results.charts.means import rows_chart
from ragstone.results.charts.parts import Spec
from ragstone.results.plots.request import JOIN, PlotRequest, first_series
from ragstone.results.reader import StoredResults

Charts = Iterator[tuple[str, Spec]]


def causes(request: PlotRequest) -> Charts:
    """Yield the causes of each trial as a bar, then each share with its interval.

    By default the settings with mixed context are drawn.
    """
    wanted = request.settings(mixed=True)
    for name, results in _experiments(request):
        found = causes_of(results)
        counts = [
            one
            for one in found.counts
            if one.setting in wanted and request.is_chosen(results, one.system, one.setting)
        ]
        title = f"Causes of wrong answers: {name}"
        if bars := causes_chart(title, found, counts):
            yield title, bars
        trials = [(one.system, one.setting) for one in counts]
        points = first_series(_shares(found, trials), request)
        if points:
            titles = {"row": "Cause", "name": "System and setting"}
            domain, prefix = parts.means_domain(points), f"c{name}-"
            what = f"Shares of the wrong answers with 95 % intervals: {name}"
            yield what, rows_chart(points, titles, what, domain=domain, prefix=prefix)


def gains(request: PlotRequest) -> Charts:
    """Yield the gain of a perfect step, one row per step; a bound is called `at most`.

    By default the settings with mixed context are drawn.
    """
    wanted = request.settings(mixed=True)
    for name, results in _experiments(request):
        found = (
            one
            for one in gains_of(results)
            if one.setting in wanted and request.is_chosen(results, one.system, one.setting)
        )
        title = f"Gains of a perfect step: {name}"
        points = first_series(gain_points(found), request)
        if chart := gains_chart(title, points, prefix=f"g{name}-"):
            yield title, chart


def _experiments(request: PlotRequest) -> Iterator[tuple[str, StoredResults]]:
    """Yield the experiments with causes; `ConfigError` names the addition if none has them."""
    reasons = {}
    for name, results in request.experiments():
        if reason := nothing_to_find(results):
            reasons[name] = reason
        else:
            yield name, results
    if reasons and len(reasons) == len(list(request.experiments())):
        what, _, way_out = next(iter(reasons.values())).partition(": ")
        raise request.missing(what, way_out)


def _shares(found: FoundCauses, trials: list[tuple[str, str]]) -> list[Spec]:
    order = [cause.name.replace("_", " ") for cause in CAUSES]
    wrong = {(one.system, one.setting): one.wrong for one in found.counts}
    points: list[Spec] = []
    for one in found.shares:
        trial = (one.system, one.setting)
        if trial not in trials:
            continue
        low, high = one.interval or (one.share, one.share)
        numbers = {"mean": one.share, "low": low, "high": high, "count": one.n}
        known = {"n": wrong[trial], "failed": 0, "has_interval": one.interval is not None}
        points.append(
            {"row": one.cause.replace("_", " "), "name": JOIN.join(trial), **numbers, **known}
        )
    return sorted(points, key=lambda point: order.index(point["row"]))
