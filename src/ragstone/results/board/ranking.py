"""Which cells are best: tests within the columns or the rows of a table, corrected together.

Cells are compared if they are in one column (or row), measure the same on the same data sets and
values of labels, and differ in the system. Settings are compared only if no part of the system is
an axis of the same direction. The comparisons by the first metric are one family of tests; those by
all other metrics are another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from ragstone.core import limits
from ragstone.results.board.cells import ALL, Axes, BoardCell, Key
from ragstone.results.board.label_mix import LabelMix
from ragstone.results.factors import SYSTEM_AXES
from ragstone.statistics.failures import difference_between
from ragstone.statistics.mean_ranks import MeanRanks, mean_ranks
from ragstone.statistics.paired import Difference, adjust
from ragstone.statistics.ranks import Place, best_group, places
from ragstone.statistics.significance import Family, judge
from ragstone.statistics.stratified import Stratum, stratified_difference

Direction: TypeAlias = Literal["column", "row"]
CONFIDENCE: Final = 0.95
_SYSTEM: Final = frozenset({"system", "prompt", "release", "experiment", "campaign", *SYSTEM_AXES})
_LEAST: Final = 2


def is_of_system(axis: str) -> bool:
    """Return whether an axis distinguishes systems: a part of them, a parameter, a release."""
    return axis in _SYSTEM or ("." in axis and axis.partition(".")[0] in SYSTEM_AXES)


@dataclass(frozen=True)
class Line:
    """Cells that are compared with each other, best first, and the axes in which they differ."""

    cells: tuple[BoardCell, ...]
    compared: tuple[int, ...]
    """The places of the axes in which the cells differ, among those of the direction."""
    direction: Direction

    def name(self, cell: BoardCell) -> str:
        """Return the values in which a cell differs from the others."""
        key = cell.row if self.direction == "column" else cell.column
        return ", ".join(key[place] for place in self.compared)

    @property
    def place(self) -> str:
        """Return the values that the cells share."""
        cell = self.cells[0]
        key, other = _keys(cell, self.direction)
        rest = (value for place, value in enumerate(key) if place not in self.compared)
        return ", ".join((*rest, *other))

    @property
    def metric(self) -> str:
        """The metric of the cells."""
        return self.cells[0].metric

    @property
    def lower_is_better(self) -> bool:
        """Whether the least mean is the best one."""
        return self.cells[0].parts[0].measured.scale.direction == "lower"


def lines(cells: Sequence[BoardCell], axes: Axes, direction: Direction) -> list[Line]:
    """Return the groups of two or more cells that are compared."""
    inner = axes.rows if direction == "column" else axes.columns
    compared = tuple(axis for axis in inner if is_of_system(axis))
    compared = compared or tuple(axis for axis in inner if axis == "setting")
    held: dict[tuple[object, ...], list[BoardCell]] = {}
    for cell in cells:
        scale = cell.parts[0].measured.scale
        if cell.kind != "mean" or cell.summary.mean is None or scale.direction == "neutral":
            continue
        key, other = _keys(cell, direction)
        fixed = tuple(v for axis, v in zip(inner, key, strict=True) if axis not in compared)
        totals = tuple(value == ALL for value in key)
        held.setdefault((other, fixed, totals, cell.metric, cell.data), []).append(cell)
    places = tuple(place for place, axis in enumerate(inner) if axis in compared)
    groups = (group for group in held.values() if len(group) > 1 and places)
    return [_ordered(group, places, direction) for group in groups]


def _keys(cell: BoardCell, direction: Direction) -> tuple[Key, Key]:
    """Return the key along a direction, and the other one."""
    return (cell.row, cell.column) if direction == "column" else (cell.column, cell.row)


def _ordered(group: Sequence[BoardCell], compared: tuple[int, ...], direction: Direction) -> Line:
    lower = group[0].parts[0].measured.scale.direction == "lower"
    ordered = sorted(group, key=lambda cell: cell.summary.mean or 0.0, reverse=not lower)
    return Line(tuple(ordered), compared, direction)


def ranked(
    cells: Sequence[BoardCell],
    axes: Axes,
    direction: Direction,
    headline: str,
) -> list[BoardCell]:
    """Return the cells with their groups, in the same order."""
    every = lines(cells, axes, direction)
    placed: dict[int, tuple[Place, bool]] = {}
    for main in (True, False):
        family = [line for line in every if (line.metric == headline) is main]
        for line, groups in zip(family, _family(family), strict=True):
            best = best_group(groups)
            for number, cell in enumerate(line.cells):
                place = groups[str(number)]
                placed[id(cell)] = place, str(number) in best
    return [_placed(cell, *placed[id(cell)]) if id(cell) in placed else cell for cell in cells]


def _placed(cell: BoardCell, place: Place, best: bool) -> BoardCell:
    return replace(cell, group=place.group, rank=place.rank, best=best)


def _family(family: Sequence[Line]) -> Iterator[Mapping[str, Place]]:
    """Yield the place of each cell of each line by its number; all tests are corrected together."""
    gaps = [list(_gaps(line)) for line in family]
    # Without a query that differs no test can find anything (Tarone 1990).
    tested = [gap for found in gaps for _, _, gap in found if gap.wins or gap.losses]
    corrected = dict(zip(map(id, tested), adjust([gap.p for gap in tested]), strict=True))
    tests = Family(1 - CONFIDENCE, len(tested), "holm")
    for line, found in zip(family, gaps, strict=True):
        scale = line.cells[0].parts[0].measured.scale
        better = []
        for a, b, gap in found:
            failed = line.cells[a].summary.failed, line.cells[b].summary.failed
            names = str(a), str(b)
            p = corrected.get(id(gap), 1.0)
            pair = judge(*names, gap, p, tests, scale=scale, failed=failed)
            if pair.significant:
                better.append((names[1], names[0]) if pair.outcome == "better" else names)
        yield places([str(number) for number in range(len(line.cells))], better)


def _gaps(line: Line) -> Iterator[tuple[int, int, Difference]]:
    """Yield two numbers of cells and the difference of the second from the first."""
    many = len(line.cells) > limits.MAX_RANKED_SYSTEMS
    for best in range(1 if many else len(line.cells) - 1):
        # The scores of the first cell are read once for all comparisons with it.
        strata = line.cells[best].strata()
        for other in range(best + 1, len(line.cells)):
            found = _difference(line.cells[other].strata(), strata)
            if found is not None:
                yield other, best, found


def _difference(a: Sequence[Stratum], b: Sequence[Stratum]) -> Difference | None:
    """Return the mean of `b` minus that of `a` over the queries that count for both."""
    if len(a) == 1:
        first, second = a[0], b[0]
        options: Any = {"confidence": None}
        return difference_between(
            first.scores, second.scores, first.scale, first.clusters, **options
        )
    return stratified_difference(a, b)


@dataclass(frozen=True)
class DataRanks:
    """Systems over data sets: their mean ranks, by one metric under one setting."""

    place: Key
    """The values of the other axes."""
    metric: str
    setting: str
    data: Key
    means: Mapping[str, float]
    """System -> mean over the data sets, each with the same weight."""
    ranks: MeanRanks


def data_ranks(cells: Sequence[BoardCell], axes: Axes) -> list[DataRanks]:
    """Return the mean ranks of the systems of each metric and setting over the data sets.

    Only the data sets that all systems have take part; the axes of the table identify a system.
    """
    held: dict[tuple[Key, str, str], dict[str, dict[str, tuple[BoardCell, float]]]] = {}
    for cell in cells:
        key = dict(zip(axes.every, (*cell.row, *cell.column), strict=True))
        if cell.kind != "mean" or ALL in key.values() or cell.summary.mean is None:
            continue
        system = ", ".join(value for axis, value in key.items() if is_of_system(axis))
        other = tuple(
            value
            for axis, value in key.items()
            if not is_of_system(axis) and axis not in {"data", "metric", "setting"}
        )
        own = held.setdefault((other, cell.metric, cell.setting), {}).setdefault(system, {})
        for part in cell.parts:
            mean: float | None = cell.summary.mean
            if len(cell.parts) > 1:
                mean = part.strata(1.0, None)[0].summary().mean
            if mean is not None:
                own[part.measured.data] = (cell, mean)
    found = []
    for (place, metric, setting), systems in held.items():
        shared = set.intersection(*(set(own) for own in systems.values()))
        data = tuple(name for name in next(iter(systems.values())) if name in shared)
        scale = next(iter(next(iter(systems.values())).values()))[0].parts[0].measured.scale
        if len(systems) < _LEAST or len(data) < _LEAST or scale.direction == "neutral":
            continue
        values = {system: [own[name][1] for name in data] for system, own in systems.items()}
        ranks = mean_ranks(values, lower_is_better=scale.direction == "lower")
        means = {system: sum(held) / len(held) for system, held in values.items()}
        found.append(DataRanks(place, metric, setting, data, means, ranks))
    return found


@dataclass(frozen=True)
class MixTurn:
    """A share of a label's value at which another cell has the better mean."""

    place: str
    metric: str
    first: str
    """The best cell under the expected mix."""
    second: str
    """The best cell beyond the share."""
    value: str
    expected: float
    share: float
    """The share of the value at which the means are equal; the others keep their proportions."""


