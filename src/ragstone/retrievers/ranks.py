"""The best of an array of scores, the same on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragstone.errors import ConfigError

if TYPE_CHECKING:
    import numpy.typing as npt


def best(
    scores: npt.NDArray[np.float32], top_k: int, *, above: float | None = None
) -> npt.NDArray[np.intp]:
    """Return the positions of the `top_k` highest scores, best first, equal ones by position.

    Args:
        scores: one score per passage, of shape (n,).
        top_k: how many positions at most.
        above: leave out scores that are not greater than this.

    >>> best(np.array([0.0, 2.0, 1.0, 2.0], dtype=np.float32), 3, above=0.0).tolist()
    [1, 3, 2]
    """
    places = np.arange(len(scores)) if above is None else np.flatnonzero(scores > above)
    found = scores[places]
    if len(places) > top_k:
        # Everything as good as the last place is kept until positions have decided between ties.
        floor = np.partition(found, -top_k)[-top_k]
        places = places[found >= floor]
        found = scores[places]
    return places[np.argsort(-found, kind="stable")][:top_k]


def check_top_k(top_k: int) -> None:
    """Raise `ConfigError` for a ranking without places."""
    if top_k < 1:
        raise ConfigError(f"top_k must be 1 or more, found {top_k}")
