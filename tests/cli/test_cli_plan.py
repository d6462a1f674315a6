"""`ragstone plan power`: a table and an answer for people, one JSON object for machines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from ragstone.cli.plan import command


@pytest.fixture
def experiment(tmp_path: Path) -> str:
    """Write an experiment file with two systems."""
    path = tmp_path / "small.yaml"
    document = {
        "data": "sample",
        "store": str(tmp_path / "store"),
        "systems": {
            "bm25": {"retriever": "bm25", "generator": "gold"},
            "other": {"retriever": {"name": "bm25", "k1": 0.5}, "generator": "gold"},
        },
        "settings": ["none", "retrieved(3)"],
        "metrics": ["nDCG@10", "Match"],
    }
    path.write_text(yaml.safe_dump(document))
    return str(path)


def run(*arguments: str) -> str:
    """Return the output of the command."""
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_people_get_a_table_and_an_answer(experiment: str) -> None:
    """The headline is the correctness metric; both settings are corrected together."""
    shown = run("power", experiment, "--difference", "0.2", "--mean", "0.7")

    assert shown.startswith("Match: a difference of 0.2, shown with a probability of 80%")
    assert "after Holm over 2 comparisons" in shown
    assert "queries are enough" in shown


def test_machines_get_the_same_in_json(experiment: str) -> None:
    """The rows, the number of queries and whether the data set has them."""
    arguments = ("--mean", "0.7", "--correlation", "0.5", "--power", "0.9", "--json")

    found = json.loads(run("power", experiment, *arguments))

    (row,) = found["rows"]
    assert row["size"]["queries"] == found["queries"]
    assert found["enough"] is (found["queries"] <= found["available"])
    assert 0.88 <= row["size"]["power"] <= 0.92
    assert found == json.loads(run("power", experiment, *arguments)), "seeded"
