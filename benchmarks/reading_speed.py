"""How fast, and in how much memory, a big corpus is read.

    python benchmarks/reading_speed.py [PASSAGES]      default: 1,000,000 passages of 70 words

Prints one JSON object: rows a second by the clock and by processor time (the two differ on a busy
machine), the peak memory of the process, and the size of the table.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from ragstone.data.load import load_dataset


def write_set(folder: Path, passages: int) -> None:
    """Write a corpus of random words, and one query."""
    draw = random.Random(0)
    words = [f"w{number}" for number in range(30_000)]
    texts = [" ".join(draw.choices(words, k=70)) for _ in range(2_000)]
    with (folder / "corpus.jsonl").open("w") as file:
        for number in range(passages):
            row = {"_id": f"p{number}", "title": f"T {number}", "text": texts[number % 2_000]}
            file.write(json.dumps({**row, "source": f"s{number % 7}"}) + "\n")
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "a?"}\n')


def measure(passages: int) -> dict[str, float]:
    """Return the figures of one reading."""
    with tempfile.TemporaryDirectory() as folder:
        write_set(Path(folder), passages)
        size = (Path(folder) / "corpus.jsonl").stat().st_size
        clock, processor = time.perf_counter(), time.process_time()
        dataset = load_dataset(folder)
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
        looked_up = time.process_time()
        for place in range(10_000):
            dataset.corpus.at(place * 7_919 % passages)
        looked_up = time.process_time() - looked_up
    return {
        "passages": len(dataset.corpus),
        "file_mb": round(size / 1e6),
        "seconds": round(clock, 2),
        "processor_seconds": round(processor, 2),
        "rows_per_processor_second": round(passages / processor),
        "table_mb": round(dataset.corpus.table.nbytes / 1e6),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "microseconds_per_look_up": round(looked_up * 100, 1),
    }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if sys.argv[1:] else 1_000_000), indent=2))
