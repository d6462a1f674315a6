"""Real passages embedded and searched on every executor, with a killed worker and a killed driver.

    python benchmarks/executors.py [N] [--only dask,ray] [--json FILE]

N (2,000) passages of nq_singlehop, then of mtRAG, are embedded by `minilm` and searched for 100
questions: in this process, on `processes(2)`, `dask(workers=2)` and `ray(workers=2)`. Each driver
is a process with a store of its own. After the second shard, the worker with most processor time
gets SIGKILL; after two more shards, the driver. A second driver then ends the work. The digests of
the vectors and of the rankings have to equal those of this process, and no shard may be stored
twice. Printed besides: on which addresses the driver and its children listen, which of them live
ten seconds after the driver's death, and processor seconds of all of them, read twice a second.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from measured import (  # type: ignore[import-not-found]  # a file beside this one
    DATA,
    Measured,
    need_data,
    write_measured,
)

EXECUTORS = ("", "processes(2)", "dask(workers=2)", "ray(workers=2)")
QUESTIONS = 100


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a compressed file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def driver(count: int, store: Path, executor: str) -> None:
    """Embed and search; print the digests as JSON."""
    from ragstone.components.embedders.minilm import MiniLM
    from ragstone.components.retrievers.dense import Dense
    from ragstone.core.executors.spec import executor_of
    from ragstone.core.store import Store
    from ragstone.data.corpus import Corpus
    from ragstone.indexes.corpus_vectors import embed_corpus
    from ragstone.protocols import Services
    from ragstone.types import Passage, Search

    nq = DATA / "nq_singlehop"
    files = [nq / "corpus.jsonl.gz", *sorted((DATA / "mtrag" / "corpus").glob("*.jsonl.gz"))]
    found = list(islice(chain.from_iterable(map(rows, files)), count))
    given = [Passage(f"p{n}", row["text"], row.get("title") or "") for n, row in enumerate(found)]
    asked = list(islice(rows(nq / "queries.jsonl.gz"), QUESTIONS))
    corpus = Corpus(Corpus.from_passages(given).table, Store(store))
    used = executor_of(executor)
    services = Services(corpus=corpus, executor=used)
    try:
        vectors = embed_corpus(MiniLM(), services)
        searches = [Search(str(n), row["text"]) for n, row in enumerate(asked)]
        outcomes = list(Dense(embedder="minilm", top_k=10).retrieve(searches, services))
    finally:
        used.close()
    rankings = [[list(o.value.passage_ids), list(o.value.scores)] for o in outcomes]
    whole = vectors.slice(0, len(vectors)).tobytes()
    digests = hashlib.sha256(whole), hashlib.sha256(json.dumps(rankings).encode())
    print(json.dumps([digest.hexdigest()[:16] for digest in digests]))


@dataclass
class Watched:
    """A driver and all processes that it started."""

    main: psutil.Popen
    seconds: dict[int, float] = field(default_factory=dict)
    """Process -> processor seconds when it was last seen."""
    processes: dict[int, psutil.Process] = field(default_factory=dict)
    addresses: set[str] = field(default_factory=set)

    def look(self) -> None:
        """Read processor time and listeners."""
        with contextlib.suppress(psutil.Error):
            self.processes.update({p.pid: p for p in self.main.children(recursive=True)})
        for pid, one in {self.main.pid: self.main, **self.processes}.items():
            try:
                used = one.cpu_times()
                self.seconds[pid] = used.user + used.system
                found = one.net_connections("inet")
            except psutil.Error:
                continue
            self.addresses |= {c.laddr.ip for c in found if c.status == psutil.CONN_LISTEN}

    def kill_worker(self) -> None:
        """Send SIGKILL to the child with most processor time."""
        self.look()
        living = [pid for pid, one in self.processes.items() if one.is_running()]
        if living:
            os.kill(max(living, key=lambda pid: self.seconds.get(pid, 0)), signal.SIGKILL)

    def survivors(self) -> list[psutil.Process]:
        """Return the children that live ten seconds after the driver."""
        _, alive = psutil.wait_procs(list(self.processes.values()), timeout=10)
        return list(alive)


def shards(store: Path) -> list[str]:
    """Return the digests of the stored shards."""
    lines = [one for path in store.glob("arrays/vectors-*/*.jsonl") for one in open_lines(path)]
    return [row["texts"] for row in lines if "texts" in row]


def open_lines(path: Path) -> list[dict[str, Any]]:
    """Return the finished lines of a list of shards."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def start(count: int, store: Path, executor: str) -> Watched:
    """Start a driver."""
    command = [sys.executable, __file__, str(count), "--driver", executor, "--store", str(store)]
    return Watched(psutil.Popen(command, stdout=subprocess.PIPE, text=True))


