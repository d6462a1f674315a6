"""What storing vectors in fewer bits, and computing them in 8, costs in quality.

    python benchmarks/dense_quality.py ../shared/data/nq_singlehop --store STORE
    python benchmarks/dense_quality.py ../shared/data/nq_singlehop --store STORE --sample 1000

The first searches all passages with vectors stored in float32, float16 and int8. With `--sample`,
that many passages, the relevant ones of some queries first, are embedded twice: by the network in 8
bits (the default) and in 32, timed. Vectors are kept in STORE.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from ragstone.components.metrics.base import RankingMetric
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.score import score_rankings
from ragstone.components.retrievers.dense import Dense
from ragstone.core.registry import create
from ragstone.core.schemas import columns
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.indexes.corpus_vectors import embed_corpus
from ragstone.protocols import Services
from ragstone.types import Ranking, Search

Relevance = dict[str, dict[str, int]]


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=0)
    options = parser.parse_args()
    dataset = load_dataset(options.data)
    store = Store(options.store)
    if options.sample:
        compare_networks(dataset, store, options.sample)
    else:
        compare_precisions(dataset, store)


def compare_precisions(dataset: Dataset, store: Store) -> None:
    """Search the whole corpus with vectors stored in each precision."""
    corpus = Corpus(dataset.corpus.table, store)
    relevance = {q: dict(graded) for q, graded in dataset.qrels.items()}
    searches = [Search(q.query_id, q.text) for q in dataset.queries if q.query_id in relevance]
    table(
        {p: ranked(Dense(precision=p), searches, corpus) for p in ("float32", "float16", "int8")},
        searches,
        relevance,
    )


def compare_networks(dataset: Dataset, store: Store, count: int) -> None:
    """Embed some passages by the network in 8 and in 32 bits, and search both."""
    relevance = {q: dict(graded) for q, graded in dataset.qrels.items()}
    chosen: dict[str, None] = {}
    asked = []
    for query in dataset.queries:
        gold = [p for p, grade in relevance.get(query.query_id, {}).items() if grade > 0]
        if gold and len(chosen) < count // 2:
            chosen |= dict.fromkeys(gold)
            asked.append(query)
    for passage in dataset.corpus.passage_ids[:: max(1, len(dataset.corpus) // count)]:
        if len(chosen) < count:
            chosen[passage] = None
    corpus = Corpus(Corpus.from_passages([dataset.corpus[p] for p in chosen]).table, store)
    searches = [Search(q.query_id, q.text) for q in asked]
    runs = {}
    for name in ("minilm", "minilm(precision=float32)"):
        started, used = time.perf_counter(), time.process_time()
        embed_corpus(create("embedders", name, where="benchmark"), Services(corpus=corpus))
        took, cpu = time.perf_counter() - started, time.process_time() - used
        print(
            f"{name}: {len(corpus) / took:.1f} passages/s, {cpu / len(corpus) * 1e3:.0f} ms of CPU"
        )
        runs[name] = ranked(Dense(embedder=name), searches, corpus)
    table(runs, searches, relevance)


def ranked(retriever: Dense, searches: list[Search], corpus: Corpus) -> list[Ranking]:
    """Return one ranking per search."""
    return [outcome.value for outcome in retriever.retrieve(searches, Services(corpus=corpus))]


def table(runs: dict[str, list[Ranking]], searches: list[Search], relevance: Relevance) -> None:
    """Print nDCG@10 and recall of each run, and how much of the first one's top 10 it has."""
    ids = [search.query_id for search in searches]
    names = ("nDCG@10", "R@5", "R@100")
    metrics = [m for m in map(parse_metric, names) if isinstance(m, RankingMetric)]
    first = next(iter(runs.values()))
    print(f"{len(ids)} queries\n| | {' | '.join(names)} | same top 10 | same first |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, rankings in runs.items():
        scores = columns(
            score_rankings(metrics, relevance, dict(zip(ids, rankings, strict=True)), ids)
        )
        means = [
            np.mean(
                [v for v, m in zip(scores["value"], scores["metric"], strict=True) if m == metric]
            )
            for metric in names
        ]
        top = [
            len({*a.passage_ids[:10]} & {*b.passage_ids[:10]}) / max(1, len(a.passage_ids[:10]))
            for a, b in zip(first, rankings, strict=True)
        ]
        same = [
            a.passage_ids[:1] == b.passage_ids[:1] for a, b in zip(first, rankings, strict=True)
        ]
        cells = [f"{mean:.4f}" for mean in means] + [f"{np.mean(top):.2%}", f"{np.mean(same):.2%}"]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
