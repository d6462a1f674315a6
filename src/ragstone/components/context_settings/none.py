"""No context: MIRAGE's base setting, BERGEN's closed book."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.types import Context, GoldPassages, NoisePassages, Query, RetrievedPassages


@dataclass(frozen=True)
class NoContext:
    """Shows the generator nothing but the query."""

    uses: ClassVar[frozenset[str]] = frozenset()

    @property
    def setting(self) -> str:
        """The canonical name."""
        return "none"

    def build(
        self,
        query: Query,
        gold: GoldPassages,
        noise: NoisePassages,
        retrieved: RetrievedPassages,
    ) -> Context:
        """Return an empty context."""
        return Context(query.query_id, self.setting)
