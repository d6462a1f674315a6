"""Leases and rate limits that the machines of a shared call log have in common.

Every owner of leases renews its heartbeat every few seconds, by the clock of the database. The
leases of an owner whose heartbeat stopped are free. Each second an owner tells the pauses that a
server requested from it, and learns those of the others; the concurrency of an endpoint is divided
among the owners that call it.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

from ragstone.calls.leases import CallLeases, may_live, new_owner
from ragstone.calls.postgres import PostgresDatabase
from ragstone.calls.rate_control import ConcurrencyLimiter
from ragstone.core import limits
from ragstone.core.threads import started_thread
from ragstone.errors import StoreError

_HOLDERS: Final = """
SELECT DISTINCT l.owner, o.beat IS NULL OR o.beat < clock_timestamp() - make_interval(secs => %s)
FROM ragstone_call_leases l LEFT JOIN ragstone_call_owners o USING (owner)
WHERE l.key = ANY(%s) AND l.owner <> %s"""
_CLAIM: Final = """
INSERT INTO ragstone_call_leases SELECT key, %s FROM unnest(%s::text[]) AS key
ON CONFLICT (key) DO NOTHING RETURNING key"""
_FLUSH: Final = "DELETE FROM ragstone_call_leases WHERE owner = %s AND key = ANY(%s)"
_RENEW: Final = """
INSERT INTO ragstone_call_owners VALUES (%s, clock_timestamp())
ON CONFLICT (owner) DO UPDATE SET beat = excluded.beat"""
_TABLES: Final = ("ragstone_call_leases", "ragstone_call_users", "ragstone_call_owners")
_USE: Final = "INSERT INTO ragstone_call_users VALUES (%s, %s) ON CONFLICT DO NOTHING"
_PAUSE: Final = """
INSERT INTO ragstone_call_limits AS l
VALUES (%s, clock_timestamp() + make_interval(secs => %s), %s)
ON CONFLICT (endpoint) DO UPDATE SET overloads = l.overloads + excluded.overloads,
  paused_until = greatest(l.paused_until, excluded.paused_until)"""
_LEARN: Final = """
SELECT coalesce(extract(epoch FROM l.paused_until - clock_timestamp()), 0)::float8,
  coalesce(l.overloads, 0), (SELECT count(*) FROM ragstone_call_users u
    JOIN ragstone_call_owners o USING (owner) WHERE u.endpoint = e.endpoint
    AND o.beat >= clock_timestamp() - make_interval(secs => %s))
FROM (SELECT %s::text AS endpoint) e LEFT JOIN ragstone_call_limits l USING (endpoint)"""


class SharedLimit:
    """The limit of one endpoint in this process, and what it has to tell the other machines."""

    def __init__(self, pace: ConcurrencyLimiter) -> None:
        self.pace, self.whole = pace, pace.maximum
        self.overloads: int | None = None
        """Overloads of all machines, as they were learned last."""
        pace.tell = self._note
        self._lock = threading.Lock()
        self._until = 0.0
        self._count = 0

    def _note(self, pause: float, overloads: int) -> None:
        """Note a pause or an overload (called on the loop's thread)."""
        with self._lock:
            self._until = max(self._until, time.monotonic() + pause)
            self._count += overloads

    def take(self) -> tuple[float, int]:
        """Return the seconds of pause and the overloads that are new."""
        with self._lock:
            count, self._count = self._count, 0
            return max(0.0, self._until - time.monotonic()), count

    def give_back(self, count: int) -> None:
        """Undo `take` after an error."""
        with self._lock:
            self._count += count

    def learn(self, pause: float, overloads: int, users: int, own: int) -> None:
        """Follow the pauses, the overloads and the number of the others."""
        now, before = time.monotonic(), self.overloads
        self.pace.not_before = max(self.pace.not_before, now + pause)
        if before is not None and overloads - before > own:
            self.pace.halve(now)
        self.overloads = overloads
        self.pace.set_maximum(max(1, self.whole // max(1, users)))


class PostgresLeases(CallLeases):
    """The leases of one `Calls` in a database. The methods may be called from any thread."""

    def __init__(self, url: str) -> None:
        self.owner = new_owner()
        self.database = PostgresDatabase(url)
        self._lock = threading.Lock()
        self._released: list[str] = []
        self._limits: dict[str, SharedLimit] = {}
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def claim(self, keys: Sequence[str]) -> set[str]:
        """Return the calls that this owner must make; the others have a live owner."""
        self._start()
        released = self._take_released()

        def claim(connection: Any) -> set[str]:
            connection.execute(_FLUSH, (self.owner, released))
            connection.execute(_RENEW, (self.owner,))
            values = limits.LEASE_EXPIRY_SECONDS, list(keys), self.owner
            for owner, silent in connection.execute(_HOLDERS, values).fetchall():
                if silent or not may_live(owner):
                    _bury(connection, owner)
            found = connection.execute(_CLAIM, (self.owner, list(keys))).fetchall()
            return {key for (key,) in found}

        return self.database.run(claim, alone=True)

    def release(self, keys: Iterable[str]) -> None:
        """Give leases back, with the next claim or heartbeat."""
        with self._lock:
            self._released.extend(keys)

    def share(self, identity: str, pace: ConcurrencyLimiter) -> None:
        """Share the limit on calls to an endpoint with the other owners."""
        endpoint = hashlib.sha256(identity.encode()).hexdigest()
        with self._lock:
            self._limits[endpoint] = SharedLimit(pace)
        # Now: without it, several machines that start together would each use the whole limit.
        self._exchange()
        self._start()

    def close(self) -> None:
        """Give every lease back and end the heartbeat."""
        self._closing.set()
        if self._thread is None:
            return
        self._thread.join()
        with contextlib.suppress(StoreError):
            self.database.run(lambda connection: _bury(connection, self.owner), alone=True)
        self.database.close()

    def _take_released(self) -> list[str]:
        with self._lock:
            released, self._released = self._released, []
        return released

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = started_thread(self._keep_alive, "ragstone-leases")

    def _keep_alive(self) -> None:
        """Renew the heartbeat and exchange limits until `close`: a thread."""
        while not self._closing.wait(limits.SHARED_LIMIT_SECONDS):
            # A missed heartbeat costs a repeated call; the next claim reports a lasting error.
            with contextlib.suppress(StoreError):
                self._exchange()

    def _exchange(self) -> None:
        """Renew the heartbeat, give leases back, tell overloads and learn those of the others."""
        released = self._take_released()
        with self._lock:
            shared = list(self._limits.items())
        told = {endpoint: limit.take() for endpoint, limit in shared}

        def exchange(connection: Any) -> list[tuple[float, int, int]]:
            connection.execute(_RENEW, (self.owner,))
            connection.execute(_FLUSH, (self.owner, released))
            for endpoint, (pause, count) in told.items():
                connection.execute(_USE, (endpoint, self.owner))
                if pause or count:
                    connection.execute(_PAUSE, (endpoint, pause, count))
            expiry = limits.LEASE_EXPIRY_SECONDS
            return [connection.execute(_LEARN, (expiry, one)).fetchone() for one, _ in shared]

        try:
            found = self.database.run(exchange, alone=True)
        except BaseException:
            self.release(released)
            for endpoint, limit in shared:
                limit.give_back(told[endpoint][1])
            raise
        for (endpoint, limit), learned in zip(shared, found, strict=True):
            limit.learn(*learned, told[endpoint][1])


def _bury(connection: Any, owner: str) -> None:
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table} WHERE owner = %s", (owner,))  # noqa: S608 - our own names
