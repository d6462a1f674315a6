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
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

from ragstone.call_engine import Batch, Engine, Patience
from ragstone.call_log import CallLog
from ragstone.call_types import (
    ChatMessage,
    Endpoint,
    Failure,
    HasUrls,
    Outcome,
    Reply,
    Request,
    Sampling,
    Servers,
    TokenLogprob,
    chat,
    shown_url,
)
from ragstone.chat_client import ChatClient, is_loopback
from ragstone.errors import CallError, RagstoneError
from ragstone.pacing import Pace
from ragstone.progress import progress

__all__ = [
    "CallLog",
    "Calls",
    "ChatMessage",
    "Endpoint",
    "Failure",
    "HasUrls",
    "Outcome",
    "Patience",
    "Reply",
    "Request",
    "Sampling",
    "TokenLogprob",
    "Usage",
    "chat",
]

_LOCAL_CALLS_PER_SERVER: Final = 2
"""One being answered and one waiting, so that a server of this machine never idles."""


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
        offline: refuse every endpoint that is not on this machine.
        replay_only: make no call at all; a reply that is not kept is a `CallError`.
    """

    def __init__(
        self,
        log: CallLog,
        *,
        patience: Patience | None = None,
        max_concurrency: int = 64,
        offline: bool = False,
        replay_only: bool = False,
    ) -> None:
        self.log = log
        self.patience = patience or Patience()
        self.max_concurrency = max_concurrency
        self.offline, self.replay_only = offline, replay_only
        self._engine = Engine(self.patience)
        self._clients: dict[Endpoint, ChatClient] = {}
        self._opened: list[ChatClient] = []
        self._serving: tuple[Endpoint, HasUrls] | None = None
        self._usage = Usage()
        self._lock = threading.Lock()

    @classmethod
    def at(cls, path: Path, **options: int | bool | Patience | None) -> Calls:
        """Return calls kept in the SQLite file `path`."""
        return cls(CallLog(path), **options)  # type: ignore[arg-type]

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

    @property
    def usage(self) -> Usage:
        """What the calls have come to so far."""
        with self._lock:
            return self._usage

    def kept(self, endpoint: Endpoint, requests: Sequence[Request]) -> int:
        """Return how many of these requests have a reply in the log."""
        keys = {request.key(endpoint.identity) for request in requests}
        return len(self.log.replies(sorted(keys)))

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
                self._count(outcomes)
                bar.advance(len(outcomes))

            batch = Batch(client, self.log, deque(missing.items()), count, self._may_go_on)
            self._engine.start(batch)
            try:
                yield batch
            finally:
                self._engine.abandon(batch)

    def _may_go_on(self) -> RagstoneError | None:
        return None

    def _count(self, outcomes: Sequence[Outcome]) -> None:
        replies = [outcome for outcome in outcomes if isinstance(outcome, Reply)]
        more = Usage(
            asked=len(outcomes),
            failed=len(outcomes) - len(replies),
            tokens_in=sum(reply.tokens_in or 0 for reply in replies),
            tokens_out=sum(reply.tokens_out or 0 for reply in replies),
            seconds=sum(outcome.seconds or 0.0 for outcome in outcomes),
        )
        with self._lock:
            self._usage += more

    def _check_allowed(self, endpoint: Endpoint, missing: int) -> None:
        if self.replay_only:
            raise CallError(
                f"{missing} replies of {endpoint.name} are not in the call log {self.log.path}, "
                "and a replay makes no call; run it once without replaying"
            )
        if not self.offline:
            return
        for url in endpoint.base_urls:
            if not is_loopback(urlsplit(url).hostname or ""):
                raise CallError(
                    f"offline: {missing} replies of {endpoint.model} are not kept, and "
                    f"{shown_url(url)} is not on this machine"
                )

    def _client(self, endpoint: Endpoint) -> ChatClient:
        """Return the endpoint's client; servers of this machine are started if need be."""
        known = self._clients.get(endpoint)
        if endpoint.serve is None:
            return known or self._connect(endpoint, endpoint.base_urls, endpoint.api_key())
        if self._serving is not None and self._serving[0] != endpoint:
            # One local model at a time: the memory of a machine is not the number of its models.
            self._serving[1].close()
        pool = endpoint.serve()
        self._serving = (endpoint, pool)
        if known is not None and known.servers.urls == tuple(pool.urls):
            return known
        return self._connect(endpoint, tuple(pool.urls), pool.api_key)

    def _connect(self, endpoint: Endpoint, urls: tuple[str, ...], api_key: str) -> ChatClient:
        if endpoint.serve is None:
            pace = Pace(most=endpoint.concurrency or self.max_concurrency)
        else:
            most = endpoint.concurrency or _LOCAL_CALLS_PER_SERVER * len(urls)
            pace = Pace(most=most, limit=most)
        client = ChatClient(endpoint, Servers(urls, api_key), pace)
        self._opened.append(client)
        self._clients[endpoint] = client
        return client
