"""Several hops: the passages that each search of an answer found, those lost later, and the cost.

A system of several hops searches, reads, and searches again. A gold passage that no hop found is a
failure of the searches; one that a hop found and the final context does not contain was lost after
that hop. Trivedi et al., "Interleaving Retrieval with Chain-of-Thought Reasoning" (IRCoT, ACL 2023)
compare such systems by the recall over all hops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from ragstone.statistics.summary import Summary, summarise


@dataclass(frozen=True, slots=True)
class HopPath:
    """The searches for one answer."""

    gold: frozenset[str]
    """Gold passages of the query; empty if it has none."""
    found: tuple[frozenset[str], ...] | None
    """The passages of each hop; None if the query failed before it reported any."""
    context: frozenset[str] | None
    """The passages of the final context; None if it is not known."""
    right: float | None
    """1 for a right answer, 0 for a wrong one or a failure; None without a value."""
    cluster: Hashable

    @property
    def recalled(self) -> frozenset[str]:
        """The gold passages that any hop found."""
        return self.gold & frozenset().union(*(self.found or ()))

    @property
    def lost(self) -> dict[str, int]:
        """Gold passage that was found and is not in the context -> the last hop that found it."""
        if self.context is None:
            return {}
        return {
            passage_id: hop
            for hop, passages in enumerate(self.found or (), start=1)
            for passage_id in passages & self.gold - self.context
        }


@dataclass(frozen=True, slots=True)
class HopRow:
    """One hop of a system."""

    hop: int
    """The number of the hop, from 1."""
    queries: int
    """Queries with this hop."""
    recall: Summary
    """Share of the gold passages that this hop found, over the queries with this hop."""
    recall_so_far: Summary
    """Share that this hop or an earlier one found, over all queries with gold passages."""
    lost: int
    """Gold passages that this hop was the last to find, and that are not in the context."""


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """The answers by their number of search calls."""

    calls: int
    accuracy: Summary
    """Share of right answers among those with exactly this number of calls."""
    within: Summary
    """Share of the queries with a right answer if `calls` is the maximum: an answer that took more
    counts as wrong."""


@dataclass(frozen=True, slots=True)
class HopMeasures:
    """The searches of one system, over all its answers."""

    calls: Summary
    """Mean number of search calls."""
    by_hop: tuple[HopRow, ...]
    recall: Summary
    """Share of the gold passages that any hop found."""
    in_context: Summary
    """Share of the gold passages that the final context contains."""
    lost: Summary
    """Share that a hop found and the final context does not contain."""
    never_found: Summary
    """Share that is neither in a hop nor in the final context."""
    gold_passages: int
    """Gold passages behind the shares of the context."""
    by_calls: tuple[BudgetRow, ...]
    beyond: int
    """Answers with more calls than the last row."""


def hop_measures(paths: Sequence[HopPath], most: int) -> HopMeasures:
    """Return the measures of some answers.

    Args:
        paths: one per query whose searches are known, or that failed.
        most: maximum number of rows by hop, and of the highest number of calls of a row.

    >>> gold = frozenset({"a", "b"})
    >>> found = (frozenset({"a"}), frozenset({"b", "c"}))
    >>> row = hop_measures([HopPath(gold, found, frozenset({"b"}), 1.0, "q")], most=20)
    >>> row.recall.mean, row.in_context.mean, [hop.lost for hop in row.by_hop]
    (1.0, 0.5, [1, 0])
    """
    known = [path for path in paths if path.found is not None]
    judged = [path for path in known if path.gold]
    placed = [path for path in judged if path.context is not None]
    lost = Counter(hop for path in placed for hop in path.lost.values())
    longest = max((len(path.found or ()) for path in known), default=0)
    return HopMeasures(
        calls=_mean(known, lambda path: float(len(path.found or ())), bounds=None),
        by_hop=tuple(_hop(known, judged, hop, lost) for hop in range(1, min(longest, most) + 1)),
        recall=_mean(judged, lambda path: len(path.recalled) / len(path.gold)),
        in_context=_mean(placed, lambda p: len(p.gold & (p.context or set())) / len(p.gold)),
        lost=_mean(placed, lambda path: len(path.lost) / len(path.gold)),
        never_found=_mean(
            placed, lambda p: len(p.gold - p.recalled - (p.context or set())) / len(p.gold)
        ),
        gold_passages=sum(len(path.gold) for path in placed),
        by_calls=_budget(paths, most),
        beyond=sum(len(path.found or ()) > most for path in known),
    )


def _mean(
    paths: Sequence[HopPath],
    value: Callable[[HopPath], float],
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> Summary:
    clusters = [path.cluster for path in paths]
    return summarise([value(path) for path in paths], clusters=clusters, bounds=bounds)


def _hop(
    known: Sequence[HopPath], judged: Sequence[HopPath], hop: int, lost: Counter[int]
) -> HopRow:
    def recall(path: HopPath) -> float:
        return len(path.gold & (path.found or ())[hop - 1]) / len(path.gold)

    def so_far(path: HopPath) -> float:
        return len(path.gold & frozenset().union(*(path.found or ())[:hop])) / len(path.gold)

    return HopRow(
        hop=hop,
        queries=sum(len(path.found or ()) >= hop for path in known),
        recall=_mean([path for path in judged if len(path.found or ()) >= hop], recall),
        recall_so_far=_mean(judged, so_far),
        lost=lost[hop],
    )


def _budget(paths: Sequence[HopPath], most: int) -> tuple[BudgetRow, ...]:
    """Return a row per number of calls that an answer took, up to `most`."""
    valued = [path for path in paths if path.right is not None]
    used = sorted({len(path.found) for path in valued if path.found is not None})
    return tuple(_budget_row(valued, calls) for calls in used if calls <= most)


def _budget_row(valued: Sequence[HopPath], calls: int) -> BudgetRow:
    def within(path: HopPath) -> float:
        return (path.right or 0.0) * (_took(path) <= calls)

    return BudgetRow(
        calls=calls,
        accuracy=_mean([p for p in valued if _took(p) == calls], lambda path: path.right or 0.0),
        within=_mean(valued, within),
    )


def _took(path: HopPath) -> float:
    """Return the number of calls; a failed query took more than any budget."""
    return float("inf") if path.found is None else len(path.found)
