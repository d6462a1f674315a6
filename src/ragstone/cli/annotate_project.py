"""What the commands of `ragstone annotate` share: the project, and its database by an address."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.options import FILE, together
from ragstone.errors import ConfigError, MissingDependency

if TYPE_CHECKING:
    from ragstone.annotation.database import Database
    from ragstone.annotation.project import Project

database_option: Final = click.option(
    "--database",
    default="",
    metavar="URL",
    envvar="RAGSTONE_DATABASE",
    show_envvar=True,
    help="Database: postgresql://USER@HOST/NAME (default: annotation.db in the project).",
)
project_options: Final = together(
    click.argument("folder", type=FILE, metavar="PROJECT"), database_option
)
"""The project and its database."""


class DefaultGroup(click.Group):
    """A group whose first command may be left out.

    Args:
        default: the name of the command.
    """

    def __init__(self, *arguments: Any, default: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; those that begin with no command's name belong to the default."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


def open_database(project: Project, url: str) -> Database:
    """Open the database of a project; "" stands for the file in its folder."""
    try:
        from ragstone.annotation.database import Database
    except ModuleNotFoundError as error:
        raise MissingDependency("ragstone annotate", "sqlalchemy", "annotate") from error
    return Database.of(project, url)


def open_project(folder: Path) -> Project:
    """Return a project, whose items must exist."""
    from ragstone.annotation.project import ITEMS, Project

    project = Project.open(folder)
    if not (folder / ITEMS).exists():
        raise ConfigError(f"{folder} has no {ITEMS}: a project needs items to show", path=folder)
    if not project.items:
        raise ConfigError(f"{folder / ITEMS} has no items: there is nothing to show", path=folder)
    return project
