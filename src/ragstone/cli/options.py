"""What several commands have in common: arguments, and JSON out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from ragstone.results.results import Results

F = TypeVar("F", bound=Callable[..., Any])

calls_option: Final = click.option(
    "--calls",
    type=click.Path(path_type=Path),
    default=Path("ragstone-store/calls.sqlite"),
    help="File of kept replies.",
)


class Command(click.Command):
    """A command that still accepts the former names of its options, with a notice on stderr.

    Args:
        former: former name of an option -> its name today, both with their dashes.
    """

    def __init__(
        self, *arguments: Any, former: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self.former = former or {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments under the names of today."""
        return super().parse_args(ctx, [self._today(argument) for argument in args])

    def _today(self, argument: str) -> str:
        name, equals, value = argument.partition("=")
        if name not in self.former:
            return argument
        click.echo(f"note: {name} is now called {self.former[name]}", err=True)
        return f"{self.former[name]}{equals}{value}"


def experiment_arguments(function: F) -> F:
    """Add the arguments EXPERIMENT and OVERRIDES."""
    overrides = click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
    experiment = click.argument(
        "experiment", type=click.Path(path_type=Path), metavar="EXPERIMENT.yaml"
    )
    decorated: F = experiment(overrides(function))
    return decorated


def json_option(function: F) -> F:
    """Add the option --json, handed over as `as_json`."""
    option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
    decorated: F = option(function)
    return decorated


def print_json(document: object) -> None:
    """Print plain data as JSON, numbers unrounded, text as it is."""
    import orjson

    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table for the terminal."""
    from ragstone.core.tables import TextTable

    return str(TextTable(head, rows))


def load_results(experiment: Path, overrides: Sequence[str]) -> Results:
    """Return the kept results of an experiment file; only its name and its store matter."""
    from ragstone.core.store import Store
    from ragstone.experiment.config import read_experiment_file
    from ragstone.results.results import Results

    file = read_experiment_file(experiment, overrides)
    return Results.load(Store(Path(file.store)), file.name)


def chart_option(help_text: str) -> Callable[[F], F]:
    """Return a decorator that adds the option --chart, handed over as `chart`."""

    def decorate(function: F) -> F:
        for name in ("--chart", "--svg"):
            function = click.option(
                name,
                "chart",
                type=click.Path(path_type=Path, dir_okay=False),
                callback=_chart_path,
                metavar="FILE",
                hidden=name == "--svg",  # the former name
                help=f"{help_text}: .svg, .png, or .json (Vega-Lite).",
            )(function)
        return function

    return decorate


def _chart_path(context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    """Return the path given by --chart or by its former name --svg, or None."""
    if path is None:
        found: Path | None = context.params.get("chart")
        return found
    from ragstone.results.charts.render import check_chart_path

    check_chart_path(path)
    return path
