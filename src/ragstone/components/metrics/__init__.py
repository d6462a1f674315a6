"""Metrics: names that round-trip, one file each, imported when they are asked for.

`parse_metric` turns a name into a metric; `score_rankings` and `score_answers` turn metrics and
data into a table of scores. Importing this package loads no array library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragstone.components.metrics.base import AnswerMetric, RankingMetric
from ragstone.components.metrics.parse import ANSWERS, RANKING, parse_metric, with_variant

if TYPE_CHECKING:
    from ragstone.components.metrics.score import score_answers, score_rankings

__all__ = [
    "ANSWERS",
    "RANKING",
    "AnswerMetric",
    "RankingMetric",
    "parse_metric",
    "score_answers",
    "score_rankings",
    "with_variant",
]


def __getattr__(name: str) -> Any:
    """Import what needs arrays when it is asked for."""
    if name in {"score_answers", "score_rankings"}:
        from ragstone.components.metrics import score as scoring

        return getattr(scoring, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
