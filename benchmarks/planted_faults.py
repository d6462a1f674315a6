"""Causes that are found of those that were planted: python benchmarks/planted_faults.py.

`ragstone.testing.FakeFaults` makes each kind of mistake on chosen queries. The experiment runs
under `retrieved(3)` alone, and then the trials that decide the causes, as `--decide` asks them.
Fails if less than 95 % of the faults of a cause are found, or if a right answer is blamed.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from pathlib import Path

from ragstone import load_experiment
from ragstone.experiment.deciding import decide_causes
from ragstone.results.causes.found import FoundCauses, causes_of
from ragstone.results.results import Results
from ragstone.statistics.proportions import share_interval
from ragstone.testing import FakeFaults

SETTING = "retrieved(3)"
GOAL = 0.95


def by_query(found: FoundCauses) -> dict[str, str]:
    """Return query id -> cause of the system that makes the planted mistakes."""
    return {one.query_id: one.cause for one in found.of("faulty", SETTING)}


def measure(per_cause: int, folder: Path) -> None:
    """Plant faults, find their causes before and after deciding, and print the table."""
    with FakeFaults(folder, per_cause) as faults:
        experiment = load_experiment(faults.file)
        results = experiment.run()
        before = by_query(causes_of(results))
        asked = decide_causes(experiment, results)
    after = by_query(causes_of(Results(results.store, results.record)))
    print("| planted | n | by the run alone | with the trials |\n| --- | ---: | ---: | --- |")
    for cause in faults.faults:
        planted = [query_id for query_id, of in faults.planted.items() if of == cause]
        first, hits = (sum(of.get(q) == cause for q in planted) for of in (before, after))
        low, high = share_interval(hits, len(planted), exact=True)
        share = f"{hits / len(planted):.3f} [{low:.3f}, {high:.3f}]"
        print(f"| {cause} | {len(planted)} | {first} | {hits}: {share} |")
        assert hits >= GOAL * len(planted)
    blamed = after.keys() - faults.planted.keys()
    print(f"\n{len(blamed)} right answers are blamed; {asked.calls:,} calls were made to decide")
    assert not blamed


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-cause", type=int, default=100)
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        measure(given.per_cause, Path(folder) / "faults")


if __name__ == "__main__":
    main()
