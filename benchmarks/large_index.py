"""BM25, sparse and dense vectors over a million passages and more: time, memory, disk.

    python benchmarks/large_index.py [PASSAGES ...] [--sparse | --vectors FOLDER | --encoder]
        [--queries 100] [--folder DIR] [--json FILE]

A made passage consists of sentences of real passages (mtRAG, nq_singlehop) of one collection, drawn
until there are 100 words, and of two made words from a long tail, so that the vocabulary grows with
the corpus as a real one does. With `--sparse`, a passage has 200 made terms of 30,522, more often
the lower ones, from an encoder that costs little. The queries are the questions of nq_singlehop.
With `--vectors`, approximate search in 8 bits at a target of .95 against the exact one: FOLDER has
the real vectors of `approximate_search.py`. A made vector is a real one plus a quarter of the
difference of two others, of length 1: it lies in the directions of real ones, and 120,000 of them
need about as many lists as real ones. The queries are real.
With `--encoder`, PASSAGES real passages of 100 words are embedded by the bundled encoder.
Each size (1,000,000 and 4,000,000) has a process of its own, and its folder is removed at the end.
Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from arro3.core import Array, DataType, RecordBatch
from bm25_speed import (  # type: ignore[import-not-found]  # a file beside this one
    DATA,
    questions,
)

from ragstone.components.embedders.minilm import MiniLM
from ragstone.components.retrievers.bm25 import BM25
from ragstone.components.retrievers.target_recall import measure, recall_of
from ragstone.core.component import Outcome
from ragstone.core.schemas import CORPUS
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.data.table_builder import Pieces
from ragstone.indexes.exact_knn import nearest
from ragstone.indexes.ivf_index import IvfIndex, _build, _read, _write
from ragstone.indexes.quantisation import Vectors, encode, longest
from ragstone.indexes.sparse_vectors import sparse_index, sparse_rows
from ragstone.protocols import Embedder, Role, Services
from ragstone.types import Search

T = TypeVar("T")
WORDS, RARE, BATCH, TOP_K, TOP_10 = 100, 2, 20_000, 100, 10


def sentences() -> list[list[str]]:
    """Return the sentences of each collection."""
    paths = [
        *sorted((DATA / "mtrag" / "corpus").glob("*.gz")),
        DATA / "nq_singlehop/corpus.jsonl.gz",
    ]
    found = []
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            texts = [json.loads(line)["text"] for line in file]
        found.append([s for text in texts for s in re.split(r"(?<=[.!?])\s+", text) if s])
    return found


def expanded(count: int, seed: int = 8) -> Iterator[str]:
    """Yield made passages."""
    collections = sentences()
    sizes = [np.array([len(s.split()) for s in one]) for one in collections]
    rng = np.random.default_rng(seed)
    for number in range(count):
        which = number % len(collections)
        drawn = rng.integers(0, len(collections[which]), 40)
        total = np.cumsum(sizes[which][drawn])
        stop = int(np.searchsorted(total, WORDS)) + 1
        chosen = " ".join([collections[which][place] for place in drawn[:stop].tolist()])
        rare = (1 / rng.random(RARE) ** 1.2).astype(np.int64).tolist()
        yield f"{' '.join(chosen.split()[:WORDS])} {' '.join(f'x{n}' for n in rare)}"


def filled(count: int, store: Store) -> Corpus:
    """Return a corpus of made passages."""
    return corpus_of(expanded(count), store)


def corpus_of(texts: Iterator[str], store: Store) -> Corpus:
    """Return a corpus of some texts, made in batches."""
    kind = DataType.string()
    pieces, first = Pieces(CORPUS), 0
    while batch := list(islice(texts, BATCH)):
        ids = Array([f"p{first + n}" for n in range(len(batch))], type=kind)
        empty = Array([""] * len(batch), type=kind)
        columns = [ids, Array(batch, type=kind), empty, empty, empty]
        pieces.add(RecordBatch.from_arrays(columns, schema=CORPUS))
        first += len(batch)
    return Corpus(pieces.finish(), store)


def timed(facts: dict[str, Any], what: str, step: Callable[[], T]) -> T:
    """Run a step; put its seconds and the peak of memory since the last step into `facts`."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    start = time.process_time()
    made = step()
    facts[f"{what}_s"] = round(time.process_time() - start, 2)
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    peak = next(line for line in lines if line.startswith("VmHWM"))
    facts[f"{what}_peak_mb"] = int(peak.split()[1]) // 1024
    print(f"{what}: {facts[f'{what}_s']} s, peak {facts[f'{what}_peak_mb']:,} MB", flush=True)
    return made


