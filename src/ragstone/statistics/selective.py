"""Selective answering: how often a system answers, and how often it is wrong when it does.

A system that may refuse trades coverage (the share of the queries that it answers) for risk (the
share of these answers that are wrong): El-Yaniv and Wiener, JMLR 11, 2010. The curve of risk
against coverage answers the queries in the order of a confidence; the area below it is the mean
risk over all coverages (AURC; Geifman and El-Yaniv, NeurIPS 2017; Geifman et al., ICLR 2019).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.errors import DatasetError
from ragstone.statistics.summary import Summary, summarise


@dataclass(frozen=True)
class Selective:
    """Coverage, accuracy of the answers that were given, and the risk at every coverage."""

    coverage: Summary
    """The share of the queries that were answered."""
    accuracy: Summary
    """Selective accuracy: the mean value of the queries that were answered."""
    risks: tuple[float, ...]
    """The expected risk if only the first k queries are answered, for k from 1 to n."""

    @property
    def area(self) -> float | None:
        """The mean of the risks over all coverages, 0 at best; None without a query."""
        return math.fsum(self.risks) / len(self.risks) if self.risks else None

    def curve(self, points: int) -> list[tuple[float, float]]:
        """Return at most `points` pairs of coverage and risk, evenly spaced up to coverage 1.

        The point at the system's own coverage is one of them.
        """
        n, own = len(self.risks), self.accuracy.n
        places = {round(i * n / points) for i in range(1, points + 1)} - {0}
        if own and own not in places:
            places -= {min(places - {n}, key=lambda place: abs(place - own), default=own)}
            places.add(own)
        return [(place / n, self.risks[place - 1]) for place in sorted(places)]


def selective(
    values: Sequence[float | None],
    confidences: Sequence[float | None] | None = None,
    *,
    clusters: Sequence[Hashable] | None = None,
) -> Selective:
    """Return coverage, selective accuracy and the curve of risk against coverage.

    The queries that were answered come first, those with the highest confidence before the others.
    The order of equal confidences is random: each risk is the expectation over all their orders.
    Without confidences all answers are equal. The queries without an answer come last, and each
    counts as wrong there.

    Args:
        values: per query 1 for a right answer, 0 for a wrong one, or a grade between; None for a
            refusal or a failure.
        confidences: per query a score of any scale; None is below every number. Those of queries
            without an answer are not used.
        clusters: one name per query, such as its conversation.

    Raises:
        DatasetError: a value is not between 0 and 1, a confidence is NaN, or the lengths differ.

    >>> found = selective([1, 0, 1, None])
    >>> found.coverage.mean, found.accuracy.mean, [round(risk, 3) for risk in found.risks]
    (0.75, 0.6666666666666666, [0.333, 0.333, 0.333, 0.5])
    >>> selective([1, 0, 1, None], [0.9, 0.2, 0.7, None]).risks
    (0.0, 0.0, 0.3333333333333333, 0.5)
    """
    n = len(values)
    given = [None] * n if confidences is None else list(confidences)
    if len(given) != n:
        raise DatasetError(f"{n} values, but {len(given)} confidences; give one per query")
    groups: dict[float, list[float]] = {}
    for place, (value, confidence) in enumerate(zip(values, given, strict=True)):
        if value is not None:
            _check(place, value, confidence)
            groups.setdefault(-math.inf if confidence is None else confidence, []).append(value)
    ordered = [groups[confidence] for confidence in sorted(groups, reverse=True)]
    answered = [i for i, value in enumerate(values) if value is not None]
    own = None if clusters is None else [clusters[i] for i in answered]
    return Selective(
        coverage=summarise([float(value is not None) for value in values], clusters=clusters),
        accuracy=summarise([value for value in values if value is not None], clusters=own),
        risks=_risks(ordered, n),
    )


def _check(place: int, value: float, confidence: float | None) -> None:
    if not 0 <= value <= 1:
        raise DatasetError(f"place {place}: the value {value} is not between 0 and 1")
    if confidence is not None and math.isnan(confidence):
        raise DatasetError(f"place {place}: the confidence is NaN; give a number or None")


def _risks(groups: Sequence[Sequence[float]], n: int) -> tuple[float, ...]:
    """Return the expected loss of the first k queries over k; `groups` are values in order.

    The expected loss of a part of a group grows evenly, as does that of unanswered queries.
    """
    sizes, losses = [0.0], [0.0]
    for group in groups:
        sizes.append(sizes[-1] + len(group))
        losses.append(losses[-1] + len(group) - math.fsum(group))
    first = np.arange(1, n + 1)
    expected = np.interp(first, [*sizes, n], [*losses, losses[-1] + n - sizes[-1]])
    return tuple((expected / first).tolist())
