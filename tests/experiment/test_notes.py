"""The notes on an experiment before a run."""

from __future__ import annotations

from pathlib import Path

from ragstone.experiment.load import load_experiment


def test_repeats_of_a_greedy_system_are_noted(tmp_path: Path) -> None:
    """A plan has the notes of data, parts and repeats together; a usual one has none."""
    sample, metrics = {"limit": 4}, ["Match"]
    keys = {"data": "sample", "sample": sample, "metrics": metrics, "settings": ["none"]}
    keys["store"] = str(tmp_path)
    usual = load_experiment({**keys, "systems": [{"generator": "gold"}]})
    repeated = load_experiment({**keys, "systems": [{"generator": "gold", "repeats": 3}]})

    assert usual.plan().notes == ()
    assert len(repeated.plan().notes) >= 1
