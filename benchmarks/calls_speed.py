"""What calls cost that are made and durably kept, and kept replies that are handed back.

    python benchmarks/calls_speed.py [--calls 20000] [--rounds 3] [--json FILE]
    python benchmarks/calls_speed.py --replay      kept replies alone, no server
    python benchmarks/calls_speed.py --peer        the openai package too (pip install openai)

A fake model server (a process of its own) answers every call after 50 ms. 64 and 512 calls at once
go through `ragstone.calls.client`, with every reply committed to a call log that is new each time,
beside a script that sends the same bodies by aiohttp, as many at once, and keeps nothing; for 64 a
third of the calls. The prompts are passages and questions of nq_singlehop.

A replay asks requests whose replies are all in the log, as a repeated run does: keys, look-up,
checksums and counts included. Its peer is a script with a table of SQLite whose key is the SHA-256
of the request.

CPU is user and system time of this process with all its threads, the loop's and the writer's
included; the sides take turns. Client and server share the machine's cores. The ideal rate is
`calls at once / 50 ms`.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import importlib
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.metadata import version
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import aiohttp
from measured import (  # type: ignore[import-not-found]  # a file beside this one
    DATA,
    Measured,
    hand_over,
    in_turns,
    need_data,
    rows_of,
)

from ragstone.calls.client import Calls
from ragstone.calls.log import CallLog
from ragstone.calls.log_file import Entry
from ragstone.calls.types import Endpoint, Outcome, Reply, Request, chat
from ragstone.errors import StoreError

DELAY = 0.05
Ask = Callable[[str, Sequence[Request], int], None]


@cache
def texts(name: str) -> list[str]:
    """Return the texts of a file of nq_singlehop."""
    return [row["text"] for row in rows_of(DATA / "nq_singlehop" / name)]


def requests(count: int) -> list[Request]:
    """Return different requests: two passages, a question, and a number."""
    passages, questions = texts("corpus.jsonl.gz"), texts("queries.jsonl.gz")
    parts = zip(cycle(passages), cycle(passages[1:]), cycle(questions), strict=False)
    return [
        chat(f"{first}\n\n{second}\n\nQuestion {n}: {question}", max_tokens=32)
        for n, (first, second, question) in enumerate(islice(parts, count))
    ]


def ask_ragstone(url: str, asked: Sequence[Request], at_once: int) -> None:
    """Ask and keep; fail loudly if a reply is missing or not kept."""
    endpoint = Endpoint("fake", (url,))
    with tempfile.TemporaryDirectory() as folder:
        with Calls.at(Path(folder) / "calls.sqlite", max_concurrency=at_once) as calls:
            outcomes = list(calls.ask(endpoint, asked))
        if not all(isinstance(outcome, Reply) and outcome.key for outcome in outcomes):
            raise SystemExit("a reply is missing")
        with Calls.at(Path(folder) / "calls.sqlite") as calls:
            if calls.estimate(endpoint, asked).kept != len(asked):
                raise SystemExit("a reply was not kept")


def body(request: Request) -> dict[str, Any]:
    """Return a request as it is sent."""
    messages = [{"role": role, "content": text} for role, text in request.messages]
    return {"model": "fake", "messages": messages, "temperature": 0.0, "max_tokens": 32}


async def _together(asked: Sequence[Request], at_once: int, send: Callable[..., Any]) -> None:
    room = asyncio.Semaphore(at_once)

    async def one(request: Request) -> None:
        async with room:
            await send(request)

    await asyncio.gather(*map(one, asked))


def ask_aiohttp(url: str, asked: Sequence[Request], at_once: int) -> None:
    """Ask with aiohttp, keeping nothing."""

    async def ask() -> None:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def send(request: Request) -> None:
                async with session.post(f"{url}/chat/completions", json=body(request)) as response:
                    (await response.json())["choices"][0]["message"]["content"]

            await _together(asked, at_once, send)

    asyncio.run(ask())


def ask_openai(url: str, asked: Sequence[Request], at_once: int, *, plain: bool = False) -> None:
    """Ask with the openai package over aiohttp, or over its own client, keeping nothing."""
    openai = importlib.import_module("openai")

    async def ask() -> None:
        http = None if plain else openai.DefaultAioHttpClient()
        async with openai.AsyncOpenAI(base_url=url, api_key="none", http_client=http) as client:

            async def send(request: Request) -> None:
                await client.chat.completions.create(**body(request))

            await _together(asked, at_once, send)

    asyncio.run(ask())


PEERS: dict[str, Ask] = {
    "aiohttp": ask_aiohttp,
    "openai over aiohttp": ask_openai,
    "openai": partial(ask_openai, plain=True),
}


def measure(url: str, at_once: int, calls: int, rounds: int, peer: str) -> Measured:
    """Measure ours and a peer in turns."""
    rates: dict[str, float] = {}

    def timed(name: str, ask: Ask) -> None:
        started = time.perf_counter()
        ask(url, requests(calls), at_once)
        rate = calls / (time.perf_counter() - started)
        rates[name] = max(rate, rates.get(name, 0.0))

    sides = {"ours": ask_ragstone, "peer": PEERS[peer]}
    best = in_turns({name: partial(timed, name, ask) for name, ask in sides.items()}, rounds)
    shown = {
        name: f"{rate:,.0f} calls/s ({rate / (at_once / DELAY):.0%} of the ideal)"
        for name, rate in rates.items()
    }
    return Measured(
        job=f"durable calls, {at_once} at once" + (f", {peer}" if peer != "aiohttp" else ""),
        n=calls,
        unit="CPU ms",
        ours=best["ours"] / calls * 1e3,
        peer=best["peer"] / calls * 1e3,
        against=f"{peer} {version(peer.partition(' ')[0])}, keeping nothing",
        conditions=f"best of {rounds} in turn, ours {shown['ours']}, peer {shown['peer']}, server "
        f"on the same cores",
    )


class _Storing:
    """Listener of a log that is filled."""

    def committed(self, outcomes: Sequence[Outcome]) -> None:
        """Accept what is stored."""

    def fail(self, error: StoreError) -> None:
        """Stop the benchmark."""
        raise error


def fill(folder: Path, endpoint: Endpoint, asked: Sequence[Request]) -> None:
    """Keep a reply to each request, in our log and in the peer's table."""
    reply = Reply("Some words.", "stop", tokens_in=400, tokens_out=6, seconds=DELAY)
    with CallLog(folder / "calls.sqlite") as log:
        for one in asked:
            key = one.key(endpoint.identity)
            log.put(Entry(key, endpoint.identity, endpoint.model, one, reply), _Storing())
    said = json.dumps({"text": reply.text, "finish_reason": "stop", "tokens": [400, 6]})
    with sqlite3.connect(folder / "peer.sqlite") as table:
        table.execute("CREATE TABLE kept (key TEXT PRIMARY KEY, reply TEXT)")
        table.executemany("INSERT INTO kept VALUES (?, ?)", [(_key(one), said) for one in asked])


