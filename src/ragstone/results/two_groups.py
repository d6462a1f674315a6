"""Two groups of scores side by side, of different queries or of the same, with differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ragstone.core.tables import TextTable
from ragstone.results.wording import mean_text
from ragstone.statistics.failures import difference_between, summarise_scores
from ragstone.statistics.independent import independent_difference
from ragstone.statistics.summary import Summary, clusters_of

if TYPE_CHECKING:
    from ragstone.results.reader import StoredResults
    from ragstone.types import Score

_LEVEL: Final = 0.95
_JOINTLY: Final = (
    "The intervals of a metric hold together at 95 % (Bonferroni). Difference: {1} minus {0}, "
    "of {2} queries."
)


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One metric of a system under a setting, over each of two groups of queries."""

    system: str
    setting: str
    """Empty for ranking metrics."""
    metric: str
    first: Summary
    second: Summary
    difference: float | None
    """The mean of the second group minus that of the first."""
    interval: tuple[float, float] | None
    worse: bool | None
    """Whether the second group is worse; None if the groups are not shown to differ."""

    @property
    def place(self) -> str:
        """The system, and its setting if it has one.

        >>> one = Summary(0.5, 10)
        >>> GroupRow("mine", "gold", "EM", one, one, 0.0, None, None).place
        'mine under gold'
        """
        return f"{self.system}{f' under {self.setting}' if self.setting else ''}"

    def document(self, first: str, second: str) -> dict[str, Any]:
        """Return plain data with the names of the groups."""
        names = {"first": first, "second": second}
        return {names.get(key, key): value for key, value in asdict(self).items()}


class GroupCell(NamedTuple):
    """The scores of one metric of a system under a setting, in each of two groups."""

    system: str
    setting: str
    metric: str
    first: Mapping[str, Score]
    second: Mapping[str, Score]


def group_rows(
    results: StoredResults,
    first: AbstractSet[str],
    second: AbstractSet[str],
    system: str | None = None,
    setting: str | None = None,
) -> list[GroupRow]:
    """Return a row per cell of the results.

    Args:
        results: the results.
        first: ids of the queries of the first group.
        second: those of the second; it shares no query and no cluster with the first.
        system: only this one.
        setting: only this one, and the rankings.
    """
    cells = (
        GroupCell(rows.system, rows.setting, metric, _of(scores, first), _of(scores, second))
        for rows in (*results.trials, *results.rankings)
        for metric, scores in rows.scores.items()
    )
    return compared_rows(results, cells, system, setting)


def _of(scores: Mapping[str, Score], group: AbstractSet[str]) -> dict[str, Score]:
    return {query_id: score for query_id, score in scores.items() if query_id in group}


def compared_rows(
    results: StoredResults,
    cells: Iterable[GroupCell],
    system: str | None = None,
    setting: str | None = None,
    *,
    paired: bool = False,
) -> list[GroupRow]:
    """Return a row per cell; `paired` if both groups have scores of the same queries.

    The level of the intervals is corrected for the number of rows of the metric.
    """
    chosen = [
        cell
        for cell in cells
        if system in (None, cell.system) and (setting is None or cell.setting in ("", setting))
    ]
    family = Counter(cell.metric for cell in chosen)
    return [
        _row(results, cell, 1 - (1 - _LEVEL) / family[cell.metric], paired=paired)
        for cell in chosen
    ]


def _row(results: StoredResults, cell: GroupCell, confidence: float, *, paired: bool) -> GroupRow:
    scale = results.record.scale(cell.metric)

    def summary(scores: Mapping[str, Score]) -> Summary:
        return summarise_scores(
            [score.value for score in scores.values()],
            [score.status for score in scores.values()],
            scale,
            clusters=clusters_of(scores, results.clusters),
            confidence=confidence,
        )

    sides = summary(cell.first), summary(cell.second)
    if paired:
        given = cell.first, cell.second, scale, results.clusters
        found = difference_between(*given, confidence=confidence)
        difference, interval = (found.difference, found.interval) if found else (None, None)
    else:
        difference, interval = independent_difference(*sides)
    differs = interval is not None and not interval[0] <= 0 <= interval[1]
    lower = scale.direction == "lower"
    worse = (difference or 0.0) < 0 if not lower else (difference or 0.0) > 0
    known = differs and scale.direction != "neutral"
    return GroupRow(*cell[:3], *sides, difference, interval, worse if known else None)


def group_table(
    rows: list[GroupRow],
    names: tuple[str, str],
    title: str,
    sentence: str,
    *,
    paired: bool = False,
) -> TextTable:
    """Return the rows as a table, with a sentence and a note on the intervals below."""
    first, second = names
    head = ("system", "setting", "metric", first, f"n {first}", second, f"n {second}", "difference")
    lines = [
        (
            *(row.system, row.setting or "retrieval", row.metric),
            *_side(row.first),
            *_side(row.second),
            _gap(row),
        )
        for row in rows
    ]
    return TextTable(head, lines, title, below=[sentence, jointly(*names, paired=paired)])


def jointly(first: str, second: str, *, paired: bool = False) -> str:
    """Return the note on the intervals and the differences of two groups."""
    return _JOINTLY.format(first, second, "the same" if paired else "different")


def _side(one: Summary) -> Iterator[str]:
    yield mean_text(one)
    yield f"{one.n:,}" + (f" ({one.failed:,} failed)" if one.failed else "")


def _gap(row: GroupRow) -> str:
    if row.difference is None:
        return "-"
    ends = "" if row.interval is None else f" [{row.interval[0]:+.3f}, {row.interval[1]:+.3f}]"
    return f"{row.difference:+.3f}{ends}"
