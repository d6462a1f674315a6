"""Causes with BM25 and a dense retriever: python benchmarks/causes_retrievers.py ../shared/data.

Runs benchmarks/causes.yaml on nq_singlehop and prints the causes of the wrong answers. Then the
gain that the trials with BM25 predict for a retriever that shows every gold passage it lost, and
the gain that the dense retriever brought.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ragstone import load_experiment
from ragstone.results.causes.found import causes_of
from ragstone.results.causes.trials import TrialsAtHand
from ragstone.results.reader import StoredResults
from ragstone.statistics.paired import paired_difference

FILE = Path(__file__).with_name("causes.yaml")
SETTING = "retrieved(3)"
LOST = ("retrieval_miss", "ranking")


def print_causes(results: StoredResults) -> None:
    """Print the causes under the setting that retrieves, as in docs/causes.md."""
    found = causes_of(results)
    wrong = {one.system: one.wrong for one in found.counts if one.setting == SETTING}
    print("| system, wrong answers | of | cause | n | share |\n| --- | ---: | --- | ---: | --- |")
    for one in found.shares:
        if one.setting == SETTING:
            low, high = one.interval
            share = f"{one.share:.3f} [{low:.3f}, {high:.3f}]"
            print(f"| {one.system} | {wrong[one.system]} | {one.cause} | {one.n} | {share} |")


def print_gains(results: StoredResults) -> None:
    """Print the predicted gain of a better retriever than BM25, and the gain of the dense one."""
    trials = TrialsAtHand(results)
    before = trials.labels("bm25", SETTING)
    with_gold = trials.labels("bm25", f"gold+{SETTING}")
    lost = {q.query_id for q in causes_of(results).of("bm25", SETTING) if q.cause in LOST}
    shown = {q: with_gold[q] if q in lost else label for q, label in before.items()}
    print("\n| what | n | gain |\n| --- | ---: | --- |")
    for name, after in (
        ("predicted: bm25 with every lost gold passage shown first", shown),
        ("seen: dense in place of bm25", trials.labels("dense", SETTING)),
    ):
        ids = list(before)
        pairs = paired_difference([before[q] for q in ids], [after[q] for q in ids])
        low, high = pairs.interval
        print(f"| {name} | {pairs.n} | {pairs.difference:+.3f} [{low:+.3f}, {high:+.3f}] |")


def main() -> None:
    """Run the experiment, or read it if it is stored, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with nq_singlehop")
    parser.add_argument("--store", type=Path, default=Path(".ragstone"))
    given = parser.parse_args()
    overrides = [f"data={given.data / 'nq_singlehop'}", f"store={given.store}"]
    results = load_experiment(FILE, overrides).run()
    print_causes(results)
    print_gains(results)


if __name__ == "__main__":
    main()
