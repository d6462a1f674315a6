"""BM25 against bm25s (numpy, numba) and tantivy: build, search, memory, cold start.

    python benchmarks/bm25_speed.py [--peer-python PYTHON] [--rounds 5] [--json FILE]
    python benchmarks/bm25_speed.py --passages 1000000

PYTHON is an interpreter with bm25s, numba and tantivy (default: this one; peers that it lacks are
left out). The passages are the 55,540 of mtRAG and nq_singlehop. More are made with `--passages`:
100 words each, drawn with their frequencies in nq_singlehop, one in fifty from a long tail of rare
ones. The queries are the questions of nq_singlehop, the ranking 50 long. Every engine lives in its
own process; the rounds of all take turns, so that a busy machine slows all alike, and the ratio is
that of the best rounds in seconds of the processor. `--kill` kills Ragstone's build again and
again, each time a little later, until it is done.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from measured import (  # type: ignore[import-not-found]  # a file beside this one
    DATA,
    Measured,
    corpora,
    hand_over,
    need_data,
    rows_of,
)

ENGINES = ("bm25s-numba", "bm25s-numpy", "tantivy")
KEPT = {"ragstone": "store", "tantivy": "tantivy"}
"""The folder of each engine's index."""
TOP_K = 50
WORDS = 100


def questions() -> list[str]:
    """Return the questions of nq_singlehop."""
    return [row["text"] for row in rows_of(DATA / "nq_singlehop" / "queries.jsonl.gz")]


def make_passages(count: int, seed: int = 8) -> Iterator[str]:
    """Yield passages of words drawn as often as in nq_singlehop, and of rare ones."""
    found: Counter[str] = Counter()
    for row in rows_of(DATA / "nq_singlehop" / "corpus.jsonl.gz"):
        found.update(row["text"].split())
    words = np.array([word for word, _ in found.most_common()], dtype=object)
    shares = np.cumsum([n for _, n in found.most_common()], dtype=float)
    rng = np.random.default_rng(seed)
    for start in range(0, count, 5_000):
        shape = (min(5_000, count - start), WORDS)
        table = words[np.searchsorted(shares, rng.random(shape) * shares[-1])]
        rare = rng.random(shape) < 0.02
        table[rare] = [f"x{n}" for n in (1 / rng.random(rare.sum()) ** 1.2).astype(np.int64)]
        yield from (" ".join(row) for row in table)


def real_passages() -> Iterator[str]:
    """Yield the passages of mtRAG and nq_singlehop, each on one line."""
    for path in corpora():
        yield from (" ".join(row["text"].split()) for row in rows_of(path))


class Ragstone:
    """Ours, over an Arrow table, its index kept in a store."""

    def __init__(self, folder: Path) -> None:
        from arro3.core import Table

        from ragstone.core.schemas import passages_to_table
        from ragstone.core.store import Store
        from ragstone.data.corpus import Corpus
        from ragstone.types import Passage

        batches: list[Any] = []
        first = 0
        with (folder / "passages.txt").open(encoding="utf-8") as file:
            while lines := [line for _, line in zip(range(20_000), file, strict=False)]:
                made = [Passage(str(first + n), text) for n, text in enumerate(lines)]
                batches += passages_to_table(made).to_batches()
                first += len(lines)
        self.corpus = Corpus(Table.from_batches(batches), Store(folder / "store"))
        # Every run takes the digest of its corpus, whatever the retriever.
        _ = self.corpus.digest

    def build(self) -> None:
        """Build, or read the kept index."""
        self.search(["nothing"], 1)

    def search(self, queries: list[str], threads: int) -> None:
        """Search in one thread or several."""
        from ragstone.components.retrievers.bm25 import BM25
        from ragstone.protocols import Services
        from ragstone.types import Search

        services = Services(corpus=self.corpus)
        searches = [Search("q", query) for query in queries]
        with ThreadPoolExecutor(threads) as pool:
            parts = [searches[n::threads] for n in range(threads)]
            list(pool.map(lambda part: list(BM25(top_k=TOP_K).retrieve(part, services)), parts))


