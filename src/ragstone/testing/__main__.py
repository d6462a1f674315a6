"""The fake model server as a separate process: `python -m ragstone.testing`."""

from __future__ import annotations

import asyncio
from typing import Any

import click
import orjson

from ragstone.testing.fake_model_server import FakeModelServer


async def _serve(server: FakeModelServer) -> None:
    """Serve until the process is killed."""
    await server.listen()
    click.echo(server.url)
    await asyncio.Event().wait()


@click.command()
@click.option("--port", default=0, help="Port; 0 chooses a free one.")
@click.option("--delay", default=0.0, help="Seconds before each reply.")
@click.option("--faults", default="{}", help='Share of each fault as JSON: {"429": 0.1}.')
@click.option("--seed", default=0, help="Seed of the assignment of faults to requests.")
@click.option("--slow-seconds", default=0.2, help="Delay of the fault `slow`.")
@click.option("--huge-bytes", default=40 * 2**20, help="Size of the fault `huge`.")
def main(**options: Any) -> None:
    """Serve until killed; the first line printed is the base URL."""
    options["faults"] = orjson.loads(options["faults"])
    server = FakeModelServer(**options)
    asyncio.run(_serve(server))


if __name__ == "__main__":
    main()
