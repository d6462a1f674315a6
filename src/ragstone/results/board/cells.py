"""The cells of a table: which measurements are in each, and their means.

A cell is of one system under one setting. It may be the mean over several data sets, each with the
same weight, if the data set is not an axis. Anything else that would be mixed in a cell is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, TypeAlias

from ragstone.core import limits
from ragstone.data.readers.rows import listed
from ragstone.errors import ConfigError
from ragstone.results.board.label_mix import LabelMix
from ragstone.results.board.measures import COUNTS, SHARE, Measured
from ragstone.results.factors import NONE, SYSTEM_AXES
from ragstone.results.joined import JoinedResults, differing
from ragstone.statistics.breakdown import UNLABELLED
from ragstone.statistics.metric_correlations import correlations
from ragstone.statistics.stratified import Stratum, stratified_summary
from ragstone.statistics.summary import Summary
from ragstone.types import Score

Key: TypeAlias = tuple[str, ...]
"""The values of some axes, in their order."""
STACK: Final = "/"
"""Between labels that are one axis, one below the other."""
_NOT_TRAINED_ON: Final = ("language", "chunker")
"""Factors of a data set that are not names of sets: `trained_on: [en]` is a data set `en`."""
ALL: Final = "(all)"
"""The value of an axis in a total over it."""


@dataclass(frozen=True)
class Axes:
    """The axes of the rows and of the columns."""

    rows: Key
    columns: Key
    labels: frozenset[str]
    """The axes that are labels of queries."""
    totals: frozenset[str]
    """The axes that have a total too."""
    order: Mapping[str, Sequence[str]]
    """Axis -> its values in their order, as far as it is known."""

    @property
    def every(self) -> Key:
        """The axes of rows and columns."""
        return (*self.rows, *self.columns)

    def value(self, one: Measured, axis: str) -> str:
        """Return the value of a factor; beside a cutoff, a metric is without it."""
        name = "measure" if axis == "metric" and "k" in self.every else axis
        return one.factors.get(name, NONE)

    def sort(self, keys: Iterable[Key], axes: Key) -> list[Key]:
        """Return keys in the order of the values of their axes, totals last."""

        def place(key: Key) -> list[tuple[int, float, int]]:
            found = []
            for axis, value in zip(axes, key, strict=True):
                known = list(self.order.get(axis, ()))
                at = known.index(value) if value in known else len(known)
                number = float(value) if axis == "k" and value.isdigit() else 0.0
                found.append((int(value == ALL), number, at))
            return found

        return sorted(dict.fromkeys(keys), key=place)


@dataclass(frozen=True)
class CellPart:
    """The scores of one data set in a cell."""

    measured: Measured
    ids: frozenset[str] | None
    """The queries of the cell; None for all."""

    @property
    def scores(self) -> Mapping[str, Score]:
        """Query id -> score, of the queries of the cell."""
        found = self.measured.scores
        if self.measured.metric == SHARE and self.ids is not None:
            return {q: Score(q, SHARE, float(q in self.ids)) for q in found}
        return found if self.ids is None else {q: s for q, s in found.items() if q in self.ids}

    def strata(self, weight: float, mix: LabelMix | None) -> list[Stratum]:
        """Return the strata of a label mix, or one stratum with all scores."""
        clusters, scale = self.measured.row.clusters, self.measured.scale
        if mix is None:
            return [Stratum(weight, self.scores, clusters, scale)]
        groups, scores = self.measured.row.groups(mix.label), self.scores
        return [
            Stratum(
                weight * share,
                {q: scores[q] for q in groups.get(value, ()) if q in scores},
                clusters,
                scale,
            )
            for value, share in mix.shares.items()
        ]


@dataclass(frozen=True)
class BoardCell:
    """One cell: its keys, its mean, and the results of its tests."""

    row: Key
    column: Key
    metric: str
    setting: str
    summary: Summary
    parts: tuple[CellPart, ...]
    group: int | None = None
    """1 for the best cell of its row or column and those that no test separates from it."""
    rank: tuple[int, int] | None = None
    """The best and the worst rank in its row or column that the tests allow."""
    best: bool = False
    """Whether a corrected test separates the first group from another one."""
    trained: bool = False
    """Whether a part of the system was trained on a data set of the cell."""
    kind: str = "mean"
    """`mean`, `count` or `correlation`."""
    mix: LabelMix | None = None
    """The mix that the cell is reweighted to; None for the queries of one value of its label."""

    @property
    def data(self) -> Key:
        """The data sets of the cell."""
        return tuple(part.measured.data for part in self.parts)

    @property
    def judge_notes(self) -> Key:
        """The gains of the cell's judges by flagged probes, with the metric."""
        rows = (part.measured.row for part in self.parts)
        found = ((row.metric, row.experiment.judge_notes.get(row.metric)) for row in rows)
        return tuple(dict.fromkeys(f"{metric} {note}" for metric, note in found if note))

    def strata(self) -> list[Stratum]:
        """Return the strata of all data sets, each data set with the same weight."""
        weight = 1 / len(self.parts)
        return [s for part in self.parts for s in part.strata(weight, self.mix)]


