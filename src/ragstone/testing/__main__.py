"""The fake model server as a process of its own: `python -m ragstone.testing`."""

from __future__ import annotations

import asyncio

import click
import orjson

from ragstone.testing.fake_model_server import FakeModelServer


async def _serve_for_ever(server: FakeModelServer) -> None:
    await server.listen()
    click.echo(server.url)
    await asyncio.Event().wait()


@click.command()
@click.option("--port", default=0, help="0 takes a free one.")
@click.option("--delay", default=0.0, help="Seconds before each reply.")
@click.option("--faults", default="{}", help='Shares as JSON: {"429": 0.1, "cut": 0.05}.')
@click.option("--seed", default=0)
@click.option("--slow-seconds", default=0.2)
@click.option("--huge-bytes", default=40 * 2**20)
def main(  # noqa: PLR0917 - one parameter an option
    port: int, delay: float, faults: str, seed: int, slow_seconds: float, huge_bytes: int
) -> None:
    """Serve until killed; the first line printed is the base URL."""
    server = FakeModelServer(
        delay=delay,
        faults=orjson.loads(faults),
        seed=seed,
        slow_seconds=slow_seconds,
        huge_bytes=huge_bytes,
        port=port,
    )
    asyncio.run(_serve_for_ever(server))


if __name__ == "__main__":
    main()
