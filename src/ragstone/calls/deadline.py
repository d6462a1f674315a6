"""The maximum time of a run: no call begins after it, and calls in flight end."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragstone.calls import clock
from ragstone.errors import ConfigError, LimitReached

_HOUR = 3600.0


class TimeIsUp(LimitReached):
    """The run has taken its maximum time; all earlier replies are kept."""


@dataclass(frozen=True)
class Deadline:
    """A maximum number of hours from now on."""

    hours: float
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        """Raise `ConfigError` if the number is not above 0; else start the clock."""
        if not self.hours > 0:
            raise ConfigError(f"the maximum of hours must be a number above 0, found {self.hours}")
        object.__setattr__(self, "_end", clock.monotonic() + self.hours * _HOUR)

    def passed(self) -> TimeIsUp | None:
        """Return the error of work that would begin now, or None if there is time."""
        if clock.monotonic() < self._end:
            return None
        return TimeIsUp(
            f"the run has taken its maximum of {self.hours:g} hours. Every reply and every "
            "finished step is kept: run the same command to resume"
        )
