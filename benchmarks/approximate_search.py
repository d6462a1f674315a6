"""`dense(ann=ivf)` against the exact search, on stored vectors of real passages and questions.

    python benchmarks/approximate_search.py FOLDER [--recall 0.95] [--json]

The folder keeps the vectors, `passages.npy` and `queries.npy`, which the bundled encoder makes at
the first use (20 minutes of processor time): 120,000 passages of 64 words of mtRAG, nq_singlehop
and CACM, drawn with a seed, and the different questions of nq_singlehop and mtRAG (rewritten).
Prints, for one thread, the seconds of processor time of the build, of the exact search of all
queries, of the approximate one at the measured number of lists, and of the measurement; then the
recall over all queries. The searches take turns, best of five.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measured import DATA  # type: ignore[import-not-found]  # a file beside this one

PASSAGES = 120_000
WORDS = 64
MTRAG = ("clapnq", "cloud", "fiqa", "govt")


def main() -> None:
    """Measure once; processor time is that of one thread."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--recall", type=float, default=0.95)
    parser.add_argument("--top-k", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    found = figures(options)
    for name, value in found.items() if not options.json else ():
        print(f"{name}: {value}")
    if options.json:
        print(json.dumps(found))


def figures(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of one comparison."""
    from ragstone.components.retrievers.target_recall import measure, recall_of
    from ragstone.indexes.exact_knn import nearest
    from ragstone.indexes.ivf_index import IvfIndex, _build
    from ragstone.indexes.quantisation import Vectors, longest

    rows = vectors_in(options.folder / "passages.npy", passages, "passage")
    queries = vectors_in(options.folder / "queries.npy", questions, "query")
    vectors = Vectors((rows,), rows.shape[1], longest(rows))
    top_k = options.top_k
    lists, built = timed(lambda: _build(vectors))
    index = IvfIndex(lists, vectors)
    (reached, _), measured = timed(lambda: measure(queries, index, top_k, options.recall))
    took, (near, exact) = in_turns(
        lambda: list(index.nearest(queries, top_k, reached.nprobe, int)),
        lambda: list(nearest(queries, vectors, top_k, threads=1)),
    )
    approximate, plain = took
    recalls = [recall_of(*pair) for pair in zip(near, exact, strict=True)]
    return {
        "passages": len(rows),
        "queries": len(queries),
        "top_k": top_k,
        "lists": len(index),
        "build": round(built, 2),
        "measurement": round(measured, 2),
        "nprobe": reached.nprobe,
        "n": reached.n,
        "recall": round(reached.recall, 4),
        "lower_bound": round(reached.lower_bound, 4),
        "recall_of_all": round(float(np.mean(recalls)), 4),
        "exact": round(plain, 2),
        "approximate": round(approximate, 2),
        "ratio": round(plain / approximate, 2),
        "ratio_with_measurement": round(plain / (approximate + measured), 2),
    }


def vectors_in(path: Path, texts: Callable[[], list[str]], kind: Any) -> Any:
    """Return the vectors of a file, made first if it is not there."""
    from ragstone.components.embedders.minilm import MiniLM
    from ragstone.protocols import Services

    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        found = [outcome.value for outcome in MiniLM().embed(texts(), kind, Services())]
        np.save(path, np.stack(found).astype(np.float32))
    return np.load(path)


def passages() -> list[str]:
    """Return different passages of 64 words, in a random order; ends of under 16 are left out."""
    files = [DATA / f"mtrag/corpus/{name}.jsonl.gz" for name in MTRAG]
    found: dict[str, None] = {}
    for path in (*files, DATA / "nq_singlehop/corpus.jsonl.gz", DATA / "cacm/docs.jsonl.gz"):
        for row in rows_of(path):
            words = row["text"].split()
            for start in range(0, len(words), WORDS):
                if start == 0 or len(words) - start >= WORDS // 4:
                    found[" ".join(words[start : start + WORDS])] = None
    texts = list(found)
    random.Random(24).shuffle(texts)
    return texts[:PASSAGES]


def questions() -> list[str]:
    """Return the different questions."""
    files = [DATA / f"mtrag/queries/{name}_rewrite.jsonl" for name in MTRAG]
    rows = [
        row for path in (DATA / "nq_singlehop/queries.jsonl.gz", *files) for row in rows_of(path)
    ]
    return list(dict.fromkeys(row["text"].replace("|user|:", "").strip() for row in rows))


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file of JSON lines."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and its seconds of processor time."""
    started = time.process_time()
    found = work()
    return found, time.process_time() - started


def in_turns(*work: Callable[[], Any]) -> tuple[list[float], list[Any]]:
    """Return the least seconds of five of each piece of work, and what it returned."""
    rounds = [[timed(one) for one in work] for _ in range(5)]
    return [min(one[1] for one in turns) for turns in zip(*rounds, strict=True)], [
        found for found, _ in rounds[0]
    ]


if __name__ == "__main__":
    main()
