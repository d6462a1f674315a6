"""What the commands about the database of a project share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.cli.annotate_project import open_database, project_options
from ragstone.cli.options import json_option, together

if TYPE_CHECKING:
    from ragstone.annotation.database import Database
    from ragstone.annotation.project import Project

database_options: Final[Callable[..., Any]] = together(project_options, json_option)


@contextmanager
def opened(folder: Path, database: str) -> Iterator[tuple[Project, Database]]:
    """Yield a project and its database."""
    from ragstone.annotation.project import Project

    project = Project.open(folder)
    found = open_database(project, database)
    try:
        yield project, found
    finally:
        found.close()
