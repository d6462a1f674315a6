"""`ragstone report`: an experiment's report as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.cli.options import experiment_arguments, json_option, load_results, print_json


def _query_count(_context: click.Context, _option: click.Parameter, value: str) -> int | None:
    """Return a number of queries, None for `all`."""
    if value == "all":
        return None
    if not value.isdigit():
        raise click.BadParameter(f"{value!r} is neither a number of queries nor 'all'")
    return int(value)


@click.command(
    "report",
    epilog="""\b
Examples:
  ragstone report examples/demo.yaml
  ragstone report examples/demo.yaml -o demo.html --queries all
""",
)
@experiment_arguments
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write; NAME-report.html by default.",
)
@click.option(
    "--queries",
    callback=_query_count,
    metavar="NUMBER|all",
    default="500",
    show_default=True,
    help="How many queries get a page of their own: a number or 'all'. Means are over all.",
)
@json_option
def command(
    experiment: Path,
    overrides: tuple[str, ...],
    output: Path | None,
    queries: int | None,
    as_json: bool,
) -> None:
    """Write what EXPERIMENT found as one HTML file that needs no network.

    Of the key=value OVERRIDES only `name` and `store` matter.
    """
    from ragstone.results.html import write_report

    results = load_results(experiment, overrides)
    path = write_report(results, output or Path(f"{results.name}-report.html"), queries=queries)
    if as_json:
        print_json(
            {
                "report": str(path),
                "bytes": path.stat().st_size,
                "name": results.name,
                "finished": results.finished,
            }
        )
        return
    click.echo(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
