"""`ragstone run`: run an experiment, or go on with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import experiment_arguments, json_option, print_json

if TYPE_CHECKING:
    from ragstone.experiment.plan import Plan


@click.command(
    "run",
    epilog="""\b
Examples:
  ragstone run examples/demo.yaml
  ragstone run examples/demo.yaml --limit 20 --seed 1
  ragstone run examples/demo.yaml --plan
  ragstone run my.yaml data=../my-data systems.0.retriever.k1=0.9
""",
)
@experiment_arguments
@click.option("--plan", is_flag=True, help="Say what is kept, what is to do and what it takes.")
@click.option(
    "--limit", type=click.IntRange(min=1), help="Answer a random sample of this many queries."
)
@click.option("--seed", type=int, help="Seed of the sample.")
@click.option("--probe", type=click.IntRange(min=1), help="With --plan: make so many calls first.")
@click.option("--budget", type=click.FloatRange(min=0), help="Stop before calls cost more.")
@click.option("--offline", is_flag=True, help="Let no connection leave this machine.")
@click.option("--replay", is_flag=True, help="Make no model call: kept replies only.")
@json_option
def command(
    *,
    experiment: Path,
    overrides: tuple[str, ...],
    plan: bool,
    limit: int | None,
    seed: int | None,
    probe: int | None,
    budget: float | None,
    offline: bool,
    replay: bool,
    as_json: bool,
) -> None:
    """Run EXPERIMENT, a YAML file, after key=value OVERRIDES.

    What is kept is not run again: after Ctrl-C or a crash, the same command goes on.
    """
    from ragstone.cli.progress_bars import open_bar
    from ragstone.core.progress import shown_by
    from ragstone.experiment.experiment import load_experiment

    options = {"sample.limit": limit, "sample.seed": seed}
    given = [f"{key}={value}" for key, value in options.items() if value is not None]
    loaded = load_experiment(experiment, [*overrides, *given])
    if probe and not plan:
        raise click.UsageError("--probe goes with --plan")
    calls = loaded.open_calls(offline=offline, replay_only=replay, budget=budget)
    with calls, shown_by(open_bar):
        if plan:
            _print_plan(loaded.plan(calls, probe=probe or 0), as_json=as_json)
            return
        results = loaded.run(calls)
    if as_json:
        from ragstone.results.leaderboards import results_document

        print_json(results_document(results))
        return
    from ragstone.results.terminal import leaderboard_text

    click.echo(leaderboard_text(results))


def _print_plan(plan: Plan, *, as_json: bool) -> None:
    if as_json:
        print_json(plan.document())
    else:
        click.echo(plan.text())
