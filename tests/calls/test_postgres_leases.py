"""Leases and rate limits of machines that share a database, in a real PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from ragstone.calls import leases
from ragstone.calls.postgres_leases import PostgresLeases
from ragstone.calls.rate_control import ConcurrencyLimiter
from ragstone.core import limits


@pytest.fixture
def machines(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[PostgresLeases, PostgresLeases]]:
    """Two owners on different machines, which exchange their limits often."""
    monkeypatch.setattr(limits, "SHARED_LIMIT_SECONDS", 0.05)
    first = PostgresLeases(postgres_url)
    monkeypatch.setattr(leases, "_machine", lambda: "another/machine")
    second = PostgresLeases(postgres_url)
    yield first, second
    first.close()
    second.close()


def until(condition: bool) -> bool:
    """Return whether a condition holds, after a short wait if it does not."""
    if not condition:
        time.sleep(0.02)
    return condition


def test_a_call_has_one_owner(machines: tuple[PostgresLeases, PostgresLeases]) -> None:
    """A lease that is given back can be claimed, and closing gives all back."""
    first, second = machines
    assert first.claim(["a", "b"]) == {"a", "b"}
    assert second.claim(["b", "c"]) == {"c"}
    assert first.claim(["a"]) == set()
    first.release(["b"])
    first.claim(["d"])
    assert second.claim(["a", "b"]) == {"b"}
    first.close()
    assert second.claim(["a"]) == {"a"}


def test_a_silent_machine_loses_its_leases(
    machines: tuple[PostgresLeases, PostgresLeases], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the clock of the database, after LEASE_EXPIRY_SECONDS without a heartbeat."""
    first, second = machines
    monkeypatch.setattr(limits, "SHARED_LIMIT_SECONDS", 60.0)
    assert first.claim(["a"]) == {"a"}
    assert second.claim(["a"]) == set()
    monkeypatch.setattr(limits, "LEASE_EXPIRY_SECONDS", 0.2)
    time.sleep(0.3)
    assert second.claim(["a"]) == {"a"}
    monkeypatch.setattr(limits, "SHARED_LIMIT_SECONDS", 0.05)


def test_a_heartbeat_keeps_leases(
    machines: tuple[PostgresLeases, PostgresLeases], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An owner that renews keeps them for any time."""
    first, second = machines
    monkeypatch.setattr(limits, "LEASE_EXPIRY_SECONDS", 1.0)
    assert first.claim(["a"]) == {"a"}
    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        assert second.claim(["a"]) == set()
        time.sleep(0.1)


def test_machines_divide_the_limit_of_an_endpoint(
    machines: tuple[PostgresLeases, PostgresLeases],
) -> None:
    """Together they make no more calls at once than one machine alone."""
    first, second = machines
    one, other, elsewhere = (ConcurrencyLimiter(64, limit=64) for _ in range(3))
    first.share("model", one)
    assert one.maximum == 64
    second.share("model", other)
    second.share("another model", elsewhere)
    while not until(one.maximum == 32):
        pass
    assert (one.limit, other.maximum, other.limit, elsewhere.maximum) == (32, 32, 32, 64)
    second.close()
    while not until(one.maximum == 64):
        pass


def test_a_pause_reaches_the_other_machines(
    machines: tuple[PostgresLeases, PostgresLeases],
) -> None:
    """A server that refuses one machine is left alone by all, and their limits are halved."""
    first, second = machines
    one, other = (ConcurrencyLimiter(64, limit=32) for _ in range(2))
    first.share("model", one)
    second.share("model", other)
    now = time.monotonic()
    one.overloaded(now, now, 30.0)
    assert one.limit == 16
    while not until(other.not_before > now):
        pass
    assert other.not_before == pytest.approx(now + 30.0, abs=10.0)
    while not until(other.limit == 16):
        pass
    time.sleep(0.3)
    # Each overload halves a limit once.
    assert (one.limit, other.limit) == (16, 16)
