"""`ragstone compare`: paired tests between systems, from files of scores or experiments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import FILE, json_option, print_result, reveal_option
from ragstone.cli.screen import tell
from ragstone.cli.sources import chosen_clusters, source_options
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.evaluation.comparison import Comparison
    from ragstone.experiment.score_sources import ScoreSource
    from ragstone.experiment.secret_sources import SecretShares
    from ragstone.types import Query


@click.command("compare")
@click.argument("sources", nargs=-1, required=True, metavar="[NAME=]SCORES [NAME=]SCORES...")
@click.option("--metrics", help="Comma-separated metrics (default: those in every file).")
@click.option("--baseline", help="Compare each system with this one (default: all pairs).")
@click.option("--by", metavar="LABEL", help="Compare under each value of this label too.")
@click.option(
    "--correction",
    type=click.Choice(["holm", "benjamini-hochberg", "none"]),
    default="holm",
    help="Multiple-testing correction of the p-values.",
)
@click.option("--confidence", type=float, default=0.95, help="Confidence level of the intervals.")
@click.option(
    "--margin",
    type=float,
    help="Systems are equivalent if the interval of their difference is within this margin.",
)
@click.option("--seed", type=int, default=0, help="Seed of the resampled leaderboards.")
@source_options
@click.option("--html", type=FILE, metavar="FILE", help="Write an HTML page to this file.")
@reveal_option
@json_option
def command(
    *,
    sources: tuple[str, ...],
    metrics: str | None,
    clusters: str | None,
    data: str | None,
    lower_is_better: str | None,
    store: Path,
    by: str | None,
    markdown: Path | None,
    html: Path | None,
    reveal: bool,
    **options: Any,
) -> None:
    """Compare systems on the queries that all of them have, metric by metric.

    SCORES are a file with the scores of one system (JSON lines with query_id, metric and value), a
    finished experiment (e.yaml, e.yaml:SYSTEM or e.yaml:SYSTEM:SETTING; an earlier run of it by
    date or release: e.yaml@2026-10-01, e.yaml:SYSTEM@v1.2), or a passport or report whose store is
    on this machine.

    \b
    Examples:
      ragstone score old.jsonl --gold queries.jsonl --metrics EM,F1 --per-query old.scores.jsonl
      ragstone score new.jsonl --gold queries.jsonl --metrics EM,F1 --per-query new.scores.jsonl
      ragstone compare old.scores.jsonl new.scores.jsonl
      ragstone compare old=a.jsonl new=b.jsonl tuned=c.jsonl --baseline old --metrics EM
      ragstone compare a.jsonl b.jsonl --data my-data --clusters conversation --json
      ragstone compare e.yaml:old e.yaml:new --by question_type --markdown comparison.md
      ragstone compare e.yaml:old e.yaml:new --html comparison.html
    """
    from ragstone.components.metrics.parse import split_names
    from ragstone.evaluation.compare import compare
    from ragstone.experiment.score_sources import read_sources, source_changes
    from ragstone.experiment.secret_sources import SecretShares

    read = read_sources(sources, store, reveal=reveal)
    if reveal and not any(one.results and one.results.secret for one in read):
        raise ConfigError("--reveal: no source is an experiment with secret queries or nuggets")
    for line in source_changes(read):
        tell(f"note: {line}")
    label, groups = chosen_clusters(clusters, data)
    found = compare(
        *(source.scores for source in read),
        names=[source.name for source in read],
        metrics=split_names(metrics or "") or None,
        clusters=groups,
        lower_is_better=split_names(lower_is_better or ""),
        by=None if by is None else _groups(by, data, read),
        **options,
    )
    found = replace(found, clusters=label or found.clusters)
    of_secret = SecretShares(read)
    _write(found, of_secret, markdown, html)
    print_result(
        lambda: {**found.to_dict(), **of_secret.to_dict()},
        lambda: "\n\n".join(map(str, [found, *of_secret.parts()])),
    )


def _write(
    found: Comparison, of_secret: SecretShares, markdown: Path | None, html: Path | None
) -> None:
    """Write the files of a comparison that are wanted."""
    from ragstone.core.atomic_files import write_document
    from ragstone.core.tables import to_markdown
    from ragstone.results.comparison_page import write_comparison

    if markdown is not None:
        rest = to_markdown(of_secret.parts())
        text = found.to_markdown() + (f"\n{rest}\n" if rest else "")
        write_document(markdown, text.encode(), "comparison")
    if html is not None:
        write_comparison(found, html, of_secret.lines())


def _groups(label: str, data: str | None, read: list[ScoreSource]) -> dict[str, list[str]]:
    """Return value of a label -> queries, of the data set or else of the experiments."""
    from ragstone.data.load import load_dataset
    from ragstone.statistics.breakdown import groups_of

    if data:
        return groups_of(load_dataset(data).queries, label)
    queries: dict[str, Query] = {}
    for source in read:
        queries |= source.results.all_queries if source.results else {}
    if not queries:
        raise ConfigError(
            f"--by {label}: files of scores have no labels; name the data set of their queries: "
            "--data FOLDER"
        )
    return groups_of(queries.values(), label)
