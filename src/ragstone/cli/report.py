"""`ragstone report`: an experiment's report as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.cli.options import (
    experiment_arguments,
    json_option,
    load_results,
    print_result,
    warn_of_attempt,
)


def _query_count(_context: click.Context, _option: click.Parameter, value: str) -> int | None:
    """Return a number of queries, None for `all`."""
    if value == "all":
        return None
    if not value.isdigit():
        raise click.BadParameter(f"{value!r} is neither a number of queries nor 'all'")
    return int(value)


@click.command("report")
@experiment_arguments
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write (default: NAME-report.html).",
)
@click.option(
    "--queries",
    callback=_query_count,
    metavar="NUMBER|all",
    default="500",
    help="Number of queries that get their own page. Means always include all queries.",
)
@json_option
def command(
    experiment: Path, overrides: tuple[str, ...], output: Path | None, queries: int | None
) -> None:
    """Write the results of an experiment as one HTML file that needs no network.

    KEY=VALUE replaces a value of the experiment file; only `name` and `store` have an effect.

    \b
    Examples:
      ragstone report demo
      ragstone report demo -o demo.html --queries all
    """
    from ragstone.results.html import write_report

    results = load_results(experiment, overrides)
    warn_of_attempt(results)
    path = write_report(results, output or Path(f"{results.name}-report.html"), queries=queries)
    size = path.stat().st_size
    facts = {"report": path, "bytes": size, "name": results.name, "finished": results.finished}
    print_result(lambda: facts, lambda: f"{path} ({size / 1e6:.1f} MB)")
