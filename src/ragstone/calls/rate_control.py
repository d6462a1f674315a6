"""Adaptive concurrency and pauses between calls, derived from the server's responses."""

from __future__ import annotations

import asyncio
import datetime as dt
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Final

from ragstone.core import limits

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)?")
_SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "": 1.0}
_CROWDED_RATIO: Final = 2.0
"""Mean latency of a round, relative to the best round, above which calls only queue."""
_MIN_ROUND_CALLS: Final = 8
"""Fewer calls give no reliable mean latency."""


@dataclass
class ConcurrencyLimiter:
    """The limit on concurrent calls to one endpoint.

    Starts low and doubles every round while latency is stable (each reply allows one more call).
    After the first round of high latency it grows by one per round. Overload (429, 503, a time-out)
    halves it, once for all calls in flight at that time. A requested pause delays every call.
    """

    maximum: int
    limit: int = limits.INITIAL_CONCURRENT_CALLS
    minimum: int = 1
    """Lower bound of the limit. For local models it equals the maximum: none becomes idle."""
    active: int = 0
    not_before: float = 0.0
    """Time on the event loop's clock before which no call starts."""
    tell: Callable[[float, int], None] | None = field(default=None, repr=False)
    """Receives the seconds of each pause and the number of overloads, to tell other machines."""
    outages: int = 0
    """Calls in a row that failed because the server is down, those of earlier steps included."""
    _doubling: bool = True
    _halved_at: float = field(default=-1.0, repr=False)
    _best_latency: float = field(default=float("inf"), repr=False)
    _round_seconds: float = field(default=0.0, repr=False)
    _round_calls: int = field(default=0, repr=False)
    _round_size: int = field(default=0, repr=False)
    _crowded: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        """Move the limit between minimum and maximum."""
        self.minimum = max(1, min(self.minimum, self.maximum))
        self.limit = self._round_size = max(self.minimum, min(self.limit, self.maximum))

    def succeeded(self, seconds: float) -> None:
        """Record a reply's latency, and raise the limit if the server keeps up."""
        self._round_calls += 1
        self._round_seconds += seconds
        if self._doubling and not self._crowded and self.limit < self.maximum:
            self.limit += 1
        if self._round_calls >= max(self._round_size, _MIN_ROUND_CALLS):
            self._end_round()

    def pause(self, seconds: float, now: float) -> None:
        """Start no call for `seconds`."""
        if seconds > 0:
            self.not_before = max(self.not_before, now + seconds)
            if self.tell is not None:
                self.tell(seconds, 0)

    async def next_start(self, earliest: float, deadline: float) -> float:
        """Wait until an attempt may start, and return when that was, on the event loop's clock.

        Returns infinity at once if it may not start before the deadline. A pause that another call
        is told meanwhile counts too.
        """
        time = asyncio.get_running_loop().time
        while (due := max(earliest, self.not_before)) < deadline:
            await asyncio.sleep(due - time())
            if self.not_before <= due:
                return due
        return math.inf

    def overloaded(self, started: float, now: float, pause: float | None = None) -> None:
        """Halve the limit, unless the call started before the last halving; pause if requested."""
        self.pause(pause or 0.0, now)
        if self.tell is not None:
            self.tell(0.0, 1)
        if started > self._halved_at:
            self.halve(now)

    def set_maximum(self, maximum: int) -> None:
        """Change the maximum, such as the part of one of several machines."""
        self.maximum = maximum
        self.minimum = max(1, min(self.minimum, maximum))
        self.limit = min(self.limit, maximum)

    def halve(self, now: float) -> None:
        """Halve the limit, and let it grow slowly from now on."""
        self.limit = max(self.minimum, self.limit // 2)
        self._doubling = False
        self._halved_at = now
        self._begin_round()

    def _end_round(self) -> None:
        mean = self._round_seconds / self._round_calls
        self._best_latency = min(self._best_latency, mean)
        self._crowded = mean > _CROWDED_RATIO * self._best_latency
        if self._crowded:
            self._doubling = False
        elif not self._doubling and self.limit < self.maximum:
            self.limit += 1
        self._begin_round()

    def _begin_round(self) -> None:
        self._round_size, self._round_calls, self._round_seconds = self.limit, 0, 0.0


def requested_pause(headers: Mapping[str, str], now: dt.datetime) -> float | None:
    """Return the pause in seconds that a server requests, or None.

    Reads `Retry-After` (seconds or a date, RFC 9110 section 10.2.3) and its millisecond variant. If
    a rate limit is exhausted, reads the time until its reset (OpenAI's and Anthropic's headers).

    >>> requested_pause({"Retry-After": "1.5"}, dt.datetime.now(dt.UTC))
    1.5
    >>> exhausted = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2s"}
    >>> requested_pause(exhausted, dt.datetime.now(dt.UTC))
    62.0
    """
    given = {name.lower(): value for name, value in headers.items()}
    pause = _seconds(f"{given.get('retry-after-ms')}ms", now)
    if pause is not None or "retry-after" in given:
        return _seconds(given["retry-after"], now) if pause is None else pause
    resets = [
        _seconds(given.get(reset, ""), now)
        for unit in ("requests", "tokens")
        for remaining, reset in (
            (f"x-ratelimit-remaining-{unit}", f"x-ratelimit-reset-{unit}"),
            (f"anthropic-ratelimit-{unit}-remaining", f"anthropic-ratelimit-{unit}-reset"),
        )
        if given.get(remaining) == "0"
    ]
    return max((seconds for seconds in resets if seconds is not None), default=None)


def _seconds(text: str, now: dt.datetime) -> float | None:
    """Parse `12`, `1m30s`, an HTTP date or an ISO date as seconds from now.

    >>> _seconds("1m30s", dt.datetime.now(dt.UTC))
    90.0
    """
    text = text.strip()
    parts = _DURATION.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    for parse in (parsedate_to_datetime, dt.datetime.fromisoformat):
        try:
            time = parse(text)
        except ValueError:
            continue
        if time.tzinfo is None:
            time = time.replace(tzinfo=dt.UTC)
        return max(0.0, (time - now).total_seconds())
    return None
