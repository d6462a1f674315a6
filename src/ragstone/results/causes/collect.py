"""The evidence of the trials at hand about each wrong answer of a trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from ragstone.causes.evidence import Evidence
from ragstone.components.metrics.parse import metric_stem
from ragstone.results.causes.doubts import LabelDoubts
from ragstone.results.causes.paths import GoldPaths, needs_all
from ragstone.results.causes.trials import TrialsAtHand
from ragstone.results.refusals import UNANSWERABLE, answerability, refusal_metric
from ragstone.results.scored_rows import TrialResults
from ragstone.types import Query

_SUFFICIENT: Final = "sufficient-context"
_NUGGETS: Final = "nuggets"


@dataclass(frozen=True, eq=False)
class TrialEvidence:
    """The wrong answers of one trial, and the evidence for their causes."""

    at_hand: TrialsAtHand
    doubts: LabelDoubts
    trial: TrialResults

    @cached_property
    def labels(self) -> Mapping[str, float | None]:
        """Query id -> label of the first answer; a right refusal counts as right.

        An answer to a query that is labelled unanswerable is wrong, even if the metric of correct
        answers does not apply to it.
        """
        found = dict(self.at_hand.results.correct_answers(self.trial))
        for query_id in self._unanswerable:
            if query_id in found and self._answered(query_id):
                refused = self._refused.get(query_id)
                if refused is not None and found[query_id] != 1:
                    found[query_id] = float(refused == 1)
        return found

    @cached_property
    def wrong(self) -> list[str]:
        """The ids of the wrongly answered queries, in order."""
        return [query_id for query_id, label in self.labels.items() if label == 0]

    @cached_property
    def left_out(self) -> Mapping[str, int]:
        """Why answers are neither right nor wrong -> their number."""
        reasons = (self._unlabelled(q) for q, label in self.labels.items() if label is None)
        return dict(Counter(reasons))

    def of(self, query_id: str) -> Evidence:
        """Return the evidence of the trials about the wrong answer to a query."""
        query, paths = self.at_hand.results.queries[query_id], self._paths
        final = None if paths.final is None else paths.final.get(query_id)
        all_needed = needs_all(query)
        right, repeats = self._repeats(query_id)
        return Evidence(
            failure=self._failure(query_id),
            label_doubt=self.doubts.of(self.trial, query),
            unanswerable=query_id in self._unanswerable,
            refused=self._flag(self._refused, query_id),
            right_repeats=right,
            repeats=repeats,
            gold=paths.of(query),
            all_needed=all_needed,
            context_known=query_id in self.trial.contexts,
            depth=None if final is None else len(self._first(query_id) or final),
            cut=paths.cut(query_id),
            reranked=paths.before is not None,
            lost_at_hop=paths.lost_at_hop(query_id) if all_needed else None,
            right_with_gold=self._gold_label(query_id),
            right_without=self._flag(self._without, query_id),
            right_with_neighbours=self._joined(query_id),
            sufficient=self._flag(self._sufficient, query_id),
            covered=self._covered.get(query_id),
        )

    @cached_property
    def _paths(self) -> GoldPaths:
        return GoldPaths(self.at_hand, self.trial)

    def _first(self, query_id: str) -> Any:
        return None if self._paths.before is None else self._paths.before.get(query_id)

    @cached_property
    def _unanswerable(self) -> dict[str, Query]:
        queries = self.at_hand.results.queries
        return {q: query for q, query in queries.items() if answerability(query) == UNANSWERABLE}

    @cached_property
    def _refused(self) -> Mapping[str, float]:
        return self._values(refusal_metric(self.trial))

    @cached_property
    def _sufficient(self) -> Mapping[str, float]:
        return self._values(_SUFFICIENT)

    @cached_property
    def _covered(self) -> Mapping[str, float]:
        return self._values(_NUGGETS)

    def _values(self, stem: str) -> Mapping[str, float]:
        """Return the values of the metric with this stem, which a counterfactual may have."""
        names = {
            name for source in self.at_hand.sources for t in source.trials for name in t.scores
        }
        found: dict[str, float] = {}
        for name in sorted(names):
            if stem and stem in {name, metric_stem(name)}:
                found |= self.at_hand.values(self.trial.system, self.trial.setting, name)
        return found

    @cached_property
    def _with_gold(self) -> Mapping[str, float]:
        setting = self.at_hand.gold_setting
        return self.at_hand.labels(self.trial.system, setting) if setting else {}

    def _gold_label(self, query_id: str) -> bool | None:
        """Return whether the answer is right with gold alone; None if a processor cut that too."""
        is_right = self._flag(self._with_gold, query_id)
        if is_right is not False:
            return is_right
        trial = self.at_hand.trial_of(self.trial.system, str(self.at_hand.gold_setting), query_id)
        if trial is None:
            return False
        paths = GoldPaths(self.at_hand, trial).of(self.at_hand.results.queries[query_id])
        built = [path for path in paths if path.built]
        return None if built and not any(path.shown and path.kept for path in built) else False

    @cached_property
    def _without(self) -> Mapping[str, float]:
        return self.at_hand.labels(self.trial.system, "none")

    @cached_property
    def _neighbours(self) -> Mapping[bool, list[Mapping[str, float]]]:
        """Whether the passages are gold alone -> labels with neighbours joined to them."""
        return {
            of_gold: [
                self.at_hand.labels(self.trial.system, name)
                for name in self.at_hand.with_neighbours(self.trial.setting, of_gold=of_gold)
            ]
            for of_gold in (False, True)
        }

    def _joined(self, query_id: str) -> bool | None:
        """Return whether the answer is right with neighbours; those of gold count for reading."""
        found = list(self._neighbours[False])
        if self._gold_label(query_id) is False:
            found += self._neighbours[True]
        labels = [labels[query_id] for labels in found if query_id in labels]
        return any(labels) if labels else None

    def _answered(self, query_id: str) -> bool:
        prediction = self.trial.predictions.get(query_id)
        return prediction is not None and prediction.answer is not None

    def _failure(self, query_id: str) -> str:
        prediction = self.trial.predictions.get(query_id)
        if prediction is None or prediction.answer is not None:
            return "" if prediction else "the system returned no answer"
        return (
            f"{prediction.status}: {prediction.reason}" if prediction.reason else prediction.status
        )

    def _repeats(self, query_id: str) -> tuple[int, int]:
        """Return the number of right answers and of answers with a label."""
        labels = [found[query_id] for found in self._each if found.get(query_id) is not None]
        return sum(label == 1 for label in labels), len(labels)

    @cached_property
    def _each(self) -> list[Mapping[str, float | None]]:
        results = self.at_hand.results
        return [results.labels(scores) for scores in self.trial.each_scores]

    def _unlabelled(self, query_id: str) -> str:
        """Return why an answer has no label."""
        metric = self.at_hand.results.record.correctness_metric or ""
        score = self.trial.first.scores.get(metric, {}).get(query_id)
        if score is not None and score.status == "failed":
            return "failed answers are excluded"
        return (score.reason if score else "") or f"no value of {metric}"

    @staticmethod
    def _flag(values: Mapping[str, float], query_id: str) -> bool | None:
        value = values.get(query_id)
        return None if value is None else value == 1


def evidence_of(at_hand: TrialsAtHand) -> Iterator[TrialEvidence]:
    """Yield the evidence of every trial whose wrong answers have causes."""
    doubts = LabelDoubts(at_hand)
    for trial in at_hand.mixed:
        yield TrialEvidence(at_hand, doubts, trial)
