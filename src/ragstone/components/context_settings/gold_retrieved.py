"""The relevant passages kept within the system's own ranking: mtRAG's reference+RAG setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.components.context_settings import shown
from ragstone.errors import ConfigError
from ragstone.types import Context, GoldPassages, NoisePassages, Query, RetrievedPassages


@dataclass(frozen=True)
class GoldRetrieved:
    """Shows `top_k` passages: the gold ones first, then the best retrieved others.

    Defined for queries with at most `max_gold` relevant passages (mtRAG's two), so that there is
    room for retrieved ones; null defines it for all. An experiment leaves the other queries out of
    all its settings, and says how many they are.
    """

    top_k: int = 5
    max_gold: int | None = 2

    uses: ClassVar[frozenset[str]] = frozenset({"gold", "retrieved"})

    def __post_init__(self) -> None:
        if self.top_k < 1:
            raise ConfigError(f"gold+retrieved needs a top_k of at least 1, found {self.top_k}")
        if self.max_gold is not None and self.max_gold < 1:
            raise ConfigError(
                f"gold+retrieved: max_gold is {self.max_gold}; it starts at 1, and null sets no "
                "bound"
            )

    @property
    def setting(self) -> str:
        """The canonical name: `gold+retrieved(5)`, `gold+retrieved(5, max_gold=null)`."""
        bound = "null" if self.max_gold is None else self.max_gold
        told = "" if bound == 2 else f", max_gold={bound}"  # noqa: PLR2004 - the default
        return f"gold+retrieved({self.top_k}{told})"

    def undefined(self, gold: int) -> str:
        """Say why the setting is not defined for a query with so many relevant passages."""
        if self.max_gold is None or gold <= self.max_gold:
            return ""
        return (
            f"{self.setting} is defined for queries with at most {self.max_gold} relevant passages"
        )

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
