"""The open and the secret share of queries or nuggets side by side, once the latter is revealed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from ragstone.components.judges.secret_nuggets import open_part
from ragstone.core.tables import TextTable
from ragstone.results.wording import mean_text
from ragstone.statistics.failures import difference_between, summarise_scores
from ragstone.statistics.independent import independent_difference
from ragstone.statistics.summary import Summary, clusters_of

if TYPE_CHECKING:
    from ragstone.results.reader import StoredResults
    from ragstone.types import Score

_LEVEL: Final = 0.95
_LEVELS: Final = "The intervals of a metric hold together at 95 % (Bonferroni). "
_NOTES: Final = {
    "queries": f"{_LEVELS}Difference: secret minus open, of different queries.",
    "nuggets": f"{_LEVELS}Difference: secret minus open, of the same queries.",
}
_HEAD: Final = (
    *("system", "setting", "metric"),
    *("open", "n open", "secret", "n secret", "difference"),
)
Of = Literal["queries", "nuggets"]


@dataclass(frozen=True, slots=True)
class ShareRow:
    """One metric of a system under a setting, over the open and over the secret share."""

    of: Of
    """What is shared out: different queries, or the nuggets of the same queries."""
    system: str
    setting: str
    """Empty for ranking metrics."""
    metric: str
    open: Summary
    secret: Summary
    difference: float | None
    """The mean of the secret share minus that of the open one."""
    interval: tuple[float, float] | None
    worse: bool | None
    """Whether the secret share is worse; None if it is not shown to differ."""


class _Cell(NamedTuple):
    of: Of
    system: str
    setting: str
    metric: str
    open: Mapping[str, Score]
    secret: Mapping[str, Score]


def share_rows(
    results: StoredResults, system: str | None = None, setting: str | None = None
) -> list[ShareRow]:
    """Return a row per cell of revealed results; [] if nothing secret is revealed.

    Secret queries have a row per metric, secret nuggets one per judge of nuggets. The level of the
    intervals is corrected for the number of rows of the metric.

    Args:
        results: the results.
        system: only this one.
        setting: only this one, and the rankings.
    """
    if not results.reveal or not results.secret:
        return []
    cells = [
        cell
        for cell in _cells(results)
        if system in (None, cell.system) and (setting is None or cell.setting in ("", setting))
    ]
    family = Counter((cell.of, cell.metric) for cell in cells)
    return [_row(results, cell, 1 - (1 - _LEVEL) / family[cell.of, cell.metric]) for cell in cells]


def _cells(results: StoredResults) -> Iterator[_Cell]:
    """Yield the scores of both shares, of queries and then of nuggets."""
    every = [
        (rows, metric, scores)
        for rows in (*results.trials, *results.rankings)
        for metric, scores in rows.scores.items()
    ]
    hidden, halved = results.secret_queries, results.secret_nuggets
    for rows, metric, scores in every if hidden else ():
        if not open_part(metric):
            sides = (
                {q: s for q, s in scores.items() if (q in hidden) is secret}
                for secret in (False, True)
            )
            yield _Cell("queries", rows.system, rows.setting, metric, *sides)
    for rows, metric, scores in every if halved else ():
        if known := open_part(metric):
            both = rows.scores[known], scores
            sides = ({q: s for q, s in one.items() if q in halved} for one in both)
            yield _Cell("nuggets", rows.system, rows.setting, known, *sides)


def _row(results: StoredResults, cell: _Cell, confidence: float) -> ShareRow:
    scale = results.record.scale(cell.metric)

    def summary(scores: Mapping[str, Score]) -> Summary:
        return summarise_scores(
            [score.value for score in scores.values()],
            [score.status for score in scores.values()],
            scale,
            clusters=clusters_of(scores, results.clusters),
            confidence=confidence,
        )

    sides = summary(cell.open), summary(cell.secret)
    if cell.of == "queries":
        difference, interval = independent_difference(*sides)
    else:
        given = cell.open, cell.secret, scale, results.clusters
        paired = difference_between(*given, confidence=confidence)
        difference, interval = (paired.difference, paired.interval) if paired else (None, None)
    differs = interval is not None and not interval[0] <= 0 <= interval[1]
    lower = scale.direction == "lower"
    worse = (difference or 0.0) < 0 if not lower else (difference or 0.0) > 0
    known = differs and scale.direction != "neutral"
    place = cell.of, cell.system, cell.setting, cell.metric
    return ShareRow(*place, *sides, difference, interval, worse if known else None)


def share_sentence(results: StoredResults, rows: list[ShareRow] | None = None) -> str:
    """Return a sentence per revealed share by the headline metric; "" if nothing is revealed.

    Queries and nuggets have a sentence each; that of nuggets is about their first judge. `rows` are
    those of `share_rows`, by default all.
    """
    rows = share_rows(results) if rows is None else rows
    kinds = dict.fromkeys(row.of for row in rows)
    return " ".join(_sentence(results, [row for row in rows if row.of == of], of) for of in kinds)


def _sentence(results: StoredResults, rows: list[ShareRow], of: Of) -> str:
    headline, names = results.record.headline, [row.metric for row in rows]
    metric = headline if headline in names else names[0]
    share = "The secret share is" if of == "queries" else "The secret nuggets are"
    differing = [row for row in rows if row.metric == metric and row.worse is not None]
    worse = [row for row in differing if row.worse]
    if not differing:
        return f"{share} not shown to differ ({metric})."
    found = "; ".join(
        f"{row.system}{f' under {row.setting}' if row.setting else ''} {row.difference:+.3f}"
        for row in worse or differing
    )
    if worse:
        return f"{share} worse in {metric}: {found}. The system may be tuned to the open {of}."
    ones = "one" if of == "queries" else "ones"
    return f"{share} better in {metric}: {found}. Nothing shows tuning to the open {ones}."


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


def share_tables(results: StoredResults, rows: list[ShareRow]) -> Iterator[TextTable]:
    """Yield a table of the rows of queries and one of those of nuggets, with the sentence below."""
    for of, note in _NOTES.items():
        if mine := [row for row in rows if row.of == of]:
            title = f"Open and secret {of} (mean [interval])"
            below = [share_sentence(results, mine), note]
            yield TextTable(_HEAD, [_line(row) for row in mine], title, below=below)


def _line(row: ShareRow) -> tuple[str, ...]:
    place = row.system, row.setting or "retrieval", row.metric
    return (*place, *_side(row.open), *_side(row.secret), _gap(row))


def _side(one: Summary) -> Iterator[str]:
    yield mean_text(one)
    yield f"{one.n:,}" + (f" ({one.failed:,} failed)" if one.failed else "")


def _gap(row: ShareRow) -> str:
    if row.difference is None:
        return "-"
    ends = "" if row.interval is None else f" [{row.interval[0]:+.3f}, {row.interval[1]:+.3f}]"
    return f"{row.difference:+.3f}{ends}"
