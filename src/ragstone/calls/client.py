"""The only way to a model: every reply is kept before it is counted, and asked for once.

    with Calls(CallLog(Path("store/calls.sqlite"))) as calls:
        endpoint = Endpoint("my-model", ("http://localhost:8000/v1",))
        for outcome in calls.ask(endpoint, [chat("What is a touchstone?", max_tokens=30)]):
            match outcome:
                case Reply(text=text): ...
                case Failure(reason=reason): ...

A call's key is made of the model's identity, the rendered prompt, the sampling parameters and the
sample number. A call whose reply is kept is never made again; a call that failed is.
"""

from __future__ import annotations

import contextlib
import random
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from ragstone.calls.estimates import Estimate, estimate
from ragstone.calls.http import ChatClient, check_reachable
from ragstone.calls.log import CallLog
from ragstone.calls.prices import Budget, Prices
from ragstone.calls.rate_control import ConcurrencyLimiter
from ragstone.calls.scheduler import Batch, Engine, RetryPolicy
from ragstone.calls.types import (
    CallClient,
    Endpoint,
    Outcome,
    Reply,
    Request,
    ServerAddresses,
    ServerPool,
    shown_url,
)
from ragstone.core.offline import is_loopback, no_network
from ragstone.core.progress import progress
from ragstone.core.resources import available_cpus
from ragstone.errors import CallError, RagstoneError


@dataclass(frozen=True)
class Usage:
    """What calls have come to. Subtract two readings to learn what lay between them."""

    asked: int = 0
    """Calls made now that ended, in a reply or in a failure."""
    kept: int = 0
    """Replies found in the log."""
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    """Latencies added up."""
    cost: float = 0.0
    """Of the replies whose price is known, in the currency of the price table."""

    def __sub__(self, earlier: Usage) -> Usage:
        """Return what was used since an earlier reading."""
        return Usage(*(getattr(self, f.name) - getattr(earlier, f.name) for f in fields(self)))

    def __add__(self, more: Usage) -> Usage:
        """Return the sum of both."""
        return Usage(*(getattr(self, f.name) + getattr(more, f.name) for f in fields(self)))


