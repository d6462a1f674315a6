"""The rewrite of a turn from the data set, which can be understood without the history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ragstone.components.query_formers.mtrag_tags import MessageFormer, Variant
from ragstone.errors import ConfigError
from ragstone.types import Message, Query


@dataclass(frozen=True)
class Rewrite(MessageFormer):
    """Searches for the data set's rewrite of a query, or for its text if there is no rewrite.

    Args:
        variant: `paper` adds mtRAG's speaker tag, `corrected` removes it.
    """

    variant: Variant = "corrected"

    def data_notes(self, dataset: Any) -> Iterator[str]:
        """Yield the number of queries without a rewrite; raise `ConfigError` if none has one."""
        missing = [not rewrite for rewrite in dataset.query_table.column("rewrite").to_pylist()]
        if missing and all(missing):
            raise ConfigError(
                f"the query former 'rewrite' searches for rewrites, and none of the "
                f"{len(missing):,} queries of the data set {dataset.name!r} has one; use "
                f"as-given, conversation, or llm-rewrite, which writes them",
                key="query_former",
                value="rewrite",
            )
        if any(missing):
            yield (
                f"rewrite: {sum(missing):,} of {len(missing):,} queries have no rewrite and are "
                f"searched for as they are"
            )

    def messages(self, query: Query) -> list[Message]:
        """Return the rewrite in place of the query."""
        return [Message("user", query.rewrite or query.text)]
