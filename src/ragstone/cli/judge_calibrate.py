"""`ragstone judge calibrate`: scores of systems from a few human labels and many verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.judge_labels import labelled_answers, rating_options
from ragstone.cli.options import FILE, experiment_arguments, json_option, load_results, print_result
from ragstone.core.tables import TextTable

if TYPE_CHECKING:
    from ragstone.results.calibrate import CalibratedTrial
    from ragstone.statistics.corrected_difference import CorrectedDifference
    from ragstone.statistics.prediction_powered import Calibrated


@click.command("calibrate")
@experiment_arguments
@click.option("--metric", required=True, help="Metric of a judge that the labels are for.")
@click.option(
    "--labels",
    required=True,
    type=FILE,
    help="JSON lines with query_id, system, setting and value (0 to 1), or ratings of people.",
)
@click.option("--baseline", help="System to compare with (default: the best of each setting).")
@click.option("--by", metavar="LABEL", help="Label of the queries whose values are strata.")
@rating_options
@json_option
def command(
    *,
    experiment: Path,
    overrides: tuple[str, ...],
    metric: str,
    labels: Path,
    baseline: str | None,
    by: str | None,
    **options: Any,
) -> None:
    """Calibrate a judge's means and differences with human labels.

    Prints the raw and the calibrated mean of each system, its rank, and its difference from the
    best one, with intervals. The labelled answers must be a random sample of all answers, or those
    that `ragstone judge next` proposed. The values of several raters become one. At least 10 labels
    are needed per system and setting.

    \b
    Examples:
      ragstone judge calibrate experiment.yaml --metric equivalence --labels labels.jsonl
      ragstone judge calibrate experiment.yaml --metric RB_llm --labels ratings.jsonl --scale 1-5
      ragstone judge calibrate experiment.yaml --metric RL_F --labels labels.jsonl --by kind
    """
    from ragstone.results.calibrate import calibrate, inclusions_of, labels_of

    results = load_results(experiment, overrides)
    graded = labelled_answers(results, labels, **options)
    trials = calibrate(
        results,
        metric,
        labels_of(graded),
        inclusions=inclusions_of(graded),
        baseline=baseline,
        by=by,
    )
    print_result(lambda: trials, lambda: "\n\n".join(map(str, _parts(trials, by))))


def _parts(trials: Sequence[CalibratedTrial], by: str | None) -> Iterator[TextTable | str]:
    """Yield the tables of means, of differences and of strata, and notes on the labels."""
    head = ["system", "setting", "judge's raw mean", "calibrated [95 % interval]", "rank", "labels"]
    yield TextTable(head, [_row(trial) for trial in trials])
    rows = [[t.setting, *_gap(t.difference)] for t in trials if t.difference]
    names = ["system - baseline", "judge's raw", "corrected [95 % interval]", "p (Holm)"]
    names += ["labels", "estimate"]
    if rows:
        yield TextTable(["setting", *names], rows, "Differences, corrected by the labels")
    if by is not None:
        parts = [(t, part) for t in trials for part in t.by]
        means = [
            [part.value, t.system, t.setting, *_mean(part.calibrated, part.reason)]
            for t, part in parts
        ]
        yield TextTable([by, *head[:4], head[5]], means, f"Means by {by}")
        gaps = [[part.value, t.setting, *_gap(d)] for t, part in parts if (d := part.difference)]
        if gaps:
            yield TextTable([by, "setting", *names], gaps, f"Differences by {by}")
    yield from _notes(trials)


def _notes(trials: Sequence[CalibratedTrial]) -> Iterator[str]:
    others = sum(trial.other_queries for trial in trials)
    if others:
        yield f"{others:,} labels are of queries that the experiment did not ask; they do not count"
    for setting, found in {t.setting: t.sample_differences for t in trials}.items():
        if found:
            differences = "\n".join(f"  {one.text}" for one in found)
            yield (
                f"warning: the labelled answers under {setting} differ from the others. The "
                f"corrections assume a random sample (or use `ragstone judge next`):\n{differences}"
            )


def _row(trial: CalibratedTrial) -> list[str]:
    *means, labels = _mean(trial.calibrated, trial.reason)
    rank = trial.place.text if trial.place else ""
    return [trial.system, trial.setting, *means, rank, labels]


def _mean(found: Calibrated | None, reason: str) -> list[str]:
    if found is None:
        return ["", f"none: {reason}", ""]
    low, high = found.interval
    calibrated = f"{found.mean:.3f} [{low:.3f}, {high:.3f}]"
    labels = f"{found.labelled} of {found.labelled + found.judged}"
    return [f"{found.judge_mean:.3f}", calibrated, labels]


def _gap(found: CorrectedDifference) -> list[str]:
    name = f"{found.system} - {found.baseline}"
    raw = "" if found.judge_difference is None else f"{found.judge_difference:+.3f}"
    if found.difference is None or found.interval is None or found.adjusted_p is None:
        return [name, raw, f"none: {found.reason}", "", "", ""]
    low, high = found.interval
    corrected = f"{found.difference:+.3f} [{low:+.3f}, {high:+.3f}]"
    labels = f"{found.labelled} of {found.n}"
    return [name, raw, corrected, f"{found.adjusted_p:.2g}", labels, found.method or ""]
