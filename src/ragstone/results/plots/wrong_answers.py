"""The plot of the causes of wrong answers."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.causes.order import CAUSES
from ragstone.results.causes.found import causes_of
from ragstone.results.charts import parts
from ragstone.results.charts.means import rows_chart
from ragstone.results.charts.parts import Spec
from ragstone.results.plots.request import JOIN, PlotRequest, first_series


def causes(request: PlotRequest) -> Iterator[tuple[str, Spec]]:
    """Yield the share of each cause among the wrong answers, a series per system and setting.

    By default the settings with mixed context are drawn.
    """
    order: list[str] = [cause.name for cause in CAUSES]
    wanted = request.settings(mixed=True)
    for name, results in request.experiments():
        found = causes_of(results)
        wrong = {(one.system, one.setting): one.wrong for one in found.counts}
        points: list[Spec] = []
        for one in found.shares:
            chosen = request.is_chosen(results, one.system, one.setting)
            if not chosen or one.setting not in wanted:
                continue
            low, high = one.interval or (one.share, one.share)
            numbers = {"mean": one.share, "low": low, "high": high, "count": one.n}
            n = {"n": wrong[one.system, one.setting], "failed": 0}
            trial = f"{one.system}{JOIN}{one.setting}"
            known = one.interval is not None
            point = {"row": one.cause, "name": trial, **numbers, **n, "has_interval": known}
            points.append(point)
        points.sort(key=lambda point: order.index(point["row"]))
        if drawn := first_series(points, request):
            title = f"Causes of wrong answers: {name}"
            domain = parts.means_domain(drawn)
            titles = {"row": "Cause", "name": "System and setting"}
            yield title, rows_chart(drawn, titles, title, domain=domain, prefix=f"c{name}-")
