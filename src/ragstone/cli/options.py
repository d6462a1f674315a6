"""Parts that several commands share: options, former names, and output as text or JSON."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from ragstone.cli.screen import say, say_json, tell
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from ragstone.results.results import Results

F = TypeVar("F", bound=Callable[..., Any])

FILE: Final = click.Path(path_type=Path)
POSITIVE: Final = click.IntRange(min=1)
_JSON: Final = "ragstone.json"
_MORE: Final = (
    "All tables of one data set: ragstone show FILE.yaml#DATA. Other axes and metrics: ragstone "
    "leaderboard FILE.yaml"
)


class _Renamed:
    """The base of commands with former names, which are not in the help.

    Args:
        former: former name -> its name today.
    """

    def __init__(
        self, *arguments: Any, former: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self.former = former or {}

    def today(self, name: str) -> str:
        """Return the name of today, after a notice on stderr if `name` is a former one."""
        if name in self.former:
            tell(f"note: {name} is now called {self.former[name]}")
        return self.former.get(name, name)


class AliasCommand(_Renamed, click.Command):
    """A command that accepts the former names of its options, written with their dashes."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments under the names of today."""
        parts = [argument.partition("=") for argument in args]
        return super().parse_args(ctx, ["".join((self.today(n), *rest)) for n, *rest in parts])


class AliasGroup(_Renamed, click.Group):
    """A group that accepts the former names of its commands."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with a present or former name."""
        return super().get_command(ctx, self.today(cmd_name))


def together(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds several options, in the order of the help."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def _keep_json(context: click.Context, _option: click.Parameter, value: bool) -> None:
    context.meta[_JSON] = value


def _check_chart(_context: click.Context, _option: click.Parameter, path: Path | None) -> Any:
    if path is not None:
        from ragstone.results.charts.render import check_chart_path

        check_chart_path(path)
    return path


json_option: Final = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    callback=_keep_json,
    help="Print JSON with unrounded numbers instead of text.",
)
failures_option: Final = click.option(
    "--failures",
    type=click.Choice(["wrong", "exclude", "bounds"]),
    default="wrong",
    help="Failed queries count as wrong, are left out, or give the worst and the best case.",
)
model_option: Final = click.option(
    "--model", default="local", help="Model to call: a generator spec such as chat(model=NAME)."
)
seed_option: Final = click.option("--seed", default=0, help="Seed of the random sample.")
experiment_arguments: Final = together(
    click.argument("experiment", type=FILE, metavar="EXPERIMENT.yaml"),
    click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]..."),
)
query_options: Final = together(
    click.argument("source"),
    click.option(
        "-o",
        "--output",
        type=FILE,
        required=True,
        metavar="FILE",
        help="File to write, with one JSON line per query.",
    ),
    model_option,
    click.option("--limit", type=int, help="Use a random sample of this many queries."),
    seed_option,
    click.option(
        "--calls",
        type=FILE,
        default=Path("ragstone-store/calls.sqlite"),
        help="File of kept model replies.",
    ),
)
"""Arguments of a command in which a model assesses the queries of a data set."""
reveal_option: Final = click.option(
    "--reveal",
    is_flag=True,
    help="Show the secret queries and nuggets too. The store records that they were shown.",
)
metrics_option: Final = click.option(
    "--metrics", metavar="NAME,...", help="Metrics, separated by commas (default: Match,EM,F1)."
)
documents_option: Final = click.option(
    "--documents",
    metavar="DOCS",
    help="Folder, file or pattern of the documents (PDF, Word, ...) that answer the questions.",
)
chart_option: Final = click.option(
    "--chart",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_check_chart,
    metavar="FILE",
    help="Write a chart to this file: .svg, .png, or .json (Vega-Lite).",
)
FORMER_CHART: Final = {"--svg": "--chart"}