def on_disk(folder: Path, name: str) -> int:
    """Return the megabytes of some of a store's arrays."""
    files = (folder / "arrays").glob(f"{name}-*/*")
    return sum(file.stat().st_size for file in files) // 1_000_000


def measured(count: int, queries: int, folder: Path) -> dict[str, Any]:
    """Build and search one size."""
    facts: dict[str, Any] = {"passages": count}
    corpus = timed(facts, "fill", lambda: filled(count, Store(folder)))
    timed(facts, "digest", lambda: corpus.digest)
    services, retriever = Services(corpus=corpus), BM25(top_k=TOP_K)

    def search(texts: list[str]) -> int:
        found = retriever.retrieve([Search("q", text) for text in texts], services)
        return sum(len(outcome.value or ()) for outcome in found)

    timed(facts, "build", lambda: search(["nothing"]))
    asked = questions()
    search(asked[:10])
    timed(facts, "search", lambda: search(asked[10 : 10 + queries]))
    facts["ms_per_query"] = round(facts["search_s"] / queries * 1000, 2)
    facts["index_mb"], facts["counts_mb"] = on_disk(folder, "bm25"), on_disk(folder, "words")
    return facts


@dataclass(frozen=True)
class MadeTerms(Embedder):
    """An encoder that costs little: a text has terms that depend on its words only."""

    terms: int = 200
    output = "sparse"

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Any:
        """Return as many terms as a passage has, or 30 for a query."""
        count = self.terms if role == "passage" else 30
        for text in texts:
            rng = np.random.default_rng(zlib.crc32(text.encode()))
            drawn = np.unique((30_522 * rng.random(count) ** 2).astype(np.int32))
            weights = (rng.random(len(drawn)) + 0.01).tolist()
            yield Outcome(dict(zip(drawn.tolist(), weights, strict=True)))


def measured_sparse(count: int, queries: int, folder: Path) -> dict[str, Any]:
    """Invert, merge and search made sparse vectors; their making is counted by itself."""
    facts: dict[str, Any] = {"passages": count}
    corpus = filled(count, Store(folder))
    services, made = Services(corpus=corpus), MadeTerms()

    def vectors() -> int:
        rows = (sparse_rows(made, services, at, at + 256) for at in range(0, count, 256))
        return sum(len(row) for few in rows for row in few)

    facts["terms"] = timed(facts, "vectors", vectors)
    index = timed(facts, "build", lambda: sparse_index(made, services))
    rows = [outcome.value for outcome in made.embed(questions()[:queries], "query", services)]
    timed(facts, "search", lambda: [index.search(list(r), list(r.values()), TOP_K) for r in rows])
    facts["ms_per_query"] = round(facts["search_s"] / queries * 1000, 2)
    facts["index_mb"], facts["vectors_mb"] = on_disk(folder, "sparse"), on_disk(folder, "weigh")
    return facts


def real_passages(count: int) -> list[str]:
    """Return passages of 100 words of running text, as many of every part of the files."""
    words = " ".join(" ".join(one) for one in sentences()).split()
    starts = np.linspace(0, len(words) - WORDS, count).astype(int).tolist()
    return [" ".join(words[start : start + WORDS]) for start in starts]


