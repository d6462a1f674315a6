"""The secret share of the nuggets of a query: which ones it contains."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ragstone.core.fingerprint import unit_hash
from ragstone.data.readers.nuggets import LABELS

if TYPE_CHECKING:
    from collections.abc import Collection

    from ragstone.types import Query

SECRET_PART: Final = "nuggets:secret"  # noqa: S105 - the name of a metric
"""The metric of the secret nuggets, all of equal weight."""
_OPEN_PART: Final = "nuggets:all"
_NAME: Final = re.compile(rf"{SECRET_PART}(?=\(|$)")


def nuggets_of(query: Query) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the vital and the okay nuggets of a query."""
    labels = [query.labels.get(name) for name in LABELS.values()]
    vital, okay = (label if isinstance(label, tuple) else () for label in labels)
    return vital, okay


def secret_nuggets(query: Query, share: float, seed: int = 0) -> frozenset[str]:
    """Return the texts of the secret nuggets of a query.

    A nugget is secret if the hash of the seed, the query's id and its text is in the lowest part of
    all hashes, so that no nugget changes sides when others are added. One exception: at least one
    nugget of each query is open, that with the highest hash.

    >>> from ragstone.types import Query
    >>> query = Query("q", "Who?", labels={"vital_nuggets": ("a", "b", "c", "d")})
    >>> sorted(secret_nuggets(query, 0.5)), len(secret_nuggets(query, 0.999))
    (['b', 'c'], 3)
    """
    vital, okay = nuggets_of(query)
    places = {text: unit_hash(f"{seed}\0{query.query_id}\0{text}") for text in (*vital, *okay)}
    chosen = frozenset(text for text, place in places.items() if place < share)
    return (
        chosen - {max(places, key=places.__getitem__)} if len(chosen) == len(places) > 0 else chosen
    )


def without_nuggets(query: Query, hidden: Collection[str]) -> Query:
    """Return a query without some of its nuggets.

    >>> from ragstone.types import Query
    >>> query = Query("q", "Who?", labels={"vital_nuggets": ("a", "b"), "kind": "person"})
    >>> dict(without_nuggets(query, {"a"}).labels)
    {'kind': 'person', 'vital_nuggets': ('b',)}
    """
    every = zip(LABELS.values(), nuggets_of(query), strict=True)
    rest = {name: tuple(text for text in texts if text not in hidden) for name, texts in every}
    others = {name: value for name, value in query.labels.items() if name not in rest}
    return replace(query, labels={**others, **{name: kept for name, kept in rest.items() if kept}})


def open_part(metric: str) -> str:
    """Return the metric of the open nuggets that a metric of secret ones is compared with, or "".

    Both weight all nuggets equally, so that their means are equal in expectation.

    >>> open_part("nuggets:secret(prompt=strict)"), open_part("nuggets:strict")
    ('nuggets:all(prompt=strict)', '')
    """
    return _NAME.sub(_OPEN_PART, metric) if _NAME.match(metric) else ""
