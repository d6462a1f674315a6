"""What processors leave of a context, and whether the answer is still in it.

    python benchmarks/processors.py ../shared/data/nq_singlehop --store STORE

The answered `short` questions (random 300, seed 0), BM25's first 5 passages. Printed per processor:
the share of the context's tokens that is left, and the share of contexts that hold a gold answer
word for word, with its 95 % interval and, below the first row, the paired difference to it.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from ragstone.components.generators.context_window import count_tokens
from ragstone.experiment.config import parse_experiment
from ragstone.experiment.experiment import Experiment
from ragstone.statistics.paired import paired_difference

PROCESSORS = (
    None,
    "budget(500)",
    "budget(250)",
    "pruning(0.75)",
    "pruning(0.5)",
    "pruning(0.25)",
    "pruning(0.1)",
)
METRIC = "answer-in-context"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--store", required=True)
    asked = parser.parse_args()
    systems = [
        {"name": written or "whole", "retriever": "bm25", "generator": "gold"}
        | ({"processor": written} if written else {})
        for written in PROCESSORS
    ]
    file = parse_experiment(
        {
            "name": "processors",
            "data": asked.data,
            "store": asked.store,
            "sample": {"limit": 300, "where": {"kind": "short"}},
            "systems": systems,
            "settings": ["retrieved(5)"],
            "metrics": [METRIC],
            "correct": METRIC,
        },
        where="processors",
    )
    started = time.perf_counter()
    results = Experiment(file, folder=Path()).run()
    whole = results.trials[0]
    print("| processor | tokens left | answer in context | difference to whole |")
    print("| --- | --- | --- | --- |")
    for trial, cell in zip(results.trials, results.answer_cells, strict=True):
        tokens = [
            sum(count_tokens(p.text for p in context.passages) for context in held.values())
            for held in (trial.contexts, trial.built)
        ]
        low, high = cell.summary.interval or (0.0, 0.0)
        gap = ""
        if trial is not whole:
            values = [
                {q: s.value for q, s in one.scores[METRIC].items() if s.value is not None}
                for one in (whole, trial)
            ]
            both = sorted(set(values[0]) & set(values[1]))
            found = paired_difference(
                [values[0][q] for q in both],
                [values[1][q] for q in both],
                clusters=[results.clusters[q] for q in both],
            )
            below, above = found.interval or (0.0, 0.0)
            gap = f"{found.difference:+.3f} [{below:+.3f}, {above:+.3f}], p {found.p:.4f}"
        print(
            f"| {trial.system} | {tokens[0] / tokens[1]:.2f} | {cell.summary.mean:.3f} "
            f"[{low:.3f}, {high:.3f}] (n {cell.summary.n}) | {gap} |"
        )
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
