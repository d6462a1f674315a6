"""`ragstone view`: live pages over a store, on this machine alone."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.cli.options import FILE, json_option, wants_json
from ragstone.cli.screen import say, say_json, tell


@click.command("view")
@click.argument("store", type=FILE, default=Path(".ragstone"), metavar="[STORE]")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8321, help="Port to listen on; 0: a free one."
)
@click.option("--no-browser", is_flag=True, help="Open no browser.")
@click.option(
    "--otlp", is_flag=True, help="Receive the traces of a running application too (OTLP over HTTP)."
)
@json_option
def command(*, store: Path, port: int, no_browser: bool, otlp: bool) -> None:
    """Show the experiments of a store as pages, in a browser on this machine.

    STORE is the folder of a store (default: .ragstone). The first line is the address. Each page
    has its plain data at the same address with .json. Only this machine can reach the pages. Stop
    with Ctrl+C. With --otlp, an application sends its traces to the same address, if
    OTEL_EXPORTER_OTLP_ENDPOINT is set to it. They are kept in the store; the page Traces lists
    them.

    \b
    Examples:
      ragstone view
      ragstone view my-store --port 0 --no-browser
      ragstone view my-store --otlp
    """
    from ragstone.annotation.from_list import annotate_list
    from ragstone.experiment.recorded import ask_recorded, selected_dataset
    from ragstone.view.app import make_app
    from ragstone.view.pages import ACTIONS, PAGES, experiment_actions
    from ragstone.view.store_view import StoreView
    from ragstone.web.server import serve

    if otlp:
        store.mkdir(parents=True, exist_ok=True)
    actions = (*ACTIONS, *experiment_actions(ask_recorded, selected_dataset, annotate_list))
    app = make_app(StoreView(store), PAGES, actions)
    if otlp:
        from ragstone.data.readers.traces.received import received_in
        from ragstone.view.otlp import OtlpReceiver

        OtlpReceiver(received_in(store)).add_to(app)
    serve(app, port, lambda address: _announce(address, store), browser=not no_browser)


def _announce(address: str, store: Path) -> None:
    import orjson

    if wants_json():
        say_json(orjson.dumps({"address": address, "store": str(store)}))
    else:
        say(address)
        tell(f"Pages of {store}. Stop with Ctrl+C.")
