"""Systems that share an answer set or a ranking, so that a report shows each of them once.

Without retrieved passages a context does not depend on the retriever, and a ranking does not depend
on the generator. The store keeps such steps once, and their folders identify systems.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ragstone.results.leaderboards import Board
from ragstone.results.reader import StoredResults
from ragstone.statistics.ranks import best_group

Place = tuple[str, str]
"""(system, setting); the setting is empty for rankings."""


@dataclass(frozen=True)
class SameRows:
    """Systems with equal rows, which are shown once."""

    shown: Mapping[Place, tuple[str, ...]]
    """First system and setting -> the other systems with the same rows under it."""

    def is_first(self, system: str, setting: str) -> bool:
        """Return whether no earlier system has the same rows under the setting."""
        return (system, setting) in self.shown

    def others(self, system: str, setting: str) -> tuple[str, ...]:
        """Return the later systems with the same rows under the setting."""
        return self.shown.get((system, setting), ())

    def distinct(self, results: StoredResults) -> set[str]:
        """Return the systems whose answers without or with gold context are not all shared."""
        ends = ("none", str(results.record.oracle))
        return {name for name in results.systems if any(self.is_first(name, end) for end in ends)}


def same_rows(results: StoredResults) -> SameRows:
    """Return which systems have the same stored answers, or the same stored rankings."""
    first: dict[object, Place] = {}
    others: dict[Place, tuple[str, ...]] = {}
    record = results.record
    found: Iterable[tuple[Place, object]] = [
        *(((t.system, t.setting), replace(t, system="")) for t in record.trials),
        *(((r.system, ""), (r.run, r.scores)) for r in record.rankings),
    ]
    for place, rows in found:
        known = first.setdefault(rows, place)
        others[known] = (*others.get(known, ()), *([place[0]] if known != place else []))
    return SameRows(others)


def distinct_board(results: StoredResults, board: Board, same: SameRows) -> Board:
    """Return a board with each row once; its ranks and best groups are of the rows that it has."""
    rows = tuple(row for row in board.rows if same.is_first(row.system, board.setting))
    if len(rows) == len(board.rows):
        return board
    kept = {row.system for row in rows}
    found = {
        metric: results.standings[board.setting, metric].among(kept)
        for metric in board.metrics
        if (board.setting, metric) in results.standings
    }
    best = {metric: best_group(found.get(metric, {})) for metric in board.metrics}
    return replace(board, rows=rows, best=best, ranks=found.get(board.headline or "", {}))
