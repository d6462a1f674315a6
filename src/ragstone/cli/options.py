"""What several commands have in common: arguments, and JSON out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


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
