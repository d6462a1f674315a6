"""Whether memory, file handles and threads stay flat over 100,000 calls with many faults.

    python benchmarks/soak.py [--calls 100000] [--rate 0.3] [--parts 10] [--json]

The real engine, log, leases and threads; calls go to a client in this process that meets the given
share of attempts with a fault (429, 503, cut connection, garbage, a wrong body, an attempt that
hangs until its time-out). Waits are a hundredth of the usual ones, so that the hour of a run takes
less. After each part of the calls: resident memory, open files, threads, tasks of the loop.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.calls.client import Calls
from ragstone.calls.scheduler import RetryPolicy
from ragstone.calls.types import AttemptError, Endpoint, Reply, Request, chat

if TYPE_CHECKING:
    from ragstone.calls.rate_control import ConcurrencyLimiter

POLICY = RetryPolicy(timeout=0.2, deadline=60.0, attempts=40, first_wait=0.001, longest_wait=0.02)
FAULTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("429", {"status": 429, "overload": True, "pause": 0.001}),
    ("503", {"status": 503, "overload": True}),
    ("500", {"status": 500}),
    ("cut connection", {}),
    ("garbage", {"status": 200, "kind": "unreadable"}),
)


class FaultyClient:
    """Answers at once, or meets the attempt with a fault."""

    def __init__(self, endpoint: Endpoint, pace: ConcurrencyLimiter, rate: float) -> None:
        self.endpoint, self.pace, self._rate = endpoint, pace, rate
        self._draw = random.Random(0)
        self.faults = 0

    async def attempt(self, request: Request) -> Reply:
        """Return a reply or raise an error."""
        await asyncio.sleep(0)
        if self._draw.random() < self._rate:
            self.faults += 1
            if self._draw.random() < 0.01:
                await asyncio.sleep(60)
            name, options = self._draw.choice(FAULTS)
            raise AttemptError(name, retryable=True, **options)
        return Reply(f"answer to {request.messages[-1][1]}", "stop", 10, 3)

    async def close(self) -> None:
        """Nothing is open."""


def measured() -> dict[str, float]:
    """Return what this process holds now."""
    gc.collect()
    resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return {
        "memory_mb": resident * os.sysconf("SC_PAGE_SIZE") / 2**20,
        "files": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
    }


def soak(count: int, rate: float, parts: int) -> tuple[list[dict[str, float]], int]:
    """Make the calls, and return what was held after each part, and the number of faults."""
    clients: list[FaultyClient] = []

    def client(endpoint: Endpoint, pace: ConcurrencyLimiter) -> FaultyClient:
        clients.append(FaultyClient(endpoint, pace, rate))
        return clients[-1]

    endpoint, held = Endpoint("soak", client=client), []
    with (
        tempfile.TemporaryDirectory() as folder,
        Calls.at(Path(folder) / "calls.sqlite", retry_policy=POLICY) as calls,
    ):
        size = count // parts
        for part in range(parts):
            asked = [chat(f"question {part * size + n}", max_tokens=8) for n in range(size)]
            replies = sum(isinstance(one, Reply) for one in calls.ask(endpoint, asked))
            if replies != size:
                raise SystemExit(f"{size - replies} of {size} calls have no reply")
            del asked
            held.append(measured())
            print(f"{(part + 1) * size:>9,} calls: {held[-1]}", flush=True)
    return held, sum(one.faults for one in clients)


def main() -> int:
    """Print what is held, and return 1 if it grows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--rate", type=float, default=0.3, help="share of attempts with a fault")
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    began = time.monotonic()
    held, faults = soak(given.calls, given.rate, given.parts)
    first, last = held[min(1, len(held) - 1)], held[-1]
    grown = last["memory_mb"] - first["memory_mb"]
    flat = grown < 10 and last["files"] <= first["files"] and last["threads"] <= first["threads"]
    print(
        f"{given.calls:,} calls, {faults:,} faults, {sum(os.times()[:2]):.0f} CPU s, "
        f"{time.monotonic() - began:.0f} s: memory grew by {grown:.1f} MB from the second part to "
        f"the last, files {first['files']} -> {last['files']}, threads {first['threads']} -> "
        f"{last['threads']}: {'flat' if flat else 'NOT FLAT'}"
    )
    if given.json:
        print(json.dumps({"held": held, "faults": faults, "flat": flat}))
    return int(not flat)


if __name__ == "__main__":
    sys.exit(main())
