"""Rankings of the test queries before and after a training, and the paired differences."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from ragstone.components.metrics.score import score_rankings
from ragstone.components.rerankers.cross_encoder import CrossEncoder
from ragstone.components.retrievers.dense import Dense
from ragstone.core.schemas import columns
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.protocols import Services
from ragstone.statistics.paired import adjust, paired_difference
from ragstone.training.embedder import EmbedderRecipe
from ragstone.training.record import TrainingRecord, write_record
from ragstone.training.reranker import RerankerRecipe, scores_pairs
from ragstone.training.retrieval import documents_of, relevant_ids
from ragstone.training.training import Training
from ragstone.types import Ranking, Search

METRICS: Final = ("nDCG@10", "R@5", "MRR@10")
_TOP_K: Final = 10

Rankings = Mapping[str, Ranking]


@dataclass(frozen=True)
class RankingTest:
    """The test queries, which the training never reads, and their search.

    Args:
        dataset: the data of the test part.
        searches: the queries with a relevant passage.
        candidates: query id -> ranking of the source of the negatives.
    """

    dataset: Dataset
    searches: Sequence[Search]
    candidates: Rankings

    def embedder(self, recipe: EmbedderRecipe, model: str) -> Rankings:
        """Return the rankings of an embedder: the passages with the nearest vectors."""
        embedder = {
            "name": "sentence-transformers",
            "model": model,
            "max_tokens": recipe.max_tokens,
            "query_prefix": recipe.query_prefix,
            "passage_prefix": recipe.passage_prefix,
            "device": recipe.device,
        }
        services = Services(corpus=self.corpus(recipe))
        found = Dense(top_k=_TOP_K, embedder=embedder).retrieve(self.searches, services)
        return {s.query_id: o.value for s, o in zip(self.searches, found, strict=True)}

    def reranker(self, recipe: RerankerRecipe, model: str) -> Rankings:
        """Return the rankings of a reranker: the first ranks of the candidates, reordered."""
        top_k = min(_TOP_K, recipe.depth)
        reranker = CrossEncoder(model, top_k, recipe.depth, recipe.max_tokens, device=recipe.device)
        given = [self.candidates.get(search.query_id, Ranking()) for search in self.searches]
        services = Services(corpus=self.dataset.corpus)
        found = reranker.rerank(self.searches, given, services)
        return {s.query_id: o.value for s, o in zip(self.searches, found, strict=True)}

    def corpus(self, recipe: EmbedderRecipe) -> Corpus:
        """Return the passages that are searched: all, or as many as the recipe has.

        A smaller number has the relevant passages and the first ranks of the candidates, filled up
        at random: the search is easier than among all passages.
        """
        whole = self.dataset.corpus
        most = recipe.test_passages
        if most is None or most >= len(whole):
            return whole
        kept = dict.fromkeys(i for s in self.searches for i in self._relevant[s.query_id])
        for rank in range(recipe.depth):
            ranked = (self.candidates.get(s.query_id, Ranking()) for s in self.searches)
            kept |= dict.fromkeys(r.passage_ids[rank] for r in ranked if rank < len(r))
        chosen = list(kept)[: max(most, sum(map(len, self._relevant.values())))]
        others = [i for i in whole.passage_ids if i not in kept]
        drawn = random.Random(recipe.seed)  # noqa: S311 - not a secret
        chosen += drawn.sample(others, max(0, min(most - len(chosen), len(others))))
        return Corpus.from_passages([whole[i] for i in sorted(chosen, key=whole.position)])

    def gains(self, before: Rankings, after: Rankings) -> list[dict[str, Any]]:
        """Return one row per metric: means, paired difference with interval, corrected p.

        Queries on the same document are one cluster.
        """
        ids = [search.query_id for search in self.searches]
        documents = [min(documents_of(self.dataset, [i])) for i in ids]
        first, second = self._scores(before), self._scores(after)
        of = {m: ([first[m][i] for i in ids], [second[m][i] for i in ids]) for m in METRICS}
        found = [paired_difference(a, b, clusters=documents) for a, b in of.values()]
        corrected = adjust([one.p for one in found])
        return [
            {
                "metric": metric,
                "before": sum(a) / len(a),
                "after": sum(b) / len(b),
                "difference": one.difference,
                "interval": one.interval,
                "p": one.p,
                "p_holm": p,
                "n": one.n,
                "clusters": one.clusters,
            }
            for (metric, (a, b)), one, p in zip(of.items(), found, corrected, strict=True)
        ]

    @cached_property
    def _relevant(self) -> dict[str, list[str]]:
        return {s.query_id: relevant_ids(self.dataset, s.query_id) for s in self.searches}

    def _scores(self, rankings: Rankings) -> dict[str, dict[str, float]]:
        """Return metric -> query id -> value."""
        table = columns(
            score_rankings(
                METRICS, self.dataset.qrels, rankings, [s.query_id for s in self.searches]
            )
        )
        found: dict[str, dict[str, float]] = {}
        for metric, query_id, value in zip(
            table["metric"], table["query_id"], table["value"], strict=True
        ):
            found.setdefault(metric, {})[query_id] = value
        return found


def embedder_gains(recipe: EmbedderRecipe, test: RankingTest, folder: Path) -> dict[str, Any]:
    """Return the test of a trained embedder against its base."""
    before, after = (test.embedder(recipe, one) for one in (recipe.base, str(folder)))
    return {
        "before": "the base",
        "passages": len(test.corpus(recipe)),
        "rows": test.gains(before, after),
    }


def reranker_gains(recipe: RerankerRecipe, test: RankingTest, folder: Path) -> dict[str, Any]:
    """Return the test of a trained reranker: against its base, or the order of the candidates.

    A base without a head for scores has no order of its own.
    """
    has_head = scores_pairs(recipe)
    before = test.reranker(recipe, recipe.base) if has_head else test.candidates
    after = test.reranker(recipe, str(folder))
    return {
        "before": "the base" if has_head else "the candidates as retrieved",
        "depth": recipe.depth,
        "rows": test.gains(before, after),
    }


def with_test(
    training: Training[Any], measure: Callable[[Path], Mapping[str, Any]]
) -> TrainingRecord:
    """Return the record of a training with its test, which is measured once."""
    record = training.run()
    if "test" in record.facts:
        return record
    done = replace(record, facts={**record.facts, "test": dict(measure(training.folder))})
    write_record(training.folder, done)
    return done