def mix_turns(
    cells: Sequence[BoardCell], axes: Axes, direction: Direction, mix: LabelMix
) -> list[MixTurn]:
    """Return where the leader of each line changes, the nearest share of each value first.

    The means are linear in the shares; the leader is compared with each other cell.
    """
    found: list[MixTurn] = []
    for line in lines(cells, axes, direction):
        first, *others = line.cells
        if first.mix is None:
            continue
        nearest: dict[tuple[str, bool], MixTurn] = {}
        for other in others:
            gaps = _gaps_by_value(first, other, mix)
            for value, expected in mix.shares.items() if gaps else ():
                rest = 1 - expected
                if rest <= 0:
                    continue
                own = gaps[value]
                without = sum(s * gaps[v] for v, s in mix.shares.items() if v != value) / rest
                if own * without >= 0:
                    continue
                share = without / (without - own)
                turn = MixTurn(
                    line.place,
                    line.metric,
                    line.name(first),
                    line.name(other),
                    value,
                    expected,
                    share,
                )
                key = (value, share > expected)
                if key not in nearest or abs(share - expected) < abs(nearest[key].share - expected):
                    nearest[key] = turn
        found += sorted(nearest.values(), key=lambda turn: abs(turn.share - turn.expected))
    return found


def _gaps_by_value(a: BoardCell, b: BoardCell, mix: LabelMix) -> dict[str, float]:
    """Return value of the label -> mean of `a` minus that of `b`; {} if one is not known."""
    gaps = dict.fromkeys(mix.shares, 0.0)
    values = list(mix.shares)
    for number, (first, second) in enumerate(zip(a.strata(), b.strata(), strict=True)):
        means = first.summary().mean, second.summary().mean
        if means[0] is None or means[1] is None:
            return {}
        gaps[values[number % len(values)]] += (means[0] - means[1]) / len(a.parts)
    return gaps
