"""A judge's raw means of an experiment, and the means calibrated by human labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from ragstone.data.readers.ratings import Inclusion
from ragstone.errors import ConfigError, DatasetError, UnknownMetric, did_you_mean
from ragstone.evaluation.human_grades import HumanSet
from ragstone.results.corrected_setting import CalibratedPart, CorrectedSetting, Inclusions, Labels
from ragstone.results.reader import StoredResults
from ragstone.statistics.corrected_difference import CorrectedDifference, adjusted, corrected_ranks
from ragstone.statistics.labelled_sample import SampleDifference
from ragstone.statistics.prediction_powered import Calibrated
from ragstone.statistics.ranks import Place

NO_LABEL: Final = "(none)"
"""Stratum of the queries without the label."""


@dataclass(frozen=True, slots=True)
class CalibratedTrial:
    """One system under one setting; `calibrated` is None if there are too few labels."""

    system: str
    setting: str
    calibrated: Calibrated | None
    reason: str = ""
    place: Place | None = None
    """Rank and group by the corrected differences; None without a calibrated mean."""
    difference: CorrectedDifference | None = None
    """The difference from the baseline under the setting; None for the baseline itself."""
    by: tuple[CalibratedPart, ...] = ()
    """The same per value of a label."""
    other_queries: int = 0
    """Labels of queries that the trial does not have."""
    sample_differences: tuple[SampleDifference, ...] = ()
    """Features by which the labelled answers of the setting differ from the others."""


def calibrate(
    results: StoredResults,
    metric: str,
    labels: Labels,
    *,
    inclusions: Inclusions | None = None,
    baseline: str | None = None,
    by: str | None = None,
) -> list[CalibratedTrial]:
    """Return each trial's mean of a metric, usually a judge's, raw and calibrated by human labels.

    Args:
        results: the experiment.
        metric: the metric that the labels are for.
        labels: people's values of some answers.
        inclusions: how the labelled answers were drawn; by default they are a random sample.
        baseline: the system that the others are compared with; by default the one with the best
            corrected mean under each setting.
        by: a label of the queries, whose values are strata.

    Raises:
        UnknownMetric: no trial has the metric.
        ConfigError: no system or no label has the name of `baseline` or `by`.
        DatasetError: no label is of an answer of the experiment.
    """
    known = {name for trial in results.trials for name in trial.scores}
    if metric not in known:
        raise UnknownMetric(f"no trial has the metric {metric!r}{did_you_mean(metric, known)}")
    if baseline is not None and baseline not in results.systems:
        raise ConfigError(f"no system {baseline!r}{did_you_mean(baseline, results.systems)}")
    _check_matching(results, labels)
    settings = [
        CorrectedSetting.read(
            results, metric, setting, labels, inclusions=inclusions, strata=_strata(results, by)
        )
        for setting in dict.fromkeys(trial.setting for trial in results.trials)
    ]
    direction = results.record.metric(metric).direction
    baselines = [one.baseline(baseline, lower_is_better=direction == "lower") for one in settings]
    pairs = [one.differences(base) for one, base in zip(settings, baselines, strict=True)]
    # The pairs of all settings are one family of tests.
    whole = iter(adjusted(chain(*pairs)))
    found: dict[tuple[str, str], CalibratedTrial] = {}
    for one, base, of in zip(settings, baselines, pairs, strict=True):
        for trial in _trials(one, base, [next(whole) for _ in of], by=by, direction=direction):
            found[trial.system, trial.setting] = trial
    return [found[trial.system, trial.setting] for trial in results.trials]


def _trials(
    setting: CorrectedSetting,
    baseline: str,
    differences: Sequence[CorrectedDifference],
    *,
    by: str | None,
    direction: str,
) -> list[CalibratedTrial]:
    """Return the trials of a setting."""
    means = setting.means()
    kept = {system: one.mean for system, one in means.items() if isinstance(one, Calibrated)}
    # A metric without a better direction has no ranks.
    kept = {} if direction == "neutral" else kept
    ranks = corrected_ranks(differences, kept, lower_is_better=direction == "lower")
    parts = setting.parts(baseline) if by is not None else {}
    gaps = {one.system: one for one in differences if one.baseline == baseline}
    different = setting.sample_differences()
    return [
        CalibratedTrial(
            system,
            setting.name,
            one if isinstance(one, Calibrated) else None,
            "" if isinstance(one, Calibrated) else one,
            ranks.get(system),
            gaps.get(system),
            tuple(parts.get(system, ())),
            setting.other_queries[system],
            different,
        )
        for system, one in means.items()
    ]


def _check_matching(results: StoredResults, labels: Labels) -> None:
    """Raise `DatasetError` if there are labels, but none is of an answer of the experiment."""
    asked = {(trial.system, trial.setting): trial.predictions for trial in results.trials}
    given = [(key, query_id) for key, of in labels.items() for query_id in of]
    if given and not any(query_id in asked.get(key, ()) for key, query_id in given):
        (system, setting), query_id = given[0]
        known = f"{results.trials[0].system!r} under {results.trials[0].setting!r}"
        raise DatasetError(
            f"none of the {len(given):,} labels is of an answer of the experiment; the first is of "
            f"query {query_id!r}, system {system!r} and setting {setting!r}, and the experiment "
            f"has for example {known}"
        )


def _strata(results: StoredResults, by: str | None) -> dict[str, str] | None:
    """Return query id -> value of the label; None without a label."""
    if by is None:
        return None
    names = {name for query in results.queries.values() for name in query.labels}
    if by not in names:
        raise ConfigError(f"no query has the label {by!r}{did_you_mean(by, names)}")
    return {q: str(query.labels.get(by, NO_LABEL)) for q, query in results.queries.items()}


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


def inclusions_of(graded: HumanSet) -> Inclusions:
    """Return how rated answers were drawn, by trial and query; others are a random sample."""
    found: dict[tuple[str, str], dict[str, Inclusion]] = {}
    for item, one in zip(graded.rated, graded.items, strict=True):
        if one.inclusion is not None:
            found.setdefault((item.system, item.setting), {})[item.query_id] = one.inclusion
    return found
