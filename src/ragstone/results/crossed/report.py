"""The common part of the reports on effects and on sensitivity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ragstone.core.tables import Shown, TextTable
from ragstone.results.crossed.scores import CrossedScores

PLOT: Final = 24
"""Width of an interval in the terminal, in characters."""


@dataclass(frozen=True)
class CrossedReport(Shown):
    """A report on some scores."""

    scores: CrossedScores
    confidence: float
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded."""
        raise NotImplementedError

    def tables(self) -> Iterator[str | TextTable]:
        """Yield the paragraphs and tables without the notes."""
        raise NotImplementedError

    def parts(self) -> Iterator[str | TextTable]:
        """Yield the paragraphs and tables, then the notes."""
        yield from self.tables()
        if self.notes:
            yield "\n".join(self.notes)

    @property
    def without_value(self) -> dict[str, int]:
        """Status -> number of scores, of those that have no value."""
        statuses = ("failed", "unscored", "not_applicable")
        return {status: self.scores.statuses.get(status, 0) for status in statuses}
