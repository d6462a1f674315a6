"""Pacing: how many calls at once, and the pauses that servers ask for."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.calls.rate_control import ConcurrencyLimiter, pause_wanted

NOW = dt.datetime(2030, 1, 1, 12, 0, 0, tzinfo=dt.UTC)


def test_the_bound_doubles_every_round_while_latency_holds() -> None:
    """Each reply allows one more call, up to the bound."""
    pace = ConcurrencyLimiter(most=64)
    for _ in range(8):
        pace.succeeded(0.05)
    assert pace.limit == 16
    for _ in range(200):
        pace.succeeded(0.05)
    assert pace.limit == 64


def test_overload_halves_once_for_calls_in_flight_together() -> None:
    """Ten refusals of one moment are one sign; a refusal of a later call is another."""
    pace = ConcurrencyLimiter(most=64, limit=64)
    for _ in range(10):
        pace.overloaded(started=1.0, now=2.0)
    assert pace.limit == 32
    pace.overloaded(started=2.5, now=3.0)
    assert pace.limit == 16


def test_after_an_overload_the_bound_grows_by_one_a_round() -> None:
    """Additive increase, multiplicative decrease."""
    pace = ConcurrencyLimiter(most=64, limit=20)
    pace.overloaded(started=1.0, now=2.0)
    for _ in range(10):
        pace.succeeded(0.05)
    assert pace.limit == 11


def test_a_queue_at_the_server_is_no_reason_to_grow() -> None:
    """Where more calls at once only take longer, the bound stands still."""
    pace = ConcurrencyLimiter(most=1000, limit=8)
    for _ in range(400):
        pace.succeeded(0.01 * pace.limit)
    assert pace.limit < 100


def test_models_of_this_machine_are_never_kept_idle() -> None:
    """With a floor, overload takes the bound no lower."""
    pace = ConcurrencyLimiter(most=2, limit=2, least=2)
    for clock in range(5):
        pace.overloaded(started=clock, now=clock + 0.5)
    assert pace.limit == 2


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 10))))
def test_the_bound_stays_within_one_and_the_most(events: list[tuple[bool, float]]) -> None:
    """Whatever happens, at least one call may be made and never more than the bound."""
    pace = ConcurrencyLimiter(most=7)
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
def test_pauses_are_read_in_every_spelling(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, dates, durations; a limit that is not used up asks for nothing."""
    assert pause_wanted(headers, NOW) == seconds
