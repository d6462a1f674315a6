"""One metric's variants side by side, and the answers on which they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.parse import parse_metric, variants_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragstone.types import Prediction, Query

_ROUNDING: Final = 1e-8


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An answer for which the variants of a metric have different values."""

    query_id: str
    answer: str
    gold_answers: tuple[str, ...]
    values: Mapping[str, float]
    """Metric name -> value."""


def disagreements(
    metric: str, queries: Sequence[Query], predictions: Sequence[Prediction]
) -> list[Disagreement]:
    """Return the answers whose value depends on the variant, in the order of the queries."""
    from ragstone.components.metrics.score import score_answers
    from ragstone.core.schemas import columns

    names = variants_of(metric)
    if not isinstance(parse_metric(metric), AnswerMetric) or len(names) == 1:
        return []
    column = columns(score_answers(names, queries, predictions))["value"]
    found = []
    for i, (query, prediction) in enumerate(zip(queries, predictions, strict=True)):
        values = dict(zip(names, column[i :: len(queries)], strict=True))
        given = values.values()
        if None not in given and max(given) - min(given) > _ROUNDING:
            answer = prediction.answer or ""
            found.append(Disagreement(query.query_id, answer, query.gold_answers, values))
    return found
