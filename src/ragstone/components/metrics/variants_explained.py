"""One metric's variants side by side, and the answers on which they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, get_args, get_type_hints

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.parse import parse_metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragstone.types import Prediction, Query


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An answer that gets different values from the variants of a metric."""

    query_id: str
    answer: str
    gold_answers: tuple[str, ...]
    values: Mapping[str, float]
    """Metric name -> value."""


def variants_of(metric: str) -> list[str]:
    """Return the names of all variants of a metric, the corrected form first.

    >>> variants_of("EM")
    ['EM', 'EM(variant=squad)', 'EM(variant=mirage)']
    """
    parsed = parse_metric(metric)
    if not any(field.name == "variant" for field in fields(parsed)):
        return [str(parsed)]
    known = get_args(get_type_hints(type(parsed))["variant"])
    given = {field.name: getattr(parsed, field.name) for field in fields(parsed)}
    return [str(type(parsed)(**{**given, "variant": variant})) for variant in known]


def disagreements(
    metric: str, queries: Sequence[Query], predictions: Sequence[Prediction]
) -> list[Disagreement]:
    """Return the answers whose value depends on the variant, in the order of the queries."""
    from ragstone.components.metrics.score import score_answers
    from ragstone.core.schemas import columns

    names = variants_of(metric)
    if not isinstance(parse_metric(metric), AnswerMetric) or len(names) == 1:
        return []
    held = columns(score_answers(names, queries, predictions))["value"]
    size = len(queries)
    found = []
    for i, (query, prediction) in enumerate(zip(queries, predictions, strict=True)):
        values = {name: held[place * size + i] for place, name in enumerate(names)}
        if None not in values.values() and max(values.values()) - min(values.values()) > 1e-8:  # noqa: PLR2004
            found.append(
                Disagreement(query.query_id, prediction.answer or "", query.gold_answers, values)
            )
    return found
