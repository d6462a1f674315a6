"""`ragstone annotate restore`: a backup into the database of a project."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.cli.annotate_database import database_options, opened
from ragstone.cli.options import FILE, print_result


@click.command("restore")
@database_options
@click.argument("backup", type=FILE, metavar="FILE")
@click.option(
    "--replace",
    is_flag=True,
    help="Replace the events and people that the database has, after a backup of them.",
)
def restore_command(*, folder: Path, database: str, backup: Path, replace: bool) -> None:
    """Put the people and the events of FILE into the database of PROJECT.

    Stop the server first. The whole FILE is compared with its digest before anything changes.
    Labels are derived from the events again. People sign in again with the tokens they have.

    \b
    Examples:
      ragstone annotate restore my-labels my-labels.jsonl.gz --database postgresql://HOST/NAME
      ragstone annotate restore my-labels my-labels.jsonl.gz --replace
    """
    from ragstone.annotation.backup import restore
    from ragstone.annotation.project import BACKUPS

    with opened(folder, database) as (project, found):
        made, before = restore(
            found.connections, project.name, backup, folder / BACKUPS, replace=replace
        )
    kept = "" if before is None else f"\nwhat was replaced: {before.path}"
    print_result(
        lambda: {"restored": made, "replaced": before},
        lambda: f"{made.path}: {made.events:,} events, {made.people:,} people restored{kept}",
    )
