"""`ragstone annotate`: a project of people's labels, on a page of this machine."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.cli.build_options import Spending, spending_options
from ragstone.cli.options import FILE, json_option, wants_json

TASKS = (
    *("conversation", "labels", "support", "ratings"),
    *("pairwise", "nuggets", "causes", "validation"),
)


class _ProjectFirst(click.Group):
    """`annotate PROJECT` is `annotate serve PROJECT`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["serve", *args]
        return super().parse_args(ctx, args)


@click.group("annotate", cls=_ProjectFirst)
def command() -> None:
    """Let people label, rate, compare and review, and write conversations with a live agent.

    \b
    Examples:
      ragstone annotate my-labels --task support --data my-set
      ragstone annotate my-labels
      ragstone annotate export my-labels -o labels.jsonl
    """


@command.command("serve")
@click.argument("folder", type=FILE, metavar="PROJECT")
@click.option("--database", default="", help="Address of a PostgreSQL database.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8322, help="Port to listen on; 0: a free one."
)
@click.option(
    "--agent",
    default="",
    metavar="SYSTEM",
    help="Live agent of conversations: EXPERIMENT.yaml:NAME, my_rag.py:answer or http://...",
)
@click.option("--corpus", default="", metavar="SOURCE", help="Data set that the agent searches.")
@click.option("--no-browser", is_flag=True, help="Open no browser.")
@spending_options
@json_option
def serve_command(
    *,
    folder: Path,
    database: str,
    port: int,
    agent: str,
    corpus: str,
    no_browser: bool,
    spending: Spending,
) -> None:
    """Serve a project as pages."""
    from ragstone.annotation.app import make_app
    from ragstone.annotation.database import Database
    from ragstone.annotation.project import DATABASE, Project
    from ragstone.annotation.site import Site
    from ragstone.cli.annotate_agent import live_agent
    from ragstone.web.server import serve

    project = Project.open(folder)
    url = database or f"sqlite:///{(folder / DATABASE).resolve()}"
    site = Site(project, Database.open(url, project.name))

    def announce(address: str) -> None:
        full = f"{address}?key={site.key}"
        if wants_json():
            import orjson

            click.echo(orjson.dumps({"address": full, "project": str(folder)}).decode())
        else:
            click.echo(full)
            click.echo(f"Project {project.name}. Stop with Ctrl+C.", err=True)

    with live_agent(project, agent, corpus, spending) as site.agent:
        serve(make_app(site), port, announce, browser=not no_browser)