class Bm25s:
    """The package bm25s, tokenising with its own function."""

    def __init__(self, folder: Path, backend: str) -> None:
        self.backend = backend
        with (folder / "passages.txt").open(encoding="utf-8") as file:
            self.texts = file.read().splitlines()

    def _tokens(self, texts: list[str], **more: Any) -> Any:
        import bm25s

        return bm25s.tokenize(
            texts,
            stopwords=None,
            token_pattern=r"[^\W_]+",  # noqa: S106 -- a pattern of words
            show_progress=False,
            **more,
        )

    def build(self) -> None:
        """Tokenise and index."""
        import bm25s

        self.index = bm25s.BM25(k1=1.2, b=0.75, method="lucene", backend=self.backend)
        self.index.index(self._tokens(self.texts), show_progress=False)

    def search(self, queries: list[str], threads: int) -> None:
        """Search in one thread or several."""
        tokens = [words or [""] for words in self._tokens(queries, return_ids=False)]
        self.index.retrieve(tokens, k=TOP_K, n_threads=threads, show_progress=False)


class Tantivy:
    """The package tantivy, its index on disk, its own tokeniser, frequencies without positions."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", stored=False, index_option="freq")
        builder.add_integer_field("place", stored=True)
        self.texts = folder / "passages.txt"
        (folder / "tantivy").mkdir(exist_ok=True)
        self.index = tantivy.Index(builder.build(), path=str(folder / "tantivy"))

    def build(self) -> None:
        """Index with as many threads as it likes."""
        import tantivy

        writer = self.index.writer(heap_size=500_000_000)
        with self.texts.open(encoding="utf-8") as file:
            for place, line in enumerate(file):
                writer.add_document(tantivy.Document(text=line, place=place))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()

    def search(self, queries: list[str], threads: int) -> None:
        """Search in one thread or several."""
        searcher = self.index.searcher()

        def one(query: str) -> list[int]:
            text = "".join(c if c.isalnum() else " " for c in query).lower()
            hits = searcher.search(self.index.parse_query(text, ["text"]), TOP_K).hits
            return [searcher.doc(address)["place"][0] for _, address in hits]

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(one, queries))


def engine(name: str, folder: Path) -> Any:
    """Return an engine by name."""
    if name == "ragstone":
        return Ragstone(folder)
    return Tantivy(folder) if name == "tantivy" else Bm25s(folder, name.partition("-")[2])


def peak() -> int:
    """Return the most memory that this process has held, in MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) // 1024


def work(name: str, folder: Path) -> None:
    """Build on request, then search on request; one JSON line per order."""
    started = time.perf_counter()
    queries = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    made = engine(name, folder)
    tell(reading=time.perf_counter() - started, peak=peak())
    # What reading took at its peak is not to hide what building takes.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    for line in sys.stdin:
        order, _, number = line.strip().partition(" ")
        wall, cpu = time.perf_counter(), time.process_time()
        if order == "build":
            made.build()
        elif order == "first":
            made.search(queries[:1], 1)
        else:
            made.search(queries, int(number))
        tell(wall=time.perf_counter() - wall, cpu=time.process_time() - cpu, peak=peak())


def tell(**facts: float) -> None:
    """Print facts for the process that asked."""
    print(json.dumps(facts), flush=True)


class Worker:
    """An engine in a process of its own."""

    def __init__(self, name: str, folder: Path, python: str) -> None:
        command = [python, __file__, "--worker", name, "--folder", str(folder)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.reading = self._answer()

    def ask(self, order: str) -> dict[str, float]:
        """Send an order; return its measurements."""
        assert self.process.stdin is not None
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, float]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        facts: dict[str, float] = json.loads(line)
        return facts

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def has(name: str, python: str) -> bool:
    """Say whether an engine can be imported."""
    package = "bm25s, numba" if name == "bm25s-numba" else name.partition("-")[0]
    command = [python, "-c", f"import {package}"]
    return not subprocess.run(command, capture_output=True, check=False).returncode


Facts = dict[str, float]


