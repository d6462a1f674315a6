"""`ragstone annotate backup`, `restore` and `check`: the database of a project as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.annotate_project import opened, project_options
from ragstone.cli.options import FILE, json_option, print_result

if TYPE_CHECKING:
    from ragstone.annotation.check import DatabaseCheck


@click.command("backup")
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FILE",
    help="File to write, ending with .jsonl.gz (default: a new one in PROJECT/backups).",
)
@project_options
@json_option
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


@click.command("restore")
@project_options
@json_option
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


@click.command("check")
@click.option("--repair", is_flag=True, help="Derive labels that are stale from the events again.")
@project_options
@json_option
def check_command(*, folder: Path, database: str, repair: bool) -> None:
    """Check that no event of PROJECT is missing or double, and that labels follow from events.

    The exit code is 1 if something is wrong and was not repaired.

    \b
    Example:
      ragstone annotate check my-labels --repair
    """
    from ragstone.annotation.check import check_database

    with opened(folder, database) as (project, found):
        checked = check_database(found.connections, project.items, repair=repair)
    print_result(lambda: {"sound": checked.is_sound, "found": checked}, lambda: _text(checked))
    click.get_current_context().exit(0 if checked.is_sound else 1)


def _text(found: DatabaseCheck) -> str:
    lines = [f"{found.events:,} events, {found.labels:,} labels, {found.people:,} people"]
    lines += [f"damaged: {one}; restore a backup" for one in found.damage]
    way_out = "derived again" if found.repaired else "--repair derives them again"
    lines += [f"stale: {one}; {way_out}" for one in found.stale]
    if found.unknown_items:
        lines.append(f"note: {found.unknown_items:,} events are for items that are not in the file")
    return "\n".join([*lines, *([] if found.damage or found.stale else ["nothing is wrong"])])
