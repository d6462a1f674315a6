"""`ragstone compare`: paired tests between systems, from files of scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from ragstone.cli.options import json_option, print_json
from ragstone.errors import ConfigError

CORRECTIONS = ("holm", "benjamini-hochberg", "none")


@click.command(
    "compare",
    epilog="""\b
Examples:
  ragstone score old.jsonl --gold queries.jsonl --metrics EM,F1 --per-query old.scores.jsonl
  ragstone score new.jsonl --gold queries.jsonl --metrics EM,F1 --per-query new.scores.jsonl
  ragstone compare old.scores.jsonl new.scores.jsonl
  ragstone compare old=a.jsonl new=b.jsonl tuned=c.jsonl --baseline old --metrics EM
  ragstone compare a.jsonl b.jsonl --data my-data --clusters conversation --json
""",
)
@click.argument("files", nargs=-1, required=True, metavar="[NAME=]FILE [NAME=]FILE...")
@click.option("--metrics", help="Which metrics, with commas between; all that are shared.")
@click.option(
    "--clusters",
    help="Queries that belong together: a file (query id, tab, cluster), a label of --data, none.",
)
@click.option(
    "--data",
    help="The data set of the queries; its conversations or documents are clusters by default.",
)
@click.option("--baseline", help="Compare the others with this one; every pair otherwise.")
@click.option(
    "--correction",
    type=click.Choice(CORRECTIONS),
    default="holm",
    show_default=True,
    help="Of p for being many.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of intervals.")
@click.option("--lower-is-better", help="Metrics such as latency, with commas between.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Of the resampled leaderboards."
)
@json_option
def command(
    *,
    files: tuple[str, ...],
    metrics: str | None,
    clusters: str | None,
    data: str | None,
    baseline: str | None,
    correction: str,
    confidence: float,
    lower_is_better: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Compare systems on the queries that all of them have, metric by metric.

    Each FILE holds one system's scores, one JSON object a line: query_id, metric, value.
    """
    from typing import cast

    from ragstone.evaluation.compare import compare
    from ragstone.statistics.paired import Correction

    names, paths = zip(*map(_named, files), strict=True)
    label, groups = _clusters(clusters, data)
    found = compare(
        *paths,
        names=names,
        metrics=_split(metrics) or None,
        clusters=groups,
        baseline=baseline,
        correction=cast("Correction", correction),
        confidence=confidence,
        lower_is_better=_split(lower_is_better),
        seed=seed,
    )
    found = replace(found, clusters=label or found.clusters)
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(str(found))


def _named(written: str) -> tuple[str, Path]:
    """Return name and path of `NAME=FILE` or `FILE`; a file may have = in its name."""
    name, equals, path = written.partition("=")
    if equals and name and "/" not in name and not Path(written).exists():
        return name, Path(path)
    return Path(written).name.split(".")[0] or written, Path(written)


def _split(written: str | None) -> list[str]:
    return [name.strip() for name in (written or "").split(",") if name.strip()]


def _clusters(written: str | None, data: str | None) -> tuple[str, dict[str, str] | None]:
    """Return what the clusters are called, and query id -> cluster; None leaves it to the ids."""
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
    from ragstone.data.load import load_dataset

    label, groups = clusters_by_label(load_dataset(data).queries, written or "")
    return label, groups or None
