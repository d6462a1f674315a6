"""Backups: the same form from both databases, whole or refused."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.annotation.backup import back_up, read_backup, restore, write_backup
from ragstone.annotation.check import check_database
from ragstone.annotation.database import Database, Person
from ragstone.annotation.events import Event
from ragstone.errors import ConfigError, NewerFile, RagstoneError, StoreError

EVENTS = [
    Event("1", "label", "q1", "support", "p1", "yes", "before", 1.5, "2099-01-01"),
    Event("2", "label", "q1", "support", "p1", {"\u05d0": [1.25, None, "<b>'\0"]}),
    Event("3", "undo", "q1", value="2"),
    Event("4", "skip", "q2", value="unclear"),
]


def filled(database: Database) -> str:
    """Fill a database, and return the token of its person."""
    token = database.add_person("ann", "reviewer")
    database.open_session("ann")
    database.append("ann", EVENTS)
    return token


def content(database: Database) -> list[Any]:
    """Return all that a backup must bring back."""
    return [list(database.events()), list(database.labels()), database.people()]


def rewritten(path: Path, change: Callable[[list[Any]], Any]) -> Path:
    """Change the lines of a backup."""
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    change(lines)
    path.write_bytes(gzip.compress("".join(json.dumps(one) + "\n" for one in lines).encode()))
    return path


def forged(path: Path, change: Callable[[list[Any]], Any]) -> Path:
    """Change the lines of a backup, and give it the digest of what it then has."""

    def with_digest(lines: list[Any]) -> None:
        change(lines)
        made = "".join(json.dumps(one) + "\n" for one in lines[:-1])
        lines[-1]["foot"]["digest"] = hashlib.sha256(made.encode()).hexdigest()

    return rewritten(path, with_digest)


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """Return a backup of a filled database."""
    database = Database.open(f"sqlite:///{tmp_path / 'first.db'}", "ferry")
    filled(database)
    made = write_backup(database.connections, "ferry", tmp_path / "b.jsonl.gz")
    database.close()
    return made.path


def test_a_backup_of_each_database_is_restored_in_each(
    database: Database, tmp_path: Path, postgres: Any
) -> None:
    """Events with their numbers and times, labels, and people with the tokens they have."""
    token = filled(database)
    made = write_backup(database.connections, "ferry", tmp_path / "backups")
    assert (made.events, made.people) == (4, 1)
    assert read_backup(made.path) == made
    assert token.encode() not in gzip.decompress(made.path.read_bytes())

    name = f"other_of_{database.connections.url.get_backend_name()}"
    for url in (f"sqlite:///{tmp_path / 'other.db'}", postgres.new_database(name)):
        other = Database.open(url, "ferry")
        assert restore(other.connections, "ferry", made.path, tmp_path) == (made, None)
        assert content(other) == content(database)
        assert other.person_of_token(token) == Person("ann", "reviewer")
        assert check_database(other.connections).is_sound
        assert other.append("ann", [Event("5", "open", "q1")])[0].sequence == 5
        other.close()


def test_the_digest_is_that_of_the_content(database: Database, tmp_path: Path) -> None:
    """Two backups differ in the time at most."""
    filled(database)
    first, second = (
        gzip.decompress(
            write_backup(database.connections, "ferry", tmp_path / name).path.read_bytes()
        )
        for name in ("a.gz", "b.gz")
    )
    assert first.splitlines()[1:-1] == second.splitlines()[1:-1]


def test_a_database_with_events_is_replaced_after_a_backup_only(
    database: Database, backup: Path, tmp_path: Path
) -> None:
    """The backup of what is replaced can be restored in turn."""
    database.append("bea", [Event("mine", "label", "q7", "support", value="no")])
    before = content(database)
    folder = tmp_path / "kept"
    with pytest.raises(ConfigError, match=r"has 1 events and 0 people; use --replace"):
        restore(database.connections, "ferry", backup, folder)
    assert content(database) == before

    _, replaced = restore(database.connections, "ferry", backup, folder, replace=True)
    assert database.count() == 4
    assert replaced is not None
    restore(database.connections, "ferry", replaced.path, folder, replace=True)
    assert content(database) == before


@pytest.mark.parametrize(
    ("change", "kind", "told"),
    [
        (lambda lines: lines.pop(2), StoreError, "is not as it was written"),
        (lambda lines: lines.pop(), StoreError, "is cut off"),
        (lambda lines: lines[2]["event"].update(person="eve"), StoreError, "is not as it was"),
        (lambda lines: lines.insert(1, lines[0]), StoreError, "unexpected line 'head'"),
        (lambda lines: lines.append(lines[1]), StoreError, "unexpected line 'person'"),
        (lambda lines: lines[0]["head"].update(kind="x"), StoreError, "is not a backup"),
        (lambda lines: lines[0]["head"].update(format=2), NewerFile, "by a newer Ragstone"),
        (lambda lines: lines[0]["head"].update(version=99), NewerFile, "by a newer Ragstone"),
        (lambda lines: lines.clear(), StoreError, "is cut off"),
        (
            lambda lines: lines.append([1]),
            StoreError,
            "is not a backup of ragstone annotate, or is",
        ),
    ],
)
def test_a_backup_that_is_not_as_it_was_written_is_refused(
    backup: Path, tmp_path: Path, change: Any, kind: type[RagstoneError], told: str
) -> None:
    """Before anything changes."""
    database = Database.open(f"sqlite:///{tmp_path / 'a.db'}", "ferry")
    with pytest.raises(kind, match=told):
        restore(database.connections, "ferry", rewritten(backup, change), tmp_path)
    assert database.count() == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[2]["event"].update(value="{"),
        lambda lines: lines[2]["event"].update(value=None),
        lambda lines: lines[2]["event"].update(item_id=5),
        lambda lines: lines[2]["event"].update(sequence="1"),
        lambda lines: lines[2]["event"].update(sequence=2**40),
        lambda lines: lines[2]["event"].update(kind="drop"),
        lambda lines: lines[2]["event"].update(part="\0"),
        lambda lines: lines[2]["event"].update(more=1),
        lambda lines: lines[2]["event"].pop("person"),
        lambda lines: lines[1]["person"].update(role="admin"),
        lambda lines: lines[0]["head"].pop("project"),
        lambda lines: lines[0]["head"].update(version="0"),
    ],
)
def test_a_forged_backup_is_refused_also_with_a_right_digest(
    backup: Path, tmp_path: Path, change: Any
) -> None:
    """Its rows would end every later start with an error of the program."""
    database = Database.open(f"sqlite:///{tmp_path / 'a.db'}", "ferry")
    with pytest.raises(StoreError, match="nothing was restored"):
        restore(database.connections, "ferry", forged(backup, change), tmp_path)
    assert (database.count(), database.people()) == (0, [])


def test_a_file_that_is_cut_off_or_another_one_is_refused(backup: Path, tmp_path: Path) -> None:
    """Each with the name of the file."""
    whole = backup.read_bytes()
    backup.write_bytes(whole[:-20])
    with pytest.raises(StoreError, match=r"b\.jsonl\.gz is cut off; nothing was restored"):
        read_backup(backup)
    backup.write_bytes(b"notes")
    with pytest.raises(StoreError, match="is not a backup of ragstone annotate, or is damaged"):
        read_backup(backup)
    with pytest.raises(ConfigError, match=r"there is no backup .*none\.gz"):
        read_backup(tmp_path / "none.gz")


def test_a_backup_of_another_project_is_refused(backup: Path, tmp_path: Path) -> None:
    """Both names are in the message."""
    database = Database.open(f"sqlite:///{tmp_path / 'a.db'}", "harbour")
    with pytest.raises(ConfigError, match="of the project 'ferry', not of 'harbour'"):
        restore(database.connections, "harbour", backup, tmp_path)


def test_a_backup_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """The error names the file."""
    database = Database.open(f"sqlite:///{tmp_path / 'a.db'}", "ferry")
    (tmp_path / "file").write_text("")
    with (
        database.connections.reading() as connection,
        pytest.raises(StoreError, match="cannot write the backup"),
    ):
        back_up(connection, "ferry", tmp_path / "file" / "b.gz")


def test_a_backup_of_an_empty_project_is_one(database: Database, tmp_path: Path) -> None:
    """It can be restored."""
    made = write_backup(database.connections, "ferry", tmp_path)
    assert restore(database.connections, "ferry", made.path, tmp_path) == (made, None)
