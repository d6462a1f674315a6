"""No context: MIRAGE's base setting, BERGEN's closed book."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.protocols import ContextSetting
from ragstone.types import Candidates, ContextPassage


@dataclass(frozen=True)
class NoContext(ContextSetting):
    """Shows the generator only the query."""

    uses: ClassVar[frozenset[str]] = frozenset()

    @property
    def setting(self) -> str:
        """The canonical name."""
        return "none"

    def passages(self, candidates: Candidates) -> tuple[ContextPassage, ...]:
        """Return an empty context."""
        return ()