class Calls:
    """Asks models on behalf of generators, judges, rewriters and labellers.

    Args:
        log: where calls are kept.
        patience: time-outs and retries.
        max_concurrency: calls at once to one endpoint at most; how many are made is found out.
        offline: let no socket leave the machine until these calls are closed.
        replay_only: make no call at all; a reply that is not kept is a `CallError`.
        prices: what the cost of replies is computed from.
        budget: what the calls made here may cost; its prices are used where none are given.
    """

    def __init__(
        self,
        log: CallLog,
        *,
        patience: RetryPolicy | None = None,
        max_concurrency: int = 64,
        offline: bool = False,
        replay_only: bool = False,
        prices: Prices | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.log = log
        self.patience = patience or RetryPolicy()
        self.max_concurrency = max_concurrency
        self.offline, self.replay_only = offline, replay_only
        self.prices = prices or (budget.prices if budget else Prices())
        self.budget = budget
        self._engine = Engine(self.patience)
        self._clients: dict[Endpoint, CallClient] = {}
        self._opened: list[CallClient] = []
        self._serving: tuple[Endpoint, ServerPool] | None = None
        self._usage = Usage()
        self._lock = threading.Lock()
        self._guard = contextlib.ExitStack()
        if offline:
            self._guard.enter_context(no_network())

    @classmethod
    def at(cls, path: Path, **options: Any) -> Self:
        """Return calls kept in the SQLite file `path`; options as above."""
        return cls(CallLog(path), **options)

    def __enter__(self) -> Self:
        """Return the calls themselves."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close everything."""
        self.close()

    def close(self) -> None:
        """Close the connections and the log."""
        self._engine.close(self._opened)
        self._opened.clear()
        self._clients.clear()
        self.log.close()
        self._guard.close()

    @property
    def usage(self) -> Usage:
        """What the calls have come to so far."""
        with self._lock:
            return self._usage

    def kept(self, endpoint: Endpoint, requests: Sequence[Request]) -> int:
        """Return how many of these requests have a reply in the log."""
        keys = {request.key(endpoint.identity) for request in requests}
        return len(self.log.replies(sorted(keys)))

    def cost(self, endpoint: Endpoint, outcome: Outcome) -> float | None:
        """Return what a reply cost when it was made; None where that is not known."""
        return self.prices.cost(endpoint, outcome) if isinstance(outcome, Reply) else None

    def check(self, endpoint: Endpoint) -> None:
        """Raise `CallError` or `ConfigError` where an endpoint cannot be asked now.

        Looks for the key and for somebody who listens; asks no model and costs nothing.
        """
        if self.replay_only:
            return
        self._check_allowed(endpoint, 0)
        if endpoint.base_urls:
            endpoint.api_key()
            check_reachable(endpoint)

    def estimate(
        self, endpoint: Endpoint, requests: Sequence[Request], *, sample: int = 0, seed: int = 0
    ) -> Estimate:
        """Return the tokens, the cost and the time that requests are likely to take.

        With `sample`, that many of the missing calls, drawn at random, are made first to learn from
        their replies: they are kept, so nothing is asked twice.
        """
        if sample:
            by_key = {request.key(endpoint.identity): request for request in requests}
            known = self.log.replies(list(by_key))
            missing = [request for key, request in by_key.items() if key not in known]
            chosen = random.Random(seed).sample(missing, min(sample, len(missing)))  # noqa: S311
            list(self.ask(endpoint, chosen, title="sample for the plan"))
        at_once = self.most_at_once(endpoint)
        return estimate(endpoint, requests, self.log, self.prices, at_once)

    def most_at_once(self, endpoint: Endpoint) -> int:
        """Return how many calls to an endpoint are made at once at most."""
        if endpoint in self._clients:
            return self._clients[endpoint].pace.most
        usual = available_cpus() if endpoint.serve is not None else self.max_concurrency
        return endpoint.concurrency or usual

    def ask(
        self, endpoint: Endpoint, requests: Iterable[Request], *, title: str = "calls"
    ) -> Iterator[Outcome]:
        """Yield one outcome per request, in order; equal requests are asked once.

        A failure that concerns one call is an outcome. What concerns all of them (a wrong key,
        an unknown model, nothing but failures, a full disk) is raised as a `CallError` or a
        `StoreError`; all replies that came before are kept.
        """
        asked = list(requests)
        keys = [request.key(endpoint.identity) for request in asked]
        known: dict[str, Outcome] = dict(self.log.replies(list(dict.fromkeys(keys))))
        missing = {k: r for k, r in zip(keys, asked, strict=True) if k not in known}
        with self._lock:
            self._usage += Usage(kept=len(known))
        if not missing:
            yield from (known[key] for key in keys)
            return
        with self._making(endpoint, missing, title) as batch:
            for key in keys:
                yield known[key] if key in known else batch.wait(key, self._engine)

    @contextlib.contextmanager
    def _making(
        self, endpoint: Endpoint, missing: Mapping[str, Request], title: str
    ) -> Iterator[Batch]:
        """Make the calls that are missing; leaving the block early makes no more of them."""
        self._check_allowed(endpoint, len(missing))
        with progress(title, len(missing)) as bar:
            client = self._client(endpoint)

            def count(outcomes: Sequence[Outcome]) -> None:
                self._count(endpoint, outcomes)
                bar.advance(len(outcomes))

            def may_call(key: str, request: Request) -> RagstoneError | None:
                return self.budget.set_aside(endpoint, key, request) if self.budget else None

            batch = Batch(client, self.log, deque(missing.items()), count, may_call)
            self._engine.start(batch)
            try:
                yield batch
            finally:
                self._engine.abandon(batch)

    def _count(self, endpoint: Endpoint, outcomes: Sequence[Outcome]) -> None:
        if self.budget is not None:
            for outcome in outcomes:
                self.budget.settle(endpoint, outcome)
        replies = [outcome for outcome in outcomes if isinstance(outcome, Reply)]
        more = Usage(
            asked=len(outcomes),
            failed=len(outcomes) - len(replies),
            tokens_in=sum(reply.tokens_in or 0 for reply in replies),
            tokens_out=sum(reply.tokens_out or 0 for reply in replies),
            seconds=sum(outcome.seconds or 0.0 for outcome in outcomes),
            cost=sum(self.prices.cost(endpoint, reply) or 0.0 for reply in replies),
        )
        with self._lock:
            self._usage += more

    def _check_allowed(self, endpoint: Endpoint, missing: int) -> None:
        if self.replay_only:
            raise CallError(
                f"{missing} replies of {endpoint.name} are not in the call log {self.log.path}, "
                "and a replay makes no call; run it once without replaying"
            )
        if self.budget is not None:
            self.budget.prices.need(endpoint)
        if not self.offline:
            return
        for url in endpoint.base_urls:
            if not is_loopback(urlsplit(url).hostname or ""):
                raise CallError(
                    f"offline: {endpoint.model} at {shown_url(url)} is not on this machine, and "
                    "not all of its replies are kept"
                )

    def _client(self, endpoint: Endpoint) -> CallClient:
        """Return the endpoint's client; servers of this machine are started if need be."""
        known = self._clients.get(endpoint)
        if endpoint.serve is None:
            return known or self._connect(endpoint, endpoint.base_urls)
        if self._serving is not None and self._serving[0] != endpoint:
            # One local model at a time: the memory of a machine is not the number of its models.
            self._serving[1].close()
        pool = endpoint.serve()
        self._serving = (endpoint, pool)
        if isinstance(known, ChatClient) and known.servers.urls == tuple(pool.urls):
            return known
        return self._connect(endpoint, tuple(pool.urls), pool.api_key)

    def _connect(
        self, endpoint: Endpoint, urls: tuple[str, ...], api_key: str | None = None
    ) -> CallClient:
        client: CallClient
        if endpoint.serve is None:
            pace = ConcurrencyLimiter(most=endpoint.concurrency or self.max_concurrency)
        else:
            # One a server: what waits at a server that answers one at a time only ages there.
            most = endpoint.concurrency or len(urls)
            pace = ConcurrencyLimiter(most=most, limit=most, least=most)
        if endpoint.client is not None:
            client = endpoint.client(endpoint, pace)
        else:
            key = endpoint.api_key() if api_key is None else api_key
            client = ChatClient(endpoint, ServerAddresses(urls, key), pace)
        self._opened.append(client)
        self._clients[endpoint] = client
        return client
