"""The systems of an experiment under one setting, with people's labels of some answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np

from ragstone.core import limits
from ragstone.data.readers.ratings import Inclusion
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.corrected_difference import (
    CorrectedDifference,
    GradedSystem,
    adjusted,
    all_differences,
    corrected_difference,
)
from ragstone.statistics.labelled_sample import SampleDifference, sample_differences
from ragstone.statistics.prediction_powered import Calibrated
from ragstone.types import Query

Labels: TypeAlias = Mapping[tuple[str, str], Mapping[str, float]]
"""(system, setting) -> query id -> value by people, on the scale of the metric."""
Inclusions: TypeAlias = Mapping[tuple[str, str], Mapping[str, Inclusion]]
"""(system, setting) -> query id -> how the answer was drawn; others are a random sample."""
_NONE: Final = Inclusion(float("nan"), 1)


@dataclass(frozen=True, slots=True)
class CalibratedPart:
    """One system over the queries with one value of a label."""

    value: str
    calibrated: Calibrated | None
    reason: str = ""
    difference: CorrectedDifference | None = None
    """The difference from the baseline; None for the baseline itself."""


@dataclass(frozen=True)
class CorrectedSetting:
    """The systems under one setting, over its queries in one order."""

    name: str
    query_ids: Sequence[str]
    graded: Mapping[str, GradedSystem]
    clusters: Sequence[str]
    strata: Sequence[str] | None
    features: Mapping[str, Sequence[float | str]]
    """Features of the queries, by which the labelled ones may differ from the others."""
    other_queries: Mapping[str, int]
    """System -> labels of queries that it did not answer."""
    at_random: bool
    """Whether no label has an inclusion probability."""

    @classmethod
    def read(
        cls,
        results: StoredResults,
        metric: str,
        setting: str,
        labels: Labels,
        *,
        inclusions: Inclusions | None,
        strata: Mapping[str, str] | None,
    ) -> CorrectedSetting:
        """Return the systems of a setting that have the metric."""
        trials = [t for t in results.trials if t.setting == setting]
        ids = list(dict.fromkeys(q for t in trials for q in t.values(metric)))
        given = inclusions or {}
        return cls(
            setting,
            ids,
            {t.system: _graded(t, metric, ids, labels, given) for t in trials},
            [results.clusters.get(q, f"query {q}") for q in ids],
            [strata[q] for q in ids] if strata is not None else None,
            _features(trials, metric, ids, results.queries),
            {t.system: _others(t, labels) for t in trials},
            not any(given.get((t.system, setting)) for t in trials),
        )

    def among(self, systems: Collection[str]) -> CorrectedSetting:
        """Return the setting with some of its systems."""
        kept = {name: one for name, one in self.graded.items() if name in systems}
        return replace(self, graded=kept)

    def means(self) -> dict[str, Calibrated | str]:
        """Return system -> calibrated mean, or the reason why there is none."""
        return {name: one.mean(self.clusters, self.strata) for name, one in self.graded.items()}

    def baseline(self, wanted: str | None, *, lower_is_better: bool) -> str:
        """Return the wanted baseline, else the system with the best corrected or judge's mean."""
        if wanted is not None and wanted in self.graded:
            return wanted
        means = {name: one for name, one in self.means().items() if isinstance(one, Calibrated)}
        value = {name: one.mean for name, one in means.items()} or {
            name: float(np.nanmean(one.judge)) if one.judged.any() else 0.0
            for name, one in self.graded.items()
        }
        return (min if lower_is_better else max)(value, key=value.__getitem__)

    def differences(self, baseline: str) -> list[CorrectedDifference]:
        """Return the differences of all pairs, those from the baseline with it as second.

        If there are many systems, each is compared with the baseline only.
        """
        if len(self.graded) <= limits.MAX_RANKED_SYSTEMS:
            options = {"clusters": self.clusters, "strata": self.strata}
            return list(all_differences(self.graded, baseline, **options))
        return [self.difference(name, baseline) for name in self.graded if name != baseline]

    def difference(self, name: str, baseline: str) -> CorrectedDifference:
        """Return the difference of a system from the baseline."""
        return corrected_difference(
            self.graded[name],
            self.graded[baseline],
            names=(name, baseline),
            clusters=self.clusters,
            strata=self.strata,
        )

    def parts(self, baseline: str) -> dict[str, list[CalibratedPart]]:
        """Return system -> its mean and its difference from the baseline per stratum."""
        strata = self.strata or []
        values = sorted(set(strata))
        within = {value: self._within([one == value for one in strata]) for value in values}
        others = [name for name in self.graded if name != baseline]
        gaps = [within[value].difference(name, baseline) for value in values for name in others]
        places = [(value, name) for value in values for name in others]
        tested = dict(zip(places, adjusted(gaps), strict=True))
        means = {value: within[value].means() for value in values}
        return {
            name: [
                CalibratedPart(
                    value,
                    one if isinstance(one := means[value][name], Calibrated) else None,
                    "" if isinstance(one, Calibrated) else one,
                    tested.get((value, name)),
                )
                for value in values
            ]
            for name in self.graded
        }

    def _within(self, chosen: Sequence[bool]) -> CorrectedSetting:
        """Return the setting over some of its queries."""
        mask = np.array(chosen, dtype=np.bool_)
        places = np.flatnonzero(mask).tolist()
        return replace(
            self,
            query_ids=[self.query_ids[i] for i in places],
            graded={name: one.among(mask) for name, one in self.graded.items()},
            clusters=[self.clusters[i] for i in places],
            strata=None,
            features={},
        )

    def sample_differences(self) -> tuple[SampleDifference, ...]:
        """Return the features by which labelled queries, or their systems, differ from the others.

        Labels with inclusion probabilities may differ: their weights allow for it.
        """
        if not self.at_random:
            return ()
        judged = np.array([one.judged for one in self.graded.values()])
        human = judged & ~np.isnan(np.array([one.human for one in self.graded.values()]))
        kept = np.flatnonzero(judged.sum(axis=0)).tolist()
        labelled = [bool(human[:, place].any()) for place in kept]
        features = {name: [held[place] for place in kept] for name, held in self.features.items()}
        found = sample_differences(labelled, features)
        systems = [name for name, row in zip(self.graded, judged, strict=True) for _ in row[row]]
        found += sample_differences([bool(one) for one in human[judged]], {"system": systems})
        return tuple(found)


