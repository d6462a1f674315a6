"""The failure policies: the value of a query to which a system gave no answer.

Under `wrong`, the worst value of the metric's range counts, so that failing never pays. Under
`exclude`, the query is left out of the mean. Under `bounds`, the mean has two values: of the worst
and of the best case (Horowitz and Manski, JASA 95, 2000). A metric without a range, or without a
better direction, has no worst value: its failed queries are always left out.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar, get_args

import numpy as np

from ragstone.errors import ConfigError, did_you_mean
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.paired import Difference, paired_difference
from ragstone.statistics.summary import (
    UNIT,
    Clusters,
    Policy,
    Summary,
    clusters_of,
    present_clusters,
    summarise,
)
from ragstone.types import Score, Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Key = TypeVar("_Key", bound=Hashable)
POLICIES: Final[tuple[Policy, ...]] = get_args(Policy)
FAILURE_RATE: Final = "failure rate"
"""The metric of failures: 1 for a query that a system failed on, else 0; lower is better."""


def check_policy(policy: str) -> None:
    """Raise `ConfigError` unless `policy` is one of `POLICIES`."""
    if policy not in POLICIES:
        raise ConfigError(
            f"failures is {policy!r}{did_you_mean(policy, POLICIES)}; allowed: "
            f"{', '.join(POLICIES)}",
            key="failures",
            value=policy,
        )


@dataclass(frozen=True, slots=True)
class Scale:
    """The range and the direction of a metric, and the failure policy."""

    range: tuple[float, float] | None = UNIT
    direction: str = "higher"
    """`higher`, `lower` or `neutral`."""
    failures: Policy = "wrong"

    @property
    def worst(self) -> float | None:
        """The worst value; None for a metric without a range or a better direction."""
        if self.range is None or self.direction == "neutral":
            return None
        return self.range[0] if self.direction == "higher" else self.range[1]

    @property
    def policy(self) -> Policy:
        """The policy that this metric can have."""
        return "exclude" if self.worst is None else self.failures

    def cases(self, status: Status) -> tuple[float, float] | None:
        """Return the values that count in the worst and the best case; None if no value counts.

        >>> Scale(failures="bounds").cases("failed"), Scale(direction="lower").cases("failed")
        ((0.0, 1.0), (1.0, 1.0))
        """
        counts = status == "failed" or (status == "unscored" and self.policy == "bounds")
        if not counts or self.worst is None or self.range is None or self.policy == "exclude":
            return None
        best = sum(self.range) - self.worst
        return (self.worst, best if self.policy == "bounds" else self.worst)

    def counted(self, score: Score) -> tuple[float, float] | None:
        """Return the values of a score in the worst and in the best case; None: left out."""
        value = score.value
        return self.cases(score.status) if value is None else (value, value)


def summarise_scores(
    values: Sequence[float | None],
    statuses: Sequence[Status],
    scale: Scale,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    missing: int = 0,
) -> Summary:
    """Return the mean of the scores of one metric, with failed queries as `scale` counts them.

    Args:
        values: one per query; None if it has none.
        statuses: `Score.status` of each query.
        scale: range, direction and policy of the metric.
        clusters: the conversation or document of each query.
        confidence: level of the interval.
        missing: number of failed queries that the system did not return at all.

    >>> found = summarise_scores([1.0, 1.0, None, None], ["scored"] * 2 + ["failed"] * 2, Scale())
    >>> found.mean, found.n, found.failed, found.mean_of_answered
    (0.5, 4, 2, 1.0)
    """
    numbers = np.array([math.nan if value is None else value for value in values], np.float64)
    has = np.array([value is not None for value in values], np.bool_)
    places: dict[Status, list[int]] = {}
    for place, status in enumerate(statuses):
        places.setdefault(status, []).append(place)
    named = {status: np.array(at) for status, at in places.items()}
    return summarise_columns(
        numbers,
        has,
        named,
        scale,
        clusters=clusters,
        confidence=confidence,
        missing=missing,
    )


def summarise_columns(
    values: Floats,
    has: NDArray[np.bool_],
    places: Mapping[Status, NDArray[np.int64]],
    scale: Scale,
    *,
    clusters: Clusters | None = None,
    confidence: float = 0.95,
    missing: int = 0,
) -> Summary:
    """Return the same of columns: values, whether there is one, and status -> its positions."""
    blank = {status: at[~has[at]] for status, at in places.items()}
    cases = {status: pair for status in blank if (pair := scale.cases(status)) is not None}
    held = has.copy()
    for status in cases:
        held[blank[status]] = True
    names = present_clusters(clusters, held)

    def summary_of(case: int) -> Summary:
        filled = values.copy()
        for status, pair in cases.items():
            filled[blank[status]] = pair[case]
        return summarise(filled[held], clusters=names, confidence=confidence, bounds=scale.range)

    counts = {status: len(at) for status, at in places.items()}
    answered = values[has]
    everything = None
    if scale.worst is not None:
        everything = _mean(np.append(answered, [scale.worst] * counts.get("failed", 0)))
    worst = summary_of(0)
    found = replace(
        worst,
        failed=counts.get("failed", 0),
        unscored=counts.get("unscored", 0),
        not_applicable=counts.get("not_applicable", 0),
        missing=missing,
        mean_of_answered=_mean(answered),
        mean_of_all=everything,
        policy=scale.policy,
    )
    if scale.policy != "bounds" or worst.mean is None:
        return found
    best = summary_of(1)
    low_high = sorted((*(worst.interval or ()), *(best.interval or ())))
    interval = (low_high[0], low_high[-1]) if low_high else None
    return replace(found, worst_and_best=(worst.mean, best.mean or 0.0), interval=interval)


def difference_between(
    a: Mapping[str, Score],
    b: Mapping[str, Score],
    scale: Scale,
    clusters: Mapping[str, Hashable] | None = None,
    *,
    confidence: float | None = 0.95,
) -> Difference | None:
    """Return `difference_of` two systems on the queries that count for both; None without one.

    `a` and `b` map query ids to scores of one metric.
    """
    cases = ((q, scale.counted(a[q]), scale.counted(b[q])) for q in a if q in b)
    held = [(q, first, second) for q, first, second in cases if first and second]
    if not held:
        return None
    ids, first, second = zip(*held, strict=True)
    names = clusters_of(ids, clusters)
    return difference_of(first, second, scale, clusters=names, confidence=confidence)


def failure_scores(
    scored: Mapping[_Key, Mapping[str, Mapping[str, Score]]],
) -> dict[_Key, dict[str, Score]]:
    """Return system -> query id -> score of `FAILURE_RATE`; {} if no system failed on a query.

    `scored` maps system -> metric -> query id -> score.

    >>> failure_scores({"s": {"EM": {"q": Score("q", "EM", None, "failed")}}})["s"]["q"].value
    1.0
    """
    found = {}
    for system, columns in scored.items():
        failed: dict[str, bool] = {}
        for score in (score for column in columns.values() for score in column.values()):
            failed[score.query_id] = failed.get(score.query_id, False) or score.status == "failed"
        found[system] = {q: Score(q, FAILURE_RATE, float(f)) for q, f in failed.items()}
    return found if any(s.value for held in found.values() for s in held.values()) else {}


def without_worst(summaries: Mapping[str, Summary], scales: Mapping[str, Scale]) -> str:
    """Return a sentence on the metrics that cannot count failed queries, or an empty text."""
    names = [m for m, s in summaries.items() if s.failed and s.policy != scales[m].failures]
    return f"{', '.join(names)}: no worst value, so failed queries are left out." if names else ""


def _mean(values: Sequence[float] | Floats) -> float | None:
    return math.fsum(values) / len(values) if len(values) else None


def difference_of(
    a: Sequence[tuple[float, float]],
    b: Sequence[tuple[float, float]],
    scale: Scale,
    *,
    clusters: Sequence[Hashable] | None,
    confidence: float | None,
) -> Difference:
    """Return the difference of the second system from the first on the same queries.

    `a` and `b` have the value of each query in the worst and in the best case (`Scale.counted`). If
    the cases differ, the difference is that of the worst cases; its interval contains those of both
    extremes, and its p is the larger one.
    """
    first, second = np.array(a, dtype=float), np.array(b, dtype=float)

    def paired(case_of_a: int, case_of_b: int) -> Difference:
        return paired_difference(
            first[:, case_of_a],
            second[:, case_of_b],
            clusters=clusters,
            confidence=confidence,
            bounds=scale.range,
        )

    found = paired(0, 0)
    if not (_differ(first) or _differ(second)):
        return found
    ends = paired(1, 0), paired(0, 1)
    opposite = ends[0].difference * ends[1].difference <= 0
    bounds = [bound for end in ends for bound in end.interval or (-math.inf, math.inf)]
    known = math.isfinite(min(bounds)) and math.isfinite(max(bounds))
    return replace(
        found,
        p=1.0 if opposite else max(end.p for end in ends),
        interval=(min(bounds), max(bounds)) if known else None,
    )


def _differ(cases: Floats) -> bool:
    return bool((cases[:, 0] != cases[:, 1]).any())
