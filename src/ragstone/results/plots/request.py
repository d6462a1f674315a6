"""The input of a plot: joined results, and the user's selection from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ragstone.errors import ConfigError
from ragstone.results.adaptability import MIXED
from ragstone.results.board.cells import BoardCell, Key
from ragstone.results.board.table import BoardRequest, BoardTable, make_board
from ragstone.results.charts.parts import MOST_SERIES, Spec, mean_fields
from ragstone.results.joined import RETRIEVAL, JoinedResults
from ragstone.results.reader import StoredResults
from ragstone.results.record import MetricEntry, is_oracle

JOIN: Final = " · "
"""Between the parts of a name in a chart."""
_RANKING: Final = "R@5"
"""The ranking metric of a chart, if the results have it."""


@dataclass(frozen=True)
class PlotRequest:
    """The results of a plot, and the selection from them."""

    plot: str
    """The name of the plot, for messages."""
    joined: JoinedResults
    metrics: tuple[str, ...] = ()
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    sizes: Mapping[str, float] = field(default_factory=dict)
    """Generator or model -> its number of parameters, if no file has it."""
    people: tuple[str, ...] = ()
    """Sources of answers that people graded, for the plots that read no experiment."""
    notes: list[str] = field(default_factory=list)
    """Notes on the charts, in sentences."""

    def missing(self, what: str, way_out: str) -> ConfigError:
        """Return the error for missing results."""
        return ConfigError(f"plot {self.plot}: {what}; {way_out}", key="plot", value=self.plot)

    def experiments(self) -> Iterator[tuple[str, StoredResults]]:
        """Yield the name and the results of each experiment that has a chosen row."""
        held = {id(row.experiment) for row in self.chosen.rows}
        for one in self.joined.experiments:
            if id(one) in held:
                yield one.record.name, one.results

    @property
    def chosen(self) -> JoinedResults:
        """The rows with the chosen values of factors."""
        return self.joined.filtered(self.where)[0] if self.where else self.joined

    def is_chosen(self, results: StoredResults, system: str, setting: str) -> bool:
        """Return whether a system under a setting is chosen."""
        wanted = {"system": system, "setting": setting, "data": results.record.data.name}
        return all(value in self.where.get(name, [value]) for name, value in wanted.items())

    def answer_metric(self, place: int = 0) -> str:
        """Return the metric that is asked for, or the most frequent one of correct answers."""
        if len(self.metrics) > place:
            return self.metrics[place]
        names = [one.record.answer_metric for one in self.joined.experiments]
        found = [name for name in names if name and name in self.joined.metrics]
        if not found:
            raise self.missing(
                "no result has an answer metric", "add one to `metrics:`, such as Match or F1"
            )
        return max(found, key=found.count)

    def ranking_metric(self) -> str:
        """Return the ranking metric of the charts: recall at 5, or else the first one."""
        named = [name for name in self.metrics if name in self.ranking_metrics()]
        found = named or self.ranking_metrics()
        if not found:
            raise self.missing(
                "no result has a ranking metric",
                "add one to `metrics:`, such as R@5 or nDCG@10, and a data set with qrels",
            )
        return found[0] if named or _RANKING not in found else _RANKING

    def ranking_metrics(self) -> list[str]:
        """Return the ranking metrics of the results."""
        return list(dict.fromkeys(row.metric for row in self.joined.rows if row.is_ranking))

    def answer_metrics(self) -> list[MetricEntry]:
        """Return the answer metrics and judges of the results."""
        entries = {
            entry.name: entry
            for one in self.joined.experiments
            for entry in one.record.metrics
            if any(row.metric == entry.name and not row.is_ranking for row in self.joined.rows)
        }
        return list(entries.values())

    def settings(self, *, mixed: bool) -> list[str]:
        """Return the chosen settings with mixed context, or those of gold context alone.

        Raises `ConfigError` if no result has one.
        """
        known = [name for name in self.joined.axes.get("setting", ()) if name != RETRIEVAL]
        if asked := self.where.get("setting"):
            return [name for name in known if name in asked]
        found = [s for s in known if (s.startswith(MIXED) if mixed else is_oracle(s))]
        if not found:
            kind = "with retrieved passages" if mixed else "with gold passages alone"
            example = "retrieved(5)" if mixed else "gold"
            raise self.missing(
                f"no result is under a setting {kind}", f"add one to `settings:`, such as {example}"
            )
        return found

    def require_setting(self, name: str) -> None:
        """Raise `ConfigError` if no result is under a setting."""
        if name not in self.joined.axes.get("setting", ()):
            raise self.missing(f"no result is under the setting {name}", "add it to `settings:`")

    def board(
        self, metric: str, rows: Key, columns: Key, where: Mapping[str, Sequence[str]] | None = None
    ) -> BoardTable:
        """Return the cells of one metric, as the leaderboard computes them."""
        kept = {axis: list(values) for axis, values in {**self.where, **(where or {})}.items()}
        return make_board(self.joined, BoardRequest(rows, columns, (metric,), kept))


def points_of(table: BoardTable) -> list[Spec]:
    """Return the means of a table as points with the fields `row` and `name`."""
    return [
        {"row": JOIN.join(cell.row), "name": JOIN.join(cell.column), **cell_fields(cell)}
        for row in table.rows
        for column in table.columns
        if (cell := table.cells.get((row, column))) and cell.summary.mean is not None
    ]


def cell_fields(cell: BoardCell) -> Spec:
    """Return the numbers of a cell, as fields of a point."""
    found = {"metric": cell.metric, "setting": cell.setting, **mean_fields(cell.summary)}
    return found | {"has_interval": cell.summary.interval is not None}


def first_series(points: Sequence[Spec], request: PlotRequest) -> list[Spec]:
    """Return the points of the first series; a note has the number of those left out."""
    names = list(dict.fromkeys(point["name"] for point in points))
    if len(names) > MOST_SERIES:
        note = f"{MOST_SERIES} of {len(names)} series are drawn, the first ones"
        request.notes.append(f"{note}; choose with --where")
        request.notes[:] = dict.fromkeys(request.notes)
    return [point for point in points if point["name"] in names[:MOST_SERIES]]
