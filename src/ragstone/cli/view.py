"""`ragstone view`: live pages over a store, on this machine alone."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.cli.options import FILE, json_option, wants_json


@click.command("view")
@click.argument("store", type=FILE, default=Path(".ragstone"), metavar="[STORE]")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8321, help="Port to listen on; 0: a free one."
)
@click.option("--no-browser", is_flag=True, help="Open no browser.")
@json_option
def command(*, store: Path, port: int, no_browser: bool) -> None:
    """Show the experiments of a store as pages, in a browser on this machine.

    STORE is the folder of a store (default: .ragstone). The first line is the address. Each page
    has its plain data at the same address with .json. Only this machine can reach the pages. Stop
    with Ctrl+C.

    \b
    Examples:
      ragstone view
      ragstone view my-store --port 0 --no-browser
    """
    from ragstone.core.environment import require
    from ragstone.view.store_view import StoreView

    require("ragstone view", "view", "duckdb")
    from ragstone.view.app import make_app
    from ragstone.view.pages import ACTIONS, PAGES
    from ragstone.view.server import serve

    app = make_app(StoreView(store), PAGES, ACTIONS)
    serve(app, port, lambda address: _announce(address, store), browser=not no_browser)


def _announce(address: str, store: Path) -> None:
    import orjson

    if wants_json():
        click.echo(orjson.dumps({"address": address, "store": str(store)}).decode())
    else:
        click.echo(address)
        click.echo(f"Pages of {store}. Stop with Ctrl+C.", err=True)
