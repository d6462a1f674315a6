"""How far a system that goes on from its own answers drifts from one after reference answers.

    ragstone run benchmarks/mtrag_live.yaml store=STORE
    python benchmarks/mtrag_live.py STORE mtrag_live

Prints Markdown tables: means with n, failures and intervals over conversations; the paired
difference own minus reference history over all later turns, and by turn (Holm over the turns).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ragstone.core.store import Store
from ragstone.results.results import Results
from ragstone.results.scored_rows import TrialResults
from ragstone.results.wording import interval_text, number
from ragstone.statistics.breakdown import differences_by, groups_of
from ragstone.statistics.paired import Difference
from ragstone.statistics.summary import Summary

REFERENCE, OWN = "reference history", "own history"


def means(results: Results) -> Iterator[list[object]]:
    """Yield one row per metric: the mean of every system under every setting."""
    cells = {(c.metric, c.system, c.setting): c.summary for c in results.answer_cells}
    trials = [(trial.system, trial.setting) for trial in results.trials]
    for metric in dict.fromkeys(metric for metric, _, _ in cells):
        yield [metric, *(_mean(cells[metric, *trial]) for trial in trials)]


def _mean(summary: Summary) -> str:
    told = f"{number(summary.mean)}{interval_text(summary.interval)}"
    return f"{told} (n {summary.n}, failed {summary.failed}, n/a {summary.not_applicable})"


def drift(results: Results, label: str) -> Iterator[list[object]]:
    """Yield one row per metric, setting and value of a label: own minus reference history."""
    groups = groups_of(results.queries.values(), label)
    for setting in results.settings:
        one, other = (_trial(results, name, setting) for name in (REFERENCE, OWN))
        for metric in one.scores:
            scores = (one.scores[metric], other.scores[metric])
            found = differences_by(*scores, groups, results.clusters, results.record.scale(metric))
            for group in found:
                gap = group.difference
                row = [setting, metric, group.value, gap.n, _gap(gap), f"{group.p_adjusted:.3f}"]
                if group.value not in ("1", "first"):
                    yield row


def _gap(gap: Difference) -> str:
    low, high = gap.interval or (float("nan"), float("nan"))
    return f"{gap.difference:+.3f} [{low:+.3f}, {high:+.3f}]"


def _trial(results: Results, system: str, setting: str) -> TrialResults:
    return next(t for t in results.trials if (t.system, t.setting) == (system, setting))


def facts(results: Results) -> Iterator[list[object]]:
    """Yield counts of dropped passages and turns, of failures, and of equal first answers."""
    for trial in results.trials:
        held = list(trial.predictions.values())
        dropped = sum(bool(p.dropped) for p in held)
        failed = sum(p.answer is None for p in held)
        yield [trial.system, trial.setting, len(held), failed, dropped]


def table(headers: Sequence[str], lines: Iterator[list[object]]) -> str:
    """Return a Markdown table."""
    every = [headers, ["---"] * len(headers), *lines]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in every)


def main() -> None:
    """Read the results and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("store", type=Path)
    parser.add_argument("name")
    asked = parser.parse_args()
    results = Results.load(Store(asked.store), asked.name)
    trials = [f"{trial.system}, {trial.setting}" for trial in results.trials]
    gaps = ["setting", "metric", "turns", "n", "own minus reference", "p (Holm)"]
    parts = [
        table(["system", "setting", "n", "failed", "dropped something"], facts(results)),
        table(["metric", *trials], means(results)),
        table(gaps, drift(results, "first_turn")),
        table(gaps, drift(results, "turn")),
    ]
    sys.stdout.write("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
