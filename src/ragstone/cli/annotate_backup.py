"""`ragstone annotate backup`: the people and the events of a project in one file."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.cli.annotate_database import database_options, opened
from ragstone.cli.options import FILE, print_result


@click.command("backup")
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FILE",
    help="File to write, ending with .jsonl.gz (default: a new one in PROJECT/backups).",
)
@database_options
def backup_command(*, folder: Path, database: str, output: Path | None) -> None:
    """Write the people and the events of PROJECT to one file.

    People may go on while it is written. The form is the same for SQLite and PostgreSQL, so that a
    backup and `ragstone annotate restore` move a project from one to the other. The file has no
    token, only hashes of them; sessions are left out.

    \b
    Example:
      ragstone annotate backup my-labels -o my-labels.jsonl.gz
    """
    from ragstone.annotation.backup import write_backup
    from ragstone.annotation.project import BACKUPS

    if output is not None and output.suffix != ".gz":
        raise click.UsageError(f"the name of a backup ends with .jsonl.gz, not as {output.name!r}")
    with opened(folder, database) as (project, found):
        made = write_backup(found.connections, project.name, output or folder / BACKUPS)
    print_result(
        lambda: made, lambda: f"{made.path}: {made.events:,} events, {made.people:,} people"
    )
