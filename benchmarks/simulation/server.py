"""A faulty model server behind the client interface of the call engine."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ragstone.calls.http import ChatClient
from ragstone.calls.types import AttemptError, Endpoint, Reply, Request, ServerAddresses

if TYPE_CHECKING:
    import random

    from benchmarks.simulation.history import History
    from benchmarks.simulation.process import Process

    from ragstone.calls.rate_control import ConcurrencyLimiter

FAULTS = (
    "slow", "429", "429 with Retry-After", "429 with a long Retry-After", "503", "500", "cut",
    "cut body", "garbage", "wrong JSON", "empty body", "hang", "late reply", "400", "twice",
)  # fmt: skip
ADDRESS = "http://simulated/v1"


class Response(NamedTuple):
    """What the client reads of a response besides its body."""

    status: int
    headers: dict[str, str]
    reason: str = ""


@dataclass
class SimServer:
    """Answers calls, and meets some with a fault until `faults` are spent."""

    history: History
    draw: random.Random
    faults: int
    rate: float
    asked: Counter[str] = field(default_factory=Counter)
    spent: Counter[str] = field(default_factory=Counter)

    def fault(self) -> str:
        """Return the fault of a call, "" for none."""
        if self.faults <= 0 or self.draw.random() >= self.rate:
            return ""
        self.faults -= 1
        kind = self.draw.choice(FAULTS)
        self.spent[kind] += 1
        return kind

    def answer(self, request: Request, number: int) -> bytes:
        """Return the body of a right reply; `served_by` tells which ask of the call it answers."""
        text = f"answer to {request.messages[-1][1]}"
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": len(text), "completion_tokens": 3}
        return json.dumps({"choices": [choice], "model": f"ask {number}", "usage": usage}).encode()


def refusal(kind: str, draw: random.Random) -> Response | None:
    """Return the head of a response whose status is not 200."""
    if kind.startswith("429"):
        headers = {}
        if kind == "429 with Retry-After":
            headers = {"Retry-After": f"{draw.uniform(0, 20):.2f}"}
        elif kind == "429 with a long Retry-After":
            headers = {"retry-after-ms": f"{draw.uniform(60_000, 400_000):.0f}"}
        return Response(429, headers, "slow down")
    return Response(int(kind), {}, "no") if kind.isdigit() else None


class SimClient(ChatClient):
    """Makes attempts at a simulated server, and notes what must never happen."""

    def __init__(
        self, endpoint: Endpoint, pace: ConcurrencyLimiter, server: SimServer, process: Process
    ) -> None:
        super().__init__(endpoint, ServerAddresses((ADDRESS,)), pace)
        self.server, self.process = server, process
        self.active = 0
        self.paused_until = 0.0

    async def attempt(self, request: Request) -> Reply:
        """Return a reply, after a delay or a fault."""
        history, now = self.server.history, asyncio.get_running_loop().time()
        self.active += 1
        if self.active > self.process.concurrency:
            history.violated(f"{self.active} calls in flight, {self.process.concurrency} allowed")
        if now < self.paused_until:
            history.violated(f"a call began {self.paused_until - now:.3f} s before a pause ended")
        try:
            return await self._answered(request)
        finally:
            self.active -= 1

    async def _answered(self, request: Request) -> Reply:
        server = self.server
        key = request.key(self.endpoint.identity)
        server.history.asked(self.process, key)
        server.asked[key] += 1
        number, kind, draw = server.asked[key], server.fault(), server.draw
        server.history.note(f"ask {key[:8]} {number} {kind}")
        await asyncio.sleep(draw.expovariate(2.0))
        if kind in {"hang", "late reply"}:
            await asyncio.sleep(self.process.policy.timeout * 3)
        elif kind == "slow":
            await asyncio.sleep(draw.uniform(1, self.process.policy.timeout * 0.9))
        elif kind == "cut":
            raise AttemptError("the connection was cut", retryable=True, outage=True)
        elif kind == "twice":
            server.asked[key] += 1
        raw = self._damaged(server.answer(request, number), kind)
        head = refusal(kind, draw) or Response(200, {"Content-Type": "application/json"})
        return self._read(head, raw)

    def _damaged(self, raw: bytes, kind: str) -> bytes:
        draw = self.server.draw
        match kind:
            case "cut body":
                return raw[: draw.randrange(1, len(raw))]
            case "garbage":
                return draw.randbytes(60)
            case "wrong JSON":
                return json.dumps(
                    draw.choice([[], {}, {"choices": []}, 7, {"error": "x"}])
                ).encode()
            case "empty body":
                return b""
        return raw

    def _read(self, head: Response, raw: bytes) -> Reply:
        """Parse a response with the client's own code; remember the pause that it asks for."""
        own: Any = self
        try:
            reply: Reply = own._parse(own._pool[0], head, raw)
        except AttemptError as error:
            now = asyncio.get_running_loop().time()
            self.paused_until = max(self.paused_until, now + (error.pause or 0.0))
            raise
        return reply
