"""The aggregates of TREC's RAG track over the nuggets that an answer contains.

Pradeep et al., "The Great Nugget Recall" (2025). A nugget that the answer supports has the grade 1,
a partial mention 0.5, any other one 0. The strict forms count a partial mention as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

NAMES: Final = ("weighted", "all", "vital", "strict-weighted", "strict", "strict-vital")
"""The aggregates; `strict` is the strict form of `all`."""
_OKAY: Final = 0.5
"""Weight of an okay nugget in the weighted aggregates; a vital one has 1."""
_FULL: Final = 1.0


def nugget_scores(vital: Sequence[float], okay: Sequence[float]) -> dict[str, float]:
    """Return TREC RAG's aggregates of the grades of vital and of okay nuggets, at least one.

    Without a vital nugget, the aggregates over vital ones are absent.

    >>> found = nugget_scores([1.0, 0.5], [0.5])
    >>> {name: round(value, 3) for name, value in found.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'weighted': 0.7, 'all': 0.667, 'vital': 0.75,
     'strict-weighted': 0.4, 'strict': 0.333, 'strict-vital': 0.5}
    """
    full_vital, full_okay = ([float(g == _FULL) for g in given] for given in (vital, okay))
    plain, strict = _aggregates(vital, okay), _aggregates(full_vital, full_okay)
    renamed = {"weighted": "strict-weighted", "all": "strict", "vital": "strict-vital"}
    return plain | {renamed[name]: value for name, value in strict.items()}


def _aggregates(vital: Sequence[float], okay: Sequence[float]) -> dict[str, float]:
    weight = len(vital) + _OKAY * len(okay)
    found = {"weighted": (sum(vital) + _OKAY * sum(okay)) / weight}
    found["all"] = (sum(vital) + sum(okay)) / (len(vital) + len(okay))
    return found | ({"vital": sum(vital) / len(vital)} if vital else {})
