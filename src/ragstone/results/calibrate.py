"""A judge's raw means of an experiment, and the means calibrated by human labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ragstone.data.readers.rows import json_rows
from ragstone.errors import DatasetError, UnknownMetric, did_you_mean
from ragstone.results.reader import StoredResults, TrialResults
from ragstone.statistics.prediction_powered import Calibrated, calibrated_mean

Labels = Mapping[str, float]
"""Query id -> people's value."""


@dataclass(frozen=True, slots=True)
class CalibratedTrial:
    """One system under one setting; `calibrated` is None if there are too few labels."""

    system: str
    setting: str
    calibrated: Calibrated | None
    reason: str = ""


def calibrate(
    results: StoredResults, metric: str, labels: Mapping[tuple[str, str], Labels]
) -> list[CalibratedTrial]:
    """Return each trial's mean of a judged metric, raw and calibrated by human labels.

    Args:
        results: results of an experiment with judges.
        metric: metric that the labels are about, usually a judge's.
        labels: (system, setting) -> query id -> value, on the metric's scale.

    Raises:
        UnknownMetric: no trial has the metric.
    """
    known = {name for trial in results.trials for name in trial.scores}
    if metric not in known:
        raise UnknownMetric(f"no trial has the metric {metric!r}{did_you_mean(metric, known)}")
    return [_calibrated(trial, metric, labels) for trial in results.trials]


def _calibrated(
    trial: TrialResults, metric: str, labels: Mapping[tuple[str, str], Labels]
) -> CalibratedTrial:
    given = labels.get((trial.system, trial.setting), {})
    scores = {q: score.value for q, score in trial.scores.get(metric, {}).items()}
    both = [query_id for query_id in scores if query_id in given]
    try:
        found = calibrated_mean(
            [given[q] for q in both],
            [scores[q] for q in both],
            [value for q, value in scores.items() if q not in given],
        )
    except DatasetError as error:
        return CalibratedTrial(trial.system, trial.setting, None, str(error))
    return CalibratedTrial(trial.system, trial.setting, found)


def read_labels(path: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Read human labels: JSON lines with query_id, system, setting and value (0 to 1)."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for query_id, system, setting, value in _rows(path):
        labels = found.setdefault((system, setting), {})
        if query_id in labels:
            raise DatasetError(
                f"{path}: query {query_id!r} of {system!r} under {setting!r} is labelled twice; "
                f"give the mean of several people as one value"
            )
        labels[query_id] = value
    return found


def _rows(path: Path) -> Iterator[tuple[str, str, str, float]]:
    for number, row in json_rows(path):
        texts = [row.get(key) for key in ("query_id", "system", "setting")]
        value = row.get("value")
        if not all(isinstance(text, str) for text in texts):
            raise DatasetError(f"{path}, line {number}: expected query_id, system and setting")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise DatasetError(
                f"{path}, line {number}: 'value' must be from 0 to 1, found {value!r}"
            )
        query_id, system, setting = map(str, texts)
        yield query_id, system, setting, float(value)
