"""`ragstone run --executor`: the commands after it show the same as without workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from ragstone.cli import root
from ragstone.core import limits
from ragstone.core.store import Store
from ragstone.errors import ConfigError
from ragstone.results.record import Record


def ragstone(*arguments: str) -> Result:
    """Run the command line."""
    return CliRunner().invoke(root, list(arguments))


def _file(folder: Path) -> str:
    folder.mkdir()
    path = folder / "small.yaml"
    document: dict[str, Any] = {
        "data": "sample",
        "store": str(folder / "store"),
        "systems": {
            "bm25": {"retriever": "bm25", "generator": "gold"},
            "other": {"retriever": {"name": "bm25", "k1": 0.5}, "generator": "gold"},
        },
        "settings": ["retrieved(3)"],
        "metrics": ["nDCG@10", "Match"],
        "sample": {"limit": 50},
    }
    path.write_text(yaml.safe_dump(document))
    return str(path)


def _shown(file: str) -> list[str]:
    """Return what the commands after a run print, without the place of the files."""
    folder = str(Path(file).parent)
    for command in (
        ["show", file],
        ["export", file, "--to", "trec", "-o", f"{folder}/runs"],
    ):
        result = ragstone(*command)
        assert result.exit_code == 0, (command, result.output, result.exception)
    compared = ragstone("compare", f"{file}:bm25", f"{file}:other", "--json").output
    runs = [path for path in sorted(Path(folder, "runs").rglob("*")) if path.is_file()]
    assert runs
    return [compared.replace(folder, ""), *(path.read_text() for path in runs)]


def test_a_run_by_workers_is_shown_as_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables, comparison and export are equal, and so is the record but for its times."""
    monkeypatch.setattr(limits, "BLOCK_QUERIES", 20)
    plain, sent = _file(tmp_path / "plain"), _file(tmp_path / "sent")
    assert ragstone("run", plain).exit_code == 0
    first = ragstone("run", sent, "--executor", "processes(2)")
    assert first.exit_code == 0, first.output

    assert _shown(sent) == _shown(plain)
    assert ragstone("report", sent, "-o", str(tmp_path / "report.html")).exit_code == 0
    records = [Record.load(Store(Path(f).parent / "store"), "small") for f in (plain, sent)]
    assert records[0].trials == records[1].trials
    assert records[0].systems == records[1].systems
    written = [path.read_text() for path in (tmp_path / "sent" / "store").glob("*/*.json")]
    assert written
    assert not any("executor" in text or "processes(2)" in text for text in written)


def test_a_bad_executor_costs_nothing(tmp_path: Path) -> None:
    """Exit code 2, the nearest name and the forms."""
    result = ragstone("run", _file(tmp_path / "a"), "--executor", "proceses(2)")
    assert isinstance(result.exception, ConfigError)
    assert "did you mean 'processes'?" in str(result.exception)
    assert not (tmp_path / "a" / "store").exists()
