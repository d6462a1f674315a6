"""What the system's own retriever found: MIRAGE's top-k, mtRAG's RAG setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.components.context_settings import shown
from ragstone.errors import ConfigError
from ragstone.types import Context, GoldPassages, NoisePassages, Query, RetrievedPassages


@dataclass(frozen=True)
class Retrieved:
    """Shows the best `top_k` passages of the system's ranking, in its order."""

    top_k: int = 5

    uses: ClassVar[frozenset[str]] = frozenset({"retrieved"})

    def __post_init__(self) -> None:
        if self.top_k < 1:
            raise ConfigError(f"retrieved needs a top_k of at least 1, found {self.top_k}")

    @property
    def setting(self) -> str:
        """The canonical name, for example `retrieved(5)`."""
        return f"retrieved({self.top_k})"

    def build(
        self,
        query: Query,
        gold: GoldPassages,
        noise: NoisePassages,
        retrieved: RetrievedPassages,
    ) -> Context:
        """Return the head of the ranking; an empty ranking gives an empty context."""
        head = retrieved.passages[: self.top_k]
        return Context(query.query_id, self.setting, shown(head, "retrieved"))
