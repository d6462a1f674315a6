"""`ragstone annotate`: a project of people's labels, as pages."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.annotate_agent import ChosenAgent, agent_options
from ragstone.cli.annotate_agreement import agreement_command
from ragstone.cli.annotate_database import backup_command, check_command, restore_command
from ragstone.cli.annotate_export import (
    add_command,
    export_command,
    import_command,
    scheme_command,
)
from ragstone.cli.annotate_make import make_if_new, making_options
from ragstone.cli.annotate_people import people_group
from ragstone.cli.annotate_project import DefaultGroup, opened, project_options
from ragstone.cli.options import json_option, wants_json
from ragstone.cli.screen import say, say_json, tell
from ragstone.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from ragstone.annotation.site import Site

_WIDEST: Final = 100
"""Characters of a line of the terminal: longer ones are hard to read."""


@click.group("annotate", cls=DefaultGroup, default="serve")
def command() -> None:
    """Let people label, rate, compare and review, and write conversations with a live agent.

    `annotate PROJECT` serves a project, a folder; one that has the name of a command is reached by
    ./NAME.

    \b
    Tasks:
      conversation  chat with a live agent, mark passages, repair answers
      labels        answer the questions of a scheme about a query and a passage
      support       state whether a passage answers the query
      ratings       rate the answers of all systems on scales
      pairwise      choose the better of two answers, blind
      nuggets       mark facts of an answer: vital or okay, supported or not
      causes        name the causes of a wrong answer
      validation    accept or repair generated queries

    \b
    Examples:
      ragstone annotate my-labels --task support --data my-set
      ragstone annotate my-labels
      ragstone annotate people add my-labels ann --role annotator
      ragstone annotate my-labels --terminal --name ann
      ragstone annotate my-labels --host 0.0.0.0
      ragstone annotate export my-labels -o labels.jsonl
    """


for _one in (
    *(people_group, export_command, import_command, add_command, scheme_command),
    *(backup_command, restore_command, check_command, agreement_command),
):
    command.add_command(_one)


@command.command("serve")
@project_options
@making_options
@click.option("--terminal", is_flag=True, help="Label in this terminal, without a server.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8322, help="Port to listen on; 0: a free one."
)
@agent_options
@click.option("--no-browser", is_flag=True, help="Open no browser.")
@click.option(
    "--active",
    is_flag=True,
    help="Serve the items that narrow the interval of a judge's means most.",
)
@click.option("--name", default="owner", help="Your name in labels, if you are not a named person.")
@click.option(
    "--host",
    default="127.0.0.1",
    help="Address to listen on; 0.0.0.0: every network. It needs people with tokens.",
)
@click.option(
    "--allow-host",
    "proxies",
    multiple=True,
    metavar="NAME[:PORT]",
    help="Name of a proxy that adds TLS and passes requests on. It needs people with tokens.",
)
@json_option
def serve_command(
    *,
    folder: Path,
    database: str,
    port: int,
    no_browser: bool,
    active: bool,
    name: str,
    host: str,
    proxies: Sequence[str],
    terminal: bool,
    agent: ChosenAgent,
    **making: Any,
) -> None:
    """Serve a project as pages, on this machine alone unless --host is given.

    The first line is the address. On this machine alone, it has a key that opens a session and is
    new at each start. With --host, people sign in with their tokens. Stop with Ctrl+C.
    """
    from ragstone.annotation.active import check_active
    from ragstone.annotation.conversation_import import keep_conversations
    from ragstone.annotation.people import check_name
    from ragstone.annotation.site import Site
    from ragstone.web.server import is_loopback, serve

    check_name(name)
    conversations = make_if_new(folder, {**making, **agent.settings(folder)})
    is_open = is_loopback(host) and not proxies
    with opened(folder, database, items=True) as (project, held):
        if active:
            check_active(project)
        site = Site(project, held, name=name, is_open=is_open, active=active)
        if conversations is not None:
            keep_conversations(held, conversations)
        if terminal:
            _run_terminal(site)
            return
        _check_people(site, folder, host, proxies)
        names = [_checked_host(one) for one in proxies]

        from ragstone.annotation.app import make_app

        app = make_app(site, [] if is_open else [host], names)
        with agent.ready(project) as site.agent:
            serve(
                app,
                port,
                lambda address: _announce(site, address, host, names),
                browser=not no_browser,
                host=host,
                query=f"?key={site.first_key}" if is_open else "",
            )


def _run_terminal(site: Site) -> None:
    """Let the person of a site label in this terminal, until they quit or nothing is left.

    Raises `ConfigError` if the project has named people, and the person is none of them.
    """
    from ragstone.annotation.terminal import TerminalPage
    from ragstone.annotation.terminal_keys import keys_of

    names = [one.name for one in site.database.people()]
    if names and site.name not in names:
        raise ConfigError(
            f"the project has no person {site.name!r}{did_you_mean(site.name, names)}; give --name "
            f"with one of: {', '.join(names)}",
            key="name",
            value=site.name,
        )
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    keys = keys_of(sys.stdin, sys.stdout)
    page = TerminalPage(site, site.name, keys, lambda text: click.echo(text, nl=False), width)
    try:
        page.run()
    finally:
        keys.close()


def _check_people(site: Site, folder: Path, host: str, proxies: Sequence[str]) -> None:
    """Raise `ConfigError` if others can reach a project without named people."""
    if site.is_open or site.database.people():
        return
    option = f"--allow-host {proxies[0]}" if proxies else f"--host {host}"
    way_out = f"ragstone annotate people add {folder} NAME --role owner"
    raise ConfigError(
        f"{option} lets others reach the project, which has no people with tokens; add one with: "
        f"{way_out}",
        key="host",
        value=host,
        way_out=way_out,
    )


def _checked_host(name: str) -> str:
    """Return a name as the header Host has it."""
    found = name.lower()
    if not found or set(found) - set("abcdefghijklmnopqrstuvwxyz0123456789.-:[]"):
        said = f"--allow-host must be a name or NAME:PORT, as in the address, found {name!r}"
        raise ConfigError(said, key="allow-host", value=name)
    return found


def _announce(site: Site, address: str, host: str, proxies: Sequence[str]) -> None:
    """Print the address, then the addresses and pages that others can reach, if any."""
    import orjson

    full = f"{address}?key={site.key}" if site.is_open else address
    document = {"address": full, "project": str(site.project.folder)}
    if wants_json():
        say_json(orjson.dumps(document))
    else:
        say(full)
    if not site.is_open:
        say("\n".join(_exposed(site, address, host, proxies)), err=True)
    tell(f"Project {site.project.name}. Stop with Ctrl+C.")


def _exposed(site: Site, address: str, host: str, proxies: Sequence[str]) -> list[str]:
    """Return lines on the addresses and pages that other machines can reach."""
    from ragstone.annotation.pages import PAGES
    from ragstone.web.security import host_in_address
    from ragstone.web.server import is_loopback, reachable

    port = address.rstrip("/").rpartition(":")[2]
    hosts = [] if is_loopback(host) else reachable(host)
    addresses = [f"http://{host_in_address(one)}:{port}/" for one in hosts]
    addresses += [f"https://{one}/" for one in proxies]
    mine = [one for one in PAGES if not one.tasks or site.project.task in one.tasks]
    pages = [f"{one.path} ({', '.join(one.roles)})" for one in mine]
    people = [f"{one.name} ({one.role})" for one in site.database.people()]
    return [
        f"Others can reach: {', '.join(addresses)}",
        "Without a token they see /sign-in, /alive and style files.",
        f"With a token: {', '.join(pages)}, /export.jsonl (owner).",
        f"People with tokens: {', '.join(people)}.",
        "Traffic is plain HTTP: others on the network can read tokens and labels."
        if hosts
        else "The proxy must add TLS; cookies of its name are sent over HTTPS alone.",
    ]
