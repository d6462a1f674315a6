"""The verdict on a paired difference, in numbers and as one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeAlias

from ragstone.statistics.failures import Scale
from ragstone.statistics.paired import (
    Correction,
    Difference,
    minimum_detectable,
    more_queries,
)
from ragstone.types import one_line

_AFTER: Final[Mapping[Correction, str]] = {
    "holm": " after Holm",
    "benjamini-hochberg": " after Benjamini-Hochberg",
    "none": "",
}
_LEAST_P: Final = 0.0001
_SCALE: Final = Scale()

Outcome: TypeAlias = Literal["better", "worse", "undecided", "equivalent"]


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems under one metric: `b` against `a`."""

    a: str
    b: str
    difference: Difference
    adjusted_p: float
    """Corrected over all pairs and metrics of the comparison."""
    minimum_detectable: float | None
    """Difference that is found with a probability of 80 % on these queries; None as below."""
    more_queries: int | None
    """Further queries for a probability of 80 % to find a difference of the observed size; None if
    no number is enough, or with a single cluster."""

    __repr__ = one_line
    significant: bool
    verdict: str
    """One sentence."""
    outcome: Outcome
    """The outcome of `b` against `a`."""


def pair_document(pair: SystemPair) -> dict[str, Any]:
    """Return the fields of a pair and of its difference as plain data."""
    found = asdict(pair)
    difference = found.pop("difference")
    return {**difference, **found}


@dataclass(frozen=True, slots=True)
class Family:
    """The tests of a comparison, which are corrected together."""

    alpha: float
    """The corrected p of a significant difference is below this."""
    tests: int
    correction: Correction
    margin: float | None = None
    """The largest difference of equivalent systems; None if no two systems are equivalent."""

    @property
    def planned_alpha(self) -> float:
        """Approximate level for a single test."""
        return self.alpha if self.correction == "none" else self.alpha / max(1, self.tests)

    def outcome(
        self,
        found: Difference,
        adjusted_p: float,
        *,
        lower_is_better: bool = False,
    ) -> Outcome:
        """Return the outcome of one test of the family, whose p is corrected.

        `equivalent` is a difference that is not significant and whose interval is within the margin
        on either side of 0.
        """
        if adjusted_p < self.alpha:
            return "better" if (found.difference > 0) != lower_is_better else "worse"
        low, high = found.interval or (-math.inf, math.inf)
        within = self.margin is not None and -self.margin < low and high < self.margin
        return "equivalent" if within else "undecided"


def judge(
    a: str,
    b: str,
    difference: Difference,
    adjusted_p: float,
    family: Family,
    *,
    scale: Scale = _SCALE,
    failed: tuple[int, int] = (0, 0),
) -> SystemPair:
    """Return the verdict on the difference of two systems among all tests of a comparison.

    `failed` are the queries that each system failed on. If these are left out, a system that failed
    on more queries than the other is not better.
    """
    error, alpha = difference.standard_error, family.planned_alpha
    least = more = None
    if error is not None:
        least = minimum_detectable(error, alpha=alpha)
        more = more_queries(difference.n, difference.difference, error, alpha=alpha)
    p = f"p<{_LEAST_P}" if adjusted_p < _LEAST_P else f"p={adjusted_p:.2g}"
    if family.tests > 1:
        p += _AFTER[family.correction]
    lower = scale.direction == "lower"
    outcome = family.outcome(difference, adjusted_p, lower_is_better=lower)
    left_out = scale.policy == "exclude" and failed[0] != failed[1]
    counts = f" ({a} failed on {failed[0]:,} queries, {b} on {failed[1]:,}"
    counts += "; these are left out)" if left_out else ")"
    if left_out and outcome == ("better" if failed[1] > failed[0] else "worse"):
        outcome = "undecided"
        verdict = f"no verdict on {a} and {b}: the one with the better mean failed more often"
    elif outcome in {"better", "worse"}:
        verdict = _lead(a, b, difference, lower_is_better=lower) + f", {p}"
    elif outcome == "equivalent":
        verdict = f"{a} and {b} are equivalent within {family.margin:g}: {_size(difference)}, {p}"
    elif not difference.wins and not difference.losses:
        verdict = f"{a} and {b} have the same value on all {difference.n:,} queries"
    else:
        verdict = f"no difference shown between {a} and {b}" + _reason(difference, p, more, least)
    return SystemPair(
        a,
        b,
        difference,
        adjusted_p,
        least,
        more,
        significant=outcome in {"better", "worse"},
        verdict=verdict + (counts if failed[0] != failed[1] else ""),
        outcome=outcome,
    )


def _lead(a: str, b: str, found: Difference, *, lower_is_better: bool) -> str:
    better, other = (b, a) if (found.difference > 0) != lower_is_better else (a, b)
    return f"{better} is better than {other} by {_size(found)}"


def _size(found: Difference) -> str:
    """Return a difference without its sign, and its interval."""
    size = f"{abs(found.difference):.4f}"
    if found.interval is None:
        return size
    sign = 1 if found.difference > 0 else -1
    low, high = sorted(sign * bound for bound in found.interval)
    return f"{size} [{low:.4f}, {high:.4f}]"


def _reason(found: Difference, p: str, more: int | None, least: float | None) -> str:
    if found.difference == 0:
        return ": the means are equal"
    if not more:
        return f" ({p})"
    about = int(float(f"{more:.2g}"))
    shown = "" if least is None else f"; these queries show differences from {least:.3f}"
    return f" ({p}); about {about:,} more queries would settle a difference of this size{shown}"
