"""The open and the secret share of the queries side by side, once the secret one is revealed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from ragstone.core.tables import TextTable
from ragstone.results.wording import mean_text
from ragstone.statistics.failures import summarise_scores
from ragstone.statistics.independent import independent_difference
from ragstone.statistics.summary import Summary, clusters_of

if TYPE_CHECKING:
    from ragstone.results.reader import StoredResults
    from ragstone.types import Score

_LEVEL: Final = 0.95
_NOTE: Final = (
    "The intervals of a metric hold together at 95 % (Bonferroni). Difference: secret minus open, "
    "of different queries."
)


@dataclass(frozen=True, slots=True)
class ShareRow:
    """One metric of a system under a setting, over the open and over the secret queries."""

    system: str
    setting: str
    """Empty for ranking metrics."""
    metric: str
    open: Summary
    secret: Summary
    difference: float | None
    """The mean of the secret queries minus that of the open ones."""
    interval: tuple[float, float] | None
    worse: bool | None
    """Whether the secret queries are worse; None if they are not shown to differ."""


def share_rows(
    results: StoredResults, system: str | None = None, setting: str | None = None
) -> list[ShareRow]:
    """Return a row per cell of revealed results; [] if the secret queries are not revealed.

    The level of the intervals is corrected for the number of rows of the metric.

    Args:
        results: the results.
        system: only this one.
        setting: only this one, and the rankings.
    """
    if not results.reveal or not results.secret_queries:
        return []
    cells = [
        (rows.system, rows.setting, metric, scores)
        for rows in (*results.trials, *results.rankings)
        for metric, scores in rows.scores.items()
        if system in (None, rows.system) and (setting is None or rows.setting in ("", setting))
    ]
    family = Counter(metric for _, _, metric, _ in cells)
    return [_row(results, cell, 1 - (1 - _LEVEL) / family[cell[2]]) for cell in cells]


def _row(
    results: StoredResults, cell: tuple[str, str, str, Mapping[str, Score]], confidence: float
) -> ShareRow:
    system, setting, metric, scores = cell
    scale = results.record.scale(metric)

    def summary(*, secret: bool) -> Summary:
        ids = [q for q in scores if (q in results.secret_queries) is secret]
        return summarise_scores(
            [scores[q].value for q in ids],
            [scores[q].status for q in ids],
            scale,
            clusters=clusters_of(ids, results.clusters),
            confidence=confidence,
        )

    sides = summary(secret=False), summary(secret=True)
    difference, interval = independent_difference(*sides)
    differs = interval is not None and not interval[0] <= 0 <= interval[1]
    lower = scale.direction == "lower"
    worse = (difference or 0.0) < 0 if not lower else (difference or 0.0) > 0
    known = differs and scale.direction != "neutral"
    return ShareRow(system, setting, metric, *sides, difference, interval, worse if known else None)


def share_sentence(results: StoredResults, rows: list[ShareRow] | None = None) -> str:
    """Return the sentence on the secret share by the headline metric; "" if it is not revealed.

    `rows` are those of `share_rows`, by default all.
    """
    rows = share_rows(results) if rows is None else rows
    if not rows:
        return ""
    headline = results.record.headline
    names = [row.metric for row in rows]
    metric = headline if headline in names else next(iter(names), "")
    differing = [row for row in rows if row.metric == metric and row.worse is not None]
    worse = [row for row in differing if row.worse]
    if not differing:
        return f"The secret share is not shown to differ ({metric})."
    found = "; ".join(
        f"{row.system}{f' under {row.setting}' if row.setting else ''} {row.difference:+.3f}"
        for row in worse or differing
    )
    if worse:
        return (
            f"The secret share is worse in {metric}: {found}. The system may be tuned to the open "
            "queries."
        )
    return f"The secret share is better in {metric}: {found}. Nothing shows tuning to the open one."


def share_document(
    results: StoredResults, system: str | None = None, setting: str | None = None
) -> dict[str, Any] | None:
    """Return the facts of the secret share; with `rows` and `sentence` once it is revealed.

    `system` and `setting` are those of `share_rows`. None without a secret share.
    """
    document, rows = results.secret_document(), share_rows(results, system, setting)
    if document is None or not rows:
        return document
    sentence = share_sentence(results, rows)
    return {**document, "rows": [asdict(row) for row in rows], "sentence": sentence}


def share_table(results: StoredResults, rows: list[ShareRow]) -> TextTable:
    """Return the rows as a table, with the sentence below."""
    head = ("system", "setting", "metric", "open", "n open", "secret", "n secret", "difference")
    lines = [
        (
            *(row.system, row.setting or "retrieval", row.metric),
            *_side(row.open),
            *_side(row.secret),
            _gap(row),
        )
        for row in rows
    ]
    title = "Open and secret queries (mean [interval])"
    return TextTable(head, lines, title, below=[share_sentence(results, rows), _NOTE])


def _side(one: Summary) -> Iterator[str]:
    yield mean_text(one)
    yield f"{one.n:,}" + (f" ({one.failed:,} failed)" if one.failed else "")


def _gap(row: ShareRow) -> str:
    if row.difference is None:
        return "-"
    ends = "" if row.interval is None else f" [{row.interval[0]:+.3f}, {row.interval[1]:+.3f}]"
    return f"{row.difference:+.3f}{ends}"
