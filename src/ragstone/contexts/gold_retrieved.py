"""The relevant passages kept within the system's own ranking: mtRAG's reference+RAG setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.contexts import shown
from ragstone.errors import ConfigError
from ragstone.types import Context, GoldPassages, NoisePassages, Query, RetrievedPassages


@dataclass(frozen=True)
class GoldRetrieved:
    """Shows `top_k` passages: the gold ones first, then the best retrieved others."""

    top_k: int = 5

    uses: ClassVar[frozenset[str]] = frozenset({"gold", "retrieved"})

    def __post_init__(self) -> None:
        if self.top_k < 1:
            raise ConfigError(f"gold+retrieved needs a top_k of at least 1, found {self.top_k}")

    @property
    def setting(self) -> str:
        """The canonical name, for example `gold+retrieved(5)`."""
        return f"gold+retrieved({self.top_k})"

    def build(
        self,
        query: Query,
        gold: GoldPassages,
        noise: NoisePassages,
        retrieved: RetrievedPassages,
    ) -> Context:
        """Return at most `top_k` passages, no passage twice."""
        first = gold.passages[: self.top_k]
        taken = {passage.passage_id for passage in first}
        others = [p for p in retrieved.passages if p.passage_id not in taken]
        rest = others[: self.top_k - len(first)]
        passages = (*shown(first, "gold"), *shown(rest, "retrieved"))
        return Context(query.query_id, self.setting, passages)
