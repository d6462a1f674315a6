"""`ragstone export`: an experiment's results in the forms of other tools."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.cli.options import experiment_arguments, json_option, load_results, print_json


@click.command(
    "export",
    epilog="""\b
Examples:
  ragstone export examples/demo.yaml -o demo.inspector.json
  ragstone export talk.yaml --to mtrageval -o talk-tasks
  ragstone export examples/demo.yaml --to trec -o demo-runs
""",
)
@experiment_arguments
@click.option(
    "--to",
    "form",
    type=click.Choice(["inspector", "mtrageval", "trec"]),
    default="inspector",
    show_default=True,
    help="InspectorRAGet's JSON (mtRAG's viewer), MTRAGEval's tasks A, B and C, or TREC runs.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The file to write; the folder for mtrageval and trec.",
)
@json_option
def command(
    experiment: Path, overrides: tuple[str, ...], form: str, output: Path, as_json: bool
) -> None:
    """Write what EXPERIMENT found in another tool's form; nothing is run or overwritten."""
    from ragstone.results.export import export_results

    files = export_results(load_results(experiment, overrides), output, form)
    if as_json:
        print_json({"files": [str(path) for path in files]})
    else:
        click.echo("\n".join(f"{path.stat().st_size:>13,} bytes  {path}" for path in files))
