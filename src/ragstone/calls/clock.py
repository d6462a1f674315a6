"""The clocks and the random numbers of model calls.

Nothing else in the call engine, the log and the leases reads a clock or draws a number, so that a
simulation (`benchmarks/simulation`) can replace them.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

monotonic: Callable[[], float] = time.monotonic
"""Seconds that never go back, for waits."""
now: Callable[[], float] = time.time
"""Seconds since the epoch, for dates."""
jitter: Callable[[], float] = random.random
"""A number from 0 to 1, which spreads retries in time."""
