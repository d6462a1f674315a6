"""Common parts of `rank` and `score`: options, output, and notes on queries that do not match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.options import FILE, failures_option, json_option, together, write_json_lines
from ragstone.cli.screen import tell

if TYPE_CHECKING:
    from ragstone.evaluation.evaluation import Evaluation
_TOLD: Final = ("status", "metric", "reason")


def _read_clusters(
    _context: click.Context, _option: click.Parameter, path: Path | None
) -> dict[str, str] | None:
    from ragstone.data.readers.scores import read_clusters

    return None if path is None else read_clusters(path)


scores_options: Final = together(
    click.option(
        "--clusters",
        type=FILE,
        callback=_read_clusters,
        help="File that groups dependent queries: query id, tab, cluster per line.",
    ),
    failures_option,
    click.option("--per-query", type=FILE, help="Write a line per query and metric to this file."),
    json_option,
)


def write_scores(path: Path | None, found: Iterable[Evaluation]) -> None:
    """Write one JSON line per query and metric: query_id, metric, value, status, reason.

    The first line of a query has its texts too.
    """
    if path is not None:
        write_json_lines(path, chain.from_iterable(map(_rows_with_texts, found)))


def _rows_with_texts(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    from ragstone.core.schemas import rows

    told: set[str] = set()
    for row in rows(evaluation.table):
        query_id = row["query_id"]
        yield row if query_id in told else row | evaluation.answered.texts(query_id)
        told.add(query_id)


def print_notes(evaluation: Evaluation, scored: str, known: str) -> None:
    """Print notes about the missing and the unknown queries on stderr."""
    from ragstone.data.readers.rows import listed

    missing = (evaluation.missing, f"missing in {scored}, counted as failed")
    for ids, problem in (missing, (evaluation.extra, f"not in {known}, left out")):
        if ids:
            tell(f"note: {len(ids):,} queries {problem}: {listed(ids)}")
    for (metric, reason), count in _inapplicable(evaluation).items():
        tell(f"note: {metric} does not apply to {count:,} queries: {reason}")


def _inapplicable(evaluation: Evaluation) -> dict[tuple[str, str], int]:
    """Return (metric, reason) -> number of queries without a value of the metric."""
    found: Counter[tuple[str, str]] = Counter()
    for batch in evaluation.table.to_batches():  # strings of all rows would fill memory
        status, metric, reason = (batch.column(n).to_pylist() for n in _TOLD)
        if "not_applicable" in status:
            cells = zip(metric, reason, status, strict=True)
            found.update((name, why) for name, why, held in cells if held == "not_applicable")
    return dict(found)
