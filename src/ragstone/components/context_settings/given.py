"""Passages that are given for each query: a context with a passage dropped, added or edited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ragstone.core.component import Outcome
from ragstone.errors import ConfigError
from ragstone.protocols import ContextSetting, Services
from ragstone.types import Candidates, Context, ContextPassage, Query


@dataclass(frozen=True)
class Given(ContextSetting):
    """Shows the passages that are listed for each query, in their order.

    Args:
        label: the name of the setting.
        contexts: query id -> passages. A passage is an id of the corpus, or a mapping with `id`,
            `text` (by default that of the corpus) and `origin` (by default `retrieved`).
    """

    label: str = "given"
    contexts: Mapping[str, Sequence[str | Mapping[str, str]]] = field(default_factory=dict)

    uses: ClassVar[frozenset[str]] = frozenset({"corpus"})

    @property
    def setting(self) -> str:
        """The name that was given."""
        return self.label

    def inapplicable(self, query: Query, relevant_count: int) -> str:
        """Return why a query has no context: none is given for it."""
        given = query.query_id in self.contexts
        return "" if given else f"{self.label} gives no passages for it"

    def build(
        self, candidates: Sequence[Candidates], services: Services
    ) -> Iterator[Outcome[Context]]:
        """Yield the given passages of each query."""
        for one in candidates:
            query_id = one.query.query_id
            shown = tuple(_passage(p, services) for p in self.contexts.get(query_id, ()))
            yield Outcome(Context(query_id, self.setting, shown))


def _passage(given: str | Mapping[str, str], services: Services) -> ContextPassage:
    """Return a passage with its text; raise `ConfigError` if its text is not known."""
    fields: Mapping[str, Any] = {"id": given} if isinstance(given, str) else given
    passage_id, text = fields.get("id", ""), fields.get("text")
    if text is None:
        if passage_id not in services.corpus:
            raise ConfigError(
                f"given: the corpus has no passage {passage_id!r}; give its text, or another id",
                key="contexts",
                value=passage_id,
            )
        text = services.corpus[passage_id].full_text
    return ContextPassage(passage_id, text, fields.get("origin", "retrieved"))
