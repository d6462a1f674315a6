"""The probabilities of labels in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.errors import DatasetError
from ragstone.results.label_probabilities import Inclusion, read_inclusions


def write(path: Path, *rows: dict[str, Any]) -> Path:
    """Write ratings of one system."""
    names = {"system": "s", "setting": "gold", "value": 1}
    path.write_text("\n".join(json.dumps({**names, **row}) for row in rows))
    return path


def test_lines_without_a_probability_are_a_random_sample(tmp_path: Path) -> None:
    """Only lines with a probability have an inclusion; the round is 1 by default."""
    path = write(
        tmp_path / "labels.jsonl",
        {"query_id": "a"},
        {"query_id": "b", "inclusion_probability": 1},
        {"query_id": "c", "inclusion_probability": 0.2, "round": 3},
    )

    assert read_inclusions(path) == {("s", "gold"): {"b": Inclusion(1.0), "c": Inclusion(0.2, 3)}}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"inclusion_probability": 0}, "above 0 and at most 1, found 0"),
        ({"inclusion_probability": "half"}, "found 'half'"),
        ({"inclusion_probability": 0.5, "round": 0}, "'round' must be a whole number from 1"),
    ],
)
def test_impossible_values_are_refused(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    """The error names the line."""
    with pytest.raises(DatasetError, match=f"line 1: .*{message}"):
        read_inclusions(write(tmp_path / "labels.jsonl", {"query_id": "a", **row}))
