"""Exact dense search against faiss and torch, and its memory at a million passages.

    python benchmarks/dense_speed.py search --passages 1000000 --torch OTHER/bin/python
    python benchmarks/dense_speed.py memory --passages 1000000 --kills 5
    python benchmarks/dense_speed.py embed --data ../shared/data/nq_singlehop

`search`: 384 dimensions, top 100, 1, 64 and 1,024 queries. The engines take turns in every round,
each in a process of its own, with the machine's matrix product (float32, 2000 x 2000, on all cores)
measured before each; the table has the medians and the shares of that rate. faiss is asked through
IndexFlatIP, torch multiplies in blocks and merges their top 100. Needs faiss-cpu here, and torch
behind --torch.

`memory`: a million passages of 100 words are embedded by an encoder that costs nothing, written,
and searched, in a process that is killed (kill -9) `--kills` times; its peak memory is
measured by the system.

`embed`: real passages joined and cut to 330 tokens, by the bundled encoder in 8 and in 32 bits, in
turns. On a busy machine the rate means little; the time of the cores gives the rate of free ones.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

DIMENSION = 384
TOP_K = 100
PRODUCT = 2000
BATCHES = (1, 64, 1024)
Engine: TypeAlias = Callable[[Any, Any], Callable[[Any], object]]
REPEATS = {1: 5, 64: 1, 1024: 1}


def main() -> None:
    """Run one of the two parts, or be a process of one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("part", choices=("search", "memory", "embed", "work", "build"))
    parser.add_argument("engine", nargs="?", default="")
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engines", default="float32,float16,int8,faiss,torch")
    parser.add_argument("--data", default="../shared/data/nq_singlehop")
    parser.add_argument("--texts", type=int, default=64)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--torch", default="", help="the Python of an environment with torch")
    parser.add_argument("--folder", type=Path, default=None, help="folder of the vectors")
    options = parser.parse_args()
    parts: dict[str, Callable[[argparse.Namespace], None]]
    parts = {"search": search, "memory": memory, "embed": embed, "work": work, "build": build}
    with tempfile.TemporaryDirectory(dir=options.folder) as made:
        if options.part in ("search", "memory"):
            options.folder = Path(made)
        parts[options.part](options)


def search(options: argparse.Namespace) -> None:
    """Let the engines take turns."""
    random_rows(options.passages, 0, options.folder / "passages.npy")
    random_rows(max(BATCHES), 1, options.folder / "queries.npy")
    pythons = {"torch": options.torch}
    workers = {
        engine: Worker(pythons.get(engine, sys.executable), engine, options.folder)
        for engine in options.engines.split(",")
        if pythons.get(engine, sys.executable)
    }
    multiplier = Worker(sys.executable, "product", options.folder)
    rows: dict[tuple[str, int], list[tuple[float, float, float, float]]] = {}
    loads = []
    for _ in range(options.rounds):
        for batch in BATCHES:
            # What the machine's product would take for the same number of multiplications.
            size = batch * options.passages * DIMENSION / PRODUCT**3
            for engine, worker in workers.items():
                # Right before and right after: other work comes and goes.
                before, took, after = multiplier.ask(1), worker.ask(batch), multiplier.ask(1)
                clock, cores = (size * (b + a) / 2 for b, a in zip(before, after, strict=True))
                figures = (batch / took[0], took[1], clock / took[0], cores / took[1])
                rows.setdefault((engine, batch), []).append(figures)
        loads.append(os.getloadavg()[0])
    print(f"{options.passages:,} x {DIMENSION}, load {min(loads):.1f} to {max(loads):.1f}")
    print("| engine | queries at once | queries/s | core s | of the product | by core time |")
    print("| --- | --- | --- | --- | --- | --- |")
    for (engine, batch), held in sorted(rows.items(), key=lambda row: row[0][1]):
        rate, used, clock, cores = (statistics.median(c) for c in zip(*held, strict=True))
        print(f"| {engine} | {batch} | {rate:,.1f} | {used:.3f} | {clock:.2f} | {cores:.2f} |")
    for worker in (*workers.values(), multiplier):
        worker.close()


