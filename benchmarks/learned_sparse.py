"""Exact search of learned sparse vectors against Seismic, by the number of passages.

    python benchmarks/learned_sparse.py FOLDER [--passages 20000] [--expanded 100000]
        [--queries 500] [--json FILE]

Real passages of 100 words (mtRAG, nq_singlehop) and questions of nq_singlehop are encoded by the
bundled SPLADE-tiny; FOLDER keeps the vectors. An expanded vector has three of four terms of one
real passage and one of four of another, so that lists of terms grow as those of real ones do.

Seismic (pyseismic-lsr) builds with its own defaults and is searched at several efforts; recall@10
is against our exact search. One thread each; seconds are those of the processor, the best of three
rounds of all questions.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ |= {"RAYON_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import numpy as np
from bm25_speed import questions  # type: ignore[import-not-found]  # a file beside this one
from large_index import corpus_of, real_passages  # type: ignore[import-not-found]

from ragstone.components.embedders.splade import Splade
from ragstone.core.store import Store
from ragstone.indexes.sparse_vectors import SHARD, SparseVectors, _inverted, sparse_rows
from ragstone.protocols import Services

Row = tuple[Any, Any]
"""Terms and weights, two arrays."""
EFFORTS = ((3, 0.9), (5, 0.8), (10, 0.7), (20, 0.6), (30, 0.4))
"""Seismic's `query_cut` and `heap_factor`."""
TOP_K, ROUNDS, SHARES = 10, 3, (0.75, 0.25)


def encoded(count: int, queries: int, folder: Path) -> tuple[list[Row], list[Row]]:
    """Return the vectors of real passages and of questions."""
    corpus = corpus_of(iter(real_passages(count)), Store(folder))
    services, encoder = Services(corpus=corpus), Splade()
    places = range(0, count, SHARD)
    rows = (sparse_rows(encoder, services, at, min(at + SHARD, count)) for at in places)
    asked = encoder.embed(questions()[:queries], "query", services)
    return [arrays(one) for few in rows for one in few], [arrays(one.value) for one in asked]


def arrays(weights: Mapping[int, float]) -> Row:
    """Return the terms and the weights of a vector."""
    return np.array(list(weights), np.int32), np.array(list(weights.values()), np.float32)


def expanded(rows: Sequence[Row], count: int) -> Iterator[Row]:
    """Yield vectors made of two real ones each."""
    drawn = np.random.default_rng(5)
    for pair in drawn.integers(0, len(rows), (count, 2)).tolist():
        parts = [rows[place] for place in pair]
        kept = [
            drawn.random(len(part[0])) < share for part, share in zip(parts, SHARES, strict=True)
        ]
        terms, weights = (
            np.concatenate([part[n][one] for part, one in zip(parts, kept, strict=True)])
            for n in range(2)
        )
        terms, first = np.unique(terms, return_index=True)
        yield terms, weights[first]


def seconds(work: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, Any]:
    """Return the processor seconds of the best round, and what it returned."""
    best, found = float("inf"), None
    for _ in range(rounds):
        start = time.process_time()
        found = work()
        best = min(best, time.process_time() - start)
    return best, found


def seismic_index(rows: Sequence[Row], file: Path) -> tuple[Any, float, int]:
    """Return Seismic's index, the seconds of its build, and its bytes on disk."""
    module = importlib.import_module("seismic")
    dataset, kind = module.SeismicDataset(), module.get_seismic_string()
    for place, row in enumerate(rows):
        dataset.add_document(str(place), row[0].astype(kind), row[1])
    took, index = seconds(lambda: module.SeismicIndex.build_from_dataset(dataset, num_threads=1), 1)
    index.save(str(file))
    (path,) = file.parent.glob(f"{file.name}*")
    return index, took, path.stat().st_size


def measured(rows: Sequence[Row], asked: Sequence[Row], folder: Path) -> dict[str, Any]:
    """Return the figures of one size."""
    starts = np.cumsum([0, *(len(terms) for terms, _ in rows)], dtype=np.int64)
    vectors = SparseVectors(starts, *(np.concatenate([row[n] for row in rows]) for n in range(2)))
    build, index = seconds(lambda: _inverted(vectors), 1)
    listed = [(terms.tolist(), weights.tolist()) for terms, weights in asked]
    exact, found = seconds(lambda: [index.search(*one, TOP_K) for one in listed])
    best = [set(np.asarray(one[0]).tolist()) for one in found]
    facts: dict[str, Any] = {
        "passages": len(rows),
        "terms": round(starts[-1] / len(rows)),
        "build_s": round(build, 1),
        "ms_per_query": round(exact / len(asked) * 1000, 3),
        "mb": round(starts[-1] * 8 / 1e6),
    }
    print(json.dumps(facts), flush=True)
    theirs, took, size = seismic_index(rows, folder / f"seismic-{len(rows):09}")
    facts |= {"seismic_build_s": round(took, 1), "seismic_mb": size // 1_000_000, "seismic": []}
    kind = importlib.import_module("seismic").get_seismic_string()
    given = [(terms.astype(kind), weights) for terms, weights in asked]
    for cut, factor in EFFORTS:
        spent, lists = seconds(
            lambda cut=cut, factor=factor: [  # type: ignore[misc]
                theirs.search(str(n), *q, TOP_K, cut, factor) for n, q in enumerate(given)
            ]
        )
        shared = (
            len(wanted & {int(hit[2]) for hit in one}) / len(wanted)
            for wanted, one in zip(best, lists, strict=True)
        )
        row = {
            "cut": cut,
            "factor": factor,
            "recall": round(float(np.mean(list(shared))), 4),
            "ms_per_query": round(spent / len(asked) * 1000, 3),
        }
        facts["seismic"].append(row)
        print(json.dumps(row), flush=True)
    return facts


def main() -> None:
    """Measure the real passages, then each expanded size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--passages", type=int, default=20_000)
    parser.add_argument("--expanded", type=int, nargs="*", default=[100_000])
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows, asked = encoded(given.passages, given.queries, given.folder)
    found = [measured(rows, asked, given.folder)]
    found += [measured(list(expanded(rows, n)), asked, given.folder) for n in given.expanded]
    if given.json:
        given.json.write_text(json.dumps({"rows": found}, indent=1))


if __name__ == "__main__":
    main()
