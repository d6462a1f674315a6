"""A table over many experiments: the request, its cells, and the sentences about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ragstone.core import limits
from ragstone.data.readers.rows import listed
from ragstone.errors import ConfigError
from ragstone.results.board.cells import (
    ALL,
    STACK,
    Axes,
    BoardCell,
    Key,
    make_cells,
    merged,
    value_order,
    without_trained,
)
from ragstone.results.board.label_mix import LabelMix
from ragstone.results.board.measures import Measured, measured
from ragstone.results.board.ranking import (
    DataRanks,
    Direction,
    MixTurn,
    data_ranks,
    mix_turns,
    ranked,
)
from ragstone.results.joined import RETRIEVAL, JoinedResults, data_factors_apart
from ragstone.results.judge_notes import MARK
from ragstone.results.reader import StoredResults

_METRIC_AXES = frozenset({"metric", "measure", "k"})


@dataclass(frozen=True)
class BoardRequest:
    """The contents of a table: axes, metrics and filters."""

    rows: Key = ()
    """By default the data set, factors that distinguish data sets of one name, and the system."""
    columns: Key = ("setting",)
    metrics: Key = ()
    """By default the headline, or all metrics if they are an axis."""
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Axis -> the values that are shown; a label keeps the queries that have one of them."""
    totals: Key = ()
    """Axes with a total too: a mean over data sets, or all queries of a label."""
    best: Direction = "column"
    mix: LabelMix | None = None
    zero_shot: bool = False
    average: bool = False
    """Whether systems are ranked over data sets."""


