"""`ragstone judge compare`: the judges of an experiment side by side, without people's grades."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli import options as cli

if TYPE_CHECKING:
    from ragstone.evaluation.side_by_side import JudgedColumn
    from ragstone.results.results import Results
    from ragstone.statistics.order_agreement import RatedAnswers


@click.command("compare")
@cli.experiment_arguments
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Metric to compare (default: those of the judges); may be repeated.",
)
@click.option("--setting", "settings", multiple=True, help="Only this context setting.")
@click.option("--seed", default=0, help="Seed of the intervals.")
@cli.json_option
def command(
    *,
    experiment: Path,
    overrides: tuple[str, ...],
    metrics: tuple[str, ...],
    settings: tuple[str, ...],
    seed: int,
) -> None:
    """Compare the judges of an experiment with each other.

    Shows each judge's order of the systems, and how far each pair of judges agrees: by answer, in
    the order of the systems' means, and within each query. No calls are made.

    \b
    Examples:
      ragstone judge compare experiment.yaml
      ragstone judge compare experiment.yaml --metric equivalence --metric Match
      ragstone judge compare experiment.yaml --setting "retrieved(5)"
    """
    from ragstone.evaluation.side_by_side import side_by_side
    from ragstone.evaluation.side_by_side_text import side_by_side_text

    results = cli.load_results(experiment, overrides)
    cli.warn_of_attempt(results)
    columns, answers = judged_columns(results, metrics, settings)
    found = side_by_side(columns, answers, seed=seed)
    cli.print_result(found.to_dict, lambda: side_by_side_text(found))


def judged_columns(
    results: Results, metrics: Sequence[str] = (), settings: Sequence[str] = ()
) -> tuple[list[JudgedColumn], RatedAnswers]:
    """Return a column per metric, with an entry per answer; by default those of judges.

    Raises:
        ConfigError: an unknown metric or setting, or an experiment without judges.
    """
    from ragstone.errors import ConfigError, did_you_mean
    from ragstone.evaluation.side_by_side import JudgedColumn, words_of
    from ragstone.statistics.order_agreement import RatedAnswers

    scored = dict.fromkeys(name for trial in results.trials for name in trial.scores)
    kinds = {name: results.record.metric(name) for name in scored}
    chosen = metrics or [name for name, one in kinds.items() if one.kind == "judge"]
    known = dict.fromkeys(trial.setting for trial in results.trials)
    for given, allowed, option in ((chosen, scored, "metric"), (settings, known, "setting")):
        for name in given:
            if name not in allowed:
                hint = did_you_mean(name, allowed)
                raise ConfigError(f"--{option}: {results.name} has no {option} {name!r}{hint}")
    if not chosen:
        raise ConfigError(f"{results.name} has no judges; name metrics to compare with --metric")
    trials = [one for one in results.trials if not settings or one.setting in settings]
    columns = []
    for name in dict.fromkeys(chosen):
        values = [value for one in trials for value in one.values_of(name, one.predictions)]
        higher = kinds[name].direction != "lower"
        columns.append(JudgedColumn(name, values, words_of(values), higher))
    ids = [query_id for one in trials for query_id in one.predictions]
    systems = [f"{one.system}, {one.setting}" for one in trials for _ in one.predictions]
    return columns, RatedAnswers(systems, ids, [results.clusters[one] for one in ids])
