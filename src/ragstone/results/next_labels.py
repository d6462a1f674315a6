"""Answers that people should label next, so that corrected differences are known best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ragstone.errors import ConfigError, UnknownMetric, did_you_mean
from ragstone.results.corrected_setting import CorrectedSetting, Inclusions, Labels
from ragstone.results.reader import StoredResults
from ragstone.statistics.corrected import FEWEST
from ragstone.statistics.label_design import drawn, expected_residuals, inclusion_probabilities


@dataclass(frozen=True, slots=True)
class LabelProposal:
    """One answer to label."""

    query_id: str
    system: str
    setting: str
    inclusion_probability: float
    """Probability that the query was drawn, given the labels that existed before."""
    round: int
    """The number of the draw: one more than the last one of the existing labels."""

    def line(self, metric: str) -> dict[str, Any]:
        """Return the rating to fill in: its `rater` and `value` are empty."""
        names = {"query_id": self.query_id, "system": self.system, "setting": self.setting}
        drawn_with = {"inclusion_probability": self.inclusion_probability, "round": self.round}
        return {**names, "property": metric, "rater": "", "value": None, **drawn_with}


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """The proposed answers: of each drawn query, those of all systems under the setting."""

    proposals: tuple[LabelProposal, ...]
    queries: Mapping[str, int]
    """Setting -> queries drawn."""
    left: int
    """Labels that are too few for another query."""
    notes: tuple[str, ...] = ()


def next_labels(
    results: StoredResults,
    metric: str,
    count: int,
    *,
    labels: Labels | None = None,
    inclusions: Inclusions | None = None,
    baseline: str | None = None,
    settings: Sequence[str] = (),
    systems: Sequence[str] = (),
    seed: int = 0,
) -> LabelPlan:
    """Return the answers to label next.

    Whole queries are drawn, because differences of systems are known best if people label the
    answers of all of them. The labels are spread evenly over the settings.

    Args:
        results: the experiment.
        metric: the metric of the judge that labels will correct.
        count: number of labels: answers of all systems to some queries.
        labels: existing labels; queries with a label are not drawn.
        inclusions: how the existing labels were drawn.
        baseline: the system that the others are compared with; by default that with the best mean.
        settings: settings to draw from; by default all that have the metric.
        systems: systems to label; by default all.
        seed: seed of the draw.

    Raises:
        UnknownMetric: no trial has the metric.
        ConfigError: an unknown name, or too few labels for one query per setting.
    """
    having = [trial.setting for trial in results.trials if metric in trial.scores]
    if not having:
        known = {name for trial in results.trials for name in trial.scores}
        raise UnknownMetric(f"no trial has the metric {metric!r}{did_you_mean(metric, known)}")
    named = _chosen("system", [*systems, *filter(None, [baseline])], results.systems)
    boards = [
        CorrectedSetting.read(
            results, metric, setting, labels or {}, inclusions=inclusions, strata=None
        ).among(named if systems else results.systems)
        for setting in _chosen("setting", settings, having)
    ]
    least = sum(len(board.graded) for board in boards)
    if count < least:
        raise ConfigError(
            f"--labels {count} is less than one query of every system and setting: give at least "
            f"{least}, {least * FEWEST} for a correction, or fewer settings or systems"
        )
    each, given = count // least, inclusions or {}
    number = 1 + max((one.round for of in given.values() for one in of.values()), default=0)
    lower = results.record.metric(metric).direction == "lower"
    bases = [board.baseline(baseline, lower_is_better=lower) for board in boards]
    rounds = [
        list(_drawn(board, each, base, number=number, seed=seed))
        for board, base in zip(boards, bases, strict=True)
    ]
    return _plan(boards, rounds, count)


def _plan(
    boards: Sequence[CorrectedSetting], rounds: Sequence[Sequence[LabelProposal]], count: int
) -> LabelPlan:
    proposals = tuple(chain(*rounds))
    queries = {
        board.name: len({one.query_id for one in drawn_here})
        for board, drawn_here in zip(boards, rounds, strict=True)
    }
    notes = tuple(_notes(boards, rounds))
    return LabelPlan(proposals, queries, count - len(proposals), notes)


def _chosen(kind: str, wanted: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the wanted names, else all of them."""
    for name in wanted:
        if name not in known:
            raise ConfigError(f"no {kind} {name!r}{did_you_mean(name, known)}")
    return list(dict.fromkeys(wanted or known))


def _drawn(
    board: CorrectedSetting, count: int, baseline: str, *, number: int, seed: int
) -> Iterator[LabelProposal]:
    """Yield the answers of a setting to the drawn queries: those with a value of the judge."""
    judge = np.array([one.judge for one in board.graded.values()]).T
    human = np.array([one.human for one in board.graded.values()]).T
    judged = ~np.isnan(judge)
    free = np.flatnonzero(judged.any(axis=1) & np.isnan(human).all(axis=1))
    if not len(free):
        return
    names = list(board.graded)
    # A query is not drawn more often because a value is missing.
    usual = np.where(judged, judge, float(np.median(judge[judged])))
    sizes = expected_residuals(usual, human, names.index(baseline))[free]
    probabilities = inclusion_probabilities(sizes, min(count, len(free)))
    for one in drawn(probabilities, seed + number - 1).tolist():
        place = int(free[one])
        for column, name in enumerate(names):
            if judged[place, column]:
                probability = float(probabilities[one])
                yield LabelProposal(board.query_ids[place], name, board.name, probability, number)


def _notes(
    boards: Sequence[CorrectedSetting], rounds: Sequence[Sequence[LabelProposal]]
) -> Iterator[str]:
    for board, proposals in zip(boards, rounds, strict=True):
        new = len({one.query_id for one in proposals})
        before = min(int((~np.isnan(one.human)).sum()) for one in board.graded.values())
        if new + before < FEWEST:
            yield (
                f"{board.name or 'retrieval'}: {new + before} queries would have labels of all "
                f"systems; a correction needs {FEWEST}"
            )
