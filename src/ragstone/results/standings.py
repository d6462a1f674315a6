"""Ranks, groups and comparisons of an experiment's systems, by tests that are corrected together.

The comparisons by the headline metric, under all settings, are one family of tests; those by all
other metrics are another one. A metric that nobody chose in advance thus does not make the headline
harder to decide.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from ragstone.core import limits
from ragstone.results.record import Record
from ragstone.results.scored_rows import Cell, ScoredRows
from ragstone.statistics.failures import difference_between
from ragstone.statistics.paired import Difference, adjust
from ragstone.statistics.ranks import Place, places
from ragstone.statistics.significance import Family, SystemPair, judge

RETRIEVAL_HEADLINE: Final = "nDCG@10"
CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Standing:
    """The systems under one setting by one metric; the setting is empty for ranking metrics."""

    setting: str
    metric: str
    headline: bool
    places: Mapping[str, Place]
    """System -> place, best mean first."""
    pairs: Mapping[frozenset[str], SystemPair]
    """Two systems -> their comparison; an interval only by the headline metric."""

    def among(self, systems: Collection[str]) -> dict[str, Place]:
        """Return the places of some of the systems among each other, by the same tests."""
        kept = [system for system in self.places if system in systems]
        return places(kept, _better(p for p in self.pairs.values() if {p.a, p.b} <= set(kept)))

    def outcome(self, system: str, other: str) -> str:
        """Return whether a system is better or worse than another one, or undecided."""
        pair = self.pairs.get(frozenset((system, other)))
        if pair is None:
            return "undecided"
        reverse = {"better": "worse", "worse": "better"}
        return pair.outcome if pair.b == system else reverse.get(pair.outcome, pair.outcome)


def headline_of(metrics: Sequence[str], record: Record) -> str | None:
    """Return the headline among the metrics of a board: the file's, else a default.

    The default is the metric of correct answers, nDCG@10, or the first one with a better direction.
    """
    directed = [name for name in metrics if record.metric(name).direction != "neutral"]
    chosen = (record.headline, RETRIEVAL_HEADLINE)
    return next((name for name in chosen if name in directed), directed[0] if directed else None)


def standings(
    cells: Sequence[Cell],
    rows: Sequence[ScoredRows],
    record: Record,
    clusters: Mapping[str, str],
) -> dict[tuple[str, str], Standing]:
    """Return (setting, metric) -> standing, for metrics with a better direction."""
    boards: dict[str, dict[str, list[Cell]]] = {}
    for cell in cells:
        if record.metric(cell.metric).direction != "neutral" and cell.summary.mean is not None:
            boards.setdefault(cell.setting, {}).setdefault(cell.metric, []).append(cell)
    headlines = {setting: headline_of(list(held), record) for setting, held in boards.items()}
    tests = _Tests(record, clusters, {(one.system, one.setting): one for one in rows})
    every = [tests.ordered(held) for board in boards.values() for held in board.values()]
    found: list[Standing] = []
    for headline in (True, False):
        boards_of = [b for b in every if (b[0].metric == headlines[b[0].setting]) is headline]
        found += tests.family(boards_of, headline=headline)
    return {(one.setting, one.metric): one for one in found}


@dataclass(frozen=True)
class _Tests:
    """The tests of an experiment; a board is a list of cells with one setting and one metric."""

    record: Record
    clusters: Mapping[str, str]
    rows: Mapping[tuple[str, str], ScoredRows]

    def ordered(self, board: Sequence[Cell]) -> list[Cell]:
        """Return the cells of a board, best mean first."""
        lower = self.record.metric(board[0].metric).direction == "lower"
        return sorted(board, key=lambda cell: cell.summary.mean or 0.0, reverse=not lower)

    def family(self, boards: Sequence[list[Cell]], *, headline: bool) -> Iterator[Standing]:
        """Yield the standings of boards whose tests are corrected together."""
        gaps = [list(self._gaps(board, headline=headline)) for board in boards]
        # Without a query that differs no test can find anything (Tarone 1990).
        tested = [gap for found in gaps for _, _, gap in found if gap.wins or gap.losses]
        correction = self.record.correction
        family = Family(1 - CONFIDENCE, len(tested), correction)
        corrected = adjust([gap.p for gap in tested], correction)
        adjusted = dict(zip(map(id, tested), corrected, strict=True))
        for board, found in zip(boards, gaps, strict=True):
            setting, metric = board[0].setting, board[0].metric
            failed = {cell.system: cell.summary.failed for cell in board}
            pairs = {
                frozenset((a, b)): judge(
                    a,
                    b,
                    gap,
                    adjusted.get(id(gap), 1.0),
                    family,
                    scale=self.record.scale(metric),
                    failed=(failed[a], failed[b]),
                )
                for a, b, gap in found
            }
            ranked = places([cell.system for cell in board], _better(pairs.values()))
            yield Standing(setting, metric, headline, ranked, pairs)

    def _gaps(
        self, board: Sequence[Cell], *, headline: bool
    ) -> Iterator[tuple[str, str, Difference]]:
        """Yield two systems and the difference of the second from the first.

        If there are many systems, each is compared with the best one only.
        """
        metric = board[0].metric
        scores = {c.system: self.rows[c.system, c.setting].scores[metric] for c in board}
        pairs = list(combinations(scores, 2))
        if len(scores) > limits.MAX_RANKED_SYSTEMS:
            pairs = pairs[: len(scores) - 1]
        options: Any = {"confidence": CONFIDENCE if headline else None}
        scale = self.record.scale(metric)
        for best, other in pairs:
            found = difference_between(scores[other], scores[best], scale, self.clusters, **options)
            if found is not None:
                yield other, best, found


def _better(pairs: Iterable[SystemPair]) -> list[tuple[str, str]]:
    """Return the better and the worse system of each significant pair."""
    shown = (pair for pair in pairs if pair.significant)
    return [(p.b, p.a) if p.outcome == "better" else (p.a, p.b) for p in shown]