def make_cells(found: Sequence[Measured], axes: Axes, mix: LabelMix | None) -> list[BoardCell]:
    """Return the cells of some measurements.

    Raises `ConfigError` if a cell would mix results that the axes do not name.
    """
    held: dict[tuple[Key, Key], dict[str, dict[tuple[object, ...], CellPart]]] = {}
    metrics: dict[tuple[Key, Key], dict[str, None]] = {}
    for one in found:
        for row, column, part in _placed(one, axes):
            place = (row, column)
            metrics.setdefault(place, {})[one.metric] = None
            own = held.setdefault(place, {}).setdefault(one.data, {})
            # The same stored tables in two experiments are one measurement.
            own.setdefault((*one.identity, part.ids), part)
    cells = []
    for (row, column), of_data in held.items():
        for own in of_data.values():
            _refuse_mixture(row, column, axes, list(own.values()))
        parts = tuple(next(iter(own.values())) for own in of_data.values())
        _refuse_mixed_systems(row, column, axes, parts)
        own_mix = mix if mix and _all_of_label(row, column, axes, mix.label) else None
        cells.append(_cell(row, column, parts, own_mix))
    return cells


def _placed(one: Measured, axes: Axes) -> Iterator[tuple[Key, Key, CellPart]]:
    """Yield the row, the column and the part of each cell that a measurement is in."""
    options: list[list[tuple[str, frozenset[str] | None]]] = []
    for axis in axes.every:
        total = [(ALL, None)] if axis in axes.totals else []
        if axis in axes.labels:
            of_label = [] if one.metric == "passages" else list(_label_values(one, axis))
            options.append([*of_label, *(total or [] if of_label else [(ALL, None)])])
        else:
            options.append([(axes.value(one, axis), None), *total])
    for chosen in product(*options):
        kept = [ids for _, ids in chosen if ids is not None]
        ids = frozenset.intersection(*kept) if kept else None
        key = tuple(value for value, _ in chosen)
        part = CellPart(one, ids)
        if part.scores:
            yield key[: len(axes.rows)], key[len(axes.rows) :], part


