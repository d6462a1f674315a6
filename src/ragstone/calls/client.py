"""Model calls: each reply is stored before it is counted, and no stored call is repeated.

    with Calls(CallLog(Path("store/calls.sqlite"))) as calls:
        endpoint = Endpoint("my-model", ("http://localhost:8000/v1",))
        for outcome in calls.ask(endpoint, [chat("Define: touchstone.", max_tokens=30)]):
            match outcome:
                case Reply(text=text): ...
                case Failure(reason=reason): ...

A call's key is a digest of the model's identity, the messages, the sampling parameters and the
sample number. A call with a reply in the log is never made again; a failed call is.
"""

from __future__ import annotations

import contextlib
import copy
import math
import random
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from ragstone.calls import clock
from ragstone.calls.batch_client import BatchClient
from ragstone.calls.deadline import Deadline
from ragstone.calls.estimates import Estimate, estimate
from ragstone.calls.http import ChatClient, check_reachable
from ragstone.calls.log import CallLog
from ragstone.calls.new_client import new_client
from ragstone.calls.postgres import shared_address
from ragstone.calls.prices import Budget, Prices
from ragstone.calls.repeats import NO_REPEAT, Repeat
from ragstone.calls.runs import new_run
from ragstone.calls.scheduler import Batch, Engine, RetryPolicy
from ragstone.calls.types import (
    CallClient,
    Endpoint,
    Outcome,
    Reply,
    Request,
    ServerAddresses,
    shown_url,
)
from ragstone.calls.usage import CountedCalls, SharedState, Usage
from ragstone.core import limits
from ragstone.core.offline import is_loopback, no_network
from ragstone.core.progress import progress
from ragstone.core.resources import available_cpus
from ragstone.core.step_notes import add_note
from ragstone.core.threads import run_all
from ragstone.core.times import utc_text
from ragstone.errors import CallError, RagstoneError
from ragstone.types import brief


