"""The queries without a gold passage that a setting with gold passages applies to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ragstone.types import Query

NO_GOLD: Final = "the query has no gold passage"
"""Why a setting does not apply to a query."""
_ANSWERED: Final = frozenset({"unanswerable", "underspecified", "conversational"})
"""Values of the label `answerability` whose queries mtRAG's reference settings answer without gold
passages."""


def needs_gold(query: Query, relevant_count: int) -> str:
    """Return why a query has no context of gold passages, or "".

    A query that is labelled as not answerable is answered with no gold passages.

    >>> from ragstone.types import Query
    >>> needs_gold(Query("a", "Hello!", labels={"answerability": "conversational"}), 0)
    ''
    >>> needs_gold(Query("b", "Where?"), 0)
    'the query has no gold passage'
    """
    label = str(query.labels.get("answerability", "")).lower()
    return "" if relevant_count or label in _ANSWERED else NO_GOLD
