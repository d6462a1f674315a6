"""`ragstone annotate people`: people, roles and tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.annotation.served_site import made_project
from tests.cli.test_cli_annotate import annotate, refused

from ragstone.annotation.database import Database
from ragstone.annotation.people import Person


def test_people_are_added_listed_and_removed(tmp_path: Path) -> None:
    """A token is printed once, alone on standard output; its hash is kept."""
    project = made_project(tmp_path)
    assert "Nobody is named" in annotate("people", tmp_path).stdout
    token = annotate("people", "add", tmp_path, "ann", "--role", "reviewer").stdout.strip()
    assert len(token) == 32
    database = Database.of(project)
    assert database.person_of_token(token) == Person("ann", "reviewer")
    listed = annotate("people", "list", tmp_path)
    assert listed.stdout.splitlines()[1].split() == ["ann", "reviewer", "0", "0"]
    assert token not in listed.output
    renewed = annotate("people", "token", tmp_path, "ann").stdout.strip()
    assert database.person_of_token(token) is None
    assert database.person_of_token(renewed) == Person("ann", "reviewer")
    assert "The labels stay" in annotate("people", "remove", tmp_path, "ann").stdout
    assert database.person_of_token(renewed) is None
    database.close()
    for path in tmp_path.rglob("*"):
        assert token.encode() not in path.read_bytes()


def test_every_command_has_json(tmp_path: Path) -> None:
    """The documents have the token where the text has it."""
    made_project(tmp_path)

    def document(*arguments: object) -> Any:
        return json.loads(annotate("people", *arguments, "--json").stdout)

    added = document("add", tmp_path, "ann")
    assert (added["name"], added["role"]) == ("ann", "annotator")
    assert document("token", tmp_path, "ann")["token"] != added["token"]
    (row,) = document(tmp_path)["people"]
    person = {"name": "ann", "role": "annotator", "signs_in": "token"}
    assert row == person | {"sessions": 0, "items": 0}
    assert document("remove", tmp_path, "ann") == {"name": "ann", "removed": True}
    assert document(tmp_path) == {"people": []}


def test_wrong_people_are_errors(tmp_path: Path) -> None:
    """Each message has the name and what exists."""
    made_project(tmp_path)
    annotate("people", "add", tmp_path, "ann")
    assert "there is a person 'ann' already" in refused("people", "add", tmp_path, "ann")
    assert "did you mean 'ann'" in refused("people", "token", tmp_path, "anne")
    assert "Known: ann" in refused("people", "remove", tmp_path, "bob")
    assert "must have 1 to 100" in refused("people", "add", tmp_path, " bob")
    assert "'owner' is the owner's" in refused("people", "add", tmp_path, "owner")
    assert "project.yaml" in refused("people", tmp_path / "absent")
    found = annotate("people", "add", tmp_path, "bob", "--role", "king")
    assert found.exit_code == 2
    assert "'king' is not one of" in found.output


@pytest.mark.parametrize("name", ["list", "add", "token", "remove"])
def test_help_of_every_command(name: str) -> None:
    """The database may be another one, also by the environment."""
    text = annotate("people", name, "--help").output
    assert "--database" in text
    assert "RAGSTONE_DATABASE" in text
