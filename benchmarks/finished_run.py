"""What a finished experiment costs to look at: `run` again, `show` and `report`, whole processes.

    python benchmarks/finished_run.py [--queries 2000 20000] [--folder FOLDER] [--rounds 3] [--json]

The data are the questions and passages of nq_singlehop; the questions are repeated under new ids
until there are as many as asked for. One system, `bm25` with 100 passages a query and the gold
answer as its answer, under the settings `gold` and `retrieved(3)`, with 8 metrics. The figures are
processor seconds (user and system, the least of the rounds) and peak memory of each process;
`first look` is the command after the kept tables are taken away. FOLDER keeps the stores, so that
another version of the code can look at the same experiments; `--outputs FOLDER` keeps what the
commands print, to compare two versions byte for byte.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

from measured import DATA  # type: ignore[import-not-found]  # a file beside this one

MAIN = "from ragstone.cli import main; main()"
KEPT = ("boards", "finished", "reports")
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
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
    with gzip.open(source / "queries.jsonl.gz", "rt", encoding="utf-8") as file:
        queries = [json.loads(line) for line in file]
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


def process(folder: Path, arguments: Sequence[str], output: Path | None = None) -> dict[str, float]:
    """Return processor seconds and the peak in MB of a command; its output goes to a file."""
    command = [sys.executable, "-c", MAIN, *arguments]
    target = output or folder / "output.txt"
    with target.open("wb") as file, (folder / "errors.txt").open("wb") as errors:
        running = subprocess.Popen(command, cwd=folder, stdout=file, stderr=errors, env=ENVIRONMENT)
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise SystemExit((folder / "errors.txt").read_text())
    return {"cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}


def prepare(folder: Path, count: int) -> dict[str, float]:
    """Make the data and run the experiment once, unless the folder has it; return its cost."""
    kept = folder / "first.json"
    if not kept.exists():
        write_data(folder, count)
        (folder / "experiment.yaml").write_text(EXPERIMENT)
        kept.write_text(json.dumps(process(folder, COMMANDS["run"])))
    found: dict[str, float] = json.loads(kept.read_text())
    return found


def best(found: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the least processor seconds, and the peak of memory of the same process."""
    least = min(found, key=lambda one: one["cpu_s"])
    return {"cpu_s": round(least["cpu_s"], 2), "peak_mb": round(least["peak_mb"])}


def measure(folder: Path, rounds: int, outputs: Path | None) -> dict[str, dict[str, float]]:
    """Return command -> its cost, at the first look and at later ones."""
    found = {}
    for name, arguments in COMMANDS.items():
        for kept in KEPT:
            shutil.rmtree(folder / "store" / kept, ignore_errors=True)
        found[f"{name}, first look"] = best([process(folder, arguments)])
        output = outputs / f"{folder.name} {name}.txt" if outputs else None
        found[name] = best([process(folder, arguments, output) for _ in range(rounds)])
    if outputs:
        shutil.copy(folder / "report.html", outputs / f"{folder.name} report.html")
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, nargs="+", default=[2_000])
    parser.add_argument("--folder", type=Path, help="where experiments are kept")
    parser.add_argument("--outputs", type=Path, help="folder for what the commands print")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.outputs:
        given.outputs.mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for count in given.queries:
            folder = (given.folder or Path(temporary)) / str(count)
            first = best([prepare(folder, count)])
            found[str(count)] = {"first run": first, **measure(folder, given.rounds, given.outputs)}
    if given.json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    for count_text, commands in found.items():
        for name, cost in commands.items():
            line = f"{int(count_text):>9,} queries  {name:<24} {cost['cpu_s']:7.2f} CPU s"
            sys.stdout.write(f"{line}  {cost['peak_mb']:6,} MB\n")


if __name__ == "__main__":
    main()
