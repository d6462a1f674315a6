"""How fast calls are made and durably kept, as ratios to the ideal and to a peer.

A fake model server (a process of its own) answers every call after 50 ms. Asked through
`ragstone.calls.client`, with every reply committed to a call log that is new each time:

    python benchmarks/calls_speed.py                    64 and 512 calls at once
    python benchmarks/calls_speed.py --peer             the openai package too (pip install openai)
    python benchmarks/calls_speed.py --replay           kept replies handed back, no server
    python benchmarks/calls_speed.py --json out.json

The ideal is `calls at once / 50 ms`. Client and server share the machine's cores. CPU is user and
system time of the client's process with all its threads, the loop's and the writer's included.

A replay asks 20,000 requests whose replies are all in the log, as a repeated run does: keys,
look-up, checksums and counts included, in a process of its own.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from ragstone.calls.client import Calls
from ragstone.calls.log import CallLog
from ragstone.calls.log_file import Entry
from ragstone.calls.types import Endpoint, Outcome, Reply, Request, chat
from ragstone.errors import StoreError

DELAY = 0.05
WORDS = "A passage of some words about nothing in particular. " * 30


@dataclass(frozen=True)
class Measured:
    """Medians over repetitions of one way of asking."""

    what: str
    at_once: int
    calls: int
    calls_per_second: float
    share_of_ideal: float
    cpu_ms_per_call: float


def requests(count: int, mark: str) -> list[Request]:
    """Return that many different requests of about 1.6 kB."""
    return [chat(f"{WORDS}\n\nQuestion: {mark} {n}?", max_tokens=32) for n in range(count)]


def ask_ragstone(url: str, count: int, at_once: int, mark: str) -> None:
    """Ask and keep; fail loudly if a reply is missing or not kept."""
    asked = requests(count, mark)
    endpoint = Endpoint("fake", (url,))
    with tempfile.TemporaryDirectory() as folder:
        with Calls.at(Path(folder) / "calls.sqlite", max_concurrency=at_once) as calls:
            outcomes = list(calls.ask(endpoint, asked))
            assert all(isinstance(outcome, Reply) for outcome in outcomes)
        with Calls.at(Path(folder) / "calls.sqlite") as calls:
            assert calls.estimate(endpoint, asked).kept == count


def ask_openai(url: str, count: int, at_once: int, mark: str, *, over_aiohttp: bool) -> None:
    """Ask with the openai package, keeping nothing."""
    openai = importlib.import_module("openai")

    async def ask() -> None:
        options = {"http_client": openai.DefaultAioHttpClient()} if over_aiohttp else {}
        async with openai.AsyncOpenAI(base_url=url, api_key="none", **options) as client:
            room = asyncio.Semaphore(at_once)

            async def one(request: Request) -> None:
                async with room:
                    messages = [{"role": r, "content": t} for r, t in request.messages]
                    await client.chat.completions.create(
                        model="fake", messages=messages, temperature=0.0, max_tokens=32
                    )

            await asyncio.gather(*(one(request) for request in requests(count, mark)))

    asyncio.run(ask())


def measure(
    what: str, ask: Callable[[str, int, int, str], None], url: str, at_once: int, calls: int
) -> Measured:
    """Time three repetitions of `calls` calls."""
    seconds, cpu = [], []
    for repetition in range(3):
        mark = f"{what} {at_once} {repetition}"
        started, before = time.perf_counter(), time.process_time()
        ask(url, calls, at_once, mark)
        seconds.append(time.perf_counter() - started)
        cpu.append(time.process_time() - before)
    rate = calls / statistics.median(seconds)
    made = Measured(
        what=what,
        at_once=at_once,
        calls=calls,
        calls_per_second=round(rate, 1),
        share_of_ideal=round(rate / (at_once / DELAY), 3),
        cpu_ms_per_call=round(1000 * statistics.median(cpu) / calls, 3),
    )
    print(
        f"{made.what:24} {made.at_once:4} at once: {made.calls_per_second:8,.0f} calls/s "
        f"({made.share_of_ideal:.1%} of the ideal), {made.cpu_ms_per_call:.3f} ms of CPU a call"
    )
    return made


@dataclass(frozen=True)
class Replayed:
    """Kept replies that a CPU second hands back: the best and the worst of five repetitions."""

    kept: int
    best: float
    worst: float


class _Storing:
    """Listener of a log that is filled."""

    def committed(self, outcomes: Sequence[Outcome]) -> None:
        """Accept what is stored."""

    def fail(self, error: StoreError) -> None:
        """Stop the benchmark."""
        raise error


def replay(count: int) -> Replayed:
    """Fill a log, and measure how fast its replies are handed back."""
    endpoint, rates = Endpoint("fake", ("http://127.0.0.1:1/v1",)), []
    reply = Reply("Some words.", "stop", tokens_in=400, tokens_out=6, seconds=DELAY)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calls.sqlite"
        with CallLog(path) as log:
            for one in requests(count, "replay"):
                key = one.key(endpoint.identity)
                log.put(Entry(key, endpoint.identity, endpoint.model, one, reply), _Storing())
        for _ in range(5):
            # The keys are not cached: a repeated run makes its requests again.
            asked = requests(count, "replay")
            with Calls.at(path, replay_only=True) as calls:
                before = time.process_time()
                found = sum(isinstance(one, Reply) for one in calls.ask(endpoint, asked))
                rates.append(count / (time.process_time() - before))
            assert found == count
    made = Replayed(count, round(max(rates)), round(min(rates)))
    print(f"{count:,} kept replies: {made.best:,} a CPU second at best, {made.worst:,} at worst")
    return made


@click.command()
@click.option("--replay", "replaying", is_flag=True, help="Measure a replay in place of calls.")
@click.option("--peer", is_flag=True, help="Measure the openai package too.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here.")
def main(*, replaying: bool, peer: bool, path: Path | None) -> None:
    """Measure and print."""
    if replaying:
        write(path, [replay(20_000)])
        return
    command = [sys.executable, "-m", "ragstone.testing", "--delay", str(DELAY)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        figures = [measure("ragstone", ask_ragstone, url, 64, 6400)]
        figures.append(measure("ragstone", ask_ragstone, url, 512, 20_000))
        if peer:
            figures += measure_peer(url)
    finally:
        server.kill()
        server.wait()
    if peer:
        own = max(f.calls_per_second for f in figures if f.what == "ragstone")
        other = max(f.calls_per_second for f in figures if f.what != "ragstone")
        print(f"ragstone's best is {own / other:.1f} times the openai package's best")
    write(path, figures)


def write(path: Path | None, figures: Sequence[Measured | Replayed]) -> None:
    """Write the figures and the machine's facts as JSON, if a file is named."""
    if path:
        machine = {"cores": os.cpu_count(), "python": sys.version.split()[0]}
        document = {"machine": machine, "figures": [asdict(f) for f in figures]}
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def measure_peer(url: str) -> list[Measured]:
    """Measure the openai package over its own client and over aiohttp."""

    def plain(url: str, count: int, at_once: int, mark: str) -> None:
        ask_openai(url, count, at_once, mark, over_aiohttp=False)

    def over_aiohttp(url: str, count: int, at_once: int, mark: str) -> None:
        ask_openai(url, count, at_once, mark, over_aiohttp=True)

    return [
        measure("openai", plain, url, 16, 640),
        measure("openai", plain, url, 64, 640),
        measure("openai over aiohttp", over_aiohttp, url, 64, 3200),
        measure("openai over aiohttp", over_aiohttp, url, 512, 3200),
    ]


if __name__ == "__main__":
    main()
