"""A judge's raw means of an experiment, and the means calibrated by human labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ragstone.data.readers.rows import FieldError, json_rows, reading, show
from ragstone.errors import DatasetError, UnknownMetric, did_you_mean
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.statistics.prediction_powered import Calibrated, calibrated_mean

Labels = Mapping[tuple[str, str], Mapping[str, float]]
"""(system, setting) -> query id -> value by people, on the scale of the metric."""


@dataclass(frozen=True, slots=True)
class CalibratedTrial:
    """One system under one setting; `calibrated` is None if there are too few labels."""

    system: str
    setting: str
    calibrated: Calibrated | None
    reason: str = ""


def calibrate(results: StoredResults, metric: str, labels: Labels) -> list[CalibratedTrial]:
    """Return each trial's mean of a metric, usually a judge's, raw and calibrated by human labels.

    Raises `UnknownMetric` if no trial has the metric.
    """
    known = {name for trial in results.trials for name in trial.scores}
    if metric not in known:
        raise UnknownMetric(f"no trial has the metric {metric!r}{did_you_mean(metric, known)}")
    return [_calibrated(trial, metric, labels) for trial in results.trials]


def _calibrated(trial: TrialResults, metric: str, labels: Labels) -> CalibratedTrial:
    human = labels.get((trial.system, trial.setting), {})
    scores = trial.values(metric)
    both = [query_id for query_id in scores if query_id in human]
    try:
        found = calibrated_mean(
            [human[q] for q in both],
            [scores[q] for q in both],
            [value for q, value in scores.items() if q not in human],
        )
    except DatasetError as error:
        return CalibratedTrial(trial.system, trial.setting, None, str(error))
    return CalibratedTrial(trial.system, trial.setting, found)


def read_labels(path: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Read human labels: JSON lines with query_id, system, setting and value (0 to 1)."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for number, row in json_rows(path):
        with reading(path, number):
            query_id = row.take_text("query_id")
            system, setting = row.take_text("system"), row.take_text("setting")
            value = row.get("value")
            if type(value) is bool or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise FieldError(f"'value' must be from 0 to 1, found {show(value)}")
            labels = found.setdefault((system, setting), {})
            if query_id in labels:
                raise FieldError(
                    f"query {query_id!r} of {system!r} under {setting!r} is labelled twice; give "
                    "the mean of several people as one value"
                )
            labels[query_id] = value
    return found
