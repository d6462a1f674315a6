"""The metrics of an experiment, by their input: rankings, answers, repeated answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ragstone.components.metrics.base import AnswerMetric, RankingMetric, ranks_documents
from ragstone.components.metrics.repeated import RepeatMetric
from ragstone.core.component import Component


@dataclass(frozen=True)
class MetricSet(Component):
    """Metrics in one pass over the same rows; a context that is not known is withheld."""

    metrics: tuple[Any, ...]
    knows_context: bool = True
    computed_with = (
        "ragstone.components.metrics.score:score_rankings",
        "ragstone.components.metrics.score:score_answers",
        "ragstone.components.metrics.score:figures_beside",
    )

    @property
    def uses(self) -> frozenset[str]:
        """Gold answers and labels; of rankings the documents or languages that a metric needs."""
        if not self.metrics or any("qrels" not in one.requires for one in self.metrics):
            return frozenset({"gold_answers", "labels"})
        if self.reads_languages:
            return frozenset({"corpus", "labels", "passage_labels"})
        return frozenset({"corpus"} if any(map(ranks_documents, self.metrics)) else ())

    @property
    def reads_languages(self) -> bool:
        """Whether a metric of rankings reads the languages of queries and passages."""
        return any("languages" in metric.requires for metric in self.metrics)

    @property
    def reads_attacks(self) -> bool:
        """Whether a metric reads the attacks that are planted in contexts."""
        return any("attacks" in metric.requires for metric in self.metrics)


def metric_sets(metrics: Iterable[Any]) -> tuple[MetricSet, MetricSet, MetricSet]:
    """Return the metrics of rankings, of answers and of repeats; the last need no step."""
    given = list(metrics)
    kinds = (RankingMetric, AnswerMetric, RepeatMetric)
    ranking, answer, repeated = (tuple(m for m in given if isinstance(m, kind)) for kind in kinds)
    return MetricSet(ranking), MetricSet(answer), MetricSet(repeated)
