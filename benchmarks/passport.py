"""The size of a passport, and the time to write and to verify it, by the number of queries.

    python benchmarks/passport.py [--queries 16 5000] [--json FILE]

Two systems under four settings, three metrics: BM25 and the gold answers, so that no model is
needed. Every number must be equal when it is computed again.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import ragstone
from ragstone.results.passport_file import write_passport

VOCABULARY = [f"word{number}" for number in range(5000)]
PASSAGES = 2000
SYSTEMS = {
    "usual": {"retriever": {"name": "bm25", "top_k": 10}, "generator": "gold"},
    "other": {"retriever": {"name": "bm25", "k1": 0.9, "top_k": 10}, "generator": "gold"},
}


def made_up(queries: int) -> ragstone.Dataset:
    """Return a data set of random words."""
    source = random.Random(1)

    def text(words: int) -> str:
        return " ".join(source.choices(VOCABULARY, k=words))

    ids = [f"q{number:06d}" for number in range(queries)]
    return ragstone.Dataset.from_records(
        name="made up",
        queries=[{"query_id": q, "text": text(8), "gold_answers": [text(3)]} for q in ids],
        passages=[{"passage_id": f"p{number}", "text": text(60)} for number in range(PASSAGES)],
        qrels=[(query_id, f"p{source.randrange(PASSAGES)}", 1) for query_id in ids],
    )


def measured(queries: int, folder: Path) -> dict[str, Any]:
    """Return the size and the times of one passport; exit if a number is not equal."""
    experiment = ragstone.load_experiment(
        {
            "name": f"queries-{queries}",
            "data": made_up(queries),
            "store": str(folder / "store"),
            "systems": SYSTEMS,
            "settings": ["none", "gold", "gold+noise(2)", "retrieved(3)"],
            "metrics": ["Match", "F1", "nDCG@10"],
        }
    )
    results = experiment.run()
    started = time.perf_counter()
    path = write_passport(results.passport(), folder / f"{queries}.json")
    written = time.perf_counter()
    found = ragstone.verify(path, store=folder / "store")
    seconds = time.perf_counter() - written
    if not found.is_equal:
        sys.exit(f"{queries} queries: {found}")
    return {
        "queries": queries,
        "numbers": found.equal,
        "kilobytes": path.stat().st_size / 1e3,
        "seconds_to_write": written - started,
        "seconds_to_verify": seconds,
    }


def main() -> None:
    """Measure, print and write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--queries", type=int, nargs="+", default=[16, 5000])
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for queries in given.queries:
            rows.append(measured(queries, Path(folder)))
            facts = ", ".join(f"{name} {value:,.1f}" for name, value in rows[-1].items())
            print(facts)
    if given.json:
        given.json.write_text(json.dumps({"rows": rows}, indent=1))


if __name__ == "__main__":
    main()
