"""`ragstone compare`: paired tests between systems, from files of scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tabulate import tabulate

from ragstone.cli.options import json_option, print_json
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.evaluation.compare import Comparison, MetricComparison
    from ragstone.statistics.summary import Summary

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
    if as_json:
        print_json(_document(found, label or _by_id(found)))
    else:
        click.echo("\n".join(_lines(found, label or _by_id(found))))


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


def _by_id(found: Comparison) -> str:
    return "conversation" if found.clustered else ""


def _document(found: Comparison, label: str) -> dict[str, Any]:
    """Return what --json prints; docs/statistics.md describes each key."""
    return {
        "systems": found.systems,
        "confidence": found.confidence,
        "correction": found.correction,
        "tests": found.tests,
        "clusters": label or None,
        "not_shared": found.not_shared,
        "metrics": {one.metric: _metric_document(one) for one in found.metrics},
    }


def _metric_document(one: MetricComparison) -> dict[str, Any]:
    return {
        "n": one.n,
        "left_out": one.left_out,
        "absent": one.absent,
        "systems": {name: asdict(summary) for name, summary in one.summaries.items()},
        "pairs": [
            {
                **asdict(pair.difference),
                **{k: v for k, v in asdict(pair).items() if k != "difference"},
                "difference": pair.difference.difference,
            }
            for pair in one.pairs
        ],
        "ranks": [asdict(place) for place in one.ranks],
    }


def _lines(found: Comparison, label: str) -> Iterator[str]:
    yield f"Intervals: {found.confidence:.0%}, bootstrap over {label or 'queries'}."
    for metric, lacking in found.not_shared.items():
        yield f"{metric} is not compared: {', '.join(lacking)} lacks it."
    for one in found.metrics:
        yield ""
        rest = f"{_clustered(one, label)}{_left_out(one)}"
        yield f"{one.metric}: {one.n:,} queries that all have{rest}"
        rows = [_row(name, summary, one) for name, summary in one.summaries.items()]
        yield tabulate(rows, headers=_headers(one), disable_numparse=True)
        if not one.pairs:
            yield "  nothing to compare: no query has a value from every system"
        for pair in one.pairs:
            yield f"  {pair.verdict}"


def _clustered(one: MetricComparison, label: str) -> str:
    return f" in {one.pairs[0].difference.clusters:,} clusters" if label and one.pairs else ""


def _left_out(one: MetricComparison) -> str:
    if not one.left_out:
        return ""
    absent = ", ".join(f"{name} lacks {count:,}" for name, count in one.absent.items() if count)
    return f", {one.left_out:,} left out" + (f" ({absent})" if absent else "")


def _headers(one: MetricComparison) -> list[str]:
    return ["system", "mean", "interval", "n", "failed", "n/a", *(["rank"] if one.ranks else [])]


def _row(name: str, summary: Summary, one: MetricComparison) -> list[str]:
    mean = "-" if summary.mean is None else f"{summary.mean:.4f}"
    counts = [f"{count:,}" for count in (summary.n, summary.failed, summary.not_applicable)]
    ranks = {place.system: _place(place.rank, place.interval) for place in one.ranks}
    return [name, mean, _interval(summary.interval), *counts, *([ranks[name]] if ranks else [])]


def _interval(interval: tuple[float, float] | None) -> str:
    return "-" if interval is None else f"[{interval[0]:.4f}, {interval[1]:.4f}]"


def _place(rank: int, interval: tuple[float, float] | None) -> str:
    return f"{rank}" if interval is None else f"{rank} [{interval[0]:.0f}-{interval[1]:.0f}]"
