"""The secret shares of an experiment's queries and nuggets: which queries are in it.

A query is secret if the hash of its seed and its conversation or document is in the lowest part of
all hashes. So no query changes sides when others are added, and those that depend on each other are
on one side. This share is a property of reading results: no step and no cache key depends on it.
The share of the nuggets is a parameter of the judge `nuggets`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ragstone.core.fingerprint import unit_hash
from ragstone.errors import ConfigError, did_you_mean

_PERCENT: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")
_WAY_OUT: Final = "write a share between 0 and 1, such as 20% or 0.2"


@dataclass(frozen=True, slots=True)
class Secret:
    """Shares of the queries and nuggets that outputs leave out, and the seed that chooses them."""

    queries: float = 0.0
    """The share, between 0 and 1; 0 if only nuggets are secret."""
    seed: int = 0
    nuggets: float = 0.0
    """The share of each query's nuggets; 0 if only queries are secret."""

    @classmethod
    def parse(cls, written: object) -> Secret:
        """Return the shares that an experiment file has: `20%`, 0.2 or `{queries: 20%, seed: 3}`.

        A mapping has `queries`, `nuggets` or both. Raises `ConfigError` for anything else.

        >>> Secret.parse("20%") == Secret(queries=0.2), Secret.parse({"nuggets": "30%", "seed": 3})
        (True, Secret(queries=0.0, seed=3, nuggets=0.3))
        """
        keys = written if isinstance(written, Mapping) else {"queries": written}
        for name in keys.keys() - {"queries", "nuggets", "seed"}:
            close = did_you_mean(str(name), ("queries", "nuggets", "seed"))
            raise ConfigError(f"there is no {name!r} in a secret share{close}", key="secret")
        seed = keys.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ConfigError("the seed must be a whole number", key="secret", value=seed)
        shares = {name: _share(keys[name]) for name in ("queries", "nuggets") if name in keys}
        return cls(**shares, seed=seed) if shares else cls(_share(None), seed)

    def contains(self, cluster: str) -> bool:
        """Return whether the queries of a conversation or document are secret."""
        return unit_hash(f"{self.seed}\0{cluster}") < self.queries

    def is_within(self, other: Secret) -> bool:
        """Return whether all queries and nuggets of these shares are in others."""
        within = self.queries <= other.queries and self.nuggets <= other.nuggets
        return within and self.seed == other.seed

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
        """Return the shares that are set and the seed, as a record has them."""
        shares = {"queries": self.queries, "nuggets": self.nuggets}
        return {**{name: share for name, share in shares.items() if share}, "seed": self.seed}


class SecretCounts(NamedTuple):
    """The numbers of an experiment's secret queries and nuggets before a run."""

    queries: int = 0
    of: int = 0
    """All queries that are answered or ranked."""
    nuggets: int = 0
    of_nuggets: int = 0
    """All nuggets of answered queries; 0 if none may be secret."""

    def to_dict(self) -> dict[str, int]:
        """Return the numbers as a plan has them, those of nuggets only if some may be secret.

        >>> SecretCounts(12, 60).to_dict()
        {'queries': 12, 'of': 60}
        """
        found = self._asdict()
        return found if self.of_nuggets else {name: found[name] for name in ("queries", "of")}

    def lines(self) -> list[str]:
        """Return a plan's lines about the secret queries and nuggets.

        >>> SecretCounts(12, 60).lines()
        ['12 of 60 queries are secret: they are asked and scored, and outputs leave them out']
        >>> SecretCounts(0, 60, 9, 40).lines()
        ['9 of 40 nuggets are secret: they are graded, and outputs leave them out']
        """
        pairs = (
            (self.queries, self.of, "queries", "asked and scored"),
            (self.nuggets, self.of_nuggets, "nuggets", "graded"),
        )
        return [
            f"{n:,} of {of:,} {what} are secret: they are {done}, and outputs leave them out"
            for n, of, what, done in pairs
            if n
        ]


def _share(written: object) -> float:
    """Return a share between 0 and 1; `ConfigError` for another value."""
    match = _PERCENT.fullmatch(written) if isinstance(written, str) else None
    value = float(match[1]) / 100 if match else written
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise ConfigError(_WAY_OUT, key="secret", value=written)
    return float(value)
