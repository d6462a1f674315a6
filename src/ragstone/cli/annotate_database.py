"""What the commands about the database of a project share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.options import FILE, json_option, together

if TYPE_CHECKING:
    from ragstone.annotation.database import Database
    from ragstone.annotation.project import Project

database_option: Final = click.option(
    "--database",
    default="",
    metavar="URL",
    help="Address of a PostgreSQL database (default: RAGSTONE_DATABASE, or the project's file).",
)
project_options: Final[Callable[..., Any]] = together(
    click.argument("folder", type=FILE, metavar="PROJECT"), database_option, json_option
)


@contextmanager
def opened(folder: Path, database: str) -> Iterator[tuple[Project, Database]]:
    """Yield a project and its database."""
    from ragstone.annotation.database import Database
    from ragstone.annotation.project import Project

    project = Project.open(folder)
    found = Database.of(project, database)
    try:
        yield project, found
    finally:
        found.close()
