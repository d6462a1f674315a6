"""The tables of a database: made if it is new, upgraded in one transaction if it is old.

A backup is made before an upgrade. A database of a newer version, of another project or of another
program is refused and not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from ragstone.annotation.backup import back_up
from ragstone.annotation.connections import Connections
from ragstone.annotation.derived import derive_again
from ragstone.annotation.tables import META, METADATA, VERSION
from ragstone.errors import ConfigError, NewerFile

_UNDONE: Final = "ALTER TABLE event ADD COLUMN undone BOOLEAN NOT NULL DEFAULT FALSE"
_LABEL: Final = """CREATE TABLE label (
    item_id {text}, person {text}, field {text}, part {text},
    value TEXT NOT NULL, shown TEXT NOT NULL, seconds FLOAT, sequence INTEGER NOT NULL,
    received TEXT NOT NULL, PRIMARY KEY (item_id, person, field, part)
)"""
Step = Callable[[sa.Connection], None]


def _to_1(connection: sa.Connection) -> None:
    """Events that were undone are marked, and the labels that follow have a table of their own."""
    connection.execute(sa.text(_UNDONE))
    order = ' COLLATE "C"' if connection.dialect.name == "postgresql" else ""
    connection.execute(sa.text(_LABEL.format(text=f"TEXT{order} NOT NULL")))
    connection.execute(sa.text("CREATE INDEX label_person ON label (person)"))


STEPS: Final[Mapping[int, Step]] = {0: _to_1}
"""Version -> the step from it to the next one. A step is never changed once it was released."""


def prepare(connections: Connections, project: str, backups: Path) -> None:
    """Make or upgrade the tables of a project's database.

    Args:
        connections: the database.
        project: the name of the project.
        backups: the folder of the backup that is made before an upgrade.

    Raises:
        ConfigError: the database is of another project or program.
        NewerFile: the database is of a newer version.
        StoreUnavailable: the database cannot be used.
    """
    connections.write(lambda connection: _prepare(connections, connection, project, backups))


def _prepare(
    connections: Connections, connection: sa.Connection, project: str, backups: Path
) -> None:
    found = _found(connections, connection, project)
    if found == VERSION:
        return
    back_up(connection, project, backups, f"version-{found}", found)
    for version in range(found, VERSION):
        STEPS[version](connection)
    stated = sa.update(META).where(META.c.name == "version")
    connection.execute(stated.values(value=str(VERSION)))
    derive_again(connection)


def _found(connections: Connections, connection: sa.Connection, project: str) -> int:
    """Return the version of a database; a new one gets its tables."""
    known = set(sa.inspect(connection).get_table_names())
    if META.name not in known:
        foreign = sorted(known & set(METADATA.tables))
        if foreign:
            raise ConfigError(
                f"{connections.shown} has a table {foreign[0]!r} of another program; make a "
                "database of its own for the project",
                value=foreign[0],
            )
        METADATA.create_all(connection)
        rows = {"version": str(VERSION), "project": project}
        listed = [{"name": name, "value": value} for name, value in rows.items()]
        connection.execute(sa.insert(META), listed)
        return VERSION
    columns = {one["name"] for one in sa.inspect(connection).get_columns(META.name)}
    known_meta = {}
    if {"name", "value"} <= columns:
        known_meta = {row.name: row.value for row in connection.execute(sa.select(META))}
    return _checked(connections, known_meta, project)


def _checked(connections: Connections, known: Mapping[str, str], project: str) -> int:
    """Return the version that a database states; raise if it is not this project's."""
    if "project" not in known or not known.get("version", "").isdecimal():
        raise ConfigError(
            f"{connections.shown} is not of ragstone annotate: its table 'meta' is of another "
            "program; make a database of its own for the project"
        )
    if known["project"] != project:
        raise ConfigError(
            f"{connections.shown} belongs to the project {known['project']!r}, not to {project!r}",
            value=project,
        )
    version = int(known["version"])
    if version > VERSION:
        raise NewerFile(
            f"{connections.shown} has the version {version}, this Ragstone writes {VERSION}: "
            "update it with pip install -U ragstone",
            path=connections.path,
            value=version,
            way_out="pip install -U ragstone",
        )
    return version
