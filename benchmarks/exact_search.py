"""Exact dense search against faiss IndexFlatIP on real vectors, with one thread and with two.

    python benchmarks/exact_search.py FOLDER [--passages 40000] [--rounds 5] [--json FILE]

FOLDER has the vectors of `approximate_search.py`, which are made at the first use; the first
passages are searched. Batches of 1, 64 and 1,024 real questions, top 100; CPU seconds of all
threads, best round, the two sides in turns. Both have the OpenBLAS kernels of SkylakeX: faiss-cpu
brings an older OpenBLAS that does not know newer processors. Ragstone's scores are those of 64
bits, so that it computes the best 100 of each query a second time; faiss returns scores of 32.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")

import numpy as np
from approximate_search import (  # type: ignore[import-not-found]  # a file beside this one
    passages,
    questions,
    vectors_in,
)
from measured import (  # type: ignore[import-not-found]  # a file beside this one
    LEFT_OUT,
    Measured,
    in_turns,
    need_data,
    write_measured,
)

TOP_K = 100
BATCHES = {1: 30, 64: 3, 1024: 1}
"""Queries at once, and searches per round."""


def main() -> None:
    """Measure each batch with each number of threads."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--passages", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    need_data("mtrag", "nq_singlehop", "cacm")
    rows = np.array(
        vectors_in(given.folder / "passages.npy", passages, "passage")[: given.passages]
    )
    queries = vectors_in(given.folder / "queries.npy", questions, "query")
    cores = sorted(os.sched_getaffinity(0))
    found = []
    for threads in range(1, min(2, len(cores)) + 1):
        os.sched_setaffinity(0, set(cores[:threads]))
        found += figures(rows, queries, threads, given.rounds)
    if given.json:
        write_measured(given.json, found)


def figures(rows: np.ndarray, queries: np.ndarray, threads: int, rounds: int) -> list[Measured]:
    """Return the costs of each batch."""
    try:
        import faiss
    except ImportError:
        print("needs faiss-cpu")
        raise SystemExit(LEFT_OUT) from None
    from ragstone.indexes.exact_knn import nearest
    from ragstone.indexes.quantisation import Vectors, longest

    faiss.omp_set_num_threads(threads)
    vectors = Vectors((rows,), rows.shape[1], longest(rows))
    index = faiss.IndexFlatIP(rows.shape[1])
    index.add(rows)

    def of_batch(batch: int, repeats: int) -> Measured:
        asked = np.ascontiguousarray(queries[:batch])

        def ours() -> None:
            for _ in range(repeats):
                list(nearest(asked, vectors, TOP_K, threads=threads))

        def peer() -> None:
            for _ in range(repeats):
                index.search(asked, TOP_K)

        took = in_turns({"ours": ours, "faiss": peer}, rounds)
        return Measured(
            job=f"exact dense search, {batch} at once, threads {threads}",
            n=len(rows),
            unit="CPU s",
            ours=took["ours"] / repeats,
            peer=took["faiss"] / repeats,
            against=f"faiss-cpu {faiss.__version__}",
            conditions=f"{rows.shape[1]} dimensions, top {TOP_K}, best of {rounds} rounds",
        )

    found = []
    for batch, repeats in BATCHES.items():
        one = of_batch(batch, repeats)
        found.append(one)
        costs = f"{one.ours * 1000:.1f} ms, faiss {one.peer * 1000:.1f} ms"
        print(f"{batch} at once, threads {threads}: {costs}, ratio {one.ratio:.2f}", flush=True)
    return found


if __name__ == "__main__":
    main()
