"""The experiment that a query is looked up in."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.fakes.faulty_system import FAULTS, faulty

from ragstone.core.times import utc_text
from ragstone.errors import ConfigError
from ragstone.experiment.asked_query import results_with
from ragstone.experiment.load import load_experiment


def test_the_experiment_that_ran_last_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among those of the store in this folder that have the query."""
    store = str(tmp_path / ".ragstone")
    before = faulty(tmp_path, store=store).record.finished
    while utc_text() == before:
        time.sleep(0.05)
    later = load_experiment(tmp_path / "e.yaml", ["name=later", "sample.limit=3"]).run()
    monkeypatch.chdir(tmp_path)

    for kind in FAULTS:
        assert results_with(kind).name == ("later" if kind in later.queries else "e")
    assert 0 < len(later.queries) < len(FAULTS)
    with pytest.raises(ConfigError, match="no answered query"):
        results_with("absent")