class Calls(contextlib.AbstractContextManager["Calls"]):
    """Makes model calls for generators, judges, rewriters and labellers.

    Args:
        log: stores every finished call.
        retry_policy: time-outs and retries.
        max_concurrency: maximum concurrent calls per endpoint; the actual number adapts.
        offline: block every connection to another machine until `close`.
        replay_only: make no calls; a reply that is not in the log is a `CallError`.
        keep_failed: repeat no call that failed, and none whose reply could not be read.
        prices: price table for the cost of replies; default: the prices of `budget`.
        budget: maximum cost or number of the calls made here.
        deadline: no call begins after it.
    """

    def __init__(
        self,
        log: CallLog,
        *,
        retry_policy: RetryPolicy | None = None,
        max_concurrency: int = limits.MAX_CONCURRENT_CALLS,
        offline: bool = False,
        replay_only: bool = False,
        keep_failed: bool = False,
        prices: Prices | None = None,
        budget: Budget | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        self.log = log
        self.retry_policy = retry_policy or RetryPolicy()
        self.max_concurrency = max_concurrency
        self.offline, self.replay_only, self.keep_failed = offline, replay_only, keep_failed
        self._rejected_since = 0.0 if keep_failed else clock.now()
        self._failed_since = 0.0 if keep_failed else math.inf
        self._leases = log.leases()
        self.run = new_run()
        """The run that replies of your own systems belong to; an experiment sets its own runs."""
        self.prices = prices or (budget.prices if budget else Prices())
        self.budget, self.deadline = budget, deadline
        self._engine = Engine(self.retry_policy)
        self._clients: dict[Endpoint, CallClient] = {}
        self._open_clients: list[CallClient] = []
        self._ahead: dict[str, Outcome] = {}
        """Key -> outcome of a call that was made ahead, until it is asked for."""
        self._shared = SharedState()
        self._repeat = NO_REPEAT
        self._lock = threading.Lock()
        self._offline_guard = contextlib.ExitStack()
        if offline:
            self._offline_guard.enter_context(no_network())

    @classmethod
    def at(cls, path: Path, *, shared: str | None = None, **options: Any) -> Self:
        """Return calls with a log at `path` (`shared`: `shared_address`) and with `options`."""
        return cls(CallLog(path, shared_address(shared)), **options)

    def __repr__(self) -> str:
        """Return one line: the file of the log, and the numbers of calls."""
        used = self.usage
        return brief(self, repr(str(self.log.path)), f"{used.asked} asked", f"{used.kept} kept")

    def __exit__(self, *_: object) -> None:
        """Close the connections and the log."""
        self.close()

    def close(self) -> None:
        """Close the connections and the log."""
        self._engine.close(self._open_clients)
        self._open_clients.clear()
        self._clients.clear()
        self.log.close()
        self._leases.close()
        self._offline_guard.close()

    @property
    def usage(self) -> Usage:
        """Totals over the calls so far."""
        with self._lock:
            return self._shared.usage

    @contextlib.contextmanager
    def counted(self) -> Iterator[CountedCalls]:
        """Count the calls that are made in a block."""
        counted, before = CountedCalls(), self.usage
        self._shared.oldest = None
        try:
            yield counted
        finally:
            counted.usage = self.usage - before
            counted.kept_from = (
                None if self._shared.oldest is None else utc_text(self._shared.oldest)
            )

    def of_repeat(self, repeat: Repeat) -> Self:
        """Return a view of these calls whose requests are those of a repeat."""
        view = copy.copy(self)
        view._repeat = repeat  # noqa: SLF001 - another object of this class
        return view

    def cost(self, endpoint: Endpoint, outcome: Outcome) -> float | None:
        """Return the cost of an `outcome` of `endpoint`, in the prices' currency, or None."""
        if not isinstance(outcome, Reply):
            return None
        cost, price = self.prices.cost(endpoint, outcome), self.prices.find(endpoint)
        if cost and outcome.batch and price is not None and price.batch is None:
            add_note("costs of replies from a batch at the full price (no `batch` in the prices)")
        return cost

    def check(self, endpoint: Endpoint) -> None:
        """Raise `CallError` or `ConfigError` if an endpoint is unavailable.

        Checks that the API key is set and that the server accepts a connection. Makes no call.
        """
        if self.replay_only:
            return
        self._check_allowed(endpoint, 0)
        if endpoint.base_urls:
            endpoint.check_secrets()
            check_reachable(endpoint)

    def estimate(
        self, endpoint: Endpoint, requests: Sequence[Request], *, sample: int = 0, seed: int = 0
    ) -> Estimate:
        """Return the expected tokens, cost and seconds of requests to `endpoint`.

        If `sample` is above 0, that many missing calls, drawn at random with `seed`, are made
        first, and the estimate uses their replies. The replies are stored. `CallError` as of `ask`.
        """
        requests = [self._repeat.request(one) for one in requests]
        if sample:
            by_key = {request.key(endpoint.identity): request for request in requests}
            stored = self._stored(list(by_key))
            missing = [request for key, request in by_key.items() if key not in stored]
            chosen = random.Random(seed).sample(missing, min(sample, len(missing)))  # noqa: S311
            list(self._ask(endpoint, chosen, "sample for the plan"))
        concurrency = self.concurrency_limit(endpoint)
        return estimate(endpoint, requests, self.log, self.prices, concurrency, find=self._stored)

    def concurrency_limit(self, endpoint: Endpoint) -> int:
        """Return the maximum number of concurrent calls to an endpoint."""
        if endpoint in self._clients:
            return self._clients[endpoint].pace.maximum
        default = available_cpus() if endpoint.serve is not None else self.max_concurrency
        return endpoint.concurrency or default

    def ask_ahead(self, wanted: Mapping[Endpoint, Sequence[Request]]) -> None:
        """Make the `wanted` calls of several endpoints at once; they count when they are asked for.

        An error that stops the calls of one endpoint is raised when they are asked for.
        """
        if self.replay_only:
            return
        run_all([partial(self._ask_ahead, *each) for each in wanted.items()], "ragstone-ahead")

    def _ask_ahead(self, endpoint: Endpoint, requests: Sequence[Request]) -> None:
        keys = [request.key(endpoint.identity) for request in requests]
        stored = self._stored(list(dict.fromkeys(keys)))
        missing = {k: r for k, r in zip(keys, requests, strict=True) if k not in stored}
        if missing:
            title = f"answers of {endpoint.model}, all settings"
            with (
                contextlib.suppress(CallError),
                self._open_batch(endpoint, missing, title, ahead=True) as batch,
            ):
                for key in missing:
                    batch.wait(key, self._engine)

    def ask(
        self, endpoint: Endpoint, requests: Iterable[Request], *, title: str = "calls"
    ) -> Iterator[Outcome]:
        """Yield one outcome per request to `endpoint`, in order; equal requests are one call.

        The failure of a single call is an outcome; `title` names the progress. Raises `CallError`
        or `StoreError` if every call is affected: a wrong API key, an unknown model, repeated
        failures, a full disk. All earlier replies are then in the log.
        """
        return self._ask(endpoint, [self._repeat.request(one) for one in requests], title)

    def _ask(self, endpoint: Endpoint, ordered: Sequence[Request], title: str) -> Iterator[Outcome]:
        keys = [request.key(endpoint.identity) for request in ordered]
        stored = self._stored(list(dict.fromkeys(keys)))
        with self._lock:
            ahead = {key: self._ahead.pop(key) for key in set(keys) & self._ahead.keys()}
        self._count(endpoint, list(ahead.values()))
        self._count_found([outcome for key, outcome in stored.items() if key not in ahead])
        stored |= ahead
        missing = {k: r for k, r in zip(keys, ordered, strict=True) if k not in stored}
        if not missing:
            yield from (_noted(stored[key]) for key in keys)
            return
        with self._open_batch(endpoint, missing, title) as batch:
            for key in keys:
                yield _noted(stored.get(key) or batch.wait(key, self._engine))

    def reject(self, keys: Sequence[str], reason: str) -> None:
        """Mark the replies `keys` as unusable, with a `reason`; the next run repeats the calls."""
        if keys and not self.replay_only:
            self.log.reject(keys, reason)

    def keep_new_failures(self) -> None:
        """Repeat no call that fails from now on; calls that failed before are repeated."""
        self._failed_since = min(self._failed_since, clock.now())

    def _stored(self, keys: Sequence[str]) -> dict[str, Outcome]:
        return self.log.outcomes(
            keys,
            rejected_since=self._rejected_since,
            failed_since=self._failed_since,
        )

    @contextlib.contextmanager
    def _open_batch(
        self,
        endpoint: Endpoint,
        missing: Mapping[str, Request],
        title: str,
        *,
        ahead: bool = False,
    ) -> Iterator[Batch]:
        """Start the missing calls; leaving the block early cancels the rest."""
        self._check_allowed(endpoint, len(missing))
        with progress(title, len(missing)) as bar:
            client = self._client(endpoint)

            def count(outcomes: Sequence[Outcome]) -> None:
                if isinstance(client, BatchClient):
                    client.committed([outcome.key for outcome in outcomes])
                if self.budget is not None:
                    for outcome in outcomes:
                        self.budget.settle(endpoint, outcome)
                if ahead:
                    with self._lock:
                        self._ahead.update((outcome.key, outcome) for outcome in outcomes)
                else:
                    self._count(endpoint, outcomes)
                bar.advance(len(outcomes))

            def reserve(key: str, request: Request) -> RagstoneError | None:
                if self.deadline and (late := self.deadline.passed()):
                    return late
                return self.budget.reserve(endpoint, key, request) if self.budget else None

            def count_found(outcomes: Sequence[Outcome]) -> None:
                self._count_found(outcomes)
                bar.advance(len(outcomes))

            batch = Batch(
                client,
                self.log,
                self._leases,
                deque(missing.items()),
                count,
                count_found,
                reserve,
                self._rejected_since,
            )
            self._engine.start(batch)
            try:
                yield batch
            finally:
                self._engine.abandon(batch)

    def _count(self, endpoint: Endpoint, outcomes: Sequence[Outcome]) -> None:
        replies = [outcome for outcome in outcomes if isinstance(outcome, Reply)]
        added = Usage(
            asked=len(outcomes),
            failed=len(outcomes) - len(replies),
            tokens_in=sum(reply.tokens_in or 0 for reply in replies),
            tokens_out=sum(reply.tokens_out or 0 for reply in replies),
            seconds=sum(outcome.seconds or 0.0 for outcome in outcomes),
            cost=sum(self.prices.cost(endpoint, reply) or 0.0 for reply in replies),
            tokens_reasoning=sum(reply.tokens_reasoning or 0 for reply in replies),
        )
        with self._lock:
            self._shared.usage += added

    def _count_found(self, outcomes: Sequence[Outcome]) -> None:
        dates = [outcome.made_at for outcome in outcomes if isinstance(outcome, Reply)]
        with self._lock:
            self._shared.usage += Usage(kept=len(outcomes), failed=len(outcomes) - len(dates))
            known = [date for date in (self._shared.oldest, *dates) if date is not None]
            self._shared.oldest = min(known, default=None)

    def _check_allowed(self, endpoint: Endpoint, missing: int) -> None:
        if self.replay_only:
            raise CallError(
                f"{missing:,} {'reply' if missing == 1 else 'replies'} of {endpoint.name} "
                f"{'is' if missing == 1 else 'are'} not in the call log {self.log.path}, and "
                "--replay (replay_only) makes no calls; run once without it"
            )
        if self.budget is not None:
            self.budget.check(endpoint)
        if not self.offline:
            return
        for url in endpoint.addresses():
            if not is_loopback(urlsplit(url).hostname or ""):
                raise CallError(
                    f"offline: {endpoint.model} at {shown_url(url)} is on another machine, and "
                    "some of its replies are not in the call log; run once without --offline"
                )

    def _client(self, endpoint: Endpoint) -> CallClient:
        """Return the endpoint's client, starting its local servers if necessary."""
        client = self._clients.get(endpoint)
        if endpoint.serve is None:
            return client or self._connect(endpoint, endpoint.addresses())
        if self._shared.served is not None and self._shared.served[0] != endpoint:
            # One local model at a time: two may not fit into memory.
            self._shared.served[1].close()
        pool = endpoint.serve()
        self._shared.served = (endpoint, pool)
        if isinstance(client, ChatClient) and client.servers.urls == tuple(pool.urls):
            return client
        return self._connect(endpoint, tuple(pool.urls), pool.api_key)

    def _connect(
        self, endpoint: Endpoint, urls: tuple[str, ...], api_key: str | None = None
    ) -> CallClient:
        if api_key is None:
            api_key = "" if endpoint.client else endpoint.api_key()
        client = new_client(
            endpoint,
            ServerAddresses(urls, api_key),
            self.max_concurrency,
            policy=self.retry_policy,
            log=self.log.path,
            deadline=self.deadline,
        )
        if endpoint.serve is None:
            self._leases.share(endpoint.identity, client.pace)
        self._open_clients.append(client)
        self._clients[endpoint] = client
        return client


def _noted(outcome: Outcome) -> Outcome:
    """Return an outcome, after a note if characters of its text are lost."""
    if isinstance(outcome, Reply) and "\ufffd" in outcome.text:
        add_note("replies with U+FFFD in place of characters that are not valid Unicode")
    return outcome