@dataclass(frozen=True)
class BoardTable:
    """The cells of a table in their order."""

    request: BoardRequest
    axes: Axes
    metrics: Key
    rows: tuple[Key, ...]
    columns: tuple[Key, ...]
    cells: Mapping[tuple[Key, Key], BoardCell]
    head: tuple[str, ...]
    """The subject of the table, in sentences."""
    notes: tuple[str, ...]
    """Notes on the cells, in sentences."""
    average: tuple[DataRanks, ...] = ()
    turns: tuple[MixTurn, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data, numbers unrounded (docs/leaderboard.md)."""
        found: dict[str, Any] = {
            "rows": [_named(key, self.axes.rows) for key in self.rows],
            "columns": [_named(key, self.axes.columns) for key in self.columns],
            "cells": [self._cell(cell) for cell in self._in_order()],
            "axes": {"rows": list(self.axes.rows), "columns": list(self.axes.columns)},
            "metrics": list(self.metrics),
            "head": list(self.head),
            "notes": list(self.notes),
        }
        if self.request.average:
            found["average"] = [_ranks_document(one) for one in self.average]
        if self.request.mix:
            mix = self.request.mix
            turns = [asdict(turn) for turn in self.turns]
            found["mix"] = {"label": mix.label, "shares": dict(mix.shares), "turns": turns}
        return found

    def _in_order(self) -> Iterator[BoardCell]:
        for row in self.rows:
            for column in self.columns:
                if (row, column) in self.cells:
                    yield self.cells[row, column]

    def _cell(self, cell: BoardCell) -> dict[str, Any]:
        summary = cell.summary
        return {
            "row": _named(cell.row, self.axes.rows),
            "column": _named(cell.column, self.axes.columns),
            "metric": cell.metric,
            "setting": cell.setting,
            "mean": summary.mean,
            "interval": summary.interval,
            "n": summary.n,
            "failed": summary.failed,
            "group": cell.group,
            "best": cell.best,
            "not_applicable": summary.not_applicable,
            "data": list(cell.data),
            "trained": cell.trained,
            "judge_notes": list(cell.judge_notes),
            "kind": cell.kind,
        }


def _named(key: Key, axes: Key) -> str | dict[str, str]:
    """Return the value of one axis as text, those of several as a mapping."""
    return key[0] if len(axes) == 1 else dict(zip(axes, key, strict=True))


def _ranks_document(one: DataRanks) -> dict[str, Any]:
    ranks = one.ranks
    return {
        "place": list(one.place),
        "metric": one.metric,
        "setting": one.setting,
        "data": list(one.data),
        "friedman": {"statistic": ranks.statistic, "p": ranks.p},
        "critical_difference": ranks.critical_difference,
        "systems": [
            {
                "system": system,
                "mean": one.means[system],
                "mean_rank": ranks.mean_ranks[system],
                "group": ranks.places[system].group,
            }
            for system in ranks.systems
        ],
    }


def campaign_board(results: Iterable[StoredResults]) -> BoardTable:
    """Return the table of the experiments of a file: data sets and systems by settings."""
    return make_board(JoinedResults.of(results), BoardRequest())


def make_board(joined: JoinedResults, request: BoardRequest) -> BoardTable:
    """Return the table of some results.

    Raises:
        ConfigError: an axis, a metric or a value of a filter is unknown, nothing is left to show,
            or a cell would mix results that the axes do not name.
    """
    shown, labels = joined.filtered(request.where)
    rows, columns = request.rows or _default_rows(shown, request.columns), request.columns
    asked = (*rows, *columns)
    twice = [axis for axis, times in Counter(asked).items() if times > 1]
    if twice:
        raise ConfigError(f"the axis {twice[0]!r} is named twice", key="axis", value=twice[0])
    metrics = request.metrics or _default_metrics(shown, asked)
    if len(metrics) > 1 and not _METRIC_AXES.intersection(asked):
        columns = (*columns, "metric")
    found = [one for metric in metrics for one in measured(shown, metric, among=joined)]
    if request.zero_shot:
        found = without_trained(found)
        if not found:
            raise ConfigError("--zero-shot leaves no result: every system was trained on its data")
    axes = _axes(joined, request, (rows, columns), metrics)
    if labels:
        found = [one for one in (_kept(one, labels) for one in found) if one.scores]
    cells = merged(make_cells(found, axes, request.mix), axes)
    if not cells:
        raise ConfigError("no query is left to show; leave out a filter")
    cells = ranked(cells, axes, request.best, metrics[0])
    return BoardTable(
        request,
        axes,
        tuple(metrics),
        tuple(axes.sort((cell.row for cell in cells), rows)),
        tuple(axes.sort((cell.column for cell in cells), columns)),
        {(cell.row, cell.column): cell for cell in cells},
        tuple(_head(cells, axes, request, metrics)),
        (*_notes(cells, request), *shown.source_lines),
        tuple(data_ranks(cells, axes)) if request.average else (),
        tuple(mix_turns(cells, axes, request.best, request.mix)) if request.mix else (),
    )


def _axes(
    joined: JoinedResults, request: BoardRequest, axes: tuple[Key, Key], metrics: Sequence[str]
) -> Axes:
    asked = (*axes[0], *axes[1])
    labels = frozenset(axis for axis in asked if _is_label(joined, axis))
    unknown = [axis for axis in request.totals if axis not in asked]
    if unknown:
        raise ConfigError(
            f"--total {unknown[0]}: it is not an axis of the table; axes: {', '.join(asked)}"
        )
    order = value_order(joined, asked, metrics)
    return Axes(*axes, labels, frozenset(request.totals), order)


def _is_label(joined: JoinedResults, axis: str) -> bool:
    """Return whether an axis is a label, or several labels."""
    names = axis.split(STACK)
    found = [joined.is_label(name) for name in names]
    if len(names) > 1 and not all(found):
        raise ConfigError(
            f"the axis {axis!r}: only labels can be one below the other, and "
            f"{names[found.index(False)]!r} is not a label",
            key="axis",
            value=axis,
        )
    return all(found)


def _default_rows(joined: JoinedResults, columns: Key) -> Key:
    """Return data and system, with the factors in which data sets of one name differ.

    Axes that are columns are left out; the setting is a row if nothing else is left.
    """
    rows = ("data", *data_factors_apart(joined.rows), "system")
    return tuple(axis for axis in rows if axis not in columns) or ("setting",)


def _default_metrics(joined: JoinedResults, asked: Key) -> Key:
    """Return all metrics if they are an axis, else the most frequent headline."""
    if _METRIC_AXES.intersection(asked):
        cutoff = "k" in asked
        names = (row.factors["measure"] if cutoff else row.metric for row in joined.rows)
        return tuple(dict.fromkeys(name for name in names if name != "failure rate"))
    return (joined.headline,)


def _kept(one: Measured, labels: Mapping[str, Sequence[str]]) -> Measured:
    """Return a measurement of the queries with one of the values of each label."""
    ids = one.labelled(labels)

    def read() -> dict[str, Any]:
        return {query: score for query, score in one.scores.items() if query in ids}

    return replace(one, read=read, identity=(*one.identity, ids))


def _head(
    cells: Sequence[BoardCell], axes: Axes, request: BoardRequest, metrics: Sequence[str]
) -> Iterator[str]:
    experiments = {part.measured.row.experiment for cell in cells for part in cell.parts}
    data = dict.fromkeys(name for cell in cells for name in cell.data)
    settings = dict.fromkeys(cell.setting for cell in cells if cell.setting != RETRIEVAL)
    yield (
        f"{_count(len(experiments), 'experiment')}, {_count(len(data), 'data set')} "
        f"({listed(list(data))})"
    )
    what = [f"metric: {', '.join(metrics)}"]
    if settings and "setting" not in axes.every:
        what.append(f"setting: {', '.join(settings)}")
    what += [
        f"{axis}: {', '.join(values)}"
        for axis, values in request.where.items()
        if axis != "setting"
    ]
    yield "; ".join(what)
    several = {cell.data for cell in cells if len(cell.data) > 1}
    if several:
        most = max(several, key=len)
        yield f"mean over {len(most)} data sets, each with the same weight: {', '.join(most)}"
    if request.mix:
        yield f"reweighted to an expected mix of {request.mix.text}"
    if request.zero_shot:
        yield "without systems that were trained on the data set"


def _notes(cells: Sequence[BoardCell], request: BoardRequest) -> Iterator[str]:
    several = [cell for cell in cells if len(cell.data) > 1 or ALL in (*cell.row, *cell.column)]
    most = max((len(cell.data) for cell in several), default=0)
    fewer = [cell for cell in several if len(cell.data) < most]
    if fewer:
        yield (
            f"{_count(len(fewer), 'cell')} of fewer than {most} data sets: not compared with the "
            "others"
        )
    tested = [cell for cell in cells if cell.group is not None]
    if any(cell.best for cell in tested):
        yield (
            f"* best of its {request.best}: a paired test, corrected by Holm over all comparisons "
            "of the table, tells it apart from another cell"
        )
    elif tested:
        yield (
            f"no paired test, corrected by Holm over all comparisons of the table, tells two cells "
            f"of a {request.best} apart"
        )
    if any(cell.trained for cell in cells):
        yield "\N{DOUBLE DAGGER} a model of the system was trained on the data set"
    noted = dict.fromkeys(note for cell in cells for note in cell.judge_notes)
    yield from (f"{MARK} {note}" for note in noted)
    failed = sum(cell.summary.failed for cell in cells if cell.kind == "mean")
    if failed:
        yield f"failed answers and rankings: {failed:,}, counted as the experiments say"
    empty = [cell for cell in cells if cell.summary.mean is None]
    if empty:
        reason = "a value of the mix" if request.mix else "a value"
        constant = [cell for cell in empty if cell.kind == "correlation" and cell.summary.n > 1]
        if constant:
            yield (
                f"{_count(len(constant), 'cell')} without a correlation: a metric is equal on all "
                "queries"
            )
        if len(constant) < len(empty):
            number = len(empty) - len(constant)
            yield f"{_count(number, 'cell')} without a mean: no query has {reason}"
    if len(cells) > limits.MANY_CELLS:
        yield "with this many cells, the correction leaves few differences; filter with --where"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
