"""The secret share of an experiment's queries: which ones it contains.

A query is secret if the hash of its seed and its conversation or document is in the lowest part of
all hashes. So no query changes sides when others are added, and those that depend on each other are
on one side. The share is a property of reading results: no step and no cache key knows it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from ragstone.errors import ConfigError, did_you_mean

_PERCENT: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")
_HASHES: Final = 2.0**64
_WAY_OUT: Final = "write a share between 0 and 1, such as 20% or 0.2"


@dataclass(frozen=True, slots=True)
class Secret:
    """A share of the queries that outputs leave out, and the seed that chooses them."""

    queries: float
    """The share, between 0 and 1."""
    seed: int = 0

    @classmethod
    def parse(cls, written: object) -> Secret:
        """Return the share that an experiment file has: `20%`, 0.2 or `{queries: 20%, seed: 3}`.

        Raises `ConfigError` for anything else.

        >>> Secret.parse("20%"), Secret.parse({"queries": 0.5, "seed": 3})
        (Secret(queries=0.2, seed=0), Secret(queries=0.5, seed=3))
        """
        keys = written if isinstance(written, Mapping) else {"queries": written}
        if "nuggets" in keys:
            raise ConfigError(
                "only queries can be secret: a verdict is of all nuggets of a query together, and "
                "no grade of a single one is kept, so the value of the open ones is not known; "
                "write queries in place of nuggets",
                key="secret",
                value=keys["nuggets"],
            )
        for name in keys.keys() - {"queries", "seed"}:
            close = did_you_mean(str(name), ("queries", "seed"))
            raise ConfigError(f"there is no {name!r} in a secret share{close}", key="secret")
        seed = keys.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ConfigError("the seed must be a whole number", key="secret", value=seed)
        return cls(_share(keys.get("queries")), seed)

    def contains(self, cluster: str) -> bool:
        """Return whether the queries of a conversation or document are secret."""
        digest = hashlib.sha256(f"{self.seed}\0{cluster}".encode()).digest()
        return int.from_bytes(digest[:8]) / _HASHES < self.queries

    def is_within(self, other: Secret) -> bool:
        """Return whether all queries of this share are in another one."""
        return self.seed == other.seed and self.queries <= other.queries

    def chosen(self, query_ids: Iterable[str], clusters: Mapping[str, str]) -> frozenset[str]:
        """Return the secret ones of some queries.

        Args:
            query_ids: the queries.
            clusters: query id -> its conversation or document; a query without one is on its own.

        >>> half = Secret(0.5)
        >>> sorted(half.chosen("abcdef", {})), sorted(half.chosen("abcdefgh", {}))
        (['d'], ['d', 'h'])
        """
        return frozenset(q for q in query_ids if self.contains(clusters.get(q, f"query {q}")))

    def to_dict(self) -> dict[str, Any]:
        """Return the share and the seed as a record has them."""
        return asdict(self)


def secret_text(count: int, of: int) -> str:
    """Return what a plan prints about the secret queries.

    >>> secret_text(12, 60)
    '12 of 60 queries are secret: they are asked and scored, and outputs leave them out'
    """
    what = "they are asked and scored, and outputs leave them out"
    return f"{count:,} of {of:,} queries are secret: {what}"


def _share(written: object) -> float:
    """Return a share between 0 and 1; `ConfigError` for another value."""
    match = _PERCENT.fullmatch(written) if isinstance(written, str) else None
    value = float(match[1]) / 100 if match else written
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise ConfigError(_WAY_OUT, key="secret", value=written)
    return float(value)