def killed(count: int, store: Path, executor: str) -> Watched:
    """Run a driver whose worker is killed after two shards, and itself after four."""
    watched, worker_lives = start(count, store, executor), True
    while watched.main.poll() is None and len(shards(store)) < 4:
        time.sleep(0.5)
        watched.look()
        if worker_lives and len(shards(store)) >= 2:
            watched.kill_worker()
            worker_lives = False
    if watched.main.poll() is not None:
        raise SystemExit(f"{executor} ended before it was killed; take more passages")
    watched.main.kill()
    watched.main.wait()
    return watched


def case(count: int, executor: str) -> tuple[list[str], float]:
    """Print what an executor did; return its digests and its processor seconds."""
    with tempfile.TemporaryDirectory() as folder:
        store, spent, kept = Path(folder), 0.0, 0
        if executor:
            first = killed(count, store, executor)
            left = first.survivors()
            kept, spent = len(shards(store)), sum(first.seconds.values())
            names = ", ".join(one.name() for one in left) or "none"
            print(f"{executor}: driver killed after {kept} shards; left over: {names}", flush=True)
            for one in left:
                one.kill()
        last = start(count, store, executor)
        while last.main.poll() is None:
            time.sleep(0.5)
            last.look()
        out = last.main.stdout.read()
        if last.main.returncode:
            raise SystemExit(f"{executor or 'in process'} failed")
        found = shards(store)
        if len(found) != len(set(found)):
            raise SystemExit(f"{executor}: shards were stored twice")
        digests, total = json.loads(out.splitlines()[-1]), spent + sum(last.seconds.values())
        print(
            f"{executor or 'in process'}: vectors {digests[0]}, rankings {digests[1]}, "
            f"{len(found)} shards ({kept} kept from the killed driver), {total:.1f} CPU s in all; "
            f"listeners: {', '.join(sorted(last.addresses)) or 'none'}",
            flush=True,
        )
        return digests, total


def main() -> None:
    """Run every executor and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=2_000)
    parser.add_argument("--only", default="", help="words in the names of executors to run")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--driver", default=None, help=argparse.SUPPRESS)
    parser.add_argument("--store", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    need_data("nq_singlehop")
    if given.driver is not None:
        driver(given.count, given.store, given.driver)
        return
    expected, alone = case(given.count, "")
    figures = []
    for executor in EXECUTORS[1:]:
        if given.only and executor.partition("(")[0] not in given.only.split(","):
            continue
        digests, spent = case(given.count, executor)
        if digests != expected:
            raise SystemExit(f"{executor}: digests differ from those of one process")
        name = f"embedding on {executor.partition('(')[0]}, a worker and the driver killed"
        conditions = "2 workers; all processes of both drivers; peer: one process, nothing killed"
        figures.append(
            Measured(
                job=name,
                n=given.count,
                unit="CPU s",
                ours=spent,
                peer=alone,
                against="in process",
                conditions=conditions,
            )
        )
    if given.json:
        write_measured(given.json, figures)


if __name__ == "__main__":
    main()
