"""Agreement of two orders of systems, such as a judge's and people's: by run and by query.

By run, systems are ordered by their means over all answers. By query, they are ordered within each
query, and the agreement is averaged over queries. The first can be perfect although the second is
low: errors on single answers cancel in means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ragstone.core import limits
from ragstone.errors import DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.correlation import Column
from ragstone.statistics.proportions import Proportion, proportion, t_p
from ragstone.statistics.ranking_agreement import kendall_tau, rank_correlation, tau_ap
from ragstone.statistics.resampling import Bootstrap, Coefficient
from ragstone.statistics.summary import Summary, cluster_numbers, summarise

_MEASURES: Final[Mapping[str, Callable[[Floats, Floats], Floats]]] = {
    "kendall": kendall_tau,
    "tau_ap": tau_ap,
    "spearman": rank_correlation,
}
_LEVEL: Final = 0.05
_RANGE: Final = (-1.0, 1.0)


@dataclass(frozen=True)
class RatedAnswers:
    """Whose answers some columns rate: one entry per answer."""

    systems: Sequence[str]
    queries: Sequence[Hashable]
    clusters: Sequence[Hashable]
    """Queries that depend on each other, such as turns of a conversation, are drawn together."""


@dataclass(frozen=True, slots=True)
class SystemMeans:
    """The means of one system over the answers that both sides rated."""

    system: str
    answers: Proportion
    """Share of the system's answers that the judged side rated."""
    reference: float | None
    judged: float | None


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """The agreement of the judged order of systems with the reference."""

    systems: tuple[SystemMeans, ...]
    """The best by the reference first."""
    answers: Proportion
    """Share of the answers of the reference that the judged side rated."""
    covered: Proportion
    """Share of the systems with an answer that both sides rated."""
    by_run: Mapping[str, Coefficient]
    """kendall, tau_ap and spearman of the means; n is the number of systems."""
    by_query: Mapping[str, Summary]
    """The same within each query, averaged over queries."""
    swapped: int
    """Pairs of systems in the opposite order."""
    pairs: int
    reversed: tuple[tuple[str, str], ...]
    """(better, worse by the reference): pairs that a test separates on both sides, in opposite
    directions."""


