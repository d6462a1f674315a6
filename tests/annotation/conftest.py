"""What the tests of annotation share: an empty database of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.annotation.database import Database

PROJECT = "ferry"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty database, in turn of each kind."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path / 'annotation.db'}"


@pytest.fixture
def database(database_url: str, tmp_path: Path) -> Iterator[Database]:
    """Yield the database of a new project, in turn of each kind."""
    opened = Database.open(database_url, PROJECT, tmp_path / "backups")
    yield opened
    opened.close()
