"""`ragstone data card` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragstone.cli.data import command
from ragstone.errors import ConfigError


def test_a_card_as_text_and_json(tmp_path: Path) -> None:
    """What is unknown is listed with the options that state it."""
    target = tmp_path / "größe"
    arguments = ["card", "sample", "-o", str(target)]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.exception
    assert "README.md" in result.output
    assert "unknown: creator, URL, date published; state it with --creator" in result.output
    assert "data check: 3 warnings" in result.output
    more = ["card", str(target), "--creator", "Us", "--date", "2026-11", "--no-check", "--json"]
    document = json.loads(CliRunner().invoke(command, more).output)
    assert document["unknown"] == ["licence", "URL"] or document["unknown"] == ["URL"]
    assert (document["creator"], document["date"]) == ("Us", "2026-11-01")
    assert document["findings"] is None
    assert [Path(name).name for name in document["files"]] == ["README.md", "croissant.json"]


def test_a_wrong_date_is_refused(tmp_path: Path) -> None:
    """Before anything is written."""
    result = CliRunner().invoke(
        command, ["card", "sample", "-o", str(tmp_path / "x"), "--date", "y"]
    )
    assert isinstance(result.exception, ConfigError)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("folder", ["empty", "absent"])
def test_an_empty_data_set_is_refused(tmp_path: Path, folder: str) -> None:
    """The reader's error has the way out."""
    (tmp_path / "empty").mkdir()
    result = CliRunner().invoke(command, ["card", str(tmp_path / folder)])
    assert "contains no data set" in str(result.exception) or "no data set" in str(result.exception)
