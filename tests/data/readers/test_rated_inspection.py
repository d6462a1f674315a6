"""Ratings in files of InspectorRAGet: people apart from metrics, scales, passages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.data.readers.rated_inspection import read_inspections
from ragstone.data.readers.ratings import RatedItem
from ragstone.errors import DatasetError


def document(**annotations: Any) -> dict[str, Any]:
    """Return a file with one task and one answer."""
    task = {"task_id": "c<::>1", "input": [{"speaker": "user", "text": "Who?"}]}
    return {
        "models": [{"model_id": "m"}],
        "metrics": [
            {
                "name": "fluency",
                "author": "human",
                "values": [{"numeric_value": n} for n in (1, 3)],
            },
            {"name": "wins", "author": "human", "range": [0, 100, 10]},
            {"name": "rl_f", "author": "algorithm"},
        ],
        "documents": [{"document_id": "d", "text": "Ann did."}],
        "tasks": [{**task, "contexts": [{"document_id": "d"}]}],
        "evaluations": [
            {
                "task_id": "c<::>1",
                "model_id": "m",
                "model_response": "Ann.",
                "annotations": annotations,
            }
        ],
    }


def test_people_are_not_metrics(tmp_path: Path) -> None:
    """Values of algorithms are metrics under Ragstone's names; each scale is the declared one."""
    path = tmp_path / "any.json"
    given = {"ann": {"value": "3"}, "ben": {"value": 2}}
    path.write_text(json.dumps(document(fluency=given, rl_f={"composite": {"value": 0.5}})))

    held = read_inspections([path])

    item = RatedItem("c<::>1", "m")
    assert [(one.rater, one.value) for one in held.ratings] == [("ann", 3), ("ben", 2)]
    assert held.metrics == {"RL_F": {item: 0.5}}
    assert {name: str(scale) for name, scale in held.scales.items()} == {"fluency": "1-3"}
    assert held.texts[item].passages == ("Ann did.",)
    assert held.clusters == {"c<::>1": "c"}


def test_a_file_without_people_is_refused(tmp_path: Path) -> None:
    """It has only values of metrics."""
    path = tmp_path / "any.json"
    path.write_text(json.dumps(document(rl_f={"composite": {"value": 0.5}})))

    with pytest.raises(DatasetError, match="no rating by people"):
        read_inspections([path])
