"""`ragstone data` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.conftest import SharedData

from ragstone.cli import main
from ragstone.cli.data import command
from ragstone.data.load import load_dataset


def test_show_describes_the_sample() -> None:
    """The output has counts, labels, lengths and rows of the bundled data set."""
    result = CliRunner().invoke(command, ["show", "sample"])
    assert result.exit_code == 0
    sample = load_dataset("sample")
    assert f"passages       {len(sample.corpus):>9,}" in result.output
    assert f"queries        {len(sample.queries):>9,}" in result.output
    assert "answerability  answerable" in result.output
    assert sample.queries[0].text in result.output


def test_show_prints_json_for_machines() -> None:
    """The JSON is one object with the same numbers."""
    found = json.loads(CliRunner().invoke(command, ["show", "sample", "--json"]).output)
    sample = load_dataset("sample")
    assert found["queries"] == len(sample.queries)
    assert found["example_queries"][0]["query_id"] == sample.queries[0].query_id
    assert sum(found["answerability"].values()) <= found["queries"]
    assert found["words"]["passage"]["texts"] == found["passages"]


def test_show_counts_mirages_queries_by_source_and_positives(shared_data: SharedData) -> None:
    """The counts are those of the paper's Figure 3, and the positives per query of its Figure 4."""
    folder = str(shared_data("mirage"))
    found = json.loads(CliRunner().invoke(command, ["show", folder, "--json"]).output)
    labels = {name: label["counts"] for name, label in found["query_labels"].items()}
    assert labels["source"] == {
        "naturalqa": 3_578,
        "popqa": 3_075,
        "triviaqa": 584,
        "ifqa": 248,
        "drop": 75,
    }
    assert labels["num_doc_labels"] == {"1": 6_323, "2": 954, "3": 160, "4": 52, "5": 71}
    assert sum(labels["num_doc_labels"].values()) == found["queries"] == 7_560


def test_convert_writes_ragstones_own_layout_once(tmp_path: Path) -> None:
    """The output lists the files with their sizes; existing files are not overwritten."""
    target = tmp_path / "copy"
    result = CliRunner().invoke(command, ["convert", "sample", str(target)])
    assert result.exit_code == 0
    assert f"{(target / 'corpus.jsonl').stat().st_size:,} bytes" in result.output
    assert load_dataset(target).queries == load_dataset("sample").queries
    again = CliRunner().invoke(command, ["convert", "sample", str(target)])
    assert "already exists" in str(again.exception)
    other = CliRunner().invoke(command, ["convert", "sample", str(tmp_path / "b"), "--json"])
    assert json.loads(other.output)["files"][0] == str(tmp_path / "b" / "corpus.jsonl")


def test_a_wrong_path_exits_with_2_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message is on stderr."""
    monkeypatch.setattr("sys.argv", ["ragstone", "data", "show", "no-such-set"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("Error: no data set 'no-such-set'")


@pytest.mark.parametrize("arguments", [["--help"], ["show", "--help"], ["convert", "--help"]])
def test_help_has_an_example(arguments: list[str]) -> None:
    """The help of the group and of each command has an example."""
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0
    assert "Example" in result.output
    assert "ragstone data" in result.output
