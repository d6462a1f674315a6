"""How long a corpus takes to load, and how much memory, from JSON lines and from Parquet.

    python benchmarks/corpus_loading.py [PASSAGES] [--folder DIR]

Writes PASSAGES passages (1,000,000) of 100 words drawn from 50,000, once, then loads each form in a
process of its own and prints the seconds to load and to digest, and the peak of memory. Both forms
must have one digest.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import orjson
from arro3.core import Table
from arro3.io import write_parquet

from ragstone.datasets.tables import passages, queries

LOAD = """
import resource, sys, time
from ragstone.datasets.loading import load_dataset
start = time.perf_counter()
corpus = load_dataset(sys.argv[1]).corpus
loaded = time.perf_counter() - start
digest = corpus.digest
digested = time.perf_counter() - start - loaded
corpus["p0"]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(f"{loaded:6.1f} s to load, {digested:5.1f} s to digest, {peak:5.2f} GB; {digest[:12]}")
"""


def main() -> None:
    """Write what is not there yet, and load it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("passages", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="corpus-loading-"))
    if not (folder / "parquet").exists():
        _write(folder, chosen.passages)
    for form in ("jsonl", "parquet"):
        done = subprocess.run(
            [sys.executable, "-c", LOAD, str(folder / form)],
            capture_output=True,
            text=True,
            check=True,
        )
        print(f"{form:8}{chosen.passages:>12,} passages: {done.stdout.strip()}")


def _write(folder: Path, count: int) -> None:
    draw = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["".join(draw.choices(letters, k=draw.randint(2, 10))) for _ in range(50_000)]
    (folder / "jsonl").mkdir(parents=True)
    builder = passages()
    with (folder / "jsonl" / "corpus.jsonl").open("wb") as file:
        for number in range(count):
            title = " ".join(draw.choices(vocabulary, k=3))
            text = " ".join(draw.choices(vocabulary, k=100))
            row = {"_id": f"p{number}", "title": title, "text": text}
            file.write(orjson.dumps(row) + b"\n")
            builder.add((row["_id"], text, title, "", ""))
    (folder / "jsonl" / "queries.jsonl").write_text('{"_id": "q", "text": "what?"}\n')
    asked = queries()
    asked.add(("q", "what?", [], "", "", ""))
    (folder / "parquet").mkdir()
    _write_parquet(builder.finish(), ["passage_id", "text", "title"], folder, "corpus")
    _write_parquet(asked.finish(), ["query_id", "text"], folder, "queries")


def _write_parquet(table: Table, names: list[str], folder: Path, name: str) -> None:
    path = folder / "parquet" / f"{name}.parquet"
    write_parquet(table.select(names), str(path), compression="zstd(1)")


if __name__ == "__main__":
    main()
