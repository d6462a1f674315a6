"""How much scores and ranks depend on a choice that was not meant to matter, such as the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, TypeAlias

import numpy as np

from ragstone.errors import DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.cell_means import CellMeans, Interval, error_free_lengths, resampled_means
from ragstone.statistics.crossed_design import CrossedDesign
from ragstone.statistics.effect_terms import terms_of
from ragstone.statistics.effects import DATA
from ragstone.statistics.query_variance import QueryVariance
from ragstone.statistics.ranking_agreement import PERSISTENCE, kendall_tau, rank_biased_overlap
from ragstone.statistics.resampling import Bootstrap
from ragstone.statistics.summary import Numbers

SYSTEM: Final = "system"


@dataclass(frozen=True, slots=True)
class Spread:
    """The means of one system over the levels of a factor."""

    system: str
    means: tuple[tuple[str, float, Interval | None], ...]
    """Level, mean and its interval, simultaneous over the levels."""
    range: float
    range_interval: Interval | None
    """The interval from those of all differences of two levels (simultaneous): never too narrow."""
    deviation: float
    """Standard deviation over levels, less the part that the sampling of queries adds."""
    deviation_interval: Interval | None


@dataclass(frozen=True, slots=True)
class RankingAgreement:
    """The agreement of the orders of systems under two levels, or under two samples of queries."""

    a: str
    b: str
    tau: float | None
    """Kendall's tau-b; None if all systems are equal under a level."""
    tau_interval: Interval | None
    rbo: float
    """Rank-biased overlap, which counts the first ranks more."""
    rbo_interval: Interval | None
    swapped: int
    """Pairs of systems in the opposite order."""
    systems: int


