"""How many calls to make at once, and when to make none: found out from what the server does."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Final

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)?")
_SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "": 1.0}
_CROWDED: Final = 2.0
"""A round this many times slower than the best: more at once would only wait in a queue."""
_ROUND: Final = 8
"""Calls from which a mean latency means something."""


@dataclass
class ConcurrencyLimiter:
    """The bound on calls in flight to one endpoint.

    Starts low and doubles every round while latency holds (each reply allows one more call); from
    the first sign of crowding on it grows by one a round. Overload (429, 503, a time-out) halves
    it, once for all calls that were in flight together. A pause that the server asked for holds
    every call.
    """

    most: int
    limit: int = 8
    least: int = 1
    """Never fewer at once: of models on this machine none is to idle because another was slow."""
    active: int = 0
    not_before: float = 0.0
    """No call starts before this moment of the event loop's clock."""
    _doubling: bool = True
    _halved_at: float = field(default=-1.0, repr=False)
    _best: float = field(default=float("inf"), repr=False)
    _round_seconds: float = field(default=0.0, repr=False)
    _round_calls: int = field(default=0, repr=False)
    _round_size: int = field(default=0, repr=False)
    _crowded: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        """Start no higher than the bound."""
        self.least = max(1, min(self.least, self.most))
        self.limit = self._round_size = max(self.least, min(self.limit, self.most))

    def succeeded(self, seconds: float) -> None:
        """Count a reply that took so long, and grow if the server keeps up."""
        self._round_calls += 1
        self._round_seconds += seconds
        if self._doubling and not self._crowded and self.limit < self.most:
            self.limit += 1
        if self._round_calls >= max(self._round_size, _ROUND):
            self._end_round()

    def hold(self, pause: float, now: float) -> None:
        """Let no call start for so many seconds."""
        if pause > 0:
            self.not_before = max(self.not_before, now + pause)

    def overloaded(self, started: float, now: float, pause: float | None = None) -> None:
        """Halve the bound, unless the call started before the last halving; hold if told to."""
        self.hold(pause or 0.0, now)
        if started <= self._halved_at:
            return
        self.limit = max(self.least, self.limit // 2)
        self._doubling = False
        self._halved_at = now
        self._begin_round()

    def _end_round(self) -> None:
        mean = self._round_seconds / self._round_calls
        self._best = min(self._best, mean)
        self._crowded = mean > _CROWDED * self._best
        if self._crowded:
            self._doubling = False
        elif not self._doubling and self.limit < self.most:
            self.limit += 1
        self._begin_round()

    def _begin_round(self) -> None:
        self._round_size, self._round_calls, self._round_seconds = self.limit, 0, 0.0


def pause_wanted(headers: Mapping[str, str], now: dt.datetime) -> float | None:
    """Return for how many seconds a server asks to be left alone, or None.

    Reads `Retry-After` (seconds or a date, RFC 9110 section 10.2.3), its millisecond variant, and
    where a rate limit is used up the time until it is reset (OpenAI's and Anthropic's headers).

    >>> pause_wanted({"Retry-After": "1.5"}, dt.datetime.now(dt.UTC))
    1.5
    >>> used_up = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2s"}
    >>> pause_wanted(used_up, dt.datetime.now(dt.UTC))
    62.0
    """
    milliseconds = headers.get("retry-after-ms") or headers.get("Retry-After-Ms")
    if milliseconds is not None:
        found = _seconds(f"{milliseconds}ms", now)
        if found is not None:
            return found
    after = headers.get("Retry-After") or headers.get("retry-after")
    if after is not None:
        return _seconds(after, now)
    waits = [
        _seconds(headers.get(f"{stem}-reset-{what}", headers.get(f"{stem}-{what}-reset", "")), now)
        for stem in ("x-ratelimit", "anthropic-ratelimit")
        for what in ("requests", "tokens")
        if "0" in (headers.get(f"{stem}-remaining-{what}"), headers.get(f"{stem}-{what}-remaining"))
    ]
    return max((wait for wait in waits if wait is not None), default=None)


def _seconds(text: str, now: dt.datetime) -> float | None:
    """Read `12`, `1m30s`, an HTTP date or an ISO date as seconds from now.

    >>> _seconds("1m30s", dt.datetime.now(dt.UTC))
    90.0
    """
    text = text.strip()
    parts = _DURATION.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    for read in (parsedate_to_datetime, dt.datetime.fromisoformat):
        try:
            moment = read(text)
        except ValueError:
            continue
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=dt.UTC)
        return max(0.0, (moment - now).total_seconds())
    return None
