"""A judge's raw means of an experiment, and the means calibrated by human labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragstone.errors import DatasetError, UnknownMetric, did_you_mean
from ragstone.evaluation.human_grades import HumanSet
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


def labels_of(graded: HumanSet) -> Labels:
    """Return people's values of rated answers, by trial and query.

    Raises `DatasetError` if pairs or passages were rated.
    """
    found: dict[tuple[str, str], dict[str, float]] = {}
    for item, one in zip(graded.rated, graded.items, strict=True):
        if item.against or item.passage_id:
            what = "pairs of answers" if item.against else "passages"
            raise DatasetError(
                f"{graded.name}: the ratings are of {what}; a mean is calibrated by ratings of "
                "answers"
            )
        found.setdefault((item.system, item.setting), {})[item.query_id] = one.value
    return found
