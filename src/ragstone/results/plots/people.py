"""The plot of metrics against the grades of people, from sets of graded answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ragstone.core import limits
from ragstone.data.readers.rated_inspection import MTRAG_RATINGS
from ragstone.errors import ConfigError
from ragstone.evaluation.human_grades import HumanSet, read_human_set
from ragstone.results.charts.heat_map import heat_map
from ragstone.results.charts.parts import Spec
from ragstone.results.plots.request import PlotRequest
from ragstone.results.wording import ABSENT
from ragstone.statistics.metric_correlations import correlations, inverse_frequency

_ANSWERABLE: Final = ("answerable", "partial")
_REFERENCE: Final = "reference"
"""The answers of people, which the metrics are computed from."""


def metrics_vs_people(request: PlotRequest) -> Iterator[tuple[str, Spec]]:
    """Yield the weighted correlation of metrics with each property (mtRAG's Figure 4).

    Answers of models to answerable questions count. Each answer has the weight that makes all
    grades of a property count the same.
    """
    if not request.people:
        raise request.missing(
            "it reads answers that people graded, no experiment",
            "give the folder of mtRAG: ragstone plot mtrag-4 FOLDER -o x.svg",
        )
    for source in request.people:
        cells: list[Spec] = []
        for rating in (*MTRAG_RATINGS, "win-rate"):
            cells += _cells(read_human_set(source, rating=rating), rating, request)
        if not cells:
            raise ConfigError(f"plot {request.plot}: {source} has no scores of metrics")
        what = "Spearman correlation of metrics with the grades of people, with 95 % intervals"
        yield what, heat_map(what, cells, low=0, high=1)


def _cells(graded: HumanSet, rating: str, request: PlotRequest) -> list[Spec]:
    places = [
        place
        for place, one in enumerate(graded.items)
        if one.system != _REFERENCE and one.item.query.labels["answerability"] in _ANSWERABLE
    ]
    items = [graded.items[place] for place in places]
    people = [one.value for one in items]
    metrics = {
        name: [column[place] for place in places]
        for name, column in graded.values.items()
        if not request.metrics or name in request.metrics
    }
    rows = correlations(
        metrics,
        {rating: people},
        weights=inverse_frequency([round(value, 2) for value in people]),
        clusters=[one.cluster for one in items],
        resamples=limits.BOARD_RESAMPLES,
    )
    found = []
    for row in rows:
        one, interval = row.correlation, row.correlation.interval
        low, high = interval or (None, None)
        shown = ABSENT if one.value is None else f"{one.value:z.2f}"
        note = "" if interval is None else f"[{interval[0]:z.2f}, {interval[1]:z.2f}]"
        numbers = {"low": low, "high": high, "n": one.n, "failed": one.left_out}
        place = {"row": row.metric, "column": rating, "value": one.value}
        found.append({**place, "shown": shown, "note": note, **numbers})
    return found
