"""`ragstone data critique`: rating the queries of a data set by the eight critiques."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.data_generate import rating_table, threshold_option
from ragstone.cli.options import calls_option, json_option, print_json
from ragstone.core import limits

if TYPE_CHECKING:
    from ragstone.building.critique_filter import Rated


@click.command("critique")
@click.argument("source")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE")
@threshold_option
@click.option(
    "--kept",
    type=click.Path(path_type=Path),
    metavar="TARGET_FOLDER",
    help="Write the data set without the rejected queries into this folder.",
)
@click.option("--model", default="local", show_default=True, help="Generator spec of the model.")
@click.option("--label", default="taxonomy", show_default=True, help="Label that groups the means.")
@click.option("--limit", type=int, help="Rate a random sample of this many queries.")
@click.option("--seed", default=0, show_default=True, help="Seed of the sample.")
@calls_option
@json_option
def critique_command(source: str, output: Path, *, as_json: bool, **options: Any) -> None:
    """Rate the queries of a data set, with gold answers and passages, by the eight critiques.

    FILE gets a line per query: ratings from 1 to 5, whether it is kept, and why not. An unreadable
    rating rejects nothing. If interrupted, run the same command again to resume.

    \b
    Examples:
      ragstone data critique sample -o ratings.jsonl --limit 30
      ragstone data critique my-set -o ratings.jsonl --threshold stand_alone=3 --kept my-good-set
    """
    import orjson

    from ragstone.building.critique_filter import profile

    rated = _rated(source, options)
    output.write_bytes(b"".join(orjson.dumps(one.row()) + b"\n" for one in rated))
    means, read = profile([(one.label or "(no label)", one.ratings) for one in rated])
    summary = {
        "queries": len(rated),
        "kept": sum(not one.reason for one in rated),
        "unread": sum(bool(one.notes) for one in rated),
        "ratings": means,
        "ratings_read": read,
    }
    if as_json:
        print_json(summary)
    else:
        click.echo("\n".join(_lines(summary, rated)))


def _rated(source: str, options: Mapping[str, Any]) -> list[Rated]:
    from ragstone.building.critique_filter import check_thresholds, kept_dataset, rate
    from ragstone.building.labels import gold_items
    from ragstone.calls.client import Calls
    from ragstone.components.judges.critiques import Critiques
    from ragstone.data.load import load_dataset
    from ragstone.data.writers.folder import write_dataset
    from ragstone.protocols import Services

    thresholds, limit = options["threshold"], options["limit"]
    check_thresholds(thresholds)
    dataset = load_dataset(source)
    chosen = dataset.sample(limit, options["seed"]) if limit else dataset
    critics = Critiques(
        model=options["model"], explain=False, least_parse_rate=0.0, max_tokens=limits.RATING_TOKENS
    )
    with Calls.at(options["calls"]) as calls:
        rated = rate(
            gold_items(chosen),
            critics,
            Services(calls=calls),
            thresholds=thresholds,
            label=options["label"],
        )
    if options["kept"]:
        write_dataset(kept_dataset(chosen, rated), options["kept"])
    return rated


def _lines(summary: Mapping[str, Any], rated: Sequence[Rated]) -> Iterator[str]:
    yield (
        f"{summary['kept']:,} of {summary['queries']:,} queries kept; of {summary['unread']:,} a "
        "rating could not be read"
    )
    yield from (f"  {one.query_id}: {one.reason}" for one in rated if one.reason)
    if summary["ratings"]:
        yield "\nMean ratings, 1 to 5 (number of ratings)\n" + rating_table(summary)
