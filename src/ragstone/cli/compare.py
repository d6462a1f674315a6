"""`ragstone compare`: paired tests between systems, from files of scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ragstone.cli.options import json_option, print_result
from ragstone.errors import ConfigError


@click.command("compare")
@click.argument("files", nargs=-1, required=True, metavar="[NAME=]FILE [NAME=]FILE...")
@click.option("--metrics", help="Comma-separated metrics (default: those in every file).")
@click.option(
    "--clusters",
    help="Groups of dependent queries: a file (query id, tab, cluster), a label of --data, or "
    "'none'.",
)
@click.option("--data", help="Data set whose label `conversation` or `document` is the default.")
@click.option("--baseline", help="Compare each system with this one (default: all pairs).")
@click.option(
    "--correction",
    type=click.Choice(["holm", "benjamini-hochberg", "none"]),
    default="holm",
    help="Multiple-testing correction of the p-values.",
)
@click.option("--confidence", type=float, default=0.95, help="Confidence level of the intervals.")
@click.option("--lower-is-better", help="Comma-separated metrics for which lower is better.")
@click.option(
    "--failures",
    type=click.Choice(["wrong", "exclude", "bounds"]),
    default="wrong",
    help="Failed queries count as wrong, are left out, or give the worst and the best case.",
)
@click.option(
    "--margin",
    type=float,
    help="Systems are equivalent if the interval of their difference is within this margin.",
)
@click.option("--seed", type=int, default=0, help="Seed of the resampled leaderboards.")
@json_option
def command(
    *,
    files: tuple[str, ...],
    metrics: str | None,
    clusters: str | None,
    data: str | None,
    lower_is_better: str | None,
    **options: Any,
) -> None:
    """Compare systems on the queries that all of them have, metric by metric.

    Each FILE has the scores of one system: JSON lines with query_id, metric and value.

    \b
    Examples:
      ragstone score old.jsonl --gold queries.jsonl --metrics EM,F1 --per-query old.scores.jsonl
      ragstone score new.jsonl --gold queries.jsonl --metrics EM,F1 --per-query new.scores.jsonl
      ragstone compare old.scores.jsonl new.scores.jsonl
      ragstone compare old=a.jsonl new=b.jsonl tuned=c.jsonl --baseline old --metrics EM
      ragstone compare a.jsonl b.jsonl --data my-data --clusters conversation --json
    """
    from ragstone.components.metrics.parse import split_names
    from ragstone.evaluation.compare import compare

    names, paths = zip(*map(_named, files), strict=True)
    label, groups = _clusters(clusters, data)
    found = compare(
        *paths,
        names=names,
        metrics=split_names(metrics or "") or None,
        clusters=groups,
        lower_is_better=split_names(lower_is_better or ""),
        **options,
    )
    found = replace(found, clusters=label or found.clusters)
    print_result(found.to_dict, lambda: found)


def _named(written: str) -> tuple[str, Path]:
    """Return name and path of `NAME=FILE` or `FILE`; the name of a file may contain =."""
    name, equals, path = written.partition("=")
    if equals and name and "/" not in name and not Path(written).exists():
        return name, Path(path)
    return Path(written).name.split(".")[0] or written, Path(written)


def _clusters(written: str | None, data: str | None) -> tuple[str, dict[str, str] | None]:
    """Return the label or file of the clusters, and query id -> cluster; None: read off the ids."""
    from ragstone.data.load import load_dataset
    from ragstone.data.readers.scores import clusters_by_label, read_clusters

    if written == "none":
        return "", {}
    if written and Path(written).is_file():
        return written, read_clusters(Path(written))
    if written and not data:
        raise ConfigError(
            f"--clusters {written!r} is not a file; for a label of the queries name their data "
            "set too: --data FOLDER"
        )
    if not data:
        return "", None
    label, groups = clusters_by_label(load_dataset(data).queries, written or "")
    return label, groups or None
