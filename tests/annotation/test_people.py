"""People of a project: tokens, sessions and names."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.annotation.served_site import made_site

from ragstone.annotation.database import Database
from ragstone.annotation.events import Event
from ragstone.annotation.people import PeopleTable, Person, PersonActivity, check_name
from ragstone.annotation.tables import SESSIONS
from ragstone.core.times import utc_text
from ragstone.errors import ConfigError
from ragstone.web import limits


def test_a_token_is_the_persons_until_there_is_a_new_one(database: Database) -> None:
    """A new token and a removal end the sessions; labels stay."""
    table = database
    token = table.add_person("ann", "annotator")
    assert table.person_of_token(token) == Person("ann", "annotator")
    session = table.open_session("ann")
    table.append("ann", [Event("1", "label", "q1", "support", value="yes")])
    assert table.activity() == {"ann": PersonActivity(items=1, sessions=1)}
    renewed = table.renew_token("ann")
    assert table.person_of_token(token) is None
    assert table.person_of_session(session) is None
    assert table.person_of_token(renewed) == Person("ann", "annotator")
    table.open_session("ann")
    table.remove_person("ann")
    assert table.person_of_token(renewed) is None
    assert table.activity() == {"ann": PersonActivity(items=1)}
    assert [one.person for one in table.labels()] == ["ann"]
    for action in (table.remove_person, table.renew_token):
        with pytest.raises(ConfigError, match="there is no person 'ann'"):
            action("ann")


def test_a_session_ends_after_its_time(database: Database) -> None:
    """Old sessions are forgotten if a new one is opened."""
    table = database
    session = table.open_session("ann")
    begun = dt.datetime.now(dt.UTC) - dt.timedelta(days=limits.SESSION_DAYS, seconds=1)
    old = sa.update(SESSIONS).values(opened=utc_text(begun.timestamp()))
    table.connections.write(lambda connection: connection.execute(old))
    assert table.person_of_session(session) is None
    assert table.activity() == {}
    table.open_session("bea")
    wanted = sa.select(SESSIONS.c.person)
    with table.connections.reading() as connection:
        assert list(connection.execute(wanted).scalars()) == ["bea"]


def test_what_another_process_ends_is_noticed_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A click needs no query for its person: a few sessions are known for some seconds."""
    monkeypatch.setattr(limits, "KNOWN_SESSIONS", 1)
    monkeypatch.setattr(limits, "SESSION_SECONDS", 1000)
    slow = made_site(tmp_path).database
    monkeypatch.setattr(limits, "SESSION_SECONDS", 0)
    quick, other = made_site(tmp_path).database, made_site(tmp_path).database
    first, last = slow.open_session("ann"), slow.open_session("ann")
    for table in (slow, quick):
        assert [table.person_of_session(one) for one in (first, last)] == ["ann", "ann"]
    other.end_sessions("ann")
    assert [slow.person_of_session(one) for one in (first, last)] == [None, "ann"]
    assert [quick.person_of_session(one) for one in (first, last)] == [None, None]


def test_one_of_many_sessions_ends(database: Database) -> None:
    """A person may be signed in in several browsers."""
    table: PeopleTable = database
    sessions = [table.open_session(name) for name in ("ann", "ann", "ann", "bea")]
    table.close_session(sessions[0])
    assert [table.person_of_session(one) for one in sessions] == [None, "ann", "ann", "bea"]
    assert table.end_sessions("ann") == 2
    assert [table.person_of_session(one) for one in sessions] == [None, None, None, "bea"]


@pytest.mark.parametrize(
    "name", ["", " a", "a\n", "a\tb", "agent", "known", "ann (again)", 101 * "x", "\u202eb"]
)
def test_names_that_cannot_be(name: str) -> None:
    """The message shows the name; `agent` and `known` are in events and exports already."""
    assert limits.PERSON_NAME_CHARACTERS == 100
    with pytest.raises(ConfigError, match="the name"):
        check_name(name)


def test_the_local_owners_name_is_no_annotators(database: Database) -> None:
    """Otherwise the printed address would open the session of an annotator."""
    table: Any = database
    with pytest.raises(ConfigError, match="'owner' is the owner's"):
        table.add_person("owner", "annotator")
    with pytest.raises(ConfigError, match=r"there is no role 'king'.*annotator"):
        table.add_person("ann", "king")
    table.add_person("أحمد", "reviewer")
    with pytest.raises(ConfigError, match="already"):
        table.add_person("أحمد", "owner")
