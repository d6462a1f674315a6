"""`ragstone score`: score recorded answers against gold answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import FILE, print_result
from ragstone.cli.scores import print_notes, scores_options, write_scores
from ragstone.core import limits

if TYPE_CHECKING:
    from ragstone.components.metrics.variants_explained import Disagreement
    from ragstone.statistics.summary import Policy


@click.command("score")
@click.argument("answers", type=FILE)
@click.option(
    "--gold",
    "--data",
    required=True,
    type=FILE,
    help="File of queries with gold answers (_id, answers), or the folder of the data set.",
)
@click.option("--metrics", default="Match,EM,F1", help="Comma-separated metrics.")
@click.option(
    "--variant",
    default="corrected",
    help="Variant of the metrics: corrected, paper, squad, mirage, bergen or mtrag.",
)
@click.option("--setting", help="Score only the answers of this context setting.")
@click.option(
    "--explain",
    is_flag=True,
    help="Show all variants, and the answers that they score differently.",
)
@scores_options
def command(
    *,
    answers: Path,
    gold: Path,
    metrics: str,
    variant: str,
    setting: str | None,
    explain: bool,
    clusters: Mapping[str, str] | None,
    failures: Policy,
    per_query: Path | None,
) -> None:
    """Score recorded answers against gold answers, without a model.

    ANSWERS is a file of JSON lines with query_id and answer. A query without a line, or with an
    answer of null, is failed; --failures says what counts for it.

    \b
    Examples:
      ragstone score answers.jsonl --gold queries.jsonl --metrics Match,EM,F1
      ragstone score answers.jsonl --gold my-data --metrics ROUGE-L,refusal --json
      ragstone score answers.jsonl --gold queries.jsonl --metrics F1 --variant paper
      ragstone score answers.jsonl --gold queries.jsonl --metrics Match --explain
    """
    from ragstone.components.metrics import parse
    from ragstone.components.metrics.precomputed import read_answers, read_gold
    from ragstone.components.metrics.variants_explained import disagreements
    from ragstone.evaluation.score_files import evaluate_answers
    from ragstone.types import Prediction

    parse.check_variant(variant)
    given_names = parse.split_names(metrics)
    wanted = {parse.with_variant(n, variant): str(parse.parse_metric(n)) for n in given_names}
    names = list(wanted)
    variants = [v for name in names for v in (parse.variants_of(name) if explain else [name])]
    queries, given = read_gold(gold), read_answers(answers, setting or "")
    found = evaluate_answers(
        list(given.predictions.values()),
        queries,
        list(dict.fromkeys(variants)),
        contexts=given.contexts,
        clusters=clusters,
        failures=failures,
    )
    print_notes(found, "the answers", "the gold answers")
    write_scores(per_query, [found])
    if not explain:
        print_result(lambda: found.to_dict(wanted), lambda: found)
        return
    ids = [query.query_id for query in queries]
    predictions = [given.predictions.get(i) or Prediction(i, "") for i in ids]
    differing = {name: disagreements(name, queries, predictions) for name in names}
    lines = [line for name, ones in differing.items() for line in _explanation(name, ones)]
    print_result(
        lambda: {"metrics": found.to_dict(), "differ": differing},
        lambda: "\n".join([str(found), *lines]),
    )


def _explanation(metric: str, differing: Sequence[Disagreement]) -> list[str]:
    lines = ["", f"{metric}: its variants differ on {len(differing):,} answers"]
    most = limits.SHOWN_DIFFERING_ANSWERS
    for one in differing[:most]:
        lines.append(f"  {one.query_id}: {one.answer!r} against {one.gold_answers!r}")
        lines.append("    " + "  ".join(f"{n} {v:.3f}" for n, v in one.values.items()))
    if len(differing) > most:
        lines.append(f"  and {len(differing) - most:,} more; --json lists them all")
    return lines