class Worker:
    """A process that searches on request and reports the time."""

    def __init__(self, python: str, engine: str, folder: Path) -> None:
        command = [python, __file__, "work", engine, "--folder", str(folder)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.read() == "ready"

    def ask(self, batch: int) -> tuple[float, float]:
        """Return the best of a few repetitions: seconds by the clock, and of the cores."""
        assert self.process.stdin is not None
        print(batch, file=self.process.stdin, flush=True)
        clock, cores = map(float, self.read().split())
        return clock, cores

    def read(self) -> str:
        """Return the next line."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def work(options: argparse.Namespace) -> None:
    """Be a worker: numbers in, times out."""
    makers: dict[str, Engine] = {"faiss": faiss, "torch": torch}
    queries = np.load(options.folder / "queries.npy")
    run: Callable[[Any], object]
    if options.engine == "product":
        run = partial(product, np.ones((PRODUCT, PRODUCT), dtype=np.float32))
    else:
        passages = np.load(options.folder / "passages.npy", mmap_mode="r")
        run = makers.get(options.engine, ours)(passages, options.engine)
    run(queries[:64])
    print("ready", flush=True)
    for line in sys.stdin:
        batch = int(line)
        took = []
        for _ in range(REPEATS[batch]):
            started, used = time.perf_counter(), time.process_time()
            run(queries[:batch])
            took.append((time.perf_counter() - started, time.process_time() - used))
        print(*min(took), flush=True)


def product(a: Any, _: Any) -> None:
    """Multiply a matrix with itself, each core computing a part."""
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_limits

    cores = len(os.sched_getaffinity(0))
    share = len(a) // cores
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(cores) as pool:
        list(pool.map(lambda n: a[n * share : (n + 1) * share] @ a, range(cores)))


def ours(passages: Any, precision: Any) -> Callable[[Any], object]:
    """Return the search that the retriever `dense` uses."""
    from ragstone.indexes.exact_knn import nearest
    from ragstone.indexes.quantisation import Vectors, encode, longest

    step = 65_536
    parts = [
        encode(np.asarray(passages[start : start + step]), precision)
        for start in range(0, len(passages), step)
    ]
    length = max(map(longest, parts))
    vectors = Vectors((np.concatenate(parts),), passages.shape[1], length)
    del parts
    return lambda queries: list(nearest(queries, vectors, TOP_K))


def faiss(passages: Any, _: str) -> Callable[[Any], object]:
    """Return faiss's exact search, with all its threads."""
    import faiss as library

    index = library.IndexFlatIP(passages.shape[1])
    index.add(np.asarray(passages))
    return lambda queries: index.search(queries, TOP_K)


def torch(passages: Any, _: str) -> Callable[[Any], object]:
    """Return torch's product in blocks, the top 100 of each merged."""
    import torch as library

    rows = library.from_numpy(np.array(passages))
    block = 65_536

    def run(queries: Any) -> object:
        asked = library.from_numpy(queries)
        scores, places = [], []
        for start in range(0, len(rows), block):
            part = asked @ rows[start : start + block].T
            top = library.topk(part, min(TOP_K, part.shape[1]), dim=1)
            scores.append(top.values)
            places.append(top.indices + start)
        best = library.topk(library.cat(scores, 1), TOP_K, dim=1)
        found: object = library.gather(library.cat(places, 1), 1, best.indices)
        return found

    return run


def random_rows(count: int, seed: int, path: Path) -> None:
    """Write vectors of length 1 in random directions."""
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (count, DIMENSION))
    generator = np.random.default_rng(seed)
    for start in range(0, count, 65_536):
        part = generator.standard_normal((min(65_536, count - start), DIMENSION), dtype=np.float32)
        rows[start : start + len(part)] = part / np.linalg.norm(part, axis=1, keepdims=True)


@dataclass(frozen=True)
class Drawing:
    """Draws vectors at hardly any cost, to measure everything else."""

    def embed(self, texts: Sequence[str]) -> Any:
        """Return one row per text, drawn by the number that it begins with."""
        draws = [np.random.default_rng(int(text[:24])) for text in texts]
        rows = np.stack([draw.standard_normal(DIMENSION, dtype=np.float32) for draw in draws])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def memory(options: argparse.Namespace) -> None:
    """Build and search in a process that is killed on the way, and print the cost."""
    root = options.folder / "store"
    command = [sys.executable, __file__, "build", "--folder", str(options.folder)]
    command += ["--passages", str(options.passages)]
    chance = random.Random(0)
    for kill in range(options.kills):
        target = options.passages * (kill + chance.random()) / (options.kills + 1)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while listed(root) < target and process.poll() is None:
            time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        print(f"killed with {listed(root):,} vectors listed", flush=True)
    print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")
    print(f"{listed(root):,} vectors listed for {options.passages:,} passages")


