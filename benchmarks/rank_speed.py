"""How fast `ragstone rank` scores a run of 1,000,000 lines, beside a script with pytrec_eval.

    python benchmarks/rank_speed.py [FOLDER]    FOLDER: BERGEN's data

Both are whole processes, started in turns; the figure is the processor time of each (user and
system), the least of five. The runs: a made one of 10,000 queries with 100 passages each and
200,000 judgements, and with FOLDER BERGEN's runs of ELI5 (20,000 queries with 50 passages each,
its scores have 17 digits), where each judgement of a passage is a line of its qrels, and a tenth of
the passages is judged 0. The means of both have to be equal to 6 decimals.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import cycle, islice
from pathlib import Path

NAMES = {"ndcg_cut_10": "nDCG@10", "recall_100": "R@100", "map": "MAP", "recip_rank": "MRR"}
LINES, ROUNDS = 1_000_000, 5
PEER = f"""
import json, sys, pytrec_eval
with open(sys.argv[1]) as file:
    run = pytrec_eval.parse_run(file)
with open(sys.argv[2]) as file:
    qrels = pytrec_eval.parse_qrel(file)
measures = {{"ndcg_cut.10", "recall.100", "map", "recip_rank"}}
found = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
names = {NAMES}
means = {{names[n]: sum(v[n] for v in found.values()) / len(found) for n in names}}
print(json.dumps(means))
"""


def write_made(run: Path, qrels: Path) -> None:
    """Write 10,000 rankings of 100 passages, and 20 judgements of each query."""
    draw = random.Random(1)
    with run.open("w") as ranked, qrels.open("w") as judged:
        for query in range(LINES // 100):
            ids = draw.sample(range(8_000_000), 120)
            scores = sorted((round(draw.gauss(12, 4), 4) for _ in range(100)), reverse=True)
            ranked.writelines(
                f"q{query} Q0 p{ids[place]} {place + 1} {score} made\n"
                for place, score in enumerate(scores)
            )
            chosen = draw.sample(ids, 20)
            grades = [1, *(draw.choice((0, 0, 1, 2)) for _ in chosen[1:])]
            judged.writelines(
                f"q{query} 0 p{passage} {grade}\n"
                for passage, grade in zip(chosen, grades, strict=True)
            )


def copied(folder: Path) -> Iterator[str]:
    """Yield the lines of BERGEN's runs again and again, each time with other query ids."""
    files = sorted(folder.glob("runs/kilt_eli5.*.trec.gz"))
    for number, path in enumerate(cycle(files)):
        with gzip.open(path, "rt") as file:
            for line in file:
                yield f"{number}_{line}"


def write_real(folder: Path, run: Path, qrels: Path) -> None:
    """Write a million lines of BERGEN's runs, and judgements of their queries."""
    draw = random.Random(1)
    pages: dict[str, dict[str, str]] = {}
    for line in (folder / "qrels" / "kilt_eli5.dev.txt").read_text().splitlines():
        query, _, page, grade = line.split()
        pages.setdefault(query, {})[page] = grade
    held: dict[str, dict[str, str]] = {}
    with run.open("w") as ranked:
        for line in islice(copied(folder), LINES):
            ranked.write(line)
            query, _, passage, *_ = line.split()
            own = pages.get(query.partition("_")[2], {"none": "1"})
            grades = held.setdefault(query, dict(own))
            if draw.random() < 0.1:
                grades.setdefault(passage, draw.choice("0012"))
    with qrels.open("w") as judged:
        judged.writelines(f"{q} 0 {p} {g}\n" for q, own in held.items() for p, g in own.items())


def processor_seconds(command: Iterable[str]) -> tuple[float, dict[str, float], float]:
    """Return processor seconds of a process, the means that it prints, and its peak in MB."""
    with subprocess.Popen(list(command), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        text = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(process.returncode)
    found = {k: v["mean"] if isinstance(v, dict) else v for k, v in json.loads(text).items()}
    return used.ru_utime + used.ru_stime, found, used.ru_maxrss / 1024


def compare(run: Path, qrels: Path) -> dict[str, float]:
    """Return the processor seconds of both, and how many times faster Ragstone is."""
    files = [str(run), str(qrels)]
    main = "from ragstone.cli import main; main()"
    ours = [sys.executable, "-c", main, "rank", *files, *NAMES.values(), "--json"]
    theirs = [sys.executable, "-c", PEER, *files]
    pairs = [(processor_seconds(ours), processor_seconds(theirs)) for _ in range(ROUNDS)]
    for (_, own, _), (_, other, _) in pairs:
        for name, value in other.items():
            if not math.isclose(own[name], value, abs_tol=1e-6):
                raise SystemExit(f"{name}: {own[name]}, but pytrec_eval has {value}")
    (own_s, _, own_mb), (peer_s, _, peer_mb) = (
        min(side, key=lambda one: one[0]) for side in zip(*pairs, strict=True)
    )
    return {
        "lines": sum(1 for _ in run.open()),
        "judgements": sum(1 for _ in qrels.open()),
        "ragstone_s": round(own_s, 2),
        "pytrec_eval_s": round(peer_s, 2),
        "times_faster": round(peer_s / own_s, 2),
        "ragstone_mb": round(own_mb),
        "pytrec_eval_mb": round(peer_mb),
    }


def main(folders: list[str]) -> None:
    """Print the figures of the made run, and of BERGEN's runs if their folder is given."""
    with tempfile.TemporaryDirectory() as kept:
        run, qrels = Path(kept) / "run.trec", Path(kept) / "qrels.txt"
        write_made(run, qrels)
        found = {"made": compare(run, qrels)}
        for folder in folders:
            write_real(Path(folder), run, qrels)
            found["bergen"] = compare(run, qrels)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
