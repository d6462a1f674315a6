"""`ragstone judge qrels`: a model's grades of passages as qrels, with a mark of the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.model_calls import open_services, store_option
from ragstone.cli.options import FILE, POSITIVE, json_option, print_result
from ragstone.cli.read_judge import judge_of_kind

if TYPE_CHECKING:
    from ragstone.building.qrels import MadeQrels
    from ragstone.components.judges.umbrela import Umbrela
    from ragstone.data.dataset import Dataset


@click.command("qrels")
@click.argument("source")
@click.option("-o", "--output", type=FILE, required=True, metavar="FILE", help="Qrels to write.")
@click.option(
    "--run",
    "runs",
    type=FILE,
    multiple=True,
    help="TREC run whose first passages are graded; may be repeated (default: the pairs of the "
    "data's own qrels).",
)
@click.option("--depth", type=POSITIVE, default=10, help="Number of first ranks of each run.")
@click.option(
    "--judge",
    "spec",
    default="umbrela",
    help="Judge that grades: umbrela, or umbrela(model=...).",
)
@click.option("--limit", type=POSITIVE, help="Use a random sample of this many queries.")
@click.option("--seed", default=0, help="Seed of the random sample.")
@click.option("--plan", is_flag=True, help="Show the number of pairs and calls, and make none.")
@store_option
@json_option
def command(
    *,
    source: str,
    output: Path,
    runs: tuple[Path, ...],
    depth: int,
    spec: str,
    limit: int | None,
    seed: int,
    plan: bool,
    store: Path,
) -> None:
    """Grade passages from 0 to 3 with a model, as UMBRELA does, and write qrels.

    SOURCE is a data set with a corpus. The qrels have a mark beside them, FILE.made-by.json, with
    the model and the digest of its prompt: keep both files together. Every command that shows
    a metric over such qrels states that they are machine-made. If interrupted, run the same command
    again to resume.

    \b
    Examples:
      ragstone judge qrels sample -o qrels.tsv --run bm25.trec --depth 5 --plan
      ragstone judge qrels my-data -o my-data/qrels.tsv --run a.trec --run b.trec --limit 100
      ragstone judge qrels my-data -o again.tsv --judge "umbrela(model=chat(model=my-model))"
    """
    from ragstone.building.qrels import check_new_file, pairs_to_grade, write_machine_qrels
    from ragstone.components.judges.umbrela import Umbrela
    from ragstone.data.load import load_dataset
    from ragstone.data.readers.trec import read_run

    check_new_file(output)
    judge = judge_of_kind(spec, Umbrela, "grades passages from 0 to 3", "umbrela(model=local)")
    dataset = load_dataset(source)
    chosen = dataset.sample(limit, seed) if limit else dataset
    pairs = pairs_to_grade(chosen, [read_run(path) for path in runs], depth)
    if plan:
        queries = len({query_id for query_id, _ in pairs})
        planned = {"queries": queries, "pairs": len(pairs), "calls": judge.cost(0, len(pairs))}
        print_result(
            lambda: {"planned": planned},
            lambda: (
                f"{planned['pairs']:,} pairs of {queries:,} queries: {planned['calls']:,} calls"
            ),
        )
        return
    made = _graded(chosen, pairs, judge, store)
    files = write_machine_qrels(made, judge, output)
    document = {"files": files, "pairs": len(made.grades), "grades": made.counts}
    document |= {"failed": made.failed, "models": judge.model_names}
    print_result(lambda: document, lambda: _text(made, files))


def _graded(
    dataset: Dataset, pairs: list[tuple[str, str]], judge: Umbrela, store: Path
) -> MadeQrels:
    from ragstone.building.qrels import grade_pairs

    with open_services(store) as services:
        judge.check(services)
        return grade_pairs(dataset, pairs, judge, services)


def _text(made: MadeQrels, files: Any) -> str:
    counts = ", ".join(f"{n:,} of grade {grade}" for grade, n in made.counts.items())
    lines = [f"{len(made.grades):,} pairs graded: {counts}", *map(str, files)]
    lines += [f"{count:,} pairs without a grade: {why}" for why, count in made.failed.items()]
    if made.failed:
        lines.append("To ask for them again, remove the files and run the same command.")
    return "\n".join(lines)