def _key(request: Request) -> str:
    return hashlib.sha256(json.dumps(body(request), sort_keys=True).encode()).hexdigest()


def replay(count: int, rounds: int) -> Measured:
    """Measure how fast kept replies are handed back."""
    endpoint = Endpoint("fake", ("http://127.0.0.1:1/v1",))
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        fill(folder, endpoint, requests(count))

        def ours() -> None:
            # The keys are not cached: a repeated run makes its requests again.
            with Calls.at(folder / "calls.sqlite", replay_only=True) as calls:
                found = sum(isinstance(one, Reply) for one in calls.ask(endpoint, requests(count)))
            if found != count:
                raise SystemExit("a kept reply was not handed back")

        def theirs() -> None:
            with sqlite3.connect(folder / "peer.sqlite") as table:
                for one in requests(count):
                    query = "SELECT reply FROM kept WHERE key = ?"
                    json.loads(table.execute(query, (_key(one),)).fetchone()[0])

        best = in_turns({"ours": ours, "peer": theirs}, rounds)
    return Measured(
        job="replay of kept replies",
        n=count,
        unit="CPU us",
        ours=best["ours"] / count * 1e6,
        peer=best["peer"] / count * 1e6,
        against=f"sqlite3 {sqlite3.sqlite_version} and SHA-256, without checksums",
        conditions=f"best of {rounds} in turn, {count / best['ours']:,.0f} a CPU second",
    )


def calls(options: argparse.Namespace) -> list[Measured]:
    """Measure calls to a server."""
    command = [sys.executable, "-m", "ragstone.testing", "--delay", str(DELAY)]
    peers = PEERS if options.peer else ["aiohttp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            return [
                measure(url, at_once, count, options.rounds, peer)
                for peer in peers
                for at_once, count in ((64, options.calls // 3), (512, options.calls))
            ]
        finally:
            server.kill()


def main() -> None:
    """Print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--replay", action="store_true", help="kept replies alone")
    parser.add_argument("--peer", action="store_true", help="the openai package too")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    need_data("nq_singlehop")
    requests(1)  # reads the texts
    found = [] if options.replay else calls(options)
    hand_over([*found, replay(options.calls, options.rounds)], options.json)


if __name__ == "__main__":
    main()
