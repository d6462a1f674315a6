"""What a paired difference comes to, in numbers and in one plain sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ragstone.statistics.paired import Correction, Difference, minimum_detectable, more_queries

_SPELT: Final[Mapping[Correction, str]] = {
    "holm": "Holm",
    "benjamini-hochberg": "Benjamini-Hochberg",
    "none": "",
}
_LEAST_P: Final = 0.0001


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems under one metric: `b` against `a`."""

    a: str
    b: str
    difference: Difference
    adjusted_p: float
    """Corrected over all pairs and metrics of the comparison."""
    minimum_detectable: float | None
    """The difference that these queries would show with a chance of 80 %."""
    more_queries: int | None
    """Queries beyond these that would show a difference of the observed size with a chance of
    80 %; None where no number would, or one cluster leaves nothing to judge by."""
    significant: bool
    verdict: str
    """One sentence in plain words."""


@dataclass(frozen=True, slots=True)
class Family:
    """How the tests of a comparison are judged together."""

    alpha: float
    """A corrected p at most this is significant."""
    tests: int
    correction: Correction

    @property
    def planned_alpha(self) -> float:
        """About the level that a single test must pass to count among so many."""
        return self.alpha if self.correction == "none" else self.alpha / max(1, self.tests)

    @property
    def after(self) -> str:
        """What to say behind a corrected p."""
        corrected = self.tests > 1 and self.correction != "none"
        return f" after {_SPELT[self.correction]}" if corrected else ""


def judge(
    a: str,
    b: str,
    difference: Difference,
    adjusted_p: float,
    family: Family,
    *,
    lower_is_better: bool = False,
) -> Pair:
    """Return what the difference of two systems comes to among all tests of a comparison."""
    error, more = difference.standard_error, None
    if error is not None:
        more = more_queries(difference.n, difference.difference, error, alpha=family.planned_alpha)
    p = f"{_p(adjusted_p)}{family.after}"
    significant = adjusted_p <= family.alpha
    if significant:
        leads = (difference.difference > 0) != lower_is_better
        verdict = _lead(*((b, a) if leads else (a, b)), difference, p)
    else:
        verdict = _no_difference(a, b, difference, p, more)
    return Pair(
        a=a,
        b=b,
        difference=difference,
        adjusted_p=adjusted_p,
        minimum_detectable=None
        if error is None
        else minimum_detectable(error, alpha=family.planned_alpha),
        more_queries=more,
        significant=significant,
        verdict=verdict,
    )


def _p(p: float) -> str:
    return f"p<{_LEAST_P}" if p < _LEAST_P else f"p={p:.2g}"


def _lead(better: str, other: str, found: Difference, p: str) -> str:
    size = f"{abs(found.difference):.4f}"
    if found.interval is not None:
        # Turned round where the first leads, so that a lead is positive whoever has it.
        low, high = sorted(math.copysign(1, found.difference) * bound for bound in found.interval)
        size = f"{size} [{low:.4f}, {high:.4f}]"
    return f"{better} is better than {other} by {size}, {p}"


def _no_difference(a: str, b: str, found: Difference, p: str, more: int | None) -> str:
    said = f"no difference shown between {a} and {b}"
    if found.difference == 0:
        return f"{said}: the means are equal"
    if not more:
        return f"{said} ({p})"
    return f"{said} ({p}); about {_about(more)} more queries would settle a difference of this size"


def _about(count: int) -> str:
    """Write a count to two digits.

    >>> _about(12_345), _about(87)
    ('12,000', '87')
    """
    return f"{int(float(f'{count:.2g}')):,}"
