"""How fast intervals and tests are computed, against scipy on the same numbers in the same run.

    python benchmarks/statistics_speed.py [--rounds 5] [--json FILE]

The numbers are mtRAG's released scores (RB_agg) of its synthetic conversations: each answer of five
models beside the answer of gpt-4o-mini to the same question, 5,905 pairs in 200 conversations.
Neither side uses more than one thread. Seconds are those of the processor, the least of the rounds,
which the two sides take in turns; scipy gets its fastest form: the differences as one sample, a
vectorised mean, small batches. Ours is repeated, so that a round takes as many interruptions.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import numpy as np
from measured import (  # type: ignore[import-not-found]  # a file beside this one
    DATA,
    Measured,
    hand_over,
    in_turns,
    need_data,
)
from scipy import stats

from ragstone.statistics.paired import paired_difference
from ragstone.statistics.permutation import sign_flip_p
from ragstone.statistics.summary import mean_interval, summarise

RESAMPLES, BATCH = 10_000, 100
REPEATS = 20
BASE = "gpt-4o-mini"
Work = Callable[[], object]


def pairs() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the scores of the base, those of the other models, and the conversation of each."""
    path = DATA / "mtrag" / "synthetic" / "evaluations.json.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = json.load(file)["evaluations"]
    scores: dict[str, dict[str, float]] = {}
    for row in rows:
        value = row["annotations"]["rb_agg"]["composite"]["value"]
        scores.setdefault(row["model_id"], {})[row["task_id"]] = value
    base = scores.pop(BASE)
    tasks = [task for model in scores.values() for task in model]
    others = [value for model in scores.values() for value in model.values()]
    conversations = [task.partition("<::>")[0] for task in tasks]
    return np.array([base[task] for task in tasks]), np.array(others), conversations


def against_scipy(gaps: np.ndarray, rounds: int) -> list[Measured]:
    """Measure intervals and the test of differences."""

    def bootstrap(method: str) -> Work:
        return lambda: stats.bootstrap(
            (gaps,), np.mean, n_resamples=RESAMPLES, batch=BATCH, method=method, rng=1
        )

    def permutation() -> object:
        return stats.permutation_test(
            (gaps,), np.mean, permutation_type="samples", n_resamples=RESAMPLES, batch=BATCH, rng=1
        )

    best = in_turns(
        {
            "interval": lambda: [mean_interval(gaps, None, 0.95) for _ in range(REPEATS)],
            "percentile": bootstrap("percentile"),
            "BCa": bootstrap("BCa"),
            "test": lambda: [sign_flip_p(gaps) for _ in range(REPEATS)],
            "permutation": permutation,
        },
        rounds,
    )
    n, interval, test = len(gaps), best["interval"] / REPEATS, best["test"] / REPEATS
    return [
        row("paired bootstrap, against the percentile interval", n, interval, best["percentile"]),
        row("paired bootstrap, against the BCa interval", n, interval, best["BCa"]),
        row("paired permutation test", n, test, best["permutation"]),
    ]


def alone(base: np.ndarray, others: np.ndarray, clusters: list[str], rounds: int) -> list[Measured]:
    """Measure what scipy does not have."""
    gaps = others - base
    work: dict[str, Work] = {
        "interval over clusters": lambda: summarise(gaps, clusters=clusters),
        "whole paired comparison": lambda: paired_difference(base, others),
        "whole paired comparison over clusters": lambda: paired_difference(
            base, others, clusters=clusters
        ),
        "100 summaries": lambda: [summarise(gaps) for _ in range(100)],
    }
    best = in_turns(work, rounds)
    return [row(job, len(gaps), seconds) for job, seconds in best.items()]


def row(job: str, n: int, ours: float, peer: float | None = None) -> Measured:
    """Return the figures of one job from its seconds."""
    return Measured(
        job=job,
        n=n,
        unit="CPU ms",
        ours=ours * 1000,
        peer=None if peer is None else peer * 1000,
        against="" if peer is None else f"scipy {version('scipy')}",
        conditions=f"one thread, {RESAMPLES:,} resamples if there are any, mtRAG's RB_agg",
    )


def show_agreement(gaps: np.ndarray) -> None:
    """Print both intervals, with the sampling error of scipy's ends."""
    theirs = stats.bootstrap(
        (gaps,), np.mean, n_resamples=RESAMPLES, batch=BATCH, method="percentile", rng=0
    )
    low, high = mean_interval(gaps, None, 0.95) or (0.0, 0.0)
    error = 0.027 * theirs.standard_error
    scipys = theirs.confidence_interval
    print(f"interval of the difference: ours [{low:.6f}, {high:.6f}]")
    print(f"scipy's percentile interval: [{scipys.low:.6f}, {scipys.high:.6f}]")
    print(f"whose ends have a sampling error of {error:.6f}")


def main() -> None:
    """Print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    need_data("mtrag")
    base, others, clusters = pairs()
    found = against_scipy(others - base, options.rounds)
    hand_over([*found, *alone(base, others, clusters, options.rounds)], options.json)
    show_agreement(others - base)


if __name__ == "__main__":
    main()
