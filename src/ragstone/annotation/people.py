"""The people of a project: names, roles, tokens and sessions. Only hashes of tokens are kept."""

from __future__ import annotations

import datetime as dt
import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, TypeVar

import sqlalchemy as sa

from ragstone.annotation.connections import Connections
from ragstone.annotation.recent import Recent
from ragstone.annotation.tables import LABELS, PEOPLE, SESSIONS
from ragstone.core.times import utc_text
from ragstone.errors import ConfigError, did_you_mean
from ragstone.web import limits

T = TypeVar("T")
PersonRole: TypeAlias = Literal["annotator", "reviewer", "owner"]
ROLES: Final[tuple[PersonRole, ...]] = ("annotator", "reviewer", "owner")
OWNER: Final = "owner"
"""The person of a project on this machine alone, unless `--name` gives another name."""
_RESERVED: Final = ("agent", "known", "model", "ragstone")
"""Names in events and exports that belong to programs."""
REPEATED: Final = " (again)"
"""Suffix of a person's name in exports, for the second labels of the person."""


@dataclass(frozen=True, slots=True)
class Person:
    """A named person of a project."""

    name: str
    role: PersonRole


@dataclass(frozen=True, slots=True)
class PersonActivity:
    """How much a person did, and in how many browsers they are signed in."""

    items: int = 0
    """Items with a label of the person, or skipped."""
    sessions: int = 0


