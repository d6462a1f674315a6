"""`ragstone run`: run or resume an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import Command, experiment_arguments, json_option, print_json
from ragstone.results.wording import TITLES

if TYPE_CHECKING:
    from ragstone.experiment.plan import Plan


@click.command(
    "run",
    cls=Command,
    former={"--probe": "--sample-calls", "--replay": "--cached-only"},
    epilog="""\b
Examples:
  ragstone run examples/demo.yaml
  ragstone run examples/demo.yaml --limit 20 --seed 1
  ragstone run examples/demo.yaml --plan
  ragstone run examples/demo.yaml --only retrieve
  ragstone run my.yaml data=../my-data systems.0.retriever.k1=0.9
""",
)
@experiment_arguments
@click.option("--plan", is_flag=True, help="Print the steps, their state and the cost only.")
@click.option(
    "--limit", type=click.IntRange(min=1), help="Number of queries to answer, drawn at random."
)
@click.option("--seed", type=int, help="Seed of the sample.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(list(TITLES)),
    help="Run only the steps of this name and those that they need; may be repeated.",
)
@click.option(
    "--sample-calls",
    type=click.IntRange(min=1),
    help="With --plan: number of calls to make first, to estimate the others from.",
)
@click.option(
    "--budget", type=click.FloatRange(min=0), help="Stop before the cost exceeds this amount."
)
@click.option("--offline", is_flag=True, help="Refuse every connection that leaves this machine.")
@click.option("--cached-only", is_flag=True, help="Make no model call: use kept replies only.")
@json_option
def command(
    *,
    experiment: Path,
    overrides: tuple[str, ...],
    plan: bool,
    limit: int | None,
    seed: int | None,
    sample_calls: int | None,
    only: tuple[str, ...],
    budget: float | None,
    offline: bool,
    cached_only: bool,
    as_json: bool,
) -> None:
    """Run or resume EXPERIMENT, a YAML file, after key=value OVERRIDES.

    Finished steps are not run again. If a run was interrupted, run the same command to resume it.
    """
    from ragstone.cli.progress_bars import open_bar
    from ragstone.core.progress import shown_by
    from ragstone.experiment.experiment import load_experiment

    options = {"sample.limit": limit, "sample.seed": seed}
    given = [f"{key}={value}" for key, value in options.items() if value is not None]
    loaded = load_experiment(experiment, [*overrides, *given])
    if sample_calls and not plan:
        raise click.UsageError("--sample-calls needs --plan")
    calls = loaded.open_calls(offline=offline, replay_only=cached_only, budget=budget)
    with calls, shown_by(open_bar):
        if plan:
            _print_plan(loaded.plan(calls, sample_calls=sample_calls or 0), as_json=as_json)
            return
        results = loaded.run(calls, only=only)
    if as_json:
        print_json(results.to_dict())
    else:
        click.echo(str(results))


def _print_plan(plan: Plan, *, as_json: bool) -> None:
    if as_json:
        print_json(plan.document())
    else:
        click.echo(plan.text())
