"""A client of the MCP SDK that asks `ragstone mcp` over its standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.hostile.inputs import SYSTEMS, query_id
from benchmarks.hostile.terminals import beside
from benchmarks.hostile.texts import NAME

_PAIR: Final = {"experiment": "hostile", "first": SYSTEMS[0], "second": SYSTEMS[1]}
ASKED: Final[tuple[tuple[str, Mapping[str, str]], ...]] = (
    ("list_experiments", {}),
    ("show_results", {"experiment": "hostile"}),
    ("show_results", {"experiment": NAME}),
    ("show_query", {"experiment": "hostile", "query_id": query_id(5)}),
    ("show_query", {"experiment": "hostile", "query_id": NAME}),
    ("compare", {**_PAIR, "setting": "gold"}),
    ("compare", {**_PAIR, "setting": "gold", "second": NAME}),
    ("compare", _PAIR),
)
"""Tool and its arguments."""


@dataclass(frozen=True)
class Reply:
    """What a tool answered."""

    tool: str
    is_error: bool
    text: str


def replies(folder: Path) -> list[Reply]:
    """Return the reply to each of `ASKED` about the store of a folder."""
    with beside(_asked(folder)) as text:
        return [Reply(*one) for one in json.loads(text)]


def _asked(folder: Path) -> Iterator[str]:
    """Yield all replies as one line."""
    from mcp import Client, StdioServerParameters

    program = "from ragstone.cli import main; main()"
    arguments = ["-c", program, "mcp", "--store", str(folder / "store")]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))

    async def ask() -> list[tuple[str, bool, str]]:
        async with Client(server) as client:
            found: list[tuple[str, bool, str]] = []
            for tool, values in ASKED:
                reply: Any = await client.call_tool(tool, dict(values))
                found.append((tool, bool(reply.is_error), reply.content[0].text))
            return found

    yield json.dumps(asyncio.run(ask()))
