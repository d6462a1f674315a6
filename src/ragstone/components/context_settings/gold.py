"""The relevant passages alone: MIRAGE's and BERGEN's oracle, mtRAG's reference setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.components.context_settings.shown import shown
from ragstone.protocols import ContextSetting
from ragstone.types import Candidates, ContextPassage


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

    def passages(self, candidates: Candidates) -> tuple[ContextPassage, ...]:
        """Return the gold passages; an unanswerable query has none and gets an empty context."""
        return shown(candidates.gold.passages[: self.top_k], "gold")
