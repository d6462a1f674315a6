"""How long a corpus takes to load, and how much memory, from JSON lines and from Parquet.

    python benchmarks/corpus_loading.py [PASSAGES] [--copies N] [--folder DIR]

Writes PASSAGES passages (1,000,000) of 100 words drawn from 50,000, once, then loads each form in a
process of its own and prints the seconds to load, to digest and to look up 1,000 passages by their
ids, and the peak of memory. Both forms must have one digest. With N copies, Parquet alone is
written and loaded: N files of the same texts, under ids of their own.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import orjson
from arro3.core import Array, ChunkedArray, DataType, Table
from arro3.io import write_parquet

from ragstone.data.table_builder import passages, queries

LOAD = """
import resource, sys, time
from ragstone.data.load import load_dataset
start = time.perf_counter()
corpus = load_dataset(sys.argv[1]).corpus
loaded = time.perf_counter() - start
digest = corpus.digest
digested = time.perf_counter() - start - loaded
corpus["p0"]
start = time.perf_counter()
step = len(corpus) // 1000
assert all(corpus[f"p{n * step}"].passage_id == f"p{n * step}" for n in range(1000))
found = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(
    f"{len(corpus):12,} passages: {loaded:6.1f} s to load, {digested:5.1f} s to digest, "
    f"{found * 1e3:3.0f} us to find one, {peak:5.2f} GB, {corpus.table.column(1).num_chunks} "
    f"pieces; {digest[:12]}"
)
"""


def main() -> None:
    """Write the missing files and load them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("passages", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="corpus-loading-"))
    if not (folder / "parquet").exists():
        _write(folder, chosen.passages, chosen.copies)
    for form in ("jsonl", "parquet") if chosen.copies == 1 else ("parquet",):
        done = subprocess.run(
            [sys.executable, "-c", LOAD, str(folder / form)],
            capture_output=True,
            text=True,
            check=True,
        )
        print(f"{form:8}{done.stdout.rstrip()}")


def _write(folder: Path, count: int, copies: int) -> None:
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
    table = builder.finish()
    for copy in range(copies):
        _write_parquet(_numbered(table, copy * count), folder, f"corpus-{copy:03}")
    _write_parquet(asked.finish().select(["query_id", "text"]), folder, "queries")


def _numbered(table: Table, first: int) -> Table:
    """Return the passages under ids that count from `first`."""
    ids = Array([f"p{first + n}" for n in range(table.num_rows)], type=DataType.string())
    shown = table.select(["passage_id", "text", "title"])
    lengths = shown.chunk_lengths
    starts = [sum(lengths[:place]) for place in range(len(lengths))]
    pieces = [ids.slice(start, length) for start, length in zip(starts, lengths, strict=True)]
    return shown.set_column(0, "passage_id", ChunkedArray(pieces))


def _write_parquet(table: Table, folder: Path, name: str) -> None:
    path = folder / "parquet" / f"{name}.parquet"
    write_parquet(table, str(path), compression="zstd(1)")


if __name__ == "__main__":
    main()
