"""The page of a comparison: one HTML file that loads nothing and runs only its own scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from ragstone.causes.changes import CHANGES
from ragstone.core import limits
from ragstone.core.atomic_files import write_document
from ragstone.evaluation.answered import NO_ANSWERS
from ragstone.evaluation.changes import unknown_sides
from ragstone.evaluation.comparison import Comparison
from ragstone.evaluation.difference_plots import by_range, outcome_text
from ragstone.evaluation.flipped_texts import FlippedQuery
from ragstone.evaluation.metric_comparison import MetricComparison
from ragstone.results.page import asset, render_page
from ragstone.results.usage import shown_statuses
from ragstone.results.wording import signed_interval
from ragstone.statistics.paired import Difference

_SCRIPTS: Final = ("page.js", "comparison.js")
_MARGIN: Final = 2.0
"""Free space at either end of a drawn scale, in percent of its width."""
_END: Final = 0.2
"""Share of a scale that the label of its end needs."""


def write_comparison(comparison: Comparison, path: Path | str, notes: Sequence[str] = ()) -> Path:
    """Write a comparison as one self-contained file, with notes in its head; return its path.

    Raises `StoreError` if the file cannot be written.
    """
    return write_document(Path(path), render_comparison(comparison, notes).encode(), "comparison")


def render_comparison(comparison: Comparison, notes: Sequence[str] = ()) -> str:
    """Return the page's HTML."""
    flipped, used = comparison.flipped(), comparison.usage
    groups = [_Scale(one, 1 - comparison.confidence) for one in by_range(comparison.metrics)]
    return render_page(
        "comparison.html",
        asset("report.css") + asset("comparison.css"),
        [asset(name) for name in _SCRIPTS],
        found=comparison,
        notes=notes,
        headline=comparison[comparison.headline],
        groups=groups,
        labelled=_labelled(groups, comparison.headline),
        usage=[row for row in used if row.answered + row.failed],
        statuses=shown_statuses(used),
        not_known=list(comparison.not_known_lines()),
        flips=[_entry(one) for one in islice(flipped.values(), limits.REPORT_FLIPPED_QUERIES)],
        flipped=len(flipped),
        changes=_changes(comparison),
        causes=[cause for cause in CHANGES if cause in _causes(flipped.values())],
        unknown=list(unknown_sides(comparison.answered)),
        pairs=list(dict.fromkeys((p.a, p.b) for m in comparison.metrics for p in m.pairs)),
        texts_known=any(one.known for one in flipped.values()),
        no_answers=NO_ANSWERS,
    )


@dataclass(frozen=True)
class DrawnDifference:
    """One difference as a row of the page."""

    name: str
    one: MetricComparison
    a: str
    b: str
    difference: Difference
    outcome: str
    look: str
    """`up`, `down` or `faint`: shown to be better, shown to be worse, or not shown."""
    p: float

    @property
    def text(self) -> tuple[str, str]:
        """The difference and its interval, with signs; "" if there is no interval."""
        size, bracket, rest = signed_interval(
            self.difference.difference, self.difference.interval
        ).partition(" [")
        return size, bracket + rest


class _Scale:
    """The differences by metrics of one range, on one scale that contains 0."""

    def __init__(self, metrics: Sequence[MetricComparison], level: float) -> None:
        self.rows = [row for one in metrics for row in _overall(one)]
        self.labelled = {one.metric: list(_by_label(one, level)) for one in metrics if one.by}
        every = [row.difference for row in (*self.rows, *chain(*self.labelled.values()))]
        ends = [end for found in every for end in (found.difference, *(found.interval or ()))]
        self.low, self.high = min([0.0, *ends]), max([0.0, *ends])
        if self.low == self.high:
            self.low, self.high = -1.0, 1.0
        # Beside an end of the axis, the label of 0 would be drawn over that of the end.
        self.labels_0 = _END < -self.low / (self.high - self.low) < 1 - _END

    def place(self, value: float) -> str:
        """Return the place of a value on the scale, in percent of its width."""
        share = (value - self.low) / (self.high - self.low)
        return f"{_MARGIN + share * (100 - 2 * _MARGIN):.2f}%"


def _labelled(
    scales: Sequence[_Scale], headline: str
) -> list[tuple[_Scale, str, list[DrawnDifference]]]:
    """Return scale, metric and differences under each label, the headline metric first."""
    found = [(one, metric, rows) for one in scales for metric, rows in one.labelled.items()]
    return sorted(found, key=lambda item: item[1] != headline)


def _overall(one: MetricComparison) -> Iterator[DrawnDifference]:
    for pair in one.pairs:
        look = {"better": "up", "worse": "down"}.get(pair.outcome, "faint")
        said = (outcome_text(pair), look, pair.adjusted_p)
        yield DrawnDifference(one.metric, one, pair.a, pair.b, pair.difference, *said)


def _by_label(one: MetricComparison, level: float) -> Iterator[DrawnDifference]:
    for (a, b), groups in one.by.items():
        for group in groups:
            shown = group.p_adjusted < level and group.difference.difference != 0
            rises = (group.difference.difference > 0) != (one.scale.direction == "lower")
            look = ("up" if rises else "down") if shown else "faint"
            outcome = {"up": "better", "down": "worse", "faint": "not shown to differ"}[look]
            said = (outcome, look, group.p_adjusted)
            yield DrawnDifference(group.value, one, a, b, group.difference, *said)


def _changes(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the causes of changes by the headline metric as rows of the page."""
    places = {(one.a, one.b): n for n, one in enumerate(comparison[comparison.headline].pairs)}
    return [
        {
            "pair": places[one.a, one.b],
            "a": one.a,
            "b": one.b,
            "cause": one.cause,
            "better": len(one.better),
            "worse": len(one.worse),
            "meaning": CHANGES[one.cause],
        }
        for one in comparison.changes(comparison.headline)
    ]


def _causes(flipped: Iterable[FlippedQuery]) -> set[str]:
    return {change.cause for one in flipped for change in one.changes}


def _entry(one: FlippedQuery) -> dict[str, Any]:
    """Return a flipped query as the template shows it, its long texts cut."""
    found = one.to_dict()
    query_id = one.query.query_id
    sides = {
        name: side | {"answer": side["answer"] and _cut(side["answer"]), "name": name}
        for name, side in found["systems"].items()
    }
    for name, side in sides.items():
        side["known"] = query_id in one.answered[name].predictions
        side["scores"] = one.scores[name]
    return {
        "id": query_id,
        "query": _cut(one.query.text),
        "gold": [_cut(text) for text in one.query.gold_answers],
        "changes": found["changes"],
        "sides": list(sides.values()),
    }


def _cut(text: str) -> tuple[str, str]:
    """Return a text, cut if it is long, and a note on the cut."""
    most = limits.REPORT_TEXT_CHARACTERS
    note = f"cut: {most:,} of {len(text):,} characters" if len(text) > most else ""
    return text[:most], note
