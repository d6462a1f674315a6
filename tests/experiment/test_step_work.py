"""Steps are computed after those that they need, in memory or in a store."""

from __future__ import annotations

from pathlib import Path

from ragstone.core.store import Store
from ragstone.experiment.load import load_experiment
from ragstone.experiment.step_work import StepWork


def test_a_store_keeps_the_results(tmp_path: Path) -> None:
    """In memory the tables are the same, and nothing is written."""
    made = load_experiment(
        {
            "data": "sample",
            "store": str(tmp_path / "store"),
            "systems": [{"retriever": "bm25", "generator": "gold"}],
            "settings": ["retrieved(2)"],
            "metrics": ["Match"],
        }
    )
    (trial,) = made.steps().trials
    with made.open_calls() as calls:
        services = made.services(calls)
        in_memory = StepWork(services).table(trial.contexts)
        store = Store(tmp_path / "other")
        kept = StepWork(services, store).table(trial.contexts)

    assert in_memory.column("query_id").to_pylist() == kept.column("query_id").to_pylist()
    assert list((tmp_path / "other").rglob("*.arrow")) or list((tmp_path / "other").iterdir())
