"""Adaptive concurrency, and the pauses that servers request."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.calls.rate_control import ConcurrencyLimiter, requested_pause

NOW = dt.datetime(2030, 1, 1, 12, 0, 0, tzinfo=dt.UTC)


def test_the_limit_doubles_every_round_while_latency_is_stable() -> None:
    """Each reply allows one more call, up to the maximum."""
    pace = ConcurrencyLimiter(64)
    for _ in range(8):
        pace.succeeded(0.05)
    assert pace.limit == 16
    for _ in range(200):
        pace.succeeded(0.05)
    assert pace.limit == 64


def test_overload_halves_once_for_calls_in_flight_together() -> None:
    """Ten refusals at one time count once; the refusal of a later call counts again."""
    pace = ConcurrencyLimiter(64, limit=64)
    for _ in range(10):
        pace.overloaded(started=1.0, now=2.0)
    assert pace.limit == 32
    pace.overloaded(started=2.5, now=3.0)
    assert pace.limit == 16


def test_after_an_overload_the_limit_grows_by_one_per_round() -> None:
    """Additive increase, multiplicative decrease."""
    pace = ConcurrencyLimiter(64, limit=20)
    pace.overloaded(started=1.0, now=2.0)
    for _ in range(10):
        pace.succeeded(0.05)
    assert pace.limit == 11


def test_the_limit_stays_if_calls_only_queue_at_the_server() -> None:
    """If concurrent calls only take longer, the limit stops growing."""
    pace = ConcurrencyLimiter(1000, limit=8)
    for _ in range(400):
        pace.succeeded(0.01 * pace.limit)
    assert pace.limit < 100


def test_local_models_are_never_idle() -> None:
    """Overload does not lower the limit below the minimum."""
    pace = ConcurrencyLimiter(2, limit=2, minimum=2)
    for clock in range(5):
        pace.overloaded(started=clock, now=clock + 0.5)
    assert pace.limit == 2


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 10))))
def test_the_limit_stays_between_one_and_the_maximum(events: list[tuple[bool, float]]) -> None:
    """After any sequence of events the limit is from 1 to the maximum."""
    pace = ConcurrencyLimiter(7)
    for clock, (fine, seconds) in enumerate(events):
        if fine:
            pace.succeeded(seconds)
        else:
            pace.overloaded(clock, clock + 0.5)
        assert 1 <= pace.limit <= 7


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "12"}, 12.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"Retry-After": "Tue, 01 Jan 2030 12:01:30 GMT"}, 90.0),
        ({"Retry-After": "Tue, 01 Jan 2030 11:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"}, 0.12),
        ({"x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "6m0s"}, None),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2030-01-01T12:00:30Z",
            },
            30.0,
        ),
    ],
)
def test_pauses_are_parsed_in_every_format(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, dates, durations; a rate limit that is not exhausted requests no pause."""
    assert requested_pause(headers, NOW) == seconds
