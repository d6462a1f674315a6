"""What the data doctor says: one finding a fault, with counts, examples and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ragstone.core import limits

Severity: TypeAlias = Literal["error", "warning", "note"]
"""error: scores are wrong because of it; warning: they may be; note: know it when reading them."""

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a data set, or that a reader of its scores must know."""

    check: str
    """Name of the check and, after a slash, what of it: `duplicates/passages`."""
    severity: Severity
    what: str
    """A sentence with the counts."""
    count: int
    """Rows, pairs or queries concerned; 0 where the finding is of the whole set."""
    of: int
    """How many were looked at."""
    advice: str
    examples: tuple[str, ...] = ()


def shown(text: str, limit: int = limits.MAX_EXAMPLE_CHARACTERS) -> str:
    r"""Return a text on one line, cut where it is long.

    >>> shown("one\n two", limit=5)
    'one t...'
    """
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[:limit]}..."


def first(examples: Sequence[str]) -> tuple[str, ...]:
    """Return the first few examples, each on one line."""
    return tuple(shown(example) for example in examples[: limits.MAX_EXAMPLES])
