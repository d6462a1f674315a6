"""200 people at once at one server of annotation: how long a click takes, and the memory it needs.

Each scripted person posts the label of an item about once a second and then asks for the next item,
as the page does. Reported are the 50th, 95th and 99th percentile of the time until a label is
confirmed, and until the next item is there. For the memory, 20 people then post without pause up to
100,000 events, and the resident memory of the server is read all the time: the median of the last
quarter of the events against that of the first.

    python benchmarks/annotate_load.py
    python benchmarks/annotate_load.py --people 50 --seconds 10 --events 5000 --database postgresql

The scripted people run in a process of their own, beside the server and, with PostgreSQL, its
processes: all share the machine's cores. Exit code 1 if the 95th percentile of a click is 200 ms or
more, an answer is not the expected one, or the memory grew by more than a tenth.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

import aiohttp
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.annotate_shared import (
    ServerProcess,
    make_project,
    postgres,
    sessions,
)

ITEMS: Final = 10_000
CLICK_MS: Final = 200.0
GROWTH: Final = 0.1
POSTERS: Final = 20
TOGETHER: Final = 10
OK: Final = 200
_SAYS: Final = ("yes", "partly", "no")


@dataclass
class Measured:
    """Times in seconds, and answers that were not expected."""

    clicks: list[float] = field(default_factory=list)
    nexts: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@dataclass
class Scripted:
    """A scripted person at a server."""

    name: str
    cookie: str
    server: ServerProcess

    def browser(self) -> aiohttp.ClientSession:
        """Return a browser in which the person is signed in."""
        return aiohttp.ClientSession(self.server.address, headers={"Cookie": self.cookie})

    async def click(self, until: float, following: str, found: Measured) -> None:
        """Label an item about once a second until the time is over."""
        draw = random.Random(self.name)
        async with self.browser() as browser:
            await asyncio.sleep(draw.random())
            number = 0
            while time.perf_counter() < until:
                event = label(f"{self.name}-{number}", draw.randrange(ITEMS)) | {"seconds": 1.0}
                began = time.perf_counter()
                async with browser.post("/events", json={"events": [event]}) as answer:
                    text = await answer.text()
                clicked = time.perf_counter()
                if answer.status != OK or len(json.loads(text)["confirmed"]) != 1:
                    found.wrong.append(text)
                async with browser.get(following) as answer:
                    await answer.read()
                found.clicks.append(clicked - began)
                found.nexts.append(time.perf_counter() - clicked)
                if answer.status != OK:
                    found.wrong.append(f"{following}: {answer.status}")
                await asyncio.sleep(draw.uniform(0.8, 1.2))
                number += 1

    async def post(self, count: int, sizes: list[float]) -> None:
        """Post events without pause, some at a time, and note the memory after each request."""
        async with self.browser() as browser:
            for first in range(0, count, TOGETHER):
                numbers = range(first, min(first + TOGETHER, count))
                events = [label(f"more-{self.name}-{n}", n % ITEMS) for n in numbers]
                async with browser.post("/events", json={"events": events}) as answer:
                    await answer.read()
                    assert answer.status == OK
                sizes.append(self.server.memory())


def label(client_id: str, number: int) -> dict[str, Any]:
    """Return the label of an item."""
    given = {"kind": "label", "item_id": f"q{number}", "field": "support"}
    return {"client_id": client_id, "value": _SAYS[number % len(_SAYS)]} | given


def times(values: list[float]) -> dict[str, float]:
    """Return percentiles in milliseconds."""
    found = np.percentile(np.array(values) * 1000, [50, 95, 99])
    return dict(zip(("p50", "p95", "p99"), map(float, found), strict=True))


async def measured(
    given: argparse.Namespace, server: ServerProcess, cookies: dict[str, str]
) -> dict[str, Any]:
    """Return the figures of one server."""
    people = [Scripted(name, cookie, server) for name, cookie in cookies.items()]
    found, until, used = Measured(), time.perf_counter() + given.seconds, server.cpu_seconds()
    await asyncio.gather(*(one.click(until, given.next, found) for one in people))
    used = server.cpu_seconds() - used
    load, sizes, began = os.getloadavg()[0], list[float](), time.perf_counter()
    left = max(given.events - len(found.clicks), 0) // POSTERS
    await asyncio.gather(*(one.post(left, sizes) for one in people[:POSTERS]))
    seconds = time.perf_counter() - began
    quarter = max(len(sizes) // 4, 1)
    first, last = (median(part or [0.0]) for part in (sizes[:quarter], sizes[-quarter:]))
    return {
        "people": len(cookies),
        "click_ms": times(found.clicks),
        "next_ms": times(found.nexts),
        "clicks_per_second": len(found.clicks) / given.seconds,
        "server_cpu_ms_per_click_and_next": used / len(found.clicks) * 1000,
        "wrong": found.wrong[:5],
        "events": len(found.clicks) + left * POSTERS,
        "events_per_second_without_pause": left * POSTERS / seconds,
        "memory_mb_first_quarter": first,
        "memory_mb_last_quarter": last,
        "load_average": load,
        "cores": os.cpu_count(),
        "arguments": {name: str(value) for name, value in vars(given).items()},
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--next", default="/item", help="address of the next item")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        project = make_project(Path(name) / "load", ITEMS)
        url = ""
        if given.database == "postgresql":
            running = stack.enter_context(postgres(Path(name) / "postgres"))
            url = running.new_database("load")
        names = [f"person{number}" for number in range(given.people)]
        cookies = sessions(project, url, names)
        server = ServerProcess(project, url)
        server.start()
        stack.callback(server.kill)
        found = asyncio.run(measured(given, server, cookies))
    print(json.dumps(found, indent=2))
    if given.json:
        given.json.write_text(json.dumps(found))
    grown = found["memory_mb_last_quarter"] > found["memory_mb_first_quarter"] * (1 + GROWTH)
    return int(found["click_ms"]["p95"] >= CLICK_MS or bool(found["wrong"]) or grown)


if __name__ == "__main__":
    sys.exit(main())
