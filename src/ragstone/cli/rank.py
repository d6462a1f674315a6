"""`ragstone rank`: score rankings against relevance judgements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import FILE, AliasCommand, print_result
from ragstone.cli.scores import print_notes, scores_options, write_scores
from ragstone.cli.screen import tell
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from ragstone.statistics.summary import Policy


@click.command("rank", cls=AliasCommand, former={"--document-mark": "--document-separator"})
@click.argument("run", type=FILE)
@click.argument("qrels", type=FILE)
@click.argument("metrics", nargs=-1, required=True, metavar="METRIC...")
@click.option(
    "--also",
    type=(FILE, FILE),
    multiple=True,
    metavar="RUN QRELS",
    help="Add a collection, and averages weighted by queries and macro; may be repeated.",
)
@click.option("--variant", default="corrected", help="Variant of the metrics: corrected or paper.")
@click.option(
    "--documents",
    type=FILE,
    help="For qrels that judge documents: file with passage id, tab, document id per line.",
)
@click.option(
    "--document-separator",
    help="For qrels that judge documents: passage ids are document id, this separator, a suffix.",
)
@scores_options
def command(
    *,
    run: Path,
    qrels: Path,
    metrics: tuple[str, ...],
    also: tuple[tuple[Path, Path], ...],
    variant: str,
    documents: Path | None,
    document_separator: str | None,
    clusters: Mapping[str, str] | None,
    failures: Policy,
    per_query: Path | None,
) -> None:
    """Score RUN against QRELS (TREC or BEIR files, plain or gzip) by each METRIC.

    Passages are ranked in trec_eval's order: score descending, ties by id descending. A judged
    query that is not in the run is failed; --failures decides how it counts.

    \b
    Examples:
      ragstone rank run.trec qrels.tsv nDCG@10 R@5
      ragstone rank run.trec.gz qrels.txt MRR@10 "MRR(rel=2)@10" judged@10 --json
      ragstone rank run.trec pages.txt R@5 --document-separator _ --variant paper
      ragstone rank a.trec a.tsv nDCG@5 --also b.trec b.tsv --also c.trec c.tsv
    """
    from ragstone.components.metrics.parse import check_variant, parse_metric, with_variant
    from ragstone.data.readers.run_columns import run_columns
    from ragstone.evaluation.score_files import average, evaluate_run

    check_variant(variant)
    wanted = {with_variant(name, variant): str(parse_metric(name)) for name in metrics}
    document_of = _document_of(documents, document_separator)
    found = {
        str(run_file): evaluate_run(
            run=run_columns(run_file),
            metrics=list(wanted),
            document_of=document_of,
            variant="corrected" if variant == "corrected" else "paper",
            clusters=clusters,
            failures=failures,
            **_judgements(qrels_file, metrics),
        )
        for run_file, qrels_file in [(run, qrels), *also]
    }
    write_scores(per_query, found.values())
    for evaluation in found.values():
        print_notes(evaluation, "the run", "the qrels")
    if not also:
        (one,) = found.values()
        print_result(lambda: one.to_dict(wanted), lambda: one)
        return
    means = {kind: average(list(found.values()), kind) for kind in ("weighted", "macro")}
    averages = [
        f"{kind} average: " + "  ".join(f"{m} {v:.4f}" for m, v in values.items())
        for kind, values in means.items()
    ]
    print_result(
        lambda: {"collections": {n: e.to_dict(wanted) for n, e in found.items()}, **means},
        lambda: "\n".join([*(f"{name}\n{one}" for name, one in found.items()), *averages]),
    )


def _judgements(path: Path, metrics: Iterable[str]) -> dict[str, Any]:
    """Return the qrels of a file, with its subtopics if a metric needs them.

    Prints a note on stderr if a model made the qrels.
    """
    from ragstone.components.metrics.parse import parse_metric
    from ragstone.data.machine_qrels import machine_made
    from ragstone.data.readers.run_columns import qrel_columns
    from ragstone.data.readers.trec import best_grades, read_subtopics

    if made := machine_made(path):
        tell(f"note: {made}: the metrics measure agreement with this model")
    if not any("subtopics" in parse_metric(name).requires for name in metrics):
        return {"qrels": qrel_columns(path)}
    subtopics = read_subtopics(path)
    return {"qrels": best_grades(subtopics), "subtopics": subtopics}


def _document_of(documents: Path | None, separator: str | None) -> Callable[[str], str] | None:
    from ragstone.data.document_level import before
    from ragstone.data.readers.rows import decoded, parsed

    if documents is None:
        return before(separator) if separator else None
    known: dict[str, str] = {}
    for number, line in parsed(documents, decoded):
        passage_id, _, document_id = line.partition("\t")
        if not (passage_id and document_id):
            raise DatasetError(
                f"{documents}, line {number}: expected a passage id, a tab and a document id"
            )
        known[passage_id] = document_id
    return lambda passage_id: known.get(passage_id, passage_id)
