"""Findings of the data doctor, each with counts, examples and advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ragstone.core import limits

Severity: TypeAlias = Literal["error", "warning", "note"]
"""error: scores are wrong; warning: scores may be wrong; note: matters for reading the scores."""

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a data set, or one fact that matters for reading its scores."""

    check: str
    """Name of the check and, after a slash, its subject: `duplicates/passages`."""
    severity: Severity
    what: str
    """One sentence with the counts."""
    count: int
    """Number of affected rows, pairs or queries; 0 for a finding about the whole data set."""
    of: int
    """Number of checked rows, pairs or queries."""
    advice: str
    examples: tuple[str, ...] = ()


def shown(text: str, limit: int = limits.MAX_EXAMPLE_CHARACTERS) -> str:
    r"""Return a text on one line, shortened to `limit` characters.

    >>> shown("one\n two", limit=5)
    'one t...'
    """
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[:limit]}..."


def first(examples: Sequence[str]) -> tuple[str, ...]:
    """Return the first examples, each on one line."""
    return tuple(shown(example) for example in examples[: limits.MAX_EXAMPLES])
