"""`ragstone report`: an experiment's report as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import (
    experiment_arguments,
    json_option,
    load_all_results,
    print_result,
    reveal_option,
    warn_of_attempt,
)

if TYPE_CHECKING:
    from ragstone.results.results import Results


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
@reveal_option
@json_option
def command(
    *,
    experiment: Path,
    overrides: tuple[str, ...],
    output: Path | None,
    queries: int | None,
    reveal: bool,
) -> None:
    """Write the results of an experiment as one HTML file that needs no network.

    A file with several data sets gets a page with one table of all, and a report per data set.

    KEY=VALUE replaces a value of the experiment file; only `name` and `store` have an effect.

    \b
    Examples:
      ragstone report demo
      ragstone report demo -o demo.html --queries all
    """
    every = load_all_results(experiment, overrides, reveal=reveal)
    written = [
        _written(results, _target(output, results, len(every)), queries) for results in every
    ]
    if len(written) == 1:
        first = written[0]
        print_result(lambda: first, lambda: _line(first))
        return
    from ragstone.results.board.page import write_board
    from ragstone.results.board.table import campaign_board

    name = every[0].record.campaign
    reports = {one["name"]: Path(one["report"]) for one in written}
    target = output or Path(f"{name}-report.html")
    path = write_board(campaign_board(every), target, reports)
    facts = {"report": path, "bytes": path.stat().st_size, "name": name}
    print_result(
        lambda: {**facts, "reports": written},
        lambda: "\n".join(map(_line, [facts, *written])),
    )


def _written(results: Results, target: Path, queries: int | None) -> dict[str, Any]:
    """Write the report of one data set, and return the facts that are printed."""
    from ragstone.results.kept_board import write_report

    warn_of_attempt(results)
    path = write_report(results, target, queries=queries)
    size = path.stat().st_size
    return {"report": path, "bytes": size, "name": results.name, "finished": results.finished}


def _line(facts: Mapping[str, Any]) -> str:
    return f"{facts['report']} ({facts['bytes'] / 1e6:.1f} MB)"


def _target(output: Path | None, results: Results, count: int) -> Path:
    """Return the file of a report; those of several data sets have their names."""
    if output is None:
        return Path(f"{results.name}-report.html")
    data = results.name.removeprefix(f"{results.record.campaign}.")
    return output.with_name(f"{output.stem}.{data}{output.suffix}") if count > 1 else output
