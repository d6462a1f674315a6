"""`ragstone try`: measure an own system with one command."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from ragstone.cli.options import (
    POSITIVE,
    documents_option,
    json_option,
    metrics_option,
    output_quiet,
    print_result,
    starter_options,
)
from ragstone.cli.screen import tell


@click.command("try")
@click.argument("system")
@click.argument("data", required=False)
@documents_option
@metrics_option
@click.option("--limit", type=POSITIVE, help="Use a random sample of this many queries.")
@starter_options("try.yaml")
@json_option
def command(
    *,
    system: str,
    data: str | None,
    documents: str | None,
    metrics: str | None,
    limit: int | None,
    output: Path,
    force: bool,
) -> None:
    """Measure your own system on your questions, and write the experiment file that does it.

    SYSTEM is a Python function (my_rag.py:answer), the address of a service, or a file of recorded
    answers: a table, or rows of ragas, LangChain, LlamaIndex, DeepEval, promptfoo and others. DATA
    is a file of questions with gold answers (CSV, Excel or JSON lines), or any data set; recorded
    answers need none if their rows have the questions. One query is asked first: a reply of a wrong
    form stops the run.

    With --documents, the documents are cut into passages, and the context that your system reports
    is matched to them. SYSTEM may then also be a retriever, which searches them.

    \b
    Examples:
      ragstone try my_rag.py:answer qa.csv
      ragstone try http://localhost:9000/ask qa.jsonl --limit 50
      ragstone try answers.jsonl qa.csv --metrics F1,BLEU -o first.yaml
      ragstone try my_rag.py:answer qa.csv --documents docs/
      ragstone try bm25 qa.csv --documents "docs/**/*.pdf"
      ragstone try ragas-rows.jsonl --metrics EM,F1,K-precision
    """
    from ragstone.cli.progress_bars import open_bar
    from ragstone.components.generators.external_base import first_reply_checked
    from ragstone.core.progress import shown_by
    from ragstone.core.spec import split_specs
    from ragstone.experiment.starter import Starter

    chosen = tuple(split_specs(metrics, where="--metrics")) if metrics else ()
    given = [*([data] if data else []), *(["--documents", documents] if documents else [])]
    made_by = f"Written by: {shlex.join(['ragstone', 'try', system, *given])}"
    starter = Starter(system, data, output, chosen, limit, made_by, documents or "")
    if not force:
        starter.require_free_path()
    with output_quiet(), shown_by(open_bar), first_reply_checked():
        experiment = starter.checked()
        starter.write()
        results = experiment.run()
    print_result(results.to_dict, lambda: results)
    tell(f"The experiment is in {output}; run it again: ragstone run {output}")
