"""`ragstone judge calibrate`: scores of systems from a few human labels and many verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.judge_labels import labelled_answers, rating_options
from ragstone.cli.options import FILE, experiment_arguments, json_option, load_results, print_result
from ragstone.core.tables import TextTable

if TYPE_CHECKING:
    from ragstone.results.calibrate import CalibratedTrial


@click.command("calibrate")
@experiment_arguments
@click.option("--metric", required=True, help="Metric of a judge that the labels are for.")
@click.option(
    "--labels",
    required=True,
    type=FILE,
    help="JSON lines with query_id, system, setting and value (0 to 1), or ratings of people.",
)
@rating_options
@json_option
def command(
    experiment: Path, overrides: tuple[str, ...], metric: str, labels: Path, **options: Any
) -> None:
    """Calibrate a judge's means with human labels.

    Prints the raw mean and the calibrated mean of each system, with an interval. The labelled
    answers must be a random sample of all answers. The values of several raters become one.

    \b
    Examples:
      ragstone judge calibrate experiment.yaml --metric equivalence --labels labels.jsonl
      ragstone judge calibrate experiment.yaml --metric RB_llm --labels ratings.jsonl --scale 1-5
    """
    from ragstone.results.calibrate import calibrate, labels_of

    results = load_results(experiment, overrides)
    given = {key: value for key, value in options.items() if value}
    trials = calibrate(results, metric, labels_of(labelled_answers(results, labels, **given)))
    head = ["system", "setting", "judge's raw mean", "calibrated [95 % interval]", "labels"]
    print_result(lambda: trials, lambda: TextTable(head, [_row(trial) for trial in trials]))


def _row(trial: CalibratedTrial) -> list[str]:
    found = trial.calibrated
    if found is None:
        return [trial.system, trial.setting, "", f"none: {trial.reason}", ""]
    low, high = found.interval
    calibrated = f"{found.mean:.3f} [{low:.3f}, {high:.3f}]"
    labels = f"{found.labelled} of {found.labelled + found.judged}"
    return [trial.system, trial.setting, f"{found.judge_mean:.3f}", calibrated, labels]
