"""What a finished experiment costs to look at: `run` again, `show` and `report`, whole processes.

    python benchmarks/finished_run.py [--queries 2000 20000] [--folder FOLDER] [--json FILE]

The data are the questions and passages of nq_singlehop; the questions are repeated under new ids
until there are as many as asked for. One system, `bm25` with 100 passages a query and the gold
answer as its answer, under the settings `gold` and `retrieved(3)`, with 8 metrics. The figures are
processor seconds (user and system, the least of the rounds) and peak memory of each process;
`first look` is the command after the kept tables are taken away. FOLDER keeps the stores, so that
another version of the code can look at the same experiments; `--outputs FOLDER` keeps what the
commands print, to compare two versions byte for byte. The peer of each command is a script that
only reads the data set, with `json.loads` of each line.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path

from measured import (  # type: ignore[import-not-found]  # a file beside this one
    DATA,
    Measured,
    hand_over,
    need_data,
    process_costs,
    rows_of,
)

MAIN = "from ragstone.cli import main; main()"
KEPT = ("boards", "finished", "reports")
EXPERIMENT = """
name: finished
data: data
store: store
systems:
  - name: bm25
    retriever: bm25(top_k=100)
    generator: gold
settings: [gold, retrieved(3)]
metrics: [nDCG@10, R@5, MRR, EM, Match, F1, ROUGE-1, ROUGE-L]
"""
COMMANDS = {
    "run": ("run", "experiment.yaml"),
    "show": ("show", "experiment.yaml"),
    "show --json": ("show", "experiment.yaml", "--json"),
    "report": ("report", "experiment.yaml", "-o", "report.html"),
}


def write_data(folder: Path, count: int) -> None:
    """Write nq_singlehop with `count` queries, those after the first round under new ids."""
    source, target = DATA / "nq_singlehop", folder / "data"
    target.mkdir(parents=True)
    shutil.copy(source / "corpus.jsonl.gz", target)
    queries = list(rows_of(source / "queries.jsonl.gz"))
    judged: dict[str, list[str]] = {}
    for line in (source / "qrels.tsv").read_text().splitlines()[1:]:
        query, rest = line.split("\t", 1)
        judged.setdefault(query, []).append(rest)
    with (target / "queries.jsonl").open("w") as file, (target / "qrels.tsv").open("w") as qrels:
        qrels.write("query-id\tcorpus-id\tscore\n")
        for place, query in enumerate(islice(cycle(queries), count)):
            turn = place // len(queries)
            name = f"{query['_id']}~{turn}" if turn else query["_id"]
            file.write(json.dumps({**query, "_id": name}) + "\n")
            qrels.writelines(f"{name}\t{rest}\n" for rest in judged.get(query["_id"], ()))


PEER = """
import gzip, json
rows = {name: [json.loads(line) for line in gzip.open(f"data/{name}.jsonl.gz", "rt")]
        for name in ("corpus",)}
rows["queries"] = [json.loads(line) for line in open("data/queries.jsonl")]
qrels = [line.split("\\t") for line in open("data/qrels.tsv")]
"""
Cost = tuple[float, float]
"""Processor seconds and the peak in MB."""


def process(folder: Path, name: str, output: Path | None = None) -> Cost:
    """Return the cost of a command; what it prints is kept if a file is named."""
    seconds, peak, said = process_costs([sys.executable, "-c", MAIN, *COMMANDS[name]], folder)
    if output:
        output.write_text(said, encoding="utf-8")
    return seconds, peak


def prepare(folder: Path, count: int) -> Cost:
    """Make the data and run the experiment once, unless the folder has it; return its cost."""
    kept = folder / "first.json"
    if not kept.exists():
        write_data(folder, count)
        (folder / "experiment.yaml").write_text(EXPERIMENT)
        kept.write_text(json.dumps(process(folder, "run")))
    seconds, peak = json.loads(kept.read_text())
    return seconds, peak


def measure(folder: Path, rounds: int, outputs: Path | None) -> dict[str, tuple[Cost, Cost]]:
    """Return command -> its cost at the first look and at later ones, and the peer's in turns."""
    found: dict[str, list[tuple[Cost, Cost]]] = {}
    for _ in range(rounds):
        for name in COMMANDS:
            for kept in KEPT:
                shutil.rmtree(folder / "store" / kept, ignore_errors=True)
            output = outputs / f"{folder.name} {name}.txt" if outputs else None
            for look in (f"{name}, first look", name):
                peer = process_costs([sys.executable, "-c", PEER], folder)[:2]
                found.setdefault(look, []).append((process(folder, name, output), peer))
    if outputs:
        shutil.copy(folder / "report.html", outputs / f"{folder.name} report.html")
    best = {look: [min(side) for side in zip(*pairs, strict=True)] for look, pairs in found.items()}
    return {look: (ours, peer) for look, (ours, peer) in best.items()}


def rows(count: int, found: dict[str, tuple[Cost, Cost]], rounds: int) -> list[Measured]:
    """Return the figures of an experiment beside those of a script that reads its data."""
    return [
        Measured(
            job=f"finished run, {name}" + (", peak" if unit == "MB" else ""),
            n=count,
            unit=unit,
            ours=ours[part],
            peer=peer[part],
            against=f"json.loads of the data, Python {platform.python_version()}",
            conditions=f"queries, whole processes, best of {rounds} in turn",
        )
        for name, (ours, peer) in found.items()
        for part, unit in enumerate(("CPU s", "MB"))
    ]


def main() -> None:
    """Print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, nargs="+", default=[2_000])
    parser.add_argument("--folder", type=Path, help="where experiments are kept")
    parser.add_argument("--outputs", type=Path, help="folder for what the commands print")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    need_data("nq_singlehop")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if given.outputs:
        given.outputs.mkdir(parents=True, exist_ok=True)
    found: list[Measured] = []
    with tempfile.TemporaryDirectory() as temporary:
        for count in given.queries:
            folder = (given.folder or Path(temporary)) / str(count)
            seconds, peak = prepare(folder, count)
            print(f"first run of {count:,} queries: {seconds:.2f} CPU s, {peak:,.0f} MB")
            found += rows(count, measure(folder, given.rounds, given.outputs), given.rounds)
    hand_over(found, given.json)


if __name__ == "__main__":
    main()