def _graded(
    trial: TrialResults, metric: str, ids: Sequence[str], labels: Labels, given: Inclusions
) -> GradedSystem:
    key = (trial.system, trial.setting)
    values, human, drawn = trial.values(metric), labels.get(key, {}), given.get(key, {})
    inclusions = [drawn.get(q, _NONE) for q in ids]
    return GradedSystem(
        _column(values, ids),
        _column(human, ids),
        np.array([one.probability for one in inclusions]),
        np.array([one.round for one in inclusions], dtype=np.int64),
    )


def _column(values: Mapping[str, float | None], ids: Sequence[str]) -> Floats:
    held = (values.get(query_id) for query_id in ids)
    return np.array([np.nan if value is None else value for value in held], dtype=np.float64)


def _others(trial: TrialResults, labels: Labels) -> int:
    given = labels.get((trial.system, trial.setting), {})
    return sum(query_id not in trial.predictions for query_id in given)


def _features(
    trials: Sequence[TrialResults], metric: str, ids: Sequence[str], queries: Mapping[str, Query]
) -> dict[str, list[float | str]]:
    """Return the queries' labels, and the means of words and judge's values of judged answers."""
    names = dict.fromkeys(name for q in ids for name in queries[q].labels)
    found: dict[str, list[float | str]] = {
        name: [str(queries[q].labels.get(name, "")) for q in ids] for name in names
    }
    scores = np.array([_column(trial.values(metric), ids) for trial in trials])
    words = np.array([[_words(trial, q) for q in ids] for trial in trials], dtype=np.float64)
    judged = ~np.isnan(scores)
    counts = np.maximum(judged.sum(axis=0), 1)
    for name, values in (("words of the answer", words), ("judge's value", scores)):
        found[name] = (np.where(judged, values, 0.0).sum(axis=0) / counts).tolist()
    return found


def _words(trial: TrialResults, query_id: str) -> int:
    prediction = trial.predictions.get(query_id)
    return len((prediction.answer or "").split()) if prediction else 0
