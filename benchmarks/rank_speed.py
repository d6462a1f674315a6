"""How fast `ragstone rank` scores a run of 1,000,000 lines, beside a script with pytrec_eval.

    python benchmarks/rank_speed.py [--lines 1000000] [--rounds 5] [--json FILE]

Both are whole processes, started in turns; the figure is the processor time of each (user and
system), the least of the rounds. The run: BERGEN's of ELI5 (20,000 queries with 50 passages each,
its scores have 17 digits), again and again under new query ids until there are enough lines. Its
judgements are of pages, so that a tenth of the passages is judged with a drawn grade besides. The
means of both have to be equal to 6 decimals.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tempfile
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from measured import (  # type: ignore[import-not-found]  # a file beside this one
    DATA,
    Measured,
    copied_runs,
    hand_over,
    process_costs,
)

NAMES = {"ndcg_cut_10": "nDCG@10", "recall_100": "R@100", "map": "MAP", "recip_rank": "MRR"}
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


def write_real(folder: Path, run: Path, qrels: Path, lines: int) -> None:
    """Write lines of BERGEN's runs, and judgements of their queries."""
    draw = random.Random(1)
    pages: dict[str, dict[str, str]] = {}
    for line in (folder / "qrels" / "kilt_eli5.dev.txt").read_text().splitlines():
        query, _, page, grade = line.split()
        pages.setdefault(query, {})[page] = grade
    held: dict[str, dict[str, str]] = {}
    with run.open("w") as ranked:
        for line in islice(copied_runs(), lines):
            ranked.write(line)
            query, _, passage, *_ = line.split()
            own = pages.get(query.partition("_")[2], {"none": "1"})
            grades = held.setdefault(query, dict(own))
            if draw.random() < 0.1:
                grades.setdefault(passage, draw.choice("0012"))
    with qrels.open("w") as judged:
        judged.writelines(f"{q} 0 {p} {g}\n" for q, own in held.items() for p, g in own.items())


def means(text: str) -> dict[str, float]:
    """Return the means that a process has printed."""
    return {k: v["mean"] if isinstance(v, dict) else v for k, v in json.loads(text).items()}


def compare(run: Path, qrels: Path, rounds: int) -> list[Measured]:
    """Return the processor seconds and the peaks of both."""
    files = [str(run), str(qrels)]
    main = "from ragstone.cli import main; main()"
    ours = [sys.executable, "-c", main, "rank", *files, *NAMES.values(), "--json"]
    theirs = [sys.executable, "-c", PEER, *files]
    pairs = [(process_costs(ours), process_costs(theirs)) for _ in range(rounds)]
    for (_, _, own), (_, _, other) in pairs:
        for name, value in means(other).items():
            if not math.isclose(means(own)[name], value, abs_tol=1e-6):
                raise SystemExit(f"{name}: {means(own)[name]}, but pytrec_eval has {value}")
    (own_s, own_mb, _), (peer_s, peer_mb, _) = (min(side) for side in zip(*pairs, strict=True))
    lines, judged = (sum(1 for _ in path.open()) for path in (run, qrels))
    peer = f"pytrec_eval {version('pytrec_eval-terrier')}"
    said = f"whole processes, best of {rounds} in turn, {judged:,} judgements, BERGEN's ELI5"
    job = "rank a TREC run"
    return [
        Measured(
            job=job, n=lines, unit="CPU s", ours=own_s, peer=peer_s, against=peer, conditions=said
        ),
        Measured(
            job=f"{job}, peak",
            n=lines,
            unit="MB",
            ours=own_mb,
            peer=peer_mb,
            against=peer,
            conditions=said,
        ),
    ]


def main() -> None:
    """Print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as kept:
        run, qrels = Path(kept) / "run.trec", Path(kept) / "qrels.txt"
        write_real(DATA / "bergen", run, qrels, options.lines)
        found = compare(run, qrels, options.rounds)
    hand_over(found, options.json)


if __name__ == "__main__":
    main()
