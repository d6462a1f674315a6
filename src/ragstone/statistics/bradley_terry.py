"""Strengths of systems from battles in pairs: Bradley and Terry's model, by maximum likelihood.

Bradley and Terry, "Rank Analysis of Incomplete Block Designs" (Biometrika, 1952): system a beats b
with probability 1 / (1 + exp(strength b - strength a)). A tie is half a win of either side, as in
Elo's scores. Strengths are in logits, and their mean is 0.

If one group of systems wins every battle against the rest, no finite strengths are most likely. A
virtual tie of each pair of systems is then added to the battles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.resampling import Bootstrap
from ragstone.types import one_line

Flags: TypeAlias = NDArray[np.bool_]
_VIRTUAL: Final = 0.5
"""Wins of each system over each other one in a virtual tie."""
_STEPS: Final = 100
_STEP_BOUND: Final = 2.0
"""Longest step of a strength, in logits: Newton's steps may overshoot at first."""
_PRECISION: Final = 1e-9
RESAMPLES: Final = 2000


@dataclass(frozen=True, slots=True)
class Battle:
    """The outcome of one comparison of two systems on one query."""

    query_id: str
    a: str
    b: str
    value: float
    """1 if `a` wins, 0.5 for a tie, 0 if `b` wins."""


@dataclass(frozen=True, slots=True)
class Strength:
    """The strength of one system, and its rank."""

    system: str
    strength: float
    """The strength in logits; the mean of all systems is 0."""
    interval: tuple[float, float] | None
    """95 % over resampled queries; None with fewer than two queries."""
    win_rate: float
    """Expected share of battles won against the other systems, each met equally often."""
    rank: int
    rank_interval: tuple[int, int] | None
    """From 1 plus the number of stronger systems to the number of those that are not weaker. One is
    stronger if the interval of the difference of their strengths excludes 0."""
    n: int
    """Battles of the system."""
    wins: float
    """Wins, with ties as halves."""

    __repr__ = one_line


@dataclass(frozen=True, slots=True)
class BradleyTerry:
    """The strengths of systems, the strongest first."""

    strengths: tuple[Strength, ...]
    battles: int
    ties: int
    queries: int
    regularised: bool
    """Whether virtual ties were added, because some systems win all battles against the others."""
    regularised_resamples: float
    """Share of the resamples to which virtual ties were added."""

    __repr__ = one_line


def bradley_terry(battles: Sequence[Battle], bootstrap: Bootstrap | None = None) -> BradleyTerry:
    """Return the strengths of the systems in some battles, with intervals over queries.

    Args:
        battles: the outcomes; the battles of a query are resampled together.
        bootstrap: number and seed of the resamples (default: 2,000, seed 0).

    Raises:
        DatasetError: there is no battle, a system fights itself, a value is not 1, 0.5 or 0, or
            battles do not connect all systems.

    >>> won = [Battle(str(n), "a", "b", 1.0) for n in range(3)]
    >>> found = bradley_terry([*won, Battle("3", "a", "b", 0.0)])
    >>> [(one.system, round(one.strength, 4)) for one in found.strengths]  # log(3) / 2
    [('a', 0.5493), ('b', -0.5493)]
    """
    names, wins = _win_tables(battles)
    total = wins.sum(axis=0)
    _require_connected(names, total)
    strengths, regularised = _fitted(total[None])
    clusters = len(wins)
    sizes = bootstrap or Bootstrap(resamples=RESAMPLES)
    drawn: Floats | None = None
    share = 0.0
    if clusters > 1:
        resampled = sizes.sums(wins.reshape(clusters, -1)).reshape(-1, len(names), len(names))
        drawn, added = _fitted(resampled)
        share = float(added.mean())
    found = _strengths(names, total, strengths[0], drawn, sizes.confidence)
    ties = sum(battle.value == 0.5 for battle in battles)  # noqa: PLR2004 - a tie
    return BradleyTerry(found, len(battles), ties, clusters, bool(regularised[0]), share)