class PeopleTable:
    """The people and sessions in the database of a project."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections
        # A click needs no query for its person; see `limits.SESSION_SECONDS`.
        self._sessions = Recent[str, str](limits.KNOWN_SESSIONS, limits.SESSION_SECONDS)
        self._people = Recent[str, list[Person]](1, limits.SESSION_SECONDS)

    def add_person(self, name: str, role: PersonRole) -> str:
        """Add a person and return the token that signs them in; only its hash is kept.

        Raises `ConfigError` for a name that exists or cannot be one, and for an unknown role.
        """
        check_name(name)
        if role not in ROLES:
            raise ConfigError(f"there is no role {role!r}{did_you_mean(role, ROLES)}", value=role)
        if name == OWNER and role != OWNER:
            raise ConfigError(f"the name {OWNER!r} is the owner's; choose another one", value=name)
        token = _new_token()
        row = {"name": name, "role": role, "token_hash": token_hash(token), "added": utc_text()}

        def add(connection: sa.Connection) -> bool:
            known = connection.execute(sa.select(PEOPLE.c.name).where(PEOPLE.c.name == name))
            if known.one_or_none() is not None:
                return False
            connection.execute(sa.insert(PEOPLE), row)
            return True

        if not self._written(add):
            raise ConfigError(f"there is a person {name!r} already", value=name)
        return token

    def people(self) -> list[Person]:
        """Return the people of the project, by name."""
        known = self._people.get("")
        if known is None:
            wanted = sa.select(PEOPLE.c.name, PEOPLE.c.role).order_by(PEOPLE.c.name)
            known = [Person(row.name, row.role) for row in self._rows(wanted)]
            self._people.put("", known)
        return list(known)

    def person(self, name: str) -> Person | None:
        """Return a person by name, or None."""
        return next((one for one in self.people() if one.name == name), None)

    def person_of_token(self, token: str) -> Person | None:
        """Return the person whom a token signs in."""
        mine = PEOPLE.c.token_hash == token_hash(token)
        row = self._row(sa.select(PEOPLE.c.name, PEOPLE.c.role).where(mine))
        return None if row is None else Person(row.name, row.role)

    def renew_token(self, name: str) -> str:
        """Return a new token of a person; the old one no longer works, and sessions end."""
        token = _new_token()
        mine = PEOPLE.c.name == name
        changed = sa.update(PEOPLE).where(mine).values(token_hash=token_hash(token))
        self._change_person(name, changed)
        return token

    def remove_person(self, name: str) -> None:
        """Remove a person and end their sessions; their events and labels stay."""
        self._change_person(name, sa.delete(PEOPLE).where(PEOPLE.c.name == name))

    def activity(self) -> dict[str, PersonActivity]:
        """Return the activity of everyone with a label or a session."""
        items = sa.func.count(sa.distinct(LABELS.c.item_id))
        by_name = sa.select(LABELS.c.person, items.label("n")).group_by(LABELS.c.person)
        done = {row.person: row.n for row in self._rows(by_name)}
        open_now = (
            sa.select(SESSIONS.c.person, sa.func.count().label("n"))
            .where(SESSIONS.c.opened > _oldest())
            .group_by(SESSIONS.c.person)
        )
        signed_in = {row.person: row.n for row in self._rows(open_now)}
        return {
            name: PersonActivity(done.get(name, 0), signed_in.get(name, 0))
            for name in sorted({*done, *signed_in})
        }

    # Sessions

    def open_session(self, person: str) -> str:
        """Return the token of a new session; it survives a restart of the server."""
        token = _new_token()
        row = {"token_hash": token_hash(token), "person": person, "opened": utc_text()}

        def add(connection: sa.Connection) -> None:
            connection.execute(sa.delete(SESSIONS).where(SESSIONS.c.opened <= _oldest()))
            connection.execute(sa.insert(SESSIONS), row)

        self.connections.write(add)
        return token

    def person_of_session(self, token: str) -> str | None:
        """Return the name of the person of a session, or None if it ended."""
        key = token_hash(token)
        known = self._sessions.get(key)
        if known is None:
            mine = (SESSIONS.c.token_hash == key, SESSIONS.c.opened > _oldest())
            row = self._row(sa.select(SESSIONS.c.person).where(*mine))
            if row is not None:
                known = str(row.person)
                self._sessions.put(key, known)
        return known

    def close_session(self, token: str) -> None:
        """End one session."""
        mine = sa.delete(SESSIONS).where(SESSIONS.c.token_hash == token_hash(token))
        self._written(lambda connection: connection.execute(mine))

    def end_sessions(self, person: str) -> int:
        """End all sessions of a person and return their number."""
        mine = sa.delete(SESSIONS).where(SESSIONS.c.person == person)
        return self._written(lambda connection: connection.execute(mine).rowcount)

    def _change_person(self, name: str, change: sa.Update | sa.Delete) -> None:
        """Change the row of a person, and end their sessions."""

        def changed(connection: sa.Connection) -> int:
            connection.execute(sa.delete(SESSIONS).where(SESSIONS.c.person == name))
            return connection.execute(change).rowcount

        if not self._written(changed):
            near = did_you_mean(name, [one.name for one in self.people()])
            raise ConfigError(f"there is no person {name!r}{near}", value=name)

    def _written(self, action: Callable[[sa.Connection], T]) -> T:
        """Write, and forget the known people and sessions."""
        found = self.connections.write(action)
        self._sessions.clear()
        self._people.clear()
        return found

    def _row(self, wanted: sa.Select[Any]) -> Any:
        with self.connections.reading() as connection:
            return connection.execute(wanted).one_or_none()

    def _rows(
        self, wanted: sa.Select[Any], values: Mapping[str, Any] | None = None
    ) -> Iterator[Any]:
        streamed = wanted.execution_options(yield_per=1000)
        with self.connections.reading() as connection, connection.execute(streamed, values) as rows:
            yield from rows


def check_name(name: str) -> None:
    """Raise `ConfigError` if a text cannot be the name of a person."""
    most = limits.PERSON_NAME_CHARACTERS
    if not name or name != name.strip() or not name.isprintable() or len(name) > most:
        raise ConfigError(
            f"the name {name!r} must have 1 to {most} printable characters, without spaces at its "
            "ends",
            value=name,
        )
    if name in _RESERVED or name.endswith(REPEATED):
        raise ConfigError(f"the name {name!r} is reserved; choose another one", value=name)


def token_hash(token: str) -> str:
    """Return the hash that the database keeps of a token, which is random and long."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def _new_token() -> str:
    return secrets.token_urlsafe(24)


def _oldest() -> str:
    """Return the time at which a session that ends now was opened."""
    return utc_text((dt.datetime.now(dt.UTC) - dt.timedelta(days=limits.SESSION_DAYS)).timestamp())
