"""`ragstone annotate people`: the people of a project, their roles and their tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragstone.cli.annotate_project import DefaultGroup, opened, project_options
from ragstone.cli.options import json_option, print_json, print_result, wants_json
from ragstone.cli.screen import say, tell

name_argument = click.argument("name", metavar="NAME")


@click.group("people", cls=DefaultGroup, default="list")
def people_group() -> None:
    """List, add and remove the people of a project, and give new tokens.

    Annotators answer questions, reviewers check what others wrote, owners see results, people and
    exports. A token signs a person in, in any number of browsers. A new token ends the sessions of
    the old one. A removed person cannot sign in; the labels stay. `people PROJECT` lists them.

    \b
    Examples:
      ragstone annotate people my-labels
      ragstone annotate people add my-labels ann --role annotator
      ragstone annotate people token my-labels ann
      ragstone annotate people remove my-labels ann
    """


@people_group.command("list")
@project_options
@json_option
def list_command(*, folder: Path, database: str) -> None:
    """List people with their roles, items done and open sessions."""
    from ragstone.annotation.pages.people import people_rows
    from ragstone.annotation.site import Site

    with opened(folder, database) as (project, held):
        rows = people_rows(Site(project, held, is_open=False))
    print_result(lambda: {"people": rows}, lambda: _table(rows))


@people_group.command("add")
@project_options
@name_argument
@click.option(
    "--role",
    type=click.Choice(["annotator", "reviewer", "owner"]),
    default="annotator",
    help="What the person may see and do.",
)
@json_option
def add_command(*, folder: Path, database: str, name: str, role: Any) -> None:
    """Add a person and print the token, which is not kept."""
    with opened(folder, database) as (_, held):
        token = held.add_person(name, role)
    _print_token(name, role, token)


@people_group.command("token")
@project_options
@name_argument
@json_option
def token_command(*, folder: Path, database: str, name: str) -> None:
    """Print a new token of a person; the old one no longer works, and sessions end."""
    with opened(folder, database) as (_, held):
        token, person = held.renew_token(name), held.person(name)
    _print_token(name, person.role if person else "", token)


@people_group.command("remove")
@project_options
@name_argument
@json_option
def remove_command(*, folder: Path, database: str, name: str) -> None:
    """Remove a person and end the sessions; the labels stay."""
    with opened(folder, database) as (_, held):
        held.remove_person(name)
    print_result(
        lambda: {"name": name, "removed": True}, lambda: f"{name} was removed. The labels stay."
    )


def _print_token(name: str, role: str, token: str) -> None:
    if wants_json():
        print_json({"name": name, "role": role, "token": token})
    else:
        say(token)
        tell(f"{name} is {role}. The token is not kept and not shown again.")


def _table(rows: list[dict[str, Any]]) -> str:
    from ragstone.core.shown_text import shown_controls

    if not rows:
        return "Nobody is named. Add a person with: ragstone annotate people add PROJECT NAME"
    width = max(len(row["name"]) for row in rows)
    lines = [f"{'name':{width}}  role       items  sessions"]
    for row in rows:
        numbers = f"{row['items']:>5,}  {row['sessions']:>8,}"
        lines.append(f"{row['name']:{width}}  {row['role'] or 'no token':9}  {numbers}")
    return shown_controls("\n".join(lines))
