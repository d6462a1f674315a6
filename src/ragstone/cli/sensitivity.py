"""`ragstone sensitivity`: how much scores and ranks depend on prompts, judges, data and samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragstone.cli.joined_options import (
    crossed_arguments,
    crossed_options,
    named_axes,
    print_crossed,
)


@click.command("sensitivity")
@crossed_options
@click.option(
    "--over",
    metavar="NAME,...",
    help="Choices to compare (default: those of prompt, judge, metric and data that vary).",
)
@click.option(
    "--persistence",
    type=float,
    default=0.9,
    help="Weight of the ranks below the first in the rank-biased overlap, between 0 and 1.",
)
def command(
    *,
    output: Path | None,
    over: str | None,
    persistence: float,
    confidence: float,
    seed: int,
    **options: Any,
) -> None:
    """Show whether the scores and the order of systems depend on choices.

    For each choice: the spread of each system over its levels, and the agreement of the orders of
    systems under every two levels. The agreement of two samples of the queries is beside it.
    STORE and FILES are those of `ragstone leaderboard`.

    \b
    Examples:
      ragstone sensitivity --metric Match --setting "retrieved(5)" --over prompt
      ragstone sensitivity --metric EM --metric F1 --metric Match --over metric
      ragstone sensitivity compact.yaml full.yaml --over data -o sensitivity.html
    """
    from ragstone.experiment.joined_tables import sensitivity

    wanted = named_axes("--over", over) if over is not None else ()
    asked = crossed_arguments(**options)
    report = sensitivity(
        **asked, over=wanted, persistence=persistence, confidence=confidence, seed=seed
    )
    print_crossed(report, output)
