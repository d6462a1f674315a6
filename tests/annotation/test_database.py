"""The database of a project: events, the labels that follow from them, people and sessions."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from ragstone.annotation.connections import VARIABLE
from ragstone.annotation.database import Database, Person
from ragstone.annotation.events import Event
from ragstone.annotation.project import Project
from ragstone.errors import ConfigError
from ragstone.web import limits


def test_a_second_copy_counts_once_and_an_undo_restores_the_label_before(
    database: Database,
) -> None:
    """State is the last event that counts."""
    first = Event("1", "label", "q1", "support", value="yes")
    database.append("ann", [first, first, Event("2", "label", "q1", "support", value="no")])
    assert [one.value for one in database.labels()] == ["no"]

    database.append("ann", [Event("3", "undo", "q1", value="2")])

    assert [one.value for one in database.labels()] == ["yes"]
    assert [one.event.client_id for one in database.events()] == ["1", "2", "3"]
    assert database.undone("q1") == {"2"}


def test_events_and_labels_are_selected(database: Database) -> None:
    """By item, person, kind, field and number."""
    for person in ("ann", "bea"):
        rows = [Event(f"{person}{n}", "label", f"q{n}", f"f{n % 2}", value=n) for n in range(4)]
        database.append(person, [*rows, Event(f"{person}o", "open", "q0")])

    assert [one.sequence for one in database.events(after=8)] == [9, 10]
    assert [one.sequence for one in database.events(person="bea", kinds=["open"])] == [10]
    assert [one.sequence for one in database.events(item_id="q1")] == [2, 7]
    assert [(x.person, x.value) for x in database.labels(field="f1", item_id="q3")] == [
        ("ann", 3),
        ("bea", 3),
    ]
    assert len(list(database.labels(person="ann"))) == 4


def test_order_is_that_of_code_points(database: Database) -> None:
    """Exports and backups of both databases have one order, whatever language sorts a database."""
    mixed = ["B 1", "a_3", "z", "é"]
    for name in reversed(mixed):
        database.add_person(name, "annotator")
        database.append(name, [Event(f"{name}{q}", "label", q, q, q, 1) for q in mixed[::-1]])
    assert [one.name for one in database.people()] == mixed
    assert [(one.item_id, one.person) for one in database.labels()] == [
        (item_id, person) for item_id in mixed for person in mixed
    ]
    if database.connections.engine.dialect.name == "postgresql":
        ordered = "SELECT DISTINCT collation_name FROM information_schema.columns WHERE table_name"
        with database.connections.reading() as connection:
            for table in ("label", "person", "event"):
                text = f"{ordered} = '{table}' AND data_type = 'text'"
                assert connection.execute(sa.text(text)).scalars().all() == ["C"]


def test_people_sign_in_with_a_token_and_sessions_survive(
    database: Database, database_url: str
) -> None:
    """Tokens are kept as hashes."""
    token = database.add_person("ann", "reviewer")
    session = database.open_session("ann")
    for _ in range(2):
        assert database.person_of_session(session) == "ann"
    assert database.person_of_session("other") is None
    assert database.people() == [Person("ann", "reviewer")]
    with pytest.raises(ConfigError, match="there is a person 'ann' already"):
        database.add_person("ann", "owner")
    with pytest.raises(ConfigError, match="did you mean 'owner'"):
        database.add_person("bea", "ower")  # type: ignore[arg-type]

    again = Database.open(database_url, "ferry")
    assert again.person_of_session(session) == "ann"
    assert again.person_of_token(token) == Person("ann", "reviewer")
    assert again.person_of_token("other") is None
    again.close()


def test_a_session_that_another_process_ended_is_known_for_a_short_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A click needs no query for its person."""
    monkeypatch.setattr(limits, "SESSION_SECONDS", 0.0)
    monkeypatch.setattr(limits, "KNOWN_SESSIONS", 1)
    database = Database.open(f"sqlite:///{tmp_path / 'a.db'}", "ferry")
    session = database.open_session("ann")
    assert database.person_of_session(session) == "ann"
    ended = sa.text("DELETE FROM session")
    database.connections.write(lambda connection: connection.execute(ended))
    assert database.person_of_session(session) is None


def test_the_database_of_a_project_is_its_file_or_the_one_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address of the environment is used by every command."""
    (tmp_path / "project.yaml").write_text("name: ferry\ntask: support\n")
    project = Project.open(tmp_path)
    Database.of(project).close()
    assert (tmp_path / "annotation.db").exists()
    monkeypatch.setenv(VARIABLE, f"sqlite:///{tmp_path / 'other.db'}")
    Database.of(project).close()
    assert (tmp_path / "other.db").exists()


def test_labels_come_in_one_order_whatever_the_language_of_the_server(database: Database) -> None:
    """That of their bytes, so that an export has the same digest from each database."""
    names = ["Zoe", "ann", "Ärne", "a b", "ab", "A", "_", "é", "z"]
    for number, name in enumerate(names):
        database.append(name, [Event(f"{number}", "label", "q1", "support", value="yes")])

    assert [one.person for one in database.labels()] == sorted(names, key=str.encode)
    if not database.connections.is_sqlite:
        wanted = "SELECT collation_name FROM information_schema.columns WHERE table_name = 'label'"
        with database.connections.reading() as connection:
            assert "C" in connection.execute(sa.text(wanted)).scalars().all()