def order_agreement(
    reference: Column,
    judged: Column,
    answers: RatedAnswers,
    *,
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> OrderAgreement | None:
    """Return how well the judged values order systems as the reference does.

    The means are over the answers with both values. A query counts for the agreement by query if
    the reference sees a difference between two of its systems; if the judged side sees none, its
    agreement is 0. The intervals by run are percentiles of the bootstrap over clusters.

    Args:
        reference: one value per answer, such as people's; None without one.
        judged: the judge's values, in the same order.
        answers: system, query and cluster of each answer.
        confidence: of the intervals.
        resamples: number of resamples.
        seed: of the resamples.

    Returns:
        None with fewer than two systems.

    Raises:
        DatasetError: columns of unequal length.

    >>> rated = RatedAnswers(["a", "b"] * 3, [1, 1, 2, 2, 3, 3], [1, 1, 2, 2, 3, 3])
    >>> found = order_agreement([1, 0, 1, 0, 1, 1], [1, 0, 0, 1, 1, 0], rated, resamples=100)
    >>> found.by_run["kendall"].value, found.by_query["kendall"].mean, found.by_query["kendall"].n
    (1.0, 0.0, 2)
    """
    _check_lengths(reference, judged, answers)
    rated = [place for place, value in enumerate(reference) if value is not None]
    names = list(dict.fromkeys(answers.systems[place] for place in rated))
    if len(names) < 2:  # noqa: PLR2004 - one system has no order
        return None
    both = [place for place in rated if judged[place] is not None]
    board = _Board(
        np.array([names.index(answers.systems[place]) for place in both], dtype=np.int64),
        np.array([[reference[place], judged[place]] for place in both], dtype=float).reshape(-1, 2),
        len(names),
    )
    bootstrap = Bootstrap(confidence, resamples, seed)
    means = board.means(np.ones((1, len(both))))[0]
    drawn = _drawn(board, [answers.clusters[place] for place in both], bootstrap)
    pairs = list(combinations(range(len(names)), 2))
    gaps = np.array([[row[a] - row[b] for a, b in pairs] for row in means])
    return OrderAgreement(
        systems=tuple(_systems(answers.systems, names, means, rated, both)),
        answers=proportion(len(both), len(rated)),
        covered=proportion(int(np.isfinite(means[1]).sum()), len(names)),
        by_run={name: _by_run(name, means, drawn, bootstrap) for name in _MEASURES},
        by_query=_by_query(board, answers, both, confidence),
        swapped=int((np.round(gaps[0], 9) * np.round(gaps[1], 9) < 0).sum()),
        pairs=len(pairs),
        reversed=tuple(_reversed(names, gaps, drawn, pairs)),
    )


def _check_lengths(reference: Column, judged: Column, answers: RatedAnswers) -> None:
    if not len(reference) == len(judged) == len(answers.systems):
        raise DatasetError(
            f"{len(answers.systems)} answers, but {len(reference)} values of the reference and "
            f"{len(judged)} judged ones"
        )


def _systems(
    systems: Sequence[str],
    names: Sequence[str],
    means: Floats,
    rated: Sequence[int],
    both: Sequence[int],
) -> Iterator[SystemMeans]:
    """Yield the means of each system with their coverage, the best by the reference first."""
    own, covered = (Counter(systems[place] for place in places) for places in (rated, both))
    reference = np.nan_to_num(means[0], nan=-np.inf)
    for one in np.argsort(-reference, kind="stable").tolist():
        name = names[one]
        answers = proportion(covered[name], own[name])
        yield SystemMeans(name, answers, _known(means[0, one]), _known(means[1, one]))


@dataclass(frozen=True)
class _Board:
    """The answers with both values: the number of the system, (reference, judged), systems."""

    systems: np.ndarray[tuple[int], np.dtype[np.int64]]
    values: Floats
    size: int

    def means(self, weights: Floats) -> Floats:
        """Return the means of each side and system, shape (rows, 2, systems); NaN without one."""
        own = self.systems[:, None] == np.arange(self.size)
        totals = weights @ own
        sums = np.stack([weights @ (own * side[:, None]) for side in self.values.T], axis=1)
        known = np.where(totals > 0, totals, np.nan)
        found: Floats = sums / known[:, None, :]
        return found


def _drawn(
    board: _Board, clusters: Sequence[Hashable], bootstrap: Bootstrap
) -> tuple[Floats, int] | None:
    """Return the resampled means and the number of clusters; None with fewer than two clusters."""
    members, size = cluster_numbers(clusters), len(set(clusters))
    if size < 2:  # noqa: PLR2004 - one cluster shows no spread
        return None
    width = max(len(members), board.size**2)
    counts = bootstrap.counts(size, width=width)
    return np.concatenate([board.means(drawn[:, members].astype(float)) for drawn in counts]), size


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _compared(name: str, boards: Floats) -> Floats:
    """Return a measure of rows of (reference, judged); NaN if the reference sees no difference.

    It is 0 if only the judged side sees none.
    """
    reference, judged = boards[:, 0], boards[:, 1]
    whole = np.asarray(np.isfinite(boards).all(axis=(1, 2)))
    differs, sees = (_differs(side, whole) for side in (reference, judged))
    found = np.full(len(boards), np.nan)
    found[whole & differs] = 0.0
    step = max(1, limits.RESAMPLED_COUNTS // boards.shape[2] ** 2)
    places = np.flatnonzero(whole & differs & sees)
    for start in range(0, len(places), step):
        part = places[start : start + step]
        sides = (reference, judged) if name != "tau_ap" else (judged, reference)
        first, second = sides[0][part], sides[1][part]
        found[part] = _MEASURES[name](first, second)
    return found


def _differs(rows: Floats, whole: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether each row that is `whole` has two different values."""
    rounded = np.round(np.where(whole[:, None], rows, 0.0), 9)
    return np.asarray(rounded.max(axis=1, initial=-np.inf) > rounded.min(axis=1, initial=np.inf))


def _by_run(
    name: str, means: Floats, drawn: tuple[Floats, int] | None, bootstrap: Bootstrap
) -> Coefficient:
    covered = np.isfinite(means).all(axis=0)
    held = means[None, :, covered]
    value = _known(float(_compared(name, held)[0])) if covered.sum() > 1 else None
    n, left_out, interval = int(covered.sum()), int((~covered).sum()), None
    if value is not None and drawn is not None:
        interval = bootstrap.interval(_compared(name, drawn[0][:, :, covered]))
    return Coefficient(value, n, left_out, interval)


def _by_query(
    board: _Board, answers: RatedAnswers, both: Sequence[int], confidence: float
) -> dict[str, Summary]:
    """Return each measure averaged over the queries with answers of two systems or more."""
    queries, clusters = (
        [column[place] for place in both] for column in (answers.queries, answers.clusters)
    )
    places: dict[Hashable, list[int]] = {}
    for place, query in enumerate(queries):
        places.setdefault(query, []).append(place)
    groups: dict[tuple[int, ...], tuple[list[Floats], list[Hashable]]] = {}
    for own in places.values():
        means = _Board(board.systems[own], board.values[own], board.size).means(
            np.ones((1, len(own)))
        )
        shown = tuple(np.flatnonzero(np.isfinite(means[0, 0])).tolist())
        if len(shown) > 1:
            rows, names = groups.setdefault(shown, ([], []))
            rows.append(means[0][:, shown])
            names.append(clusters[own[0]])
    names = [name for _, held in groups.values() for name in held]
    found = {}
    for measure in _MEASURES:
        values = [
            value for rows, _ in groups.values() for value in _compared(measure, np.stack(rows))
        ]
        kept = [place for place, value in enumerate(values) if np.isfinite(value)]
        found[measure] = summarise(
            [float(values[place]) for place in kept],
            clusters=[names[place] for place in kept],
            confidence=confidence,
            not_applicable=len(places) - len(kept),
            bounds=_RANGE,
        )
    return found


def _reversed(
    names: Sequence[str],
    gaps: Floats,
    drawn: tuple[Floats, int] | None,
    pairs: Sequence[tuple[int, int]],
) -> Iterator[tuple[str, str]]:
    """Yield the pairs (better, worse) that both sides separate, in opposite directions.

    The test is Student's with the standard error of the resamples, at 0.05 over the number of
    pairs (Bonferroni). With too few clusters for a sign test at this level, no pair is named: two
    clusters with equal gaps have no spread, and prove nothing.
    """
    if drawn is None:
        return
    boards, clusters = drawn

    def separated(gap: float, error: float) -> bool:
        return error == 0 or t_p(gap / error, clusters - 1) < level

    level = _LEVEL / len(pairs)
    if 2.0 ** (1 - clusters) > level:
        return
    for (a, b), gap in zip(pairs, gaps.T, strict=True):
        drawn_gaps = boards[:, :, a] - boards[:, :, b]
        known = drawn_gaps[np.isfinite(drawn_gaps).all(axis=1)]
        opposite = len(known) > 1 and gap[0] * gap[1] < 0
        if opposite and all(map(separated, gap.tolist(), known.std(axis=0).tolist())):
            yield (names[a], names[b]) if gap[0] > 0 else (names[b], names[a])
