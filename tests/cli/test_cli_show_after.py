"""`ragstone show --after`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.fakes.canary_store import COUNT, canary_experiment

from ragstone.cli.show import command
from ragstone.errors import DatasetError


def test_dates_of_gold_passages(tmp_path: Path) -> None:
    """Without dates of queries, those of the passages in the data set count; none is an error."""
    canary_experiment(
        tmp_path,
        systems={"own": {"retriever": "bm25", "generator": "gold"}},
        metrics=["Match"],
        judges=[],
    )
    arguments = [str(tmp_path / "e.yaml"), "--after", "2010-12"]
    without = CliRunner().invoke(command, arguments)
    assert isinstance(without.exception, DatasetError)
    assert "--date-label" in str(without.exception)
    corpus = tmp_path / "set" / "corpus.jsonl"
    rows = [json.loads(line) for line in corpus.read_text().splitlines()]
    lines = (json.dumps({**row, "written": f"{2000 + n}"}) for n, row in enumerate(rows))
    corpus.write_text("\n".join(lines))
    arguments += ["--date-label", "written"]
    document = json.loads(CliRunner().invoke(command, [*arguments, "--json"]).stdout)
    assert document["queries"] == {"before": 11, "after": COUNT - 11}
    text = CliRunner().invoke(command, arguments).stdout
    assert "label written" in text
    assert "after minus before" in text


@pytest.mark.parametrize("date", ["soon", "2024-31"])
def test_a_wrong_date_is_named(tmp_path: Path, date: str) -> None:
    """Before the data are read."""
    canary_experiment(tmp_path, judges=[], settings=["gold"], metrics=["Match"])
    result = CliRunner().invoke(command, [str(tmp_path / "e.yaml"), "--after", date])
    assert f"--after: {date!r} is not a date" in str(result.exception)
