"""Shared parts of the commands of `ragstone annotate`: the project and its database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.options import FILE, together
from ragstone.errors import ConfigError

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


@contextmanager
def opened(
    folder: Path, database: str, *, items: bool = False
) -> Iterator[tuple[Project, Database]]:
    """Yield a project and its database; "" means the file in its folder.

    Raises `ConfigError` if there is no project, or if it needs `items` and has none.
    """
    from ragstone.annotation.database import Database
    from ragstone.annotation.project import ITEMS, Project

    project = Project.open(folder)
    if items and not (folder / ITEMS).exists():
        raise ConfigError(f"{folder} has no {ITEMS}: a project needs items to show", path=folder)
    if items and not project.items:
        raise ConfigError(f"{folder / ITEMS} has no items: there is nothing to show", path=folder)
    with closing(Database.of(project, database)) as found:
        yield project, found
