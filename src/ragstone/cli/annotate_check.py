"""`ragstone annotate check`: whether a project's database is whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.annotate_database import database_options, opened
from ragstone.cli.options import print_result

if TYPE_CHECKING:
    from ragstone.annotation.check import DatabaseCheck


@click.command("check")
@click.option("--repair", is_flag=True, help="Derive labels that are stale from the events again.")
@database_options
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
