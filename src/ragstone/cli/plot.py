"""`ragstone plot`: a chart by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragstone.cli.joined_options import joined_filters, setting_option, where_option
from ragstone.cli.options import json_option, print_result
from ragstone.errors import ConfigError


def _check_output(_context: click.Context, _option: click.Parameter, path: Path | None) -> Any:
    if path is not None:
        from ragstone.results.plots.output import check_plot_path

        check_plot_path(path)
    return path


@click.command("plot")
@click.argument("name", required=False)
@click.argument("sources", nargs=-1, metavar="[EXPERIMENT or STORE]...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_check_output,
    metavar="FILE",
    help="Write the plot to this file: .svg, .png, .html, or .json (Vega-Lite).",
)
@click.option("--list", "as_list", is_flag=True, help="List the plots and what they need.")
@click.option("--metric", "metrics", multiple=True, help="Metric to draw; may be repeated.")
@setting_option
@where_option
@click.option("--label", "labels", multiple=True, help="Label of the queries; may be repeated.")
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="GENERATOR=SIZE",
    help="Parameters of a model, such as small=7B, where no file tells them.",
)
@json_option
def command(
    *,
    name: str | None,
    sources: tuple[str, ...],
    output: Path | None,
    as_list: bool,
    metrics: tuple[str, ...],
    settings: tuple[str, ...],
    where: tuple[str, ...],
    labels: tuple[str, ...],
    sizes: tuple[str, ...],
) -> None:
    """Draw a chart of kept results by its name.

    NAME is a figure of a paper, such as bergen-4, or another plot of --list. EXPERIMENT is an
    experiment file, STORE the folder of a store (default: .ragstone). No step is run.

    \b
    Examples:
      ragstone plot --list
      ragstone plot leaderboard demo -o board.svg
      ragstone plot passages e.yaml --metric Match -o passages.html
      ragstone plot bergen-3 a.yaml b.yaml --where system=mine -o gains.png
    """
    from ragstone.experiment.joined_sources import read_joined
    from ragstone.results.joined import JoinedResults
    from ragstone.results.plots.output import draw, listed_plots, plots_table, write_plot
    from ragstone.results.plots.request import PlotRequest
    from ragstone.results.plots.sizes import read_sizes
    from ragstone.results.plots.table import find_plot

    if as_list:
        print_result(lambda: {"plots": listed_plots()}, plots_table)
        return
    if name is None:
        raise ConfigError("which plot? List: ragstone plot --list")
    of_people = find_plot(name).reads == "people"
    plot = draw(
        PlotRequest(
            name,
            JoinedResults((), ()) if of_people else read_joined(sources),
            metrics,
            joined_filters(where, settings),
            labels,
            read_sizes(sizes),
            sources if of_people else (),
        )
    )
    if output is not None:
        write_plot(plot, output)
    print_result(
        lambda: {**plot.to_dict(), "file": output},
        lambda: plot if output is None else "\n".join([str(output), *plot.notes]),
    )
