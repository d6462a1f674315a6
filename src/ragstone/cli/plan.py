"""`ragstone plan`: the power of an experiment, before it is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragstone.cli.options import FILE, experiment_arguments, json_option, print_result


@click.group("plan")
def command() -> None:
    """Plan an experiment before it is run.

    \b
    Examples:
      ragstone plan power experiment.yaml --difference 0.05
      ragstone run experiment.yaml --plan           the steps and the cost
    """


@command.command("power")
@experiment_arguments
@click.option(
    "--pilot",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="Scores of a system, as `ragstone score --per-query` writes; twice for two systems. Or a "
    "store with results of this experiment (default: the experiment's store, if it has results).",
)
@click.option("--difference", default=0.05, help="Difference of means that should be found.")
@click.option("--power", default=0.8, help="Probability of finding it.")
@click.option("--confidence", default=0.95, help="1 minus the level of the tests.")
@click.option("--metric", help="Metric of the experiment (default: the headline).")
@click.option(
    "--mean", "means", type=float, multiple=True, help="Assumed mean of 0/1 scores; repeatable."
)
@click.option(
    "--correlation",
    "correlations",
    type=float,
    multiple=True,
    help="Assumed correlation of two systems' scores of a query; repeatable.",
)
@click.option("--seed", default=0, help="Seed of the simulation.")
@json_option
def power_command(*, experiment: Path, overrides: tuple[str, ...], **options: Any) -> None:
    """Compute the number of queries that shows a difference between systems.

    Comparisons are simulated from a pilot's scores, else from assumptions: 0/1 scores with a mean
    and a correlation between systems. Graded scores usually need fewer queries. Whole conversations
    or documents are drawn if the data have them. The tests are those of `ragstone compare`,
    corrected over the comparisons of the experiment's systems. Nothing is run.

    \b
    Examples:
      ragstone plan power experiment.yaml
      ragstone plan power experiment.yaml --difference 0.03 --power 0.9
      ragstone plan power experiment.yaml --pilot old.jsonl --pilot new.jsonl --metric F1
      ragstone plan power experiment.yaml --mean 0.7 --correlation 0.5
    """
    from ragstone.experiment.load import load_experiment
    from ragstone.experiment.power import plan_power

    found = plan_power(load_experiment(experiment, overrides), **options)
    print_result(found.to_dict, lambda: found)
