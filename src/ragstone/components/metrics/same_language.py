"""same-language@k: the share of the first k passages in the language of the query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ragstone.components.metrics.base import Direction, RankingMetric
from ragstone.components.metrics.ranking_batch import Languages
from ragstone.errors import ConfigError
from ragstone.text.language import query_language
from ragstone.text.language_names import one_language

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch
    from ragstone.data.corpus import Corpus
    from ragstone.types import Query, Ranking

_UNKNOWN: Final = "the language of the query, or of all passages, is not known"


@dataclass(frozen=True)
class SameLanguage(RankingMetric):
    """The share of the first k passages that are in the language of the query.

    A language is the label `language` of the query or passage, else the recognised one of its text.
    Passages of unknown language are left out. Neither end is better: what is right depends on the
    datastore (Chirkova et al., 2024, compare them). The passages need no qrels, but a query without
    a relevant passage has no value, as for the other metrics of rankings.

    Formula: passages in the language of the query / passages of known language, of the first k.

    Source: Chirkova et al., 2024.

    Trap: neither end is better, and short passages are recognised badly.
    """

    name: ClassVar[str] = "same-language"
    direction: ClassVar[Direction] = "neutral"
    requires: ClassVar[frozenset[str]] = frozenset({"qrels", "languages"})
    description: ClassVar[str] = (
        "The share of the first k passages that are in the language of the query."
    )

    def __post_init__(self) -> None:
        """Raise `ConfigError` for options that change the ranking."""
        super().__post_init__()
        if self.condensed or self.level != "passage":
            raise ConfigError(
                f"{self.name}@{self.k} reads all passages as they are ranked; write it without "
                "condensed and level"
            )

    def values(self, ranks: RankingBatch) -> Values:
        """Return the share per query; 0 for one without a value."""
        return np.array([sum(same) / max(1, len(same)) for same in self._same(ranks)], float)

    def inapplicable(self, ranks: RankingBatch) -> Mapping[int, str]:
        """Return the reason for queries without a passage and a query of known language."""
        return {i: _UNKNOWN for i, same in enumerate(self._same(ranks)) if not same}

    def _same(self, ranks: RankingBatch) -> Sequence[Sequence[bool]]:
        """Return for each query whether each passage of known language has its language.

        Raises:
            ConfigError: the languages are not known.
        """
        source = ranks.source
        if source is None or source.languages is None:
            raise ConfigError(
                f"{self.name}@{self.k} needs the languages of queries and passages: measure it in "
                "an experiment, not from files of ranks"
            )
        found = []
        for query_id in source.query_ids:
            own = source.languages.queries.get(query_id, "")
            first = source.languages.ranked.get(query_id, ())[: self.depth]
            found.append([one == own for one in first if one] if own else [])
        return found


def passage_languages(corpus: Corpus, passage_ids: Iterable[str]) -> dict[str, str]:
    """Return passage id -> language of some passages: that of the label, else recognised."""
    passages = (corpus[passage_id] for passage_id in passage_ids if passage_id in corpus)
    return {p.passage_id: one_language(query_language(p.full_text, p.labels)) for p in passages}


def ranked_languages(
    queries: Iterable[Query], corpus: Corpus, rankings: Mapping[str, Ranking]
) -> Languages:
    """Return the languages of some queries, and of the passages of a corpus ranked for them."""
    ordered = {query_id: in_order(ranking) for query_id, ranking in rankings.items()}
    known = passage_languages(corpus, dict.fromkeys(chain.from_iterable(ordered.values())))
    ranked = {query_id: [known.get(p, "") for p in ids] for query_id, ids in ordered.items()}
    asked = {q.query_id: one_language(query_language(q.text, q.labels)) for q in queries}
    return Languages(asked, ranked)


def in_order(ranking: Ranking) -> Sequence[str]:
    """Return the passages in trec_eval's order."""
    ids, scores = ranking.passage_ids, ranking.scores
    if len(scores):
        order = sorted(zip(map(np.float32, scores), ids, strict=True), reverse=True)
        return list(dict.fromkeys(passage_id for _, passage_id in order))
    return ids