def listed(root: Path) -> int:
    """Return how many vectors the lists of a store have."""
    lines = [
        line
        for path in root.glob("arrays/vectors-*/*.jsonl")
        for line in path.read_text().splitlines()[1:]
        if line.endswith("}")
    ]
    return sum(json.loads(line)["rows"] for line in lines)


def build(options: argparse.Namespace) -> None:
    """Embed and search a corpus; print times and the peak of memory."""
    from ragstone.components.retrievers.dense import Dense
    from ragstone.core.store import Store
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import Services
    from ragstone.types import Search

    started = time.perf_counter()
    corpus = Corpus(passages_of(options.passages), Store(options.folder / "store"))
    services = Services(corpus=corpus)
    made, before = time.perf_counter(), status("VmHWM")
    retriever = Dense(top_k=TOP_K, embedder="dense_speed:Drawing")
    searches = [Search(str(n), corpus.at(n * 7 % len(corpus)).text) for n in range(1024)]
    list(retriever.retrieve(searches[:1], services))
    built = time.perf_counter()
    found = [outcome.value for outcome in retriever.retrieve(searches, services)]
    done = time.perf_counter()
    right = sum(found[n].passage_ids[0] == f"p{n * 7 % len(corpus)}" for n in range(1024))
    print(f"making the passages {made - started:.0f} s, {before:.2f} GB at most")
    print(f"embedding the others, and one search: {built - made:.0f} s")
    print(f"1,024 searches: {done - built:.1f} s; {right} of them find the passage itself")
    own, mapped = status("RssAnon"), status("RssFile")
    print(
        f"{status('VmHWM'):.2f} GB at most; at the end {own:.2f} own, {mapped:.2f} of mapped files"
    )


def embed(options: argparse.Namespace) -> None:
    """Embed passages of 330 tokens by both networks, in turns."""
    from tokenizers import Tokenizer

    from ragstone.components.embedders.minilm import MiniLM
    from ragstone.data.load import load_dataset
    from ragstone.models.files import model_file
    from ragstone.protocols import Services

    count = options.texts
    tokenizer = Tokenizer.from_file(str(model_file("all-minilm-l6-v2", "tokenizer")))
    tokenizer.no_truncation()
    text = " ".join(load_dataset(options.data).corpus.full_texts(0, count * 10))
    words = tokenizer.encode(text)
    ends = [words.offsets[n * 328 + 1][0] for n in range(count + 1)]
    texts = [text[start:stop] for start, stop in itertools.pairwise(ends)]
    cores = len(os.sched_getaffinity(0))
    embedders = {"int8": MiniLM(), "float32": MiniLM(precision="float32")}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in embedders}
    for embedder in embedders.values():
        list(embedder.embed(texts[:2], "passage", Services()))
    for _ in range(options.rounds):
        for name, embedder in embedders.items():
            started, used = time.perf_counter(), time.process_time()
            list(embedder.embed(texts, "passage", Services()))
            took = time.perf_counter() - started, time.process_time() - used
            times[name].append(took)
    print(f"{count} passages of 330 tokens, load {os.getloadavg()[0]:.1f}")
    for name, held in times.items():
        wall, cpu = (statistics.median(column) for column in zip(*held, strict=True))
        print(f"{name}: {count / wall:.1f}/s; {cpu / count * 1e3:.0f} ms of a core each, ", end="")
        print(f"{count / cpu * cores:.1f}/s if {cores} cores are free")


def passages_of(count: int) -> Any:
    """Return a corpus table of passages of 100 words."""
    from arro3.core import Table

    from ragstone.core.schemas import CORPUS, to_table

    chance = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    lengths = chance.integers(2, 10, 5000)
    words = np.array(["".join(chance.choice(letters, n)) for n in lengths], dtype=object)
    batches = []
    for start in range(0, count, 50_000):
        numbers = range(start, min(start + 50_000, count))
        drawn = words[chance.integers(0, len(words), (len(numbers), 99))].tolist()
        empty = [""] * len(numbers)
        rows = {
            "passage_id": [f"p{n}" for n in numbers],
            "text": [f"{n:024d} {' '.join(row)}" for n, row in zip(numbers, drawn, strict=True)],
            "title": empty,
            "document_id": empty,
            "labels": ["{}"] * len(numbers),
        }
        batches += to_table(CORPUS, rows).to_batches()
    return Table.from_batches(batches)


def status(field: str) -> float:
    """Return a memory figure of this process, in GB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1e6
    return float("nan")


if __name__ == "__main__":
    main()
