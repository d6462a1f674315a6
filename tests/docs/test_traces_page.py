"""The page on traces: its program, its output, its row and the keys of the JSON."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragstone.cli.traces import command

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "traces.md").read_text("utf-8")


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the traces of the page's program."""
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r'^```python title="record.py"\n(.*?)^```', PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "record.py").write_text(code)
    subprocess.run([sys.executable, "record.py"], check=True)
    return tmp_path


def test_the_page_shows_the_output_and_the_row(recorded: Path) -> None:
    """The command's output is that of the page; the row too, but for the times and the trace."""
    result = CliRunner().invoke(command, ["convert", "traces.jsonl", "-o", "rows.jsonl"])
    shown = PAGE.split("-o rows.jsonl\nrows.jsonl", 1)[1].split("```")[0]
    assert result.output == f"rows.jsonl{shown}"

    row = json.loads((recorded / "rows.jsonl").read_text().splitlines()[0])
    (text,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    expected = json.loads(text)
    assert row.pop("trace_id") != expected.pop("trace_id")
    assert row["usage"].pop("seconds") > 0
    assert expected["usage"].pop("seconds") > 0
    assert row["steps"][0].pop("latency_s") > 0
    assert expected["steps"][0].pop("latency_s") > 0
    assert row == expected


def test_every_key_of_the_json_and_of_a_row_is_described(recorded: Path) -> None:
    """The tables of the page have all of them."""
    arguments = ["convert", "traces.jsonl", "-o", "rows.jsonl", "--json"]
    found = json.loads(CliRunner().invoke(command, arguments).output)
    row = json.loads((recorded / "rows.jsonl").read_text().splitlines()[0])
    assert [key for key in (*found, *row, "reason") if f"`{key}`" not in PAGE] == []
