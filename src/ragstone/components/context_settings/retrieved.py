"""The passages of the system's own retriever: MIRAGE's top-k, mtRAG's RAG setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.components.context_settings.shown import shown
from ragstone.errors import ConfigError
from ragstone.protocols import ContextSetting
from ragstone.types import Candidates, ContextPassage


@dataclass(frozen=True)
class Retrieved(ContextSetting):
    """Shows the best passages of the system's ranking, in its order.

    Args:
        top_k: number of passages.
    """

    top_k: int = 5

    uses: ClassVar[frozenset[str]] = frozenset({"retrieved"})

    def __post_init__(self) -> None:
        if self.top_k < 1:
            raise ConfigError(f"retrieved needs a top_k of at least 1, found {self.top_k}")

    @property
    def setting(self) -> str:
        """The canonical name, for example `retrieved(5)`."""
        return f"retrieved({self.top_k})"

    @property
    def shows(self) -> int:
        """Maximum number of retrieved passages in a context."""
        return self.top_k

    def passages(self, candidates: Candidates) -> tuple[ContextPassage, ...]:
        """Return the first passages of the ranking; none for an empty ranking."""
        return shown(candidates.retrieved.passages[: self.top_k], "retrieved")
