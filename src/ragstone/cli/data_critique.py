"""`ragstone data critique`: rate the queries of a data set by the eight critiques."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.data_generate import rating_table, threshold_option
from ragstone.cli.options import FILE, json_option, print_result, query_options, write_json_lines
from ragstone.core import limits

if TYPE_CHECKING:
    from ragstone.building.critique_filter import Rated


@click.command("critique")
@query_options
@threshold_option
@click.option(
    "--kept",
    type=FILE,
    metavar="TARGET_FOLDER",
    help="Write the data set without the rejected queries into this folder.",
)
@click.option("--label", default="taxonomy", help="Label by which the means are grouped.")
@json_option
def critique_command(
    *,
    source: str,
    output: Path,
    thresholds: dict[str, float],
    kept: Path | None,
    model: str,
    label: str,
    limit: int | None,
    seed: int,
    calls: Path,
) -> None:
    """Rate the queries of SOURCE by eight critiques.

    A model reads each query with its gold answers and passages. FILE gets a line per query: its
    ratings from 1 to 5, whether it is kept, and the reason if it is not. A rating that cannot be
    read never rejects a query. If interrupted, run the same command again to resume.

    \b
    Examples:
      ragstone data critique sample -o ratings.jsonl --limit 30
      ragstone data critique my-set -o ratings.jsonl --threshold stand_alone=3 --kept my-good-set
    """
    from ragstone.building.critique_filter import check_thresholds, kept_dataset, profile, rate
    from ragstone.building.labels import gold_items
    from ragstone.calls.client import Calls
    from ragstone.components.judges.critiques import Critiques
    from ragstone.data.load import load_dataset
    from ragstone.data.writers.folder import write_dataset
    from ragstone.protocols import Services

    check_thresholds(thresholds)
    dataset = load_dataset(source)
    chosen = dataset.sample(limit, seed) if limit else dataset
    critics = Critiques(
        model=model, explain=False, least_parse_rate=0.0, max_tokens=limits.RATING_TOKENS
    )
    with Calls.at(calls) as opened:
        services = Services(calls=opened)
        rated = rate(gold_items(chosen), critics, services, thresholds=thresholds, label=label)
    if kept:
        write_dataset(kept_dataset(chosen, rated), kept)
    write_json_lines(output, (one.row() for one in rated))
    means, read = profile([(one.label or "(no label)", one.ratings) for one in rated])
    summary = {
        "queries": len(rated),
        "kept": sum(not one.reason for one in rated),
        "unread": sum(bool(one.notes) for one in rated),
        "ratings": means,
        "ratings_read": read,
    }
    print_result(lambda: summary, lambda: "\n".join(_lines(summary, rated)))


def _lines(summary: Mapping[str, Any], rated: Sequence[Rated]) -> Iterator[str]:
    yield (
        f"{summary['kept']:,} of {summary['queries']:,} queries kept; {summary['unread']:,} have "
        "an unreadable rating"
    )
    yield from (f"  {one.query_id}: {one.reason}" for one in rated if one.reason)
    if summary["ratings"]:
        yield "\nMean ratings, 1 to 5 (number of ratings)\n" + rating_table(summary)
