"""`ragstone judge check EXPERIMENT --causes FILE`: found causes against those that people name."""

from __future__ import annotations

from pathlib import Path

from ragstone.cli.options import load_results, print_result, warn_of_attempt


def print_cause_check(experiment: Path, labels: Path, seed: int) -> None:
    """Print the agreement of an experiment's causes with people's labels."""
    from ragstone.results.causes.check import check_causes
    from ragstone.results.causes.check_text import cause_check_document, cause_check_text

    results = load_results(experiment, ())
    warn_of_attempt(results)
    found = check_causes(results, labels, seed=seed)
    print_result(lambda: cause_check_document(found), lambda: cause_check_text(found))
