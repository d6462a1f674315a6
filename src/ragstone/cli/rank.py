"""`ragstone rank`: score rankings against relevance judgements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from ragstone.cli.options import json_option, print_json
from ragstone.cli.write_scores import notes, write_scores
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from ragstone.evaluation.score_files import Evaluation

FILE = click.Path(path_type=Path)


@click.command(
    "rank",
    epilog="""\b
Examples:
  ragstone rank run.trec qrels.tsv nDCG@10 R@5
  ragstone rank run.trec.gz qrels.txt MRR@10 "MRR(rel=2)@10" judged@10 --json
  ragstone rank run.trec pages.txt R@5 --document-mark _ --variant paper
  ragstone rank a.trec a.tsv nDCG@5 --also b.trec b.tsv --also c.trec c.tsv
""",
)
@click.argument("run", type=FILE)
@click.argument("qrels", type=FILE)
@click.argument("metrics", nargs=-1, required=True, metavar="METRIC...")
@click.option(
    "--also",
    type=(FILE, FILE),
    multiple=True,
    metavar="RUN QRELS",
    help="A further collection; prints weighted (by queries) and macro averages too.",
)
@click.option("--variant", default="corrected", show_default=True, help="corrected, or paper.")
@click.option(
    "--documents",
    type=FILE,
    help="The qrels judge documents: a file of passage id, tab, document id.",
)
@click.option(
    "--document-mark",
    help="The qrels judge documents, whose id is the passage id before the last of this mark.",
)
@click.option("--clusters", type=FILE, help="Queries that belong together: query id, tab, cluster.")
@click.option("--per-query", type=FILE, help="Write one line per query and metric to this file.")
@json_option
def command(
    *,
    run: Path,
    qrels: Path,
    metrics: tuple[str, ...],
    also: tuple[tuple[Path, Path], ...],
    variant: str,
    documents: Path | None,
    document_mark: str | None,
    clusters: Path | None,
    per_query: Path | None,
    as_json: bool,
) -> None:
    """Score RUN against QRELS (TREC or BEIR files, plain or gzip) by each METRIC.

    Passages are taken in trec_eval's order: score descending, ties by id descending. A judged
    query that the run lacks scores 0.
    """
    from ragstone.components.metrics.parse import check_variant, parse_metric, with_variant
    from ragstone.data.readers.scores import read_clusters
    from ragstone.data.readers.trec import read_qrels, read_run
    from ragstone.evaluation.score_files import average, evaluate_run

    check_variant(variant)
    wanted = {with_variant(name, variant): str(parse_metric(name)) for name in metrics}
    document_of = _document_of(documents, document_mark)
    level: Literal["corrected", "paper"] = "corrected" if variant == "corrected" else "paper"
    groups = read_clusters(clusters) if clusters else None
    found = {
        str(run_file): evaluate_run(
            read_qrels(qrels_file),
            read_run(run_file),
            list(wanted),
            document_of=document_of,
            variant=level,
            clusters=groups,
        )
        for run_file, qrels_file in [(run, qrels), *also]
    }
    if per_query:
        write_scores(per_query, [evaluation.table for evaluation in found.values()])
    if not also:
        _print(found[str(run)], wanted, as_json=as_json)
        return
    means = {kind: average(list(found.values()), kind) for kind in ("weighted", "macro")}
    if as_json:
        print_json({"collections": {n: e.to_dict(wanted) for n, e in found.items()}, **means})
        return
    for name, evaluation in found.items():
        click.echo(name)
        _print(evaluation, wanted, as_json=False)
    for kind, values in means.items():
        click.echo(f"{kind} average: " + "  ".join(f"{m} {v:.4f}" for m, v in values.items()))


def _print(evaluation: Evaluation, wanted: Mapping[str, str], *, as_json: bool) -> None:
    for note in notes(evaluation, "the run lacks", "the qrels lack"):
        click.echo(note, err=True)
    if as_json:
        print_json(evaluation.to_dict(wanted))
    else:
        click.echo(str(evaluation))


def _document_of(documents: Path | None, mark: str | None) -> Callable[[str], str] | None:
    from ragstone.data.document_level import before
    from ragstone.data.readers.rows import decoded, parsed

    if documents is None:
        return before(mark) if mark else None
    known: dict[str, str] = {}
    for number, line in parsed(documents, decoded):
        passage_id, tab, document_id = line.partition("\t")
        if not (passage_id and tab and document_id):
            raise DatasetError(
                f"{documents}, line {number}: expected a passage id, a tab and a document id"
            )
        known[passage_id] = document_id
    return lambda passage_id: known.get(passage_id, passage_id)