def measured_encoder(count: int) -> dict[str, Any]:
    """Embed real passages."""
    facts: dict[str, Any] = {"passages": count}
    texts, encoder = real_passages(count), MiniLM()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    list(encoder.embed(texts[:8], "passage", Services()))
    timed(facts, "embed", lambda: sum(1 for _ in encoder.embed(texts, "passage", Services())))
    facts["ms_per_passage"] = round(facts["embed_s"] / count * 1000, 2)
    return facts


def made_vectors(count: int, real: Any) -> Any:
    """Return vectors in 8 bits: a real one plus a quarter of the difference of two others."""
    rng, parts = np.random.default_rng(8), []
    for start in range(0, count, BATCH):
        first, second, third = rng.integers(0, len(real), (3, min(BATCH, count - start)))
        rows = real[first] + (real[second] - real[third]) / 4
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        parts.append(encode(rows.astype(np.float32), "int8"))
    return np.concatenate(parts)


def measured_vectors(count: int, queries: int, folder: Path, real: Path) -> dict[str, Any]:
    """Index and search made vectors, by lists and exactly."""
    facts: dict[str, Any] = {"passages": count}
    asked = np.load(real / "queries.npy")
    asked = asked[np.linspace(0, len(asked) - 1, min(queries, len(asked))).astype(int)]
    made = np.load(real / "passages.npy")
    rows = timed(facts, "fill", lambda: made_vectors(count, made))
    vectors = Vectors((rows,), asked.shape[1], longest(rows[:BATCH]) * 1.01)
    timed(facts, "build", lambda: _write(_build(vectors), folder))
    index = IvfIndex(_read(folder), vectors)
    reached, _ = timed(facts, "measurement", lambda: measure(asked, index, TOP_10, 0.95))
    facts |= {"queries": len(asked), "lists": len(index), **asdict(reached)}
    near = timed(facts, "search", lambda: [*index.nearest(asked, TOP_10, reached.nprobe, int)])
    exact = timed(facts, "exact", lambda: [*nearest(asked, vectors, TOP_10)])
    found = [recall_of(*pair) for pair in zip(near, exact, strict=True)]
    facts["recall_of_all"] = round(float(np.mean(found)), 4)
    facts["ratio"] = round(facts["exact_s"] / facts["search_s"], 2)
    facts["ms_per_query"] = round(facts["search_s"] / len(asked) * 1000, 2)
    facts["vectors_mb"] = rows.nbytes // 1_000_000
    facts["index_mb"] = sum(file.stat().st_size for file in folder.glob("*.npy")) // 1_000_000
    return facts


def main() -> None:
    """Measure each size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("passages", type=int, nargs="*", default=[1_000_000, 4_000_000])
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--sparse", action="store_true", help="sparse vectors in place of BM25")
    parser.add_argument("--vectors", type=Path, help="dense vectors, made from those in FOLDER")
    parser.add_argument("--encoder", action="store_true", help="the cost of the bundled encoder")
    parser.add_argument("--alone", action="store_true", help="measure in this process")
    given = parser.parse_args()
    if given.alone:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            print(json.dumps(of_one_size(given, Path(folder))), flush=True)
        return
    rows = []
    for count in given.passages:
        command = [sys.executable, __file__, str(count), "--alone", "--queries", str(given.queries)]
        command += ["--sparse"] if given.sparse else []
        command += ["--encoder"] if given.encoder else []
        command += ["--vectors", str(given.vectors)] if given.vectors else []
        if given.folder:
            command += ["--folder", str(given.folder)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        print(done.stdout, end="", flush=True)
        rows.append(json.loads(done.stdout.splitlines()[-1]))
    if given.json:
        given.json.write_text(json.dumps({"rows": rows}, indent=1))


def of_one_size(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Measure one size in this process."""
    count = given.passages[0]
    if given.encoder:
        return measured_encoder(count)
    if given.vectors:
        return measured_vectors(count, given.queries, folder, given.vectors)
    return (measured_sparse if given.sparse else measured)(count, given.queries, folder)


if __name__ == "__main__":
    main()
