"""A built benchmark as files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from arro3.io import read_parquet

from ragstone.building.built import Built, check_target, write_built
from ragstone.building.funnel import Candidate, Funnel
from ragstone.components.judges.support import Support
from ragstone.data.load import load_dataset
from ragstone.errors import DatasetError

ITEMS = [Candidate("a", "Why?"), Candidate("b", "How?")]


def built(funnel: Funnel) -> Built:
    """Return a benchmark of the sample data set."""
    return Built(load_dataset("sample"), funnel, {"command": "build"}, {"warnings": []})


def test_a_benchmark_is_a_data_set_with_its_rejections(tmp_path: Path) -> None:
    """The folder loads as a data set; rejected items have step and reason; a rerun replaces it."""
    funnel = Funnel()
    funnel.keep("screen", ITEMS, {"b": "too short"})
    for _ in range(2):
        files = write_built(built(funnel), tmp_path / "made")
    assert {path.name for path in files} >= {"build.json", "rejected.parquet", "queries.jsonl"}
    assert len(load_dataset(str(tmp_path / "made")).queries) == len(load_dataset("sample").queries)
    rows = read_parquet(str(tmp_path / "made" / "rejected.parquet")).read_all()
    assert rows.column("reason").to_pylist() == ["too short"]
    document = orjson.loads((tmp_path / "made" / "build.json").read_bytes())
    assert document["stages"][0] == {
        "stage": "screen",
        "in": 2,
        "out": 1,
        "rejected": {"too short": 1},
    }
    assert document["partial"] == ""


def test_a_build_that_was_killed_at_once_is_resumed(tmp_path: Path) -> None:
    """The folder has a file beside the call log, and not the log itself."""
    (tmp_path / "calls.leases.sqlite").touch()
    check_target(tmp_path)


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    """Nothing is written among somebody's files."""
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DatasetError, match=r"notes\.txt and is not a built benchmark"):
        check_target(tmp_path)


def test_an_empty_build_leaves_no_data_of_an_earlier_one(tmp_path: Path) -> None:
    """The judgements of a judge have a mark; a later build without a query removes the data."""
    judge = Support(model={"name": "chat", "base_url": "http://127.0.0.1:9/v1", "model": "fake"})
    write_built(replace(built(Funnel()), judge=judge), tmp_path)
    assert "support" in load_dataset(str(tmp_path)).source.machine_qrels
    (tmp_path / "calls.sqlite").touch()
    none = load_dataset("sample").select([])
    write_built(replace(built(Funnel()), dataset=none), tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"build.json", "rejected.parquet", "calls.sqlite"}