def starter_options(default: str) -> Callable[[F], F]:
    """Return the options of a command that writes an experiment file."""
    return together(
        click.option(
            "-o",
            "--output",
            type=click.Path(path_type=Path, dir_okay=False),
            default=Path(default),
            metavar="FILE",
            help="Experiment file to write.",
        ),
        click.option("--force", is_flag=True, help="Overwrite another file of this name."),
    )


def output_quiet() -> contextlib.AbstractContextManager[object]:
    """Return a block in which prints of your own code go to standard error.

    Standard output has the result of the command alone, which may be JSON.
    """
    return contextlib.redirect_stdout(sys.stderr)


def wants_json() -> bool:
    """Return whether the current command has the option --json."""
    return bool(click.get_current_context().meta.get(_JSON))


def print_result(document: Callable[[], object], text: Callable[[], object]) -> None:
    """Print a result as JSON with the option --json, or else as text."""
    if wants_json():
        print_json(document())
    else:
        say(str(text()))


def print_json(document: object) -> None:
    """Print plain data, dataclasses and paths as JSON, numbers unrounded."""
    import orjson

    say_json(orjson.dumps(document, default=os.fspath, option=orjson.OPT_INDENT_2))


def print_files(files: Sequence[Path], document: Mapping[str, object]) -> None:
    """Print written files with their sizes, or with --json a document with their paths."""
    print_result(
        lambda: {**document, "files": files},
        lambda: "\n".join(f"{path.stat().st_size:>13,} bytes  {path}" for path in files),
    )


def write_json_lines(path: Path, rows: Iterable[object]) -> None:
    """Write a file of JSON lines, in place of an earlier one."""
    import orjson

    try:
        with path.open("wb") as file:
            file.writelines(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    except OSError as error:
        raise DatasetError(f"cannot write {path}: {error.strerror}") from error


def warn_of_attempt(results: Results) -> None:
    """Print a line to standard error if the results are older than a run that is incomplete."""
    from ragstone.results.wording import attempt_text

    if results.attempt:
        tell(attempt_text(results.attempt))


def load_all_results(
    experiment: Path, overrides: Sequence[str], *, reveal: bool = False
) -> list[Results]:
    """Return the kept results of a file: one per data set that has some.

    Raises `StoreError` if there are none, and `ConfigError` if there are no secret queries to
    `reveal`.
    """
    from ragstone.experiment.joined_sources import stored_results
    from ragstone.results.results import Results

    found = [Results(one.store, one.record) for one in stored_results(experiment, overrides)]
    return [one.revealed() for one in found] if reveal else found


def print_results(results: Sequence[Results]) -> None:
    """Print the tables of one experiment, or the joined table of the experiments of a file."""
    if len(results) == 1:
        print_result(results[0].to_dict, lambda: results[0])
        return
    from ragstone.results.board.shown import board_parts
    from ragstone.results.board.table import campaign_board
    from ragstone.results.secret_share import share_sentence

    board = campaign_board(results)
    shares = (f"{one.name}: {text}" for one in results if (text := share_sentence(one)))
    experiments = (
        f"{one.name}: {one.record.data.answered:,} queries asked"
        f"{'' if one.finished else '; NOT FINISHED: run the same command again to resume'}"
        for one in results
    )
    print_result(
        lambda: {
            "experiments": {one.name: one.to_dict() for one in results},
            "leaderboard": board.to_dict(),
        },
        lambda: "\n\n".join(
            [*map(str, board_parts(board, "interval")), "\n".join([*shares, *experiments]), _MORE]
        ),
    )


def load_results(experiment: Path, overrides: Sequence[str], *, reveal: bool = False) -> Results:
    """Return the kept results of an experiment file; only its name and its store matter.

    Raises `ConfigError` if there are no secret queries to `reveal`.
    """
    from ragstone.core.store import Store
    from ragstone.experiment.members import read_experiment_file
    from ragstone.results.results import Results

    file = read_experiment_file(experiment, overrides)
    found = Results.load(Store(Path(file.store)), file.name).with_share_of(file.secret)
    return found.revealed() if reveal else found