def _win_tables(battles: Sequence[Battle]) -> tuple[list[str], Floats]:
    """Return the systems, and for each query the wins of each system over each other one."""
    if not battles:
        raise DatasetError("there is no battle between two systems")
    for battle in battles:
        if battle.a == battle.b or battle.value not in (0.0, 0.5, 1.0):
            raise DatasetError(
                f"a battle has two systems and the value 1, 0.5 or 0; found {battle}"
            )
    names = sorted({name for battle in battles for name in (battle.a, battle.b)})
    places = {name: place for place, name in enumerate(names)}
    queries = {query: n for n, query in enumerate(dict.fromkeys(one.query_id for one in battles))}
    wins = np.zeros((len(queries), len(names), len(names)))
    for battle in battles:
        query, a, b = queries[battle.query_id], places[battle.a], places[battle.b]
        wins[query, a, b] += battle.value
        wins[query, b, a] += 1 - battle.value
    return names, wins


def _reachable(links: Flags) -> Flags:
    """Return for each table of links which systems each one reaches, itself included."""
    found = links | np.eye(links.shape[-1], dtype=np.bool_)
    for _ in range(max(1, int(np.ceil(np.log2(links.shape[-1]))))):
        found = np.asarray((found.astype(np.float32) @ found.astype(np.float32)) > 0)
    return found


def _require_connected(names: Sequence[str], total: Floats) -> None:
    met = np.asarray((total + total.T) > 0)
    reached = _reachable(met[None])[0, 0]
    if not reached.all():
        one = [name for name, is_met in zip(names, reached, strict=True) if is_met]
        rest = [name for name in names if name not in one]
        raise DatasetError(
            f"no battle connects {', '.join(one)} with {', '.join(rest)}: their strengths cannot "
            "be compared; add battles between them"
        )


def _fitted(wins: Floats) -> tuple[Floats, Flags]:
    """Return the strengths of each table of wins, and whether virtual ties were added to it.

    Newton's method on the concave likelihood; every table is a fit of its own.
    """
    size = wins.shape[-1]
    added = np.logical_not(_reachable(np.asarray(wins > 0)).all(axis=(1, 2)))
    virtual = _VIRTUAL * (1 - np.eye(size))
    wins = wins + added[:, None, None] * virtual
    met, won = wins + wins.transpose(0, 2, 1), wins.sum(axis=2)
    strengths = np.zeros(wins.shape[:2])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(strengths[:, None, :] - strengths[:, :, None]))
        weights = met * chance * (1 - chance)
        # The constant added to the matrix fixes the mean of the strengths at 0.
        matrix = np.eye(size) * weights.sum(axis=2)[:, :, None] - weights + 1 / size
        step = np.linalg.solve(matrix, (won - (met * chance).sum(axis=2))[:, :, None])[:, :, 0]
        strengths += np.clip(step, -_STEP_BOUND, _STEP_BOUND)
        strengths -= strengths.mean(axis=1, keepdims=True)
        if np.abs(step).max() < _PRECISION:
            break
    return strengths, added


def _strengths(
    names: Sequence[str],
    total: Floats,
    fitted: Floats,
    drawn: Floats | None,
    confidence: float,
) -> tuple[Strength, ...]:
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    size = len(names)
    low, high = np.zeros((2, size, size))
    intervals = None
    if drawn is not None:
        low, high = np.quantile(drawn[:, :, None] - drawn[:, None, :], tails, axis=0)
        intervals = np.quantile(drawn, tails, axis=0)
    met = (total + total.T).sum(axis=1)
    chance = 1 / (1 + np.exp(fitted[None, :] - fitted[:, None]))
    found = [
        Strength(
            system=name,
            strength=float(fitted[i]),
            interval=None
            if intervals is None
            else (float(intervals[0, i]), float(intervals[1, i])),
            win_rate=float((chance[i].sum() - 0.5) / (size - 1)),
            rank=1 + int((fitted > fitted[i] + _PRECISION).sum()),
            rank_interval=None
            if drawn is None
            else (1 + int((high[i] < 0).sum()), size - int((low[i] > 0).sum())),
            n=round(float(met[i])),
            wins=float(total[i].sum()),
        )
        for i, name in enumerate(names)
    ]
    return tuple(sorted(found, key=lambda one: (one.rank, one.system)))
