"""Boundaries for planned looks at growing data: O'Brien and Fleming, Biometrics 35 (1979).

The data are analysed after equal steps, and a decision at any look ends the analysis. A test at the
same level at each look would be wrong too often. The boundary on z is therefore
constant x sqrt(looks / look): early looks need a much larger difference, and the last one hardly
more than a single test. The constant is computed by numerical integration over all looks
(Armitage, McPherson and Rowe, JRSS A 132, 1969).
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np

from ragstone.core import limits
from ragstone.errors import ConfigError

_NORMAL: Final = NormalDist()
_NODES: Final = 300
_FAR: Final = -8.0
"""Lower end of the integration, in standard deviations of the last look."""
_BISECTIONS: Final = 40


@lru_cache(maxsize=64)
def obrien_fleming(looks: int, alpha: float = 0.05) -> float:
    """Return the constant of the boundary for a one-sided test at `alpha` over all looks.

    >>> [round(obrien_fleming(looks), 3) for looks in (1, 2, 5)]
    [1.645, 1.678, 1.751]

    Raises:
        ConfigError: no look, too many looks, or an alpha outside 0 to 0.5.
    """
    if not 1 <= looks <= limits.MAX_LOOKS:
        raise ConfigError(f"looks is {looks}; allowed: 1 to {limits.MAX_LOOKS}", key="looks")
    if not 0 < alpha < 0.5:  # noqa: PLR2004 - one-sided
        raise ConfigError(f"alpha is {alpha}; allowed: between 0 and 0.5", key="alpha")
    low = -_NORMAL.inv_cdf(alpha)
    high = low + 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _crossing(middle, looks) > alpha else (low, middle)
    return high


def level_at(share: float, looks: int, alpha: float = 0.05) -> float:
    """Return the one-sided level of a look at this share of the data.

    >>> round(level_at(0.2, 5), 6), round(level_at(1.0, 5), 4), round(level_at(1.0, 1), 4)
    (4.5e-05, 0.04, 0.05)
    """
    constant = obrien_fleming(looks, alpha)
    return alpha if looks == 1 else _NORMAL.cdf(-constant / math.sqrt(share))


def _crossing(constant: float, looks: int) -> float:
    """Return the probability that a random walk of this many equal steps reaches the constant."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = (constant - _FAR) / 2
    points, weights = half * nodes + (constant + _FAR) / 2, half * weights
    deviation = 1 / math.sqrt(looks)

    def density(distance: np.ndarray) -> np.ndarray:
        scaled: np.ndarray = np.exp(-0.5 * (distance / deviation) ** 2)
        return scaled / (deviation * math.sqrt(2 * math.pi))

    steps = density(points[:, None] - points[None, :]) * weights[None, :]
    held = density(points)
    for _ in range(looks - 1):
        held = steps @ held
    return 1 - float(weights @ held)
