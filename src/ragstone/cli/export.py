"""`ragstone export`: an experiment's results in the formats of other tools."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.cli.options import (
    FILE,
    experiment_arguments,
    json_option,
    load_results,
    print_files,
    reveal_option,
    warn_of_attempt,
)
from ragstone.cli.screen import tell


@click.command("export")
@experiment_arguments
@click.option(
    "--to",
    "form",
    default="inspector",
    metavar="EXPORTER",
    help="Format: inspector (one JSON file), mtrageval, trec or trec-rag (folders), ragas "
    "(a .jsonl file), scores (a .parquet, .csv or .jsonl file), or your own exporter.",
)
@click.option("-o", "--output", type=FILE, required=True, help="File or folder to write.")
@reveal_option
@json_option
def command(
    *, experiment: Path, overrides: tuple[str, ...], form: str, output: Path, reveal: bool
) -> None:
    """Export the results of an experiment to another tool's format.

    No step is run, and no file is overwritten. KEY=VALUE replaces a value of the experiment file;
    only `name` and `store` have an effect.

    \b
    Examples:
      ragstone export demo -o demo.inspector.json
      ragstone export talk.yaml --to mtrageval -o talk-tasks
      ragstone export demo --to trec -o demo-runs
      ragstone export demo --to trec-rag -o demo-submissions
      ragstone export demo --to scores -o demo.csv
      ragstone export demo --to ragas -o rows.jsonl
    """
    from ragstone.results.trained_parts import trained_sentences

    results = load_results(experiment, overrides, reveal=reveal)
    warn_of_attempt(results)
    for line in trained_sentences(results.record.trained):
        tell(f"note: {line}")
    print_files(results.export(output, form), {})
