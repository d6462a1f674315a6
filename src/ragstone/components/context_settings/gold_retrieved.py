"""The relevant passages, filled up with retrieved ones: mtRAG's reference+RAG setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.components.context_settings.shown import shown
from ragstone.components.context_settings.without_gold import needs_gold
from ragstone.errors import ConfigError
from ragstone.protocols import ContextSetting
from ragstone.types import Candidates, ContextPassage, Query


@dataclass(frozen=True)
class GoldRetrieved(ContextSetting):
    """Shows `top_k` passages: the gold ones first, then the best retrieved others.

    An experiment leaves the queries with too many relevant passages out of all its settings, and
    reports their number.

    Args:
        top_k: number of passages.
        max_gold: it applies to queries with at most n relevant passages (two in mtRAG), so that
            some retrieved ones fit too; with null it applies to all.
    """

    top_k: int = 5
    max_gold: int | None = 2

    uses: ClassVar[frozenset[str]] = frozenset({"gold", "retrieved"})

    def __post_init__(self) -> None:
        if self.top_k < 1:
            raise ConfigError(f"gold+retrieved needs a top_k of at least 1, found {self.top_k}")
        if self.max_gold is not None and self.max_gold < 1:
            raise ConfigError(
                "gold+retrieved: max_gold must be 1 or more, or null for no maximum, found "
                f"{self.max_gold}"
            )

    @property
    def setting(self) -> str:
        """The canonical name: `gold+retrieved(5)`, `gold+retrieved(5, max_gold=null)`."""
        bound = "null" if self.max_gold is None else self.max_gold
        option = "" if bound == 2 else f", max_gold={bound}"  # noqa: PLR2004 - the default
        return f"gold+retrieved({self.top_k}{option})"

    def not_applicable(self, relevant_count: int) -> str:
        """Return why n relevant passages are too many, or ""."""
        if self.max_gold is None or relevant_count <= self.max_gold:
            return ""
        return (
            f"{self.setting} is defined for queries with at most {self.max_gold} relevant passages"
        )

    def inapplicable(self, query: Query, relevant_count: int) -> str:
        """Return why there is no context: no gold passage, and no label that explains it."""
        return needs_gold(query, relevant_count)

    @property
    def shows(self) -> int:
        """Maximum number of retrieved passages in a context."""
        return self.top_k

    def passages(self, candidates: Candidates) -> tuple[ContextPassage, ...]:
        """Return at most `top_k` passages, no passage twice."""
        first = candidates.gold.passages[: self.top_k]
        taken = {passage.passage_id for passage in first}
        others = [p for p in candidates.retrieved.passages if p.passage_id not in taken]
        rest = others[: self.top_k - len(first)]
        return (*shown(first, "gold"), *shown(rest, "retrieved"))
