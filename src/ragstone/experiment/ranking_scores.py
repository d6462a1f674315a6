"""The scores of rankings, from tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ragstone.components.metrics.document_level import rank_documents
from ragstone.components.metrics.same_language import ranked_languages
from ragstone.components.metrics.score import NO_RELEVANT, score_rankings
from ragstone.core.schemas import columns, table_to_queries, table_to_rankings, table_to_relevance
from ragstone.data.corpus import Corpus
from ragstone.data.document_level import judge_documents
from ragstone.types import Ranking

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.experiment.metric_set import MetricSet
    from ragstone.protocols import Services

OUT_OF_REACH: Final = "the datastore has neither a relevant passage of this query nor a translation"


def ranking_scores(
    metrics: MetricSet,
    services: Services,
    *,
    queries: Table,
    run: Table,
    qrels: Table,
    corpus: Table | None = None,
    translations: Table | None = None,
) -> Table:
    """Return the scores of a run, a row per query and metric.

    `translations` are those of a datastore: several translations of one relevant passage count as
    one, at the rank of the first, and the others keep their ranks.
    """
    query_ids = columns(queries)["query_id"]
    # A table has no row of an empty ranking; a search that finds nothing did not fail.
    rankings = dict.fromkeys(query_ids, Ranking()) | table_to_rankings(run)
    judged = table_to_relevance(qrels)
    known: dict[str, Any] = {}
    if corpus is not None and metrics.reads_languages:
        # Before translations count as one: the language is that of the passage which was found.
        held = services.corpus or Corpus(corpus)
        known["languages"] = ranked_languages(table_to_queries(queries), held, rankings)
    if translations is not None:
        counts_as = dict(zip(*columns(translations).values(), strict=True))

        def first(passage_id: str) -> str:
            return str(counts_as.get(passage_id, passage_id))

        judged, rankings = judge_documents(judged, first), rank_documents(rankings, first)
    if corpus is not None:
        ids = {p for ranking in rankings.values() for p in ranking.passage_ids}
        ids.update(*(judged.get(query_id, ()) for query_id in query_ids))
        known["documents"] = (services.corpus or Corpus(corpus)).documents(ids)
    reason = NO_RELEVANT if translations is None else OUT_OF_REACH
    return score_rankings(metrics.metrics, judged, rankings, query_ids, no_relevant=reason, **known)
