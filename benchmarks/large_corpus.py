"""A corpus of more text than one Arrow column holds: memory, digest, passages by id.

    python benchmarks/large_corpus.py [PASSAGES]

Adds PASSAGES passages (4,000,000) of 100 words to a corpus in memory, under ids of their own and
20,000 texts over and over, as the readers add their batches; then takes the digest, looks passages
up and compares every text found with the one that was put in. Prints seconds of processor time and
the peak of memory after each step.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Callable
from typing import TypeVar

from arro3.core import Array, DataType, RecordBatch

from ragstone.core.schemas import CORPUS
from ragstone.data.corpus import Corpus
from ragstone.data.table_builder import Pieces

T = TypeVar("T")
BATCH = 20_000
LOOKED_UP = 1_000


def main() -> None:
    """Fill, digest and read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("passages", type=int, nargs="?", default=4_000_000)
    count = parser.parse_args().passages // BATCH * BATCH
    texts = _texts()
    corpus = Corpus(_told("filled", lambda: _filled(texts, count)).finish())
    size, pieces = corpus.table.nbytes / 1e9, corpus.table.column("text").num_chunks
    print(f"{len(corpus):,} passages, {size:.2f} GB in {pieces} pieces")
    print("digest", _told("digest", lambda: corpus.digest)[:12])
    _told("positions of all ids", lambda: corpus.position("p0"))
    _told(f"{LOOKED_UP:,} passages by id", lambda: _look_up(corpus, texts))
    for start in (0, count // 3, count - 256):
        expected = [texts[place % BATCH] for place in range(start, start + 256)]
        _check(corpus.full_texts(start, start + 256) == expected)


def _texts() -> list[str]:
    draw = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["".join(draw.choices(letters, k=draw.randint(2, 10))) for _ in range(50_000)]
    return [" ".join(draw.choices(vocabulary, k=100)) for _ in range(BATCH)]


def _filled(texts: list[str], count: int) -> Pieces:
    kind = DataType.string()
    held, empty = Array(texts, type=kind), Array([""] * BATCH, type=kind)
    pieces = Pieces(CORPUS)
    for start in range(0, count, BATCH):
        ids = Array([f"p{start + place}" for place in range(BATCH)], type=kind)
        pieces.add(RecordBatch.from_arrays([ids, held, empty, empty, empty], schema=CORPUS))
    return pieces


def _look_up(corpus: Corpus, texts: list[str]) -> None:
    for place in range(0, len(corpus), max(1, len(corpus) // LOOKED_UP)):
        _check(corpus[f"p{place}"].text == texts[place % BATCH])


def _check(is_right: bool) -> None:
    if not is_right:
        raise SystemExit("a passage differs from the added one")


def _told(what: str, step: Callable[[], T]) -> T:
    """Run a step, print its cost, and return its result."""
    start = time.process_time()
    made = step()
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{what}: {seconds:.1f} s of processor time, {peak:.2f} GB at the peak", flush=True)
    return made


if __name__ == "__main__":
    main()
