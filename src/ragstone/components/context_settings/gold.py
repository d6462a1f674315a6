"""The relevant passages alone: MIRAGE's and BERGEN's oracle, mtRAG's reference setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.components.context_settings.shown import shown
from ragstone.components.context_settings.without_gold import needs_gold
from ragstone.protocols import ContextSetting
from ragstone.types import Candidates, ContextPassage, Query


@dataclass(frozen=True)
class Gold(ContextSetting):
    """Shows the relevant passages, best grade first.

    Args:
        top_k: maximum number of passages; None shows all.
    """

    top_k: int | None = None

    uses: ClassVar[frozenset[str]] = frozenset({"gold"})

    @property
    def setting(self) -> str:
        """The canonical name: `gold`, or `gold(1)` with a limit."""
        return "gold" if self.top_k is None else f"gold({self.top_k})"

    def inapplicable(self, query: Query, relevant_count: int) -> str:
        """Return why there is no context: no gold passage, and no label that explains it."""
        return needs_gold(query, relevant_count)

    def passages(self, candidates: Candidates) -> tuple[ContextPassage, ...]:
        """Return the gold passages; a query that is labelled unanswerable may have none."""
        return shown(candidates.gold.passages[: self.top_k], "gold")
