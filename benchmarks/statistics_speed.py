"""How fast intervals and tests are computed, against scipy on the same numbers in the same run.

    python benchmarks/statistics_speed.py

Neither side uses more than one thread. Each time is processor time, the least of several runs after
one that warms up; scipy gets its fastest form: the differences as one sample, a vectorised mean,
small batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from ragstone.statistics.paired import paired_difference
from ragstone.statistics.permutation import sign_flip_p
from ragstone.statistics.summary import mean_interval, summarise

ITEMS, RESAMPLES, BATCH = 10_000, 10_000, 100


def least(work: Callable[[], object], runs: int) -> float:
    """Return the least processor time of `runs` runs, in seconds."""
    times = []
    for _ in range(runs + 1):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times[1:])


def row(what: str, mine: float, theirs: float | None = None) -> None:
    """Print one line: our time, scipy's, and how many times as fast."""
    other = "" if theirs is None else f"{theirs * 1000:10.1f} ms {theirs / mine:8.0f} x"
    print(f"{what:58}{mine * 1000:10.2f} ms {other}")


def show_agreement(gaps: np.ndarray) -> None:
    """Print both intervals, with the sampling error that scipy's ends have."""
    theirs = stats.bootstrap(
        (gaps,), np.mean, n_resamples=RESAMPLES, batch=BATCH, method="percentile", rng=0
    )
    low, high = mean_interval(gaps, None, 0.95) or (0.0, 0.0)
    error = 0.027 * theirs.standard_error
    scipys = theirs.confidence_interval
    print(f"\ninterval of the difference: ours [{low:.6f}, {high:.6f}]")
    print(f"scipy's percentile interval: [{scipys.low:.6f}, {scipys.high:.6f}]")
    print(f"whose ends have a sampling error of {error:.6f}")


def main() -> None:
    """Print the table."""
    generator = np.random.default_rng(0)
    a = generator.beta(2, 3, ITEMS)
    b = np.clip(a + generator.normal(0.003, 0.2, ITEMS), 0, 1)
    gaps = b - a
    clusters = (np.cumsum(generator.random(ITEMS) < 0.15)).tolist()

    def bootstrap(method: str) -> object:
        return stats.bootstrap(
            (gaps,), np.mean, n_resamples=RESAMPLES, batch=BATCH, method=method, rng=1
        )

    def permutation() -> object:
        return stats.permutation_test(
            (gaps,), np.mean, permutation_type="samples", n_resamples=RESAMPLES, batch=BATCH, rng=1
        )

    print(f"{ITEMS:,} pairs, {RESAMPLES:,} resamples if there are any\n")
    print(f"{'':58}{'ours':>13} {'scipy':>13} {'ratio':>10}")
    interval = least(lambda: mean_interval(gaps, None, 0.95), 9)
    row(
        "paired bootstrap, against scipy's percentile",
        interval,
        least(lambda: bootstrap("percentile"), 3),
    )
    row("paired bootstrap, against scipy's BCa", interval, least(lambda: bootstrap("BCa"), 2))
    row("paired permutation test", least(lambda: sign_flip_p(gaps), 9), least(permutation, 1))
    row(
        "interval over clusters of unequal sizes",
        least(lambda: summarise(gaps, clusters=clusters), 9),
    )
    row("a whole paired comparison", least(lambda: paired_difference(a, b), 9))
    row("the same over clusters", least(lambda: paired_difference(a, b, clusters=clusters), 9))
    hundred = least(lambda: [summarise(gaps) for _ in range(100)], 3)
    row("a report's 100 summaries", hundred)
    show_agreement(gaps)


if __name__ == "__main__":
    main()
