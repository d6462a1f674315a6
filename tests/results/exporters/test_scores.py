"""Scores of every query as a file, in three forms with the same rows."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from arro3.io import read_parquet
from tests.fakes.made_results import made_results

from ragstone.core.schemas import rows
from ragstone.errors import ConfigError, DatasetError
from ragstone.evaluation.compare import compare
from ragstone.results.exporters.scores import ScoreTable


def test_the_three_forms_have_the_same_rows(tmp_path: Path) -> None:
    """A failed score has no value; the failure rate, which is computed from them, is left out."""
    results = made_results(tmp_path / "store")
    paths = [tmp_path / f"s.{end}" for end in ("parquet", "csv", "jsonl")]
    for path in paths:
        assert ScoreTable().export(results, path) == [path]

    table = list(rows(read_parquet(str(paths[0])).read_all()))
    with paths[1].open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    lines = [json.loads(line) for line in paths[2].read_text().splitlines()]

    assert table == lines
    assert [row["value"] for row in cells] == [
        "" if row["value"] is None else str(row["value"]) for row in lines
    ]
    assert {row["metric"] for row in lines} >= {"Match", "F1", "nDCG@10"}
    assert "failure rate" not in {row["metric"] for row in lines}
    assert {row["status"] for row in lines} >= {"scored", "failed"}


def test_the_file_of_one_system_is_compared(tmp_path: Path) -> None:
    """JSON lines of two experiments with one system are files of scores."""
    paths = []
    for name in ("one", "two"):
        results = made_results(tmp_path / name, systems=(name,), settings=("none",))
        paths += ScoreTable().export(results, tmp_path / f"{name}.jsonl")

    assert compare(*paths)["Match"].n > 0


def test_another_end_and_an_existing_file_are_refused(tmp_path: Path) -> None:
    """Nothing is written."""
    results = made_results(tmp_path / "store")
    with pytest.raises(ConfigError, match=r"scores.xlsx: .* ends with .parquet, .csv, .jsonl"):
        ScoreTable().export(results, tmp_path / "scores.xlsx")
    (tmp_path / "s.csv").write_text("mine")
    with pytest.raises(DatasetError, match="already exists"):
        ScoreTable().export(results, tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text() == "mine"
