"""`ragstone annotate --active` without a judge's scores."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.annotation.served_site import made_project

from ragstone.cli.annotate import command
from ragstone.errors import ConfigError


def test_active_says_what_is_missing(tmp_path: Path) -> None:
    """The message names the two commands that make such a project; nothing is served."""
    made_project(tmp_path / "mine")
    given = [str(tmp_path / "mine"), "--active", "--no-browser", "--port", "0"]
    found = CliRunner().invoke(command, given)
    assert found.stdout == ""
    with pytest.raises(ConfigError, match=r"ragstone judge next .*--from next\.jsonl"):
        raise found.exception or AssertionError
