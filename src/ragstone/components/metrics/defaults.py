"""The metrics of answers for which none is named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ragstone.types import Query

WITH_GOLD: Final = ("Match", "EM", "F1")
"""Metrics if a query has gold answers."""
WITHOUT_GOLD: Final = ("K-precision", "refusal")
"""Metrics that need no gold answer."""


def usual_metrics(queries: Iterable[Query]) -> tuple[str, ...]:
    """Return the metrics for the answers to some queries.

    >>> from ragstone.types import Query
    >>> usual_metrics([Query("q1", "Where?")])
    ('K-precision', 'refusal')
    """
    return WITH_GOLD if any(query.gold_answers for query in queries) else WITHOUT_GOLD
