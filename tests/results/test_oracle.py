"""Gold context as the upper bound."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.made_results import made_results

from ragstone.results.oracle import context_gains
from ragstone.results.reader import StoredResults


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StoredResults:
    """Return made-up results of two systems under four settings."""
    return made_results(tmp_path_factory.mktemp("store"), queries=40)


def test_gains_compare_gold_with_no_context(results: StoredResults, tmp_path: Path) -> None:
    """The gain of gold context is the difference of one system under two settings."""
    gains = context_gains(results)

    assert [gain.system for gain in gains] == results.systems
    assert all((gain.difference.mean or 0) > 0 for gain in gains)
    assert not context_gains(made_results(tmp_path, settings=("none", "retrieved(3)")))