@dataclass(frozen=True, slots=True)
class SampleAgreement:
    """The agreement that two samples of as many queries have on average, under one level."""

    level: str
    tau: float
    tau_interval: Interval
    """The interval of the tau of two samples."""
    rbo: float
    rbo_interval: Interval | None


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The dependence of scores and ranks on a factor."""

    factor: str
    levels: tuple[str, ...]
    systems: tuple[str, ...]
    spreads: tuple[Spread, ...]
    """Empty for data sets, whose queries differ."""
    agreements: tuple[RankingAgreement, ...]
    """The agreement of each pair of levels."""
    samples: tuple[SampleAgreement, ...]
    """The agreement of each level with itself, if only the queries are drawn again."""
    orders: tuple[tuple[str, tuple[str, ...]], ...]
    """Level -> systems, the best first."""
    n: int
    left_out: int


def sensitivity(
    design: CrossedDesign,
    factor: str,
    *,
    higher_is_better: Mapping[str, bool] | None = None,
    persistence: float = PERSISTENCE,
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> Sensitivity:
    """Return how much the means and the order of the systems depend on a factor.

    All other factors are the system. Systems that some level does not have are left out.

    Args:
        design: complete queries.
        factor: the name of a factor of the design, such as `prompt`, or `data` for its data sets.
        higher_is_better: level of the factor -> whether it is (default: always), for metrics.
        persistence: of the rank-biased overlap.
        confidence: of the intervals.
        resamples: number of resamples.
        seed: of the resamples.

    Raises:
        DatasetError: the design has no such factor, or no system under all of its levels.
    """
    bootstrap = Bootstrap(confidence, resamples, seed)
    cells, _ = resampled_means(design, QueryVariance.of(design, terms_of(design)), bootstrap)
    names, levels, spreads, board, drawn = _boards(design, factor, cells, bootstrap)
    higher = higher_is_better or {}
    signs = np.array([[1.0 if higher.get(level, True) else -1.0] for level in levels])
    board, drawn = board * signs, None if drawn is None else drawn * signs
    shown = range(len(levels) if len(names) > 1 else 0)
    agreements = [
        board_agreement(
            (levels[a], levels[b]),
            (board[a], board[b]),
            None if drawn is None else (drawn[:, a], drawn[:, b]),
            bootstrap,
            persistence,
        )
        for a, b in combinations(shown, 2)
    ]
    samples = []
    if drawn is not None:
        samples = [_sample(levels[one], drawn[:, one], bootstrap, persistence) for one in shown]
    return Sensitivity(
        factor,
        levels,
        tuple(names),
        spreads,
        tuple(agreements),
        tuple(one for one in samples if one is not None),
        tuple(
            (level, tuple(names[i] for i in np.argsort(-row, kind="stable")))
            for level, row in zip(levels, board, strict=True)
        ),
        design.n,
        design.left_out,
    )


_Boards: TypeAlias = tuple[list[str], tuple[str, ...], tuple[Spread, ...], Floats, Floats | None]


def _boards(design: CrossedDesign, factor: str, cells: CellMeans, bootstrap: Bootstrap) -> _Boards:
    """Return systems, levels, spreads, and the means by level and system with their resamples."""
    if factor == DATA and all(one.name != DATA for one in design.factors):
        return _by_data(design, cells)
    place = _place(design, factor)
    levels = design.factors[place].levels
    names, table = _systems(design, place)
    spreads = tuple(
        _spread(name, row, levels, cells, bootstrap) for name, row in zip(names, table, strict=True)
    )
    board = cells.means.mean(axis=0)[table].T
    drawn = None
    if cells.drawn is not None:
        drawn = cells.drawn.mean(axis=1)[:, table].swapaxes(1, 2)
    return names, levels, spreads, board, drawn


def _by_data(design: CrossedDesign, cells: CellMeans) -> _Boards:
    """Return the boards of the data sets, whose queries are not the same."""
    levels = tuple(stratum.name for stratum in design.strata)
    if len(levels) == 1:
        raise DatasetError("there are not two data sets with scores of the same systems")
    return (
        [_name(design, row) for row in design.cells.tolist()],
        levels,
        (),
        cells.means,
        cells.drawn,
    )


def _name(design: CrossedDesign, row: Sequence[int], without: int = -1) -> str:
    """Return the levels of a cell as the name of its system."""
    shown = [
        factor.levels[code]
        for place, (factor, code) in enumerate(zip(design.factors, row, strict=True))
        if place != without
    ]
    return " · ".join(shown) or SYSTEM


def _place(design: CrossedDesign, factor: str) -> int:
    names = [one.name for one in design.factors]
    if factor not in names:
        known = f"; these vary: {', '.join(names)}" if names else ""
        raise DatasetError(f"{factor} has not two levels with the same queries{known}")
    return names.index(factor)


def _systems(design: CrossedDesign, place: int) -> tuple[list[str], Numbers]:
    """Return the systems under all levels, and the cell of each under each level."""
    others = [i for i in range(len(design.factors)) if i != place]
    found: dict[tuple[int, ...], dict[int, int]] = {}
    for cell, row in enumerate(design.cells.tolist()):
        found.setdefault(tuple(row[i] for i in others), {})[row[place]] = cell
    size = len(design.factors[place].levels)
    held = {row: cells for row, cells in found.items() if len(cells) == size}
    if not held:
        raise DatasetError(
            f"no system was measured under all levels of {design.factors[place].name}: "
            f"{', '.join(design.factors[place].levels)}"
        )
    first = [next(iter(cells.values())) for cells in held.values()]
    names = [_name(design, design.cells[cell].tolist(), place) for cell in first]
    return names, np.array([[cells[level] for level in range(size)] for cells in held.values()])


def _spread(
    system: str, row: Numbers, levels: Sequence[str], cells: CellMeans, bootstrap: Bootstrap
) -> Spread:
    """Return the spread of a system, whose cells by level are `row`."""
    count, size = cells.means.shape
    values = cells.means.mean(axis=0)[row]
    pairs = np.zeros((len(row) * (len(row) - 1) // 2, count, size))
    for one, (a, b) in enumerate(combinations(row.tolist(), 2)):
        pairs[one, :, a], pairs[one, :, b] = 1 / count, -1 / count
    each = np.zeros((len(row), count, size))
    each[np.arange(len(row)), :, row] = 1 / count
    _, own = cells.simultaneous(each, bootstrap.confidence)
    differences, intervals = cells.simultaneous(pairs, bootstrap.confidence)
    around = None
    if known := [ends for ends in intervals if ends is not None]:
        # The interval of an absolute difference contains 0 if that of the difference does.
        sizes = [(max(0.0, low, -high), max(high, -low)) for low, high in known]
        around = max(low for low, _ in sizes), max(high for _, high in sizes)
    centre = np.zeros((len(row), size))
    centre[np.arange(len(row)), row] = 1.0
    centre = (centre - centre.mean(axis=0)) / np.sqrt(len(row) - 1)
    vector = centre @ cells.means.mean(axis=0)
    noise = float(cells.noise(centre).mean()) / count
    drawn = None if cells.drawn is None else cells.drawn.mean(axis=1) @ centre.T
    deviation = float(np.sqrt(max(0.0, float(vector @ vector) - noise)))
    interval = None
    if drawn is not None and (found := bootstrap.interval(error_free_lengths(vector, drawn))):
        interval = min(found[0], deviation), max(found[1], deviation)
    return Spread(
        system,
        tuple(zip(levels, values.tolist(), own, strict=True)),
        float(np.abs(differences).max()),
        around,
        deviation,
        interval,
    )


def board_agreement(
    names: tuple[str, str],
    boards: Sequence[Floats],
    drawn: Sequence[Floats] | None,
    bootstrap: Bootstrap,
    persistence: float,
) -> RankingAgreement:
    """Return the agreement of two boards, with intervals over resamples of both.

    Args:
        names: the names of the two boards.
        boards: the scores of the same systems on each, shape (systems,).
        drawn: resampled scores, shape (resamples, systems); None for no intervals.
        bootstrap: the level of the intervals.
        persistence: of rank-biased overlap.
    """
    first, second = boards
    tau = float(kendall_tau(first, second))
    defined = bool(np.isfinite(tau))
    left, right = np.triu_indices(len(first), 1)
    orders = [np.sign(np.round(one[left] - one[right], 9)) for one in boards]
    taus = rbos = None
    if drawn is not None:
        taus = bootstrap.interval(kendall_tau(drawn[0], drawn[1])) if defined else None
        rbos = bootstrap.interval(rank_biased_overlap(drawn[0], drawn[1], persistence))
    return RankingAgreement(
        *names,
        tau=tau if defined else None,
        tau_interval=taus,
        rbo=float(rank_biased_overlap(first, second, persistence)),
        rbo_interval=rbos,
        swapped=int((orders[0] * orders[1] < 0).sum()),
        systems=len(first),
    )


def _sample(
    level: str, drawn: Floats, bootstrap: Bootstrap, persistence: float
) -> SampleAgreement | None:
    """Return the agreement of the boards of two resamples; None if it is undefined."""
    pair = drawn, np.roll(drawn, 1, axis=0)
    taus, rbos = kendall_tau(*pair), rank_biased_overlap(*pair, persistence)
    around = bootstrap.interval(taus)
    if around is None:
        return None
    overlap = bootstrap.interval(rbos)
    return SampleAgreement(level, float(np.nanmean(taus)), around, float(rbos.mean()), overlap)