def _label_values(one: Measured, axis: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield value -> queries of a label, or of several labels: `first_turn/domain`."""
    names = axis.split(STACK)
    for name in names:
        for value, ids in one.row.groups(name).items():
            # A query without one of several labels is not in a row of its own.
            if len(names) == 1 or value != UNLABELLED:
                yield value if len(names) == 1 else f"{name}: {value}", frozenset(ids)


def merged(cells: Sequence[BoardCell], axes: Axes) -> list[BoardCell]:
    """Return the cells without those that repeat another one under a setting.

    If the settings are in the rows or columns with parts of the systems, a part may not matter
    under a setting: answers without context are the same with every retriever. Rows or columns that
    are then the same measurements are one, in which the parts in which they differ are not named.
    """
    for name, own in (("row", axes.rows), ("column", axes.columns)):
        parts = {place for place, axis in enumerate(own) if axis.partition(".")[0] in SYSTEM_AXES}
        if "setting" in own and parts:
            cells = _merged(cells, name, parts)
    return list(cells)


def _merged(cells: Sequence[BoardCell], name: str, parts: set[int]) -> list[BoardCell]:
    held: dict[Key, dict[Key, list[BoardCell]]] = {}
    for cell in cells:
        key: Key = getattr(cell, name)
        fixed = tuple(value for place, value in enumerate(key) if place not in parts)
        held.setdefault(fixed, {}).setdefault(key, []).append(cell)
    found: list[BoardCell] = []
    for same in held.values():
        made = {
            frozenset(
                (cell.row if name == "column" else cell.column, _made_of(cell)) for cell in of
            )
            for of in same.values()
        }
        first, *others = same
        if not others or len(made) > 1:
            found += [cell for of in same.values() for cell in of]
            continue
        shared = tuple(
            value if all(key[place] == value for key in others) else NONE
            for place, value in enumerate(first)
        )
        found += [
            replace(cell, row=shared) if name == "row" else replace(cell, column=shared)
            for cell in same[first]
        ]
    return found


def _made_of(cell: BoardCell) -> frozenset[object]:
    return frozenset((*part.measured.identity, part.ids) for part in cell.parts)


def _cell(row: Key, column: Key, parts: tuple[CellPart, ...], mix: LabelMix | None) -> BoardCell:
    one = parts[0].measured
    settings = dict.fromkeys(part.measured.factors["setting"] for part in parts)
    made = BoardCell(row, column, one.metric, ", ".join(settings), Summary(None, 0), parts, mix=mix)
    made = replace(made, trained=any(_is_trained(part.measured) for part in parts))
    if one.metric in COUNTS:
        count = float(sum(_count(part) for part in parts))
        return replace(made, summary=Summary(count, len(parts)), kind="count")
    if one.against is not None:
        return replace(made, summary=_correlation(parts), kind="correlation")
    return replace(made, summary=stratified_summary(made.strata()))


def _all_of_label(row: Key, column: Key, axes: Axes, label: str) -> bool:
    """Return whether a cell has queries of all values of a label."""
    return dict(zip(axes.every, (*row, *column), strict=True)).get(label, ALL) == ALL


def _count(part: CellPart) -> float:
    values = [score.value or 0.0 for score in part.scores.values()]
    return max(values) if part.measured.metric == "passages" else float(len(values))


def _correlation(parts: Sequence[CellPart]) -> Summary:
    """Return the correlation within one data set; the mean of those of several has no interval."""
    found = []
    for part in parts:
        one = part.measured
        other = one.against() if one.against else {}
        own = part.scores
        ids = [query for query in own if query in other]
        columns = ([held[q].value for q in ids] for held in (own, other))
        first, second = columns
        clusters = [one.row.clusters.get(query, query) for query in ids]
        times = limits.KENDALL_RESAMPLES if one.kind == "kendall" else limits.BOARD_RESAMPLES
        rows = correlations(
            {"": first}, {"": second}, kind=one.kind, clusters=clusters, resamples=times
        )
        found.append(rows[0].correlation)
    n, left_out = sum(one.n for one in found), sum(one.left_out for one in found)
    values = [one.value for one in found]
    known = [value for value in values if value is not None]
    mean = sum(known) / len(known) if len(known) == len(values) else None
    interval = found[0].interval if len(found) == 1 else None
    return Summary(mean, n, failed=left_out, interval=interval)


def _is_trained(one: Measured) -> bool:
    """Return whether the system declares that it was trained on the data set."""
    factors = one.row.experiment.record.data.factors
    own = [value for name, value in factors.items() if name not in _NOT_TRAINED_ON]
    names = {value.casefold() for value in (one.data, *own)}
    return not names.isdisjoint(name.casefold() for name in one.row.trained_on)


def without_trained(found: Iterable[Measured]) -> list[Measured]:
    """Return the measurements of systems on data sets that they were not trained on."""
    return [one for one in found if not _is_trained(one)]


def _refuse_mixture(row: Key, column: Key, axes: Axes, parts: Sequence[CellPart]) -> None:
    if len(parts) > 1:
        rows = [part.measured.row for part in parts]
        metrics = dict.fromkeys(part.measured.metric for part in parts)
        differ = {"metric": list(metrics)} if len(metrics) > 1 else _told(differing(rows), axes)
        sizes = sorted({len(part.scores) for part in parts})
        samples = {frozenset(part.scores) for part in parts}
        queries = ""
        if len(samples) > 1:
            counts = " and ".join(f"{size:,}" for size in sizes)
            queries = (
                f" Their queries differ ({counts})." if len(sizes) > 1 else " Their queries differ."
            )
        raise _refusal(_place(row, column, axes), len(parts), differ, queries)


def _refuse_mixed_systems(row: Key, column: Key, axes: Axes, parts: Sequence[CellPart]) -> None:
    """Refuse a mean over data sets of different systems, releases or settings."""
    differ = _told(differing([part.measured.row for part in parts]), axes)
    own = {"system", "release", "setting", "prompt", *SYSTEM_AXES}
    mixed = {name: values for name, values in differ.items() if name in own}
    if mixed:
        more = " They are of several data sets."
        raise _refusal(_place(row, column, axes), len(parts), mixed, more)


def _told(differ: Mapping[str, list[str]], axes: Axes) -> dict[str, list[str]]:
    """Return the factors to name: parts rather than systems and parameters, without axes."""
    found = {name: v for name, v in differ.items() if name not in (*axes.every, "measure", "k")}
    parts = [name for name in found if name in (*SYSTEM_AXES, "prompt", "release", "setting")]
    dropped = {"system"} if parts else set[str]()
    dropped |= {name for name in found if name.partition(".")[0] in parts and "." in name}
    dropped |= {"campaign"} | ({"experiment"} if len(found) > 2 or parts else set())  # noqa: PLR2004
    kept = {name: values for name, values in found.items() if name not in dropped} or dict(found)
    # The first one is the advice: factors of data sets come before the name of an experiment.
    return dict(sorted(kept.items(), key=lambda one: one[0] == "experiment"))


def _refusal(place: str, count: int, differ: Mapping[str, list[str]], more: str) -> ConfigError:
    names = [f"{name} ({listed(values)})" for name, values in differ.items()]
    first = next(iter(differ), "experiment")
    value = differ.get(first, ["..."])[0]
    return ConfigError(
        f"the cell of {place or 'all results'} mixes {count} results, which differ in "
        f"{listed(names) or 'their stored tables'}.{more} Make it an axis (--rows ..., {first}), "
        f"or choose one (--where {first}={value})",
        key=first,
    )


def _place(row: Key, column: Key, axes: Axes) -> str:
    pairs = zip(axes.every, (*row, *column), strict=True)
    return ", ".join(f"{axis} {value}" for axis, value in pairs)


def value_order(
    joined: JoinedResults, axes: Iterable[str], metrics: Sequence[str]
) -> dict[str, list[str]]:
    """Return axis -> its values in the order in which they are shown."""
    order: dict[str, list[str]] = {}
    for axis in axes:
        if axis == "metric":
            order[axis] = [*metrics, *joined.axes.get("measure", ())]
        elif axis in joined.axes:
            order[axis] = joined.axes[axis]
        else:
            names = axis.split(STACK)
            values = [(name, value) for name in names for value in joined.label_values(name)]
            shown = (v if len(names) == 1 else f"{name}: {v}" for name, v in values)
            order[axis] = list(dict.fromkeys(shown))
    return order