def builds(
    folder: Path, pythons: dict[str, str], rounds: int
) -> tuple[dict[str, Worker], dict[str, Facts]]:
    """Build with each engine in new processes; return the last ones and the best figures."""
    best: dict[str, Facts] = {}
    workers: dict[str, Worker] = {}
    for _ in range(rounds):
        for name, python in pythons.items():
            if name in workers:
                workers[name].close()
            shutil.rmtree(folder / KEPT.get(name, "none"), ignore_errors=True)
            workers[name] = Worker(name, folder, python)
            facts = workers[name].ask("build") | {"before": workers[name].reading["peak"]}
            best[name] = min(facts, best.get(name, facts), key=lambda one: one["cpu"])
    return workers, best


def searches(workers: dict[str, Worker], threads: int, rounds: int) -> dict[str, Facts]:
    """Let the engines take turns at searching; return the best figures."""
    found: dict[str, list[Facts]] = {name: [] for name in workers}
    for _ in range(rounds):
        for name, worker in workers.items():
            found[name].append(worker.ask(f"search {threads}"))
    return {name: min(facts, key=lambda one: one["cpu"]) for name, facts in found.items()}


def compare(folder: Path, pythons: dict[str, str], rounds: int) -> list[Measured]:
    """Build with each engine, then let them take turns at searching."""
    queries = len(json.loads((folder / "queries.json").read_text(encoding="utf-8")))
    passages = sum(1 for _ in (folder / "passages.txt").open("rb"))
    workers, built = builds(folder, pythons, rounds)
    for worker in workers.values():
        worker.ask("search 1")
    figures = rows("build", passages, "CPU s", built)
    figures += rows("build, peak", passages, "MB", built)
    for threads in (1, 2):
        what = f"search, {threads} thread{'s' * (threads > 1)}"
        figures += rows(what, queries, "CPU us", searches(workers, threads, rounds))
    for worker in workers.values():
        worker.close()
    return figures


def rows(what: str, n: int, unit: str, found: dict[str, Facts]) -> list[Measured]:
    """Return a row per peer."""
    part = "peak" if unit == "MB" else "cpu"
    scale = 1e6 / n if unit == "CPU us" else 1.0
    ours = found["ragstone"]
    return [
        Measured(
            job=f"BM25 {what}, against {name}",
            n=n,
            unit=unit,
            ours=ours[part] * scale,
            peer=facts[part] * scale,
            against=name,
            conditions=f"best round in turn, by the clock {ours['wall']:.2f} and "
            f"{facts['wall']:.2f} s",
        )
        for name, facts in found.items()
        if name != "ragstone"
    ]


def cold(folder: Path, python: str) -> None:
    """Time the first query of a new process whose index is kept."""
    worker = Worker("ragstone", folder, python)
    facts = worker.ask("first")
    print(f"ragstone     cold: first query {facts['wall']:.3f} s after the corpus is read")
    worker.close()


def killed(folder: Path, python: str) -> None:
    """Kill Ragstone's build after some seconds, as often as it takes, and go on each time."""
    seconds, kills = 8.0, 0
    while True:
        worker = Worker("ragstone", folder, python)
        timer = threading.Timer(seconds, worker.process.send_signal, [signal.SIGKILL])
        timer.start()
        with contextlib.suppress(json.JSONDecodeError):
            facts = worker.ask("build")
            timer.cancel()
            print(f"ragstone     killed {kills} times; the last build took {facts['wall']:.1f} s")
            worker.close()
            return
        kills, seconds = kills + 1, seconds * 1.5


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--passages", type=int, help="make that many in place of real ones")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--worker")
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.folder)
        return
    need_data("nq_singlehop")
    pythons = dict.fromkeys(options.engines.split(","), options.peer_python)
    pythons = {name: python for name, python in pythons.items() if has(name, python)}
    pythons = {"ragstone": sys.executable} | pythons
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        if not (folder / "passages.txt").exists():
            with (folder / "passages.txt").open("w", encoding="utf-8") as file:
                made = make_passages(options.passages) if options.passages else real_passages()
                file.writelines(f"{text}\n" for text in made)
        asked = questions()[: options.queries]
        (folder / "queries.json").write_text(json.dumps(asked), encoding="utf-8")
        if options.kill:
            killed(folder, sys.executable)
            return
        found = compare(folder, pythons, options.rounds)
        cold(folder, sys.executable)
    hand_over(found, options.json)


if __name__ == "__main__":
    main()
