"""`ragstone annotate backup`, `restore` and `check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result

from ragstone.annotation.connections import VARIABLE
from ragstone.annotation.database import Database
from ragstone.annotation.events import Event
from ragstone.annotation.project import Project
from ragstone.cli import root


def ragstone(*arguments: object) -> Result:
    """Run the command line."""
    return CliRunner().invoke(root, ["annotate", *map(str, arguments)])


def told(*arguments: object) -> Any:
    """Return the JSON of a command."""
    result = ragstone(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a project with two labels."""
    made = tmp_path / "ferry"
    made.mkdir()
    (made / "project.yaml").write_text("name: ferry\ntask: support\n")
    (made / "items.jsonl").write_text('{"item_id": "q1", "query": "When does it sail?"}\n')
    database = Database.of(Project.open(made))
    names = ("q1", "q2")
    database.append("ann", [Event(n, "label", n, "support", value="yes") for n in names])
    database.close()
    return made


def test_a_project_moves_to_postgresql_and_back(
    folder: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup, and a restore into another database."""
    backup = told("backup", folder)
    assert backup["events"] == 2
    assert Path(backup["path"]).parent == folder / "backups"
    assert ragstone("check", folder, "--database", postgres_url).output.startswith("0 events")

    moved = told("restore", folder, backup["path"], "--database", postgres_url)
    assert (moved["restored"]["digest"], moved["replaced"]) == (backup["digest"], None)
    monkeypatch.setenv(VARIABLE, postgres_url)
    checked = told("check", folder)
    assert checked["sound"]
    assert (checked["found"]["events"], checked["found"]["unknown_items"]) == (2, 1)


def test_a_restore_keeps_what_it_replaces(folder: Path, tmp_path: Path) -> None:
    """Without --replace nothing changes."""
    path = tmp_path / "b.jsonl.gz"
    assert "2 events, 0 people" in ragstone("backup", folder, "-o", path).output
    refused = ragstone("restore", folder, path)
    assert refused.exit_code != 0
    assert "use --replace" in str(refused.exception)

    replaced = ragstone("restore", folder, path, "--replace")
    assert f"{path}: 2 events, 0 people restored\nwhat was replaced: " in replaced.output


def test_a_check_tells_what_is_stale_and_derives_it_again(folder: Path) -> None:
    """The exit code is 1 until it is repaired."""
    database = Database.of(Project.open(folder))
    database.connections.write(lambda c: c.execute(sa.text("DELETE FROM label")))
    database.close()

    found = ragstone("check", folder)
    assert found.exit_code == 1
    assert "stale: 2 labels are missing; --repair derives them again" in found.output
    repaired = ragstone("check", folder, "--repair")
    assert repaired.exit_code == 0
    assert "stale: 2 labels are missing; derived again" in repaired.output
    assert "nothing is wrong" in ragstone("check", folder).output


def test_the_name_of_a_backup_is_checked(folder: Path) -> None:
    """A name without .gz would be taken for a folder."""
    found = ragstone("backup", folder, "-o", "b.json")
    assert found.exit_code == 2
    assert "ends with .jsonl.gz" in found.output
