"""`ragstone judge compare`: the judges of an experiment side by side, without people's grades."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli import options as cli

if TYPE_CHECKING:
    from ragstone.cli.judged_answers import KeptAnswers
    from ragstone.evaluation.side_by_side import JudgedColumn


@click.command("compare")
@cli.experiment_arguments
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Metric to compare (default: those of the judges); may be repeated.",
)
@click.option("--setting", "settings", multiple=True, help="Only this context setting.")
@click.option(
    "--by",
    multiple=True,
    metavar="LABEL",
    help="Also show the agreement by this label, `system` or factor of the data, such as "
    "`language`; may be repeated.",
)
@click.option("--seed", default=0, help="Seed of the intervals.")
@cli.json_option
def command(
    *,
    experiment: Path,
    overrides: tuple[str, ...],
    metrics: tuple[str, ...],
    settings: tuple[str, ...],
    by: tuple[str, ...],
    seed: int,
) -> None:
    """Compare the judges of an experiment with each other.

    Shows each judge's order of the systems, and how far each pair of judges agrees: by answer, in
    the order of the systems' means, and within each query. The data sets of a campaign are compared
    together. No calls are made.

    \b
    Examples:
      ragstone judge compare experiment.yaml
      ragstone judge compare experiment.yaml --metric equivalence --metric Match
      ragstone judge compare experiment.yaml --setting "retrieved(5)"
      ragstone judge compare experiment.yaml --by language
    """
    from ragstone.cli.judged_answers import KeptAnswers
    from ragstone.evaluation.side_by_side import places_of, side_by_side
    from ragstone.evaluation.side_by_side_text import side_by_side_text
    from ragstone.statistics.order_agreement import RatedAnswers

    answers = KeptAnswers(cli.load_all_results(experiment, overrides), settings)
    for one in answers.results:
        cli.warn_of_attempt(one)
    rated = RatedAnswers(answers.systems, answers.ids, answers.clusters)
    columns = judged_columns(answers, metrics)
    groups = {label: places_of(answers.groups(label)) for label in by}
    found = side_by_side(columns, rated, groups, seed=seed)
    cli.print_result(found.to_dict, lambda: side_by_side_text(found))


def judged_columns(answers: KeptAnswers, metrics: Sequence[str] = ()) -> list[JudgedColumn]:
    """Return a column per metric, with an entry per answer; by default those of judges.

    Raises:
        ConfigError: an unknown metric or setting, or an experiment without judges.
    """
    from ragstone.errors import ConfigError, did_you_mean
    from ragstone.evaluation.side_by_side import JudgedColumn, words_of

    name = " and ".join(one.name for one in answers.results)
    known = dict.fromkeys(trial.setting for one in answers.results for trial in one.trials)
    entries = answers.entries
    chosen = metrics or [name for name, one in entries.items() if one.kind == "judge"]
    for given, allowed, option in (
        (answers.settings, known, "setting"),
        (chosen, entries, "metric"),
    ):
        for one in given:
            if one not in allowed:
                hint = did_you_mean(one, allowed)
                raise ConfigError(f"--{option}: {name} has no {option} {one!r}{hint}")
    if not chosen:
        raise ConfigError(f"{name} has no judges; name metrics to compare with --metric")
    columns = []
    for metric in dict.fromkeys(chosen):
        values = answers.column(metric)
        higher = entries[metric].direction != "lower"
        columns.append(JudgedColumn(metric, values, words_of(values), higher))
    return columns
