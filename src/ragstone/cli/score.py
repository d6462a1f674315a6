"""`ragstone score`: score recorded answers against gold answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import json_option, print_json
from ragstone.cli.write_scores import notes, write_scores
from ragstone.core import limits

if TYPE_CHECKING:
    from ragstone.components.metrics.precomputed import Answers
    from ragstone.types import Query

FILE = click.Path(path_type=Path)


@click.command(
    "score",
    epilog="""\b
Examples:
  ragstone score answers.jsonl --gold queries.jsonl --metrics Match,EM,F1
  ragstone score answers.jsonl --gold my-data --metrics ROUGE-L,refusal --json
  ragstone score answers.jsonl --gold queries.jsonl --metrics F1 --variant paper
  ragstone score answers.jsonl --gold queries.jsonl --metrics Match --explain
""",
)
@click.argument("answers", type=FILE)
@click.option(
    "--gold",
    "--data",
    required=True,
    type=FILE,
    help="Gold answers: the data set's file of queries (_id, answers), or its folder.",
)
@click.option(
    "--metrics", default="Match,EM,F1", show_default=True, help="Names, with commas between."
)
@click.option(
    "--variant",
    default="corrected",
    show_default=True,
    help="corrected, paper, or whose: squad, mirage, bergen, mtrag.",
)
@click.option("--setting", default="", help="Score only the answers of this context setting.")
@click.option("--clusters", type=FILE, help="Queries that belong together: query id, tab, cluster.")
@click.option("--per-query", type=FILE, help="Write one line per query and metric to this file.")
@click.option("--explain", is_flag=True, help="Show all variants, and the answers they differ on.")
@json_option
def command(
    *,
    answers: Path,
    gold: Path,
    metrics: str,
    variant: str,
    setting: str,
    clusters: Path | None,
    per_query: Path | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Score ANSWERS, JSON lines of query_id and answer, against gold answers. No model is needed.

    A query without an answer scores 0; an answer of null is a failure, and counted as such.
    """
    from ragstone.components.metrics.parse import (
        check_variant,
        parse_metric,
        split_names,
        variants_of,
        with_variant,
    )
    from ragstone.components.metrics.precomputed import read_answers, read_gold
    from ragstone.data.readers.scores import read_clusters
    from ragstone.evaluation.score_files import evaluate_answers

    check_variant(variant)
    wanted = {with_variant(name, variant): str(parse_metric(name)) for name in split_names(metrics)}
    names = list(wanted)
    asked = list(dict.fromkeys(v for n in names for v in (variants_of(n) if explain else [n])))
    queries, given = read_gold(gold), read_answers(answers, setting)
    evaluation = evaluate_answers(
        list(given.predictions.values()),
        queries,
        asked,
        contexts=given.contexts,
        clusters=read_clusters(clusters) if clusters else None,
    )
    for note in notes(evaluation, "the answers lack", "the gold answers lack"):
        click.echo(note, err=True)
    if per_query:
        write_scores(per_query, [evaluation.table])
    if as_json:
        differing = {n: _differing(n, queries, given) for n in names} if explain else None
        document = evaluation.to_dict(None if explain else wanted)
        print_json(document if differing is None else {"metrics": document, "differ": differing})
        return
    click.echo(str(evaluation))
    for name in names if explain else ():
        click.echo("\n".join(_explanation(name, _differing(name, queries, given))))


def _differing(metric: str, queries: Sequence[Query], given: Answers) -> list[dict[str, object]]:
    from ragstone.components.metrics.variants_explained import disagreements
    from ragstone.types import Prediction

    predictions = [given.predictions.get(q.query_id) or Prediction(q.query_id, "") for q in queries]
    return [asdict(one) for one in disagreements(metric, queries, predictions)]


def _explanation(metric: str, differing: Sequence[dict[str, object]]) -> list[str]:
    lines = ["", f"{metric}: its variants differ on {len(differing):,} answers"]
    most = limits.SHOWN_DIFFERING_ANSWERS
    for one in differing[:most]:
        values = one["values"]
        shown = (
            "  ".join(f"{n} {v:.3f}" for n, v in values.items()) if isinstance(values, dict) else ""
        )
        lines.append(f"  {one['query_id']}: {one['answer']!r} against {one['gold_answers']!r}")
        lines.append(f"    {shown}")
    if len(differing) > most:
        lines.append(f"  and {len(differing) - most:,} more; --json lists them all")
    return lines
