"""`ragstone export`: an experiment's results in the formats of other tools."""

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
    default="inspector",
    show_default=True,
    metavar="EXPORTER",
    help="inspector (one JSON file), mtrageval or trec (folders), or your own class.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="File or folder to write.",
)
@json_option
def command(
    experiment: Path, overrides: tuple[str, ...], form: str, output: Path, as_json: bool
) -> None:
    """Export the results of EXPERIMENT to another tool's format; nothing is run or overwritten."""
    files = load_results(experiment, overrides).export(output, form)
    if as_json:
        print_json({"files": [str(path) for path in files]})
    else:
        click.echo("\n".join(f"{path.stat().st_size:>13,} bytes  {path}" for path in files))
