"""The results of two groups of different queries side by side, with their differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from ragstone.core.tables import TextTable
from ragstone.statistics.failures import summarise_scores
from ragstone.statistics.independent import independent_difference
from ragstone.statistics.summary import Summary, clusters_of

if TYPE_CHECKING:
    from ragstone.results.reader import StoredResults
    from ragstone.types import Score

_LEVEL: Final = 0.95
JOINTLY: Final = (
    "The intervals of a metric hold together at 95 % (Bonferroni). Difference: {1} minus {0}, "
    "of different queries."
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


def group_rows(
    results: StoredResults,
    first: AbstractSet[str],
    second: AbstractSet[str],
    system: str | None = None,
    setting: str | None = None,
) -> list[GroupRow]:
    """Return a row per cell of the results.

    The level of the intervals is corrected for the number of rows of the metric.

    Args:
        results: the results.
        first: ids of the queries of the first group.
        second: those of the second; it shares no query and no cluster with the first.
        system: only this one.
        setting: only this one, and the rankings.
    """
    cells = [
        (rows.system, rows.setting, metric, scores)
        for rows in (*results.trials, *results.rankings)
        for metric, scores in rows.scores.items()
        if system in (None, rows.system) and (setting is None or rows.setting in ("", setting))
    ]
    family = Counter(metric for _, _, metric, _ in cells)
    groups = first, second
    return [_row(results, cell, groups, 1 - (1 - _LEVEL) / family[cell[2]]) for cell in cells]


def _row(
    results: StoredResults,
    cell: tuple[str, str, str, Mapping[str, Score]],
    groups: tuple[AbstractSet[str], AbstractSet[str]],
    confidence: float,
) -> GroupRow:
    system, setting, metric, scores = cell
    scale = results.record.scale(metric)

    def summary(group: AbstractSet[str]) -> Summary:
        ids = [q for q in scores if q in group]
        return summarise_scores(
            [scores[q].value for q in ids],
            [scores[q].status for q in ids],
            scale,
            clusters=clusters_of(ids, results.clusters),
            confidence=confidence,
        )

    sides = summary(groups[0]), summary(groups[1])
    difference, interval = independent_difference(*sides)
    differs = interval is not None and not interval[0] <= 0 <= interval[1]
    lower = scale.direction == "lower"
    worse = (difference or 0.0) < 0 if not lower else (difference or 0.0) > 0
    known = differs and scale.direction != "neutral"
    return GroupRow(system, setting, metric, *sides, difference, interval, worse if known else None)


def group_table(
    rows: list[GroupRow], names: tuple[str, str], title: str, sentence: str
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
    return TextTable(head, lines, title, below=[sentence, JOINTLY.format(*names)])


def _side(one: Summary) -> Iterator[str]:
    ends = "" if one.interval is None else f" [{one.interval[0]:.3f}, {one.interval[1]:.3f}]"
    yield "-" if one.mean is None else f"{one.mean:.3f}{ends}"
    yield f"{one.n:,}" + (f" ({one.failed:,} failed)" if one.failed else "")


def _gap(row: GroupRow) -> str:
    if row.difference is None:
        return "-"
    ends = "" if row.interval is None else f" [{row.interval[0]:+.3f}, {row.interval[1]:+.3f}]"
    return f"{row.difference:+.3f}{ends}"
