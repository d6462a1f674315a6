"""The scores of rankings, from tables."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ragstone.components.metrics.document_level import rank_documents
from ragstone.components.metrics.same_language import ranked_languages
from ragstone.components.metrics.score import NO_RELEVANT, RankingScores
from ragstone.components.metrics.score_columns import ScoreColumns
from ragstone.core.schemas import columns, table_to_queries, table_to_rankings
from ragstone.data.corpus import Corpus
from ragstone.data.document_level import judge_documents
from ragstone.data.lazy_rows import JudgementRows
from ragstone.types import Ranking

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.experiment.metric_set import MetricSet
    from ragstone.protocols import Services

OUT_OF_REACH: Final = "the datastore has neither a relevant passage of this query nor a translation"


class ScoredRankings(RankingScores):
    """The scores of a run, added block by block.

        scores = ScoredRankings(metrics, services, qrels=qrels)
        for block in blocks:                          # tables of some queries
            scores.add_tables(queries=..., run=...)
        for table in scores.tables(): ...             # or scores.table()
        scores.count("unscored")                      # for the manifest of the step

    Args:
        metrics: the metrics of rankings.
        services: what the step was given.
        qrels: the judgements, of all queries.
        corpus: the passages, for metrics that need documents or languages.
        translations: those of a datastore: several translations of one relevant passage count as
            one, at the rank of the first, and the others keep their ranks.
    """

    def __init__(
        self,
        metrics: MetricSet,
        services: Services,
        *,
        qrels: Table,
        corpus: Table | None = None,
        translations: Table | None = None,
    ) -> None:
        super().__init__(metrics.metrics, NO_RELEVANT if translations is None else OUT_OF_REACH)
        self._judged = JudgementRows(qrels)
        self._corpus = None if corpus is None else services.corpus or Corpus(corpus)
        self._reads_languages = metrics.reads_languages
        self._counts_as: dict[str, str] | None = None
        if translations is not None:
            self._counts_as = dict(zip(*columns(translations).values(), strict=True))

    @property
    def unscored(self) -> int:
        """The number of scores that a metric could not compute."""
        return self.count("unscored")

    beside = None
    """No figures of all rankings together."""

    def add_tables(self, *, queries: Table, run: Table) -> None:
        """Add the queries of a table; `run` has at least their rows."""
        query_ids = columns(queries)["query_id"]
        # A table has no row of an empty ranking; a search that finds nothing did not fail.
        rankings = {**dict.fromkeys(query_ids, Ranking()), **table_to_rankings(run)}
        judged = {q: self._judged[q] for q in query_ids if q in self._judged}
        known: dict[str, Any] = {}
        if self._corpus is not None and self._reads_languages:
            # Before translations count as one: the language is that of the passage found.
            asked = table_to_queries(queries)
            known["languages"] = ranked_languages(asked, self._corpus, rankings)
        if self._counts_as is not None:
            judged = judge_documents(judged, self._first)
            rankings = rank_documents(rankings, self._first)
        if self._corpus is not None:
            ids = {p for ranking in rankings.values() for p in ranking.passage_ids}
            ids.update(*(judged.get(query_id, ()) for query_id in query_ids))
            known["documents"] = _documents(self._corpus, ids, self._counts_as or {})
        self.add(judged, rankings, query_ids, **known)

    def empty(self) -> ScoredRankings:
        """Return the same without the queries that were added."""
        found = copy.copy(self)
        ScoreColumns.__init__(found, self.names)
        return found

    def _first(self, passage_id: str) -> str:
        return str((self._counts_as or {}).get(passage_id, passage_id))


def _documents(corpus: Corpus, ids: set[str], counts_as: Mapping[str, str]) -> dict[str, str]:
    """Return passage id -> document id; documents with translations of a passage are one."""
    found = corpus.documents({*ids, *counts_as, *counts_as.values()})
    same = {found[one]: found[first] for one, first in counts_as.items() if found.get(one)}
    return {one: same.get(document, document) for one, document in found.items()}
