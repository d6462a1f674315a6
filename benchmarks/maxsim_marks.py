"""What the marks [CLS] and [SEP], and keeping vectors in 8 bits, do to late interaction.

    python benchmarks/maxsim_marks.py ../shared/data/nq_singlehop

Reranks the first 20 passages of BM25 for 120 questions by the bundled token vectors, marks counted
in the query, in the passage, in both or in neither. Prints R@1 (the first is relevant) and MRR.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragstone.components.embedders.minilm import load_minilm
from ragstone.components.retrievers.bm25 import BM25
from ragstone.data.readers.folder import FolderReader
from ragstone.indexes.quantisation import decode, encode
from ragstone.protocols import Services
from ragstone.types import Ranking, Search

QUESTIONS, DEPTH = 120, 20


def vectors(texts: Sequence[str]) -> list[Any]:
    """Return the token vectors of each text, of length 1, marks first and last."""
    found = load_minilm("all-minilm-l6-v2", "int8", 512).run_all(texts, "tokens", None)
    return [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in found]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    dataset = FolderReader(parser.parse_args().data).read()
    queries = [query for query in dataset.queries if dataset.qrels.get(query.query_id)]
    random.Random(7).shuffle(queries)
    queries = queries[:QUESTIONS]
    searches = [Search(query.query_id, query.text) for query in queries]
    outcomes = BM25(top_k=DEPTH).retrieve(searches, Services(corpus=dataset.corpus))
    rankings = [outcome.value for outcome in outcomes]
    ids = sorted({passage_id for ranking in rankings for passage_id in ranking.passage_ids})
    passages = dict(zip(ids, vectors([dataset.corpus[i].full_text for i in ids]), strict=True))
    asked = dict(zip(searches, vectors([search.text for search in searches]), strict=True))

    def show(name: str, of_query: slice, of_passage: slice, stored: Callable[[Any], Any]) -> None:
        best, reciprocal = 0, 0.0
        for query, search, ranking in zip(queries, searches, rankings, strict=True):
            scores = [
                (asked[search][of_query] @ stored(passages[i][of_passage]).T).max(axis=1).sum()
                for i in ranking.passage_ids
            ]
            place = first_relevant(ranking, scores, dataset.qrels[query.query_id])
            best += place == 1
            reciprocal += 1 / place if place else 0
        print(f"{name:<32} R@1 {best / len(queries):.3f}  MRR {reciprocal / len(queries):.3f}")

    whole, inner = slice(None), slice(1, -1)
    show("marks of neither", inner, inner, lambda rows: rows)
    show("marks of passages", inner, whole, lambda rows: rows)
    show("marks of queries", whole, inner, lambda rows: rows)
    show("marks of both", whole, whole, lambda rows: rows)
    show("marks of neither, kept in 8 bits", inner, inner, in_8_bits)


def in_8_bits(rows: Any) -> Any:
    """Return vectors as they are read back from 8 bits."""
    return decode(encode(rows, "int8"), np.float32)


def first_relevant(ranking: Ranking, scores: Sequence[float], relevance: Any) -> int:
    """Return the rank of the best relevant passage by some scores; 0 if there is none."""
    order = np.argsort(-np.array(scores), kind="stable")
    hits = [relevance.get(ranking.passage_ids[place], 0) > 0 for place in order]
    return hits.index(True) + 1 if True in hits else 0


if __name__ == "__main__":
    main()
