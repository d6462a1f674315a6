"""The notes on an experiment before a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragstone.components.metrics.row_checks import LABEL
from ragstone.data.dataset import Dataset
from ragstone.experiment.load import load_experiment


def test_a_plan_has_the_notes_of_its_parts(tmp_path: Path) -> None:
    """Checks of the queries that no metric reads are a note; usual queries have none."""
    query = {"query_id": "q", "text": "Who?", "gold_answers": ["Ann"]}
    keys: dict[str, Any] = {"settings": ["none"], "metrics": ["Match"], "store": str(tmp_path)}
    keys["systems"] = [{"generator": "gold"}]
    usual, checked = (
        load_experiment({**keys, "data": Dataset.from_records(queries=[{**query, **labels}])})
        for labels in ({}, {LABEL: ["contains: Ann"]})
    )

    assert usual.plan().notes == ()
    assert len(checked.plan().notes) == 1
