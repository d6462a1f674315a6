"""How fast, and in how much memory, corpora, runs and qrels are read.

    python benchmarks/reading_speed.py [--passages 1000000] [--lines 1000000] [--json FILE]

A corpus: the passages of mtRAG and nq_singlehop, again and again under new ids until there are
enough, read as a data set by a whole process, beside a script that puts `json.loads` of each line
into a list. A run: BERGEN's runs of ELI5, again and again under new query ids; qrels: those of
HotpotQA, KILT's NQ, TriviaQA and Wizard of Wikipedia; both in this process, beside pytrec_eval's
parsers. Seconds are those of the processor, the least of the rounds, which all take in turns.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from importlib.metadata import version
from itertools import cycle, islice
from pathlib import Path

import pytrec_eval
from measured import (  # type: ignore[import-not-found]  # a file beside this one
    DATA,
    Measured,
    copied_runs,
    corpora,
    hand_over,
    in_turns,
    process_costs,
    rows_of,
)

from ragstone.data.readers.run_columns import qrel_columns, run_columns

OURS = """
import sys
from ragstone.data.load import load_dataset
print(len(load_dataset(sys.argv[1]).corpus))
"""
PEER = """
import json, sys
with open(sys.argv[1] + "/corpus.jsonl", encoding="utf-8") as file:
    print(len([json.loads(line) for line in file]))
"""
SETS = ("hotpotqa", "nq", "triviaqa", "wow")


def write_set(folder: Path, passages: int) -> None:
    """Write a corpus of real passages, and one query."""
    rows = cycle([row for path in corpora() for row in rows_of(path)])
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for number, row in enumerate(islice(rows, passages)):
            file.write(json.dumps({**row, "_id": f"{number}-{row['_id']}"}) + "\n")
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "a?"}\n', encoding="utf-8")


def corpus(folder: Path, passages: int, rounds: int) -> list[Measured]:
    """Measure both processes."""
    write_set(folder, passages)
    sides = [[sys.executable, "-c", code, str(folder)] for code in (OURS, PEER)]
    costs = [[process_costs(side) for side in sides] for _ in range(rounds)]
    best = [
        [min(one[part] for one in side) for part in (0, 1)] for side in zip(*costs, strict=True)
    ]
    if {said for one in costs for _, _, said in one} != {f"{passages}\n"}:
        raise SystemExit("a process has read another number of passages")
    size = (folder / "corpus.jsonl").stat().st_size / 1e6
    return [
        Measured(
            job=job,
            n=passages,
            unit=unit,
            ours=ours,
            peer=peer,
            against=f"json.loads, Python {platform.python_version()}",
            conditions=f"whole processes, best of {rounds} in turn, {size:,.0f} MB of real text",
        )
        for job, unit, ours, peer in zip(
            ("reading a corpus", "reading a corpus, peak"), ("CPU s", "MB"), *best, strict=True
        )
    ]


def rankings(folder: Path, lines: int, rounds: int) -> list[Measured]:
    """Measure our readers of runs and qrels, and pytrec_eval's."""
    run, qrels = folder / "run.trec", folder / "qrels.txt"
    run.write_text("".join(islice(copied_runs(), lines)), encoding="utf-8")
    files = [DATA / "bergen" / "qrels" / f"kilt_{name}.dev.txt" for name in SETS]
    text = "".join(path.read_text("utf-8") for path in files)
    qrels.write_text(text, encoding="utf-8")

    def theirs(path: Path) -> object:
        with path.open(encoding="utf-8") as file:
            return (pytrec_eval.parse_run if path == run else pytrec_eval.parse_qrel)(file)

    best = in_turns(
        {
            "run": lambda: run_columns(run),
            "qrels": lambda: qrel_columns(qrels),
            "run, peer": lambda: theirs(run),
            "qrels, peer": lambda: theirs(qrels),
        },
        rounds,
    )
    return [
        Measured(
            job=f"reading {what}",
            n=count,
            unit="CPU s",
            ours=best[what],
            peer=best[f"{what}, peer"],
            against=f"pytrec_eval {version('pytrec_eval-terrier')}",
            conditions=f"lines, best of {rounds} in turn, BERGEN's",
        )
        for what, count in (("run", lines), ("qrels", text.count("\n")))
    ]


def main() -> None:
    """Print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        found = corpus(folder, options.passages, options.rounds)
        found += rankings(folder, options.lines, 3 * options.rounds)
    hand_over(found, options.json)


if __name__ == "__main__":
    main()
