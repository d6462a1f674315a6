"""Computing the scores of one block of queries after another, in this process or in a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.bert_encoder import runs_bundled
from ragstone.components.metrics.bert_score import BertMetric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arro3.core import Table

    from ragstone.experiment.block_work import Tally
    from ragstone.experiment.metric_set import MetricSet


class ScoreWork:
    """The scores of blocks of a step, each as a table.

    Args:
        scores: the scores of the step; a block is added to a copy without queries.
    """

    def __init__(self, scores: Any) -> None:
        self._scores = scores

    def result(self, block: Mapping[str, Table], tally: Tally) -> Table:
        """Return the SCORES table of a block, and add its unscored values to the tally."""
        scores = self._scores.empty()
        scores.add_tables(**block)
        tally.failed += scores.unscored
        found: Table = scores.table()
        return found


def scored_apart(metrics: MetricSet) -> bool:
    """Return whether the scores of a query are the same without the other queries."""
    return bool(metrics.metrics) and not any(map(_needs_others, metrics.metrics))


def _needs_others(metric: Any) -> bool:
    """Return whether a metric needs all answers, or batches texts by what it scored before."""
    if "attacks" in metric.requires:
        return True
    if isinstance(metric, BertMetric) and not runs_bundled(metric.model, metric.layer):
        return True
    return isinstance(metric, AnswerMetric) and type(metric).beside is not AnswerMetric.beside
