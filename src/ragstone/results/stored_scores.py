"""The scores of stored SCORES tables as columns; a `Score` is made when it is asked for."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import numpy as np

from ragstone.statistics.failures import Scale, summarise_columns
from ragstone.statistics.summary import Summary
from ragstone.types import Score

if TYPE_CHECKING:
    from arro3.core import Table
    from numpy.typing import NDArray

    from ragstone.types import Status

_STATUSES: Final[tuple[Status, ...]] = ("scored", "failed", "unscored", "not_applicable")
_NOT_APPLICABLE: Final = _STATUSES.index("not_applicable")


class _OfQuery(Protocol):
    """A row of one query."""

    @property
    def query_id(self) -> str: ...


_OneRow = TypeVar("_OneRow", bound=_OfQuery)


class RowsInOrder(Mapping[str, _OneRow]):
    """Query id -> row; an iteration over all rows makes one after the other, and keeps none."""

    def each(self) -> Iterator[_OneRow]:
        """Yield the rows in order."""
        raise NotImplementedError

    def values(self) -> ValuesView[_OneRow]:
        """Return the rows."""
        return _Values(self)

    def items(self) -> ItemsView[str, _OneRow]:
        """Return the queries and their rows."""
        return _Items(self)


class _Values(ValuesView[_OneRow]):
    def __init__(self, rows: RowsInOrder[_OneRow]) -> None:
        super().__init__(rows)
        self._rows = rows

    def __iter__(self) -> Iterator[_OneRow]:
        return self._rows.each()


class _Items(ItemsView[str, _OneRow]):
    def __init__(self, rows: RowsInOrder[_OneRow]) -> None:
        super().__init__(rows)
        self._rows = rows

    def __iter__(self) -> Iterator[tuple[str, _OneRow]]:
        return ((row.query_id, row) for row in self._rows.each())


class QueryIds:
    """The queries of columns, in the order of their rows; several columns share them."""

    def __init__(self, names: NDArray[np.object_]) -> None:
        self.names = names
        self._clusters: tuple[Mapping[str, str], NDArray[np.int64]] | None = None

    @cached_property
    def places(self) -> dict[str, int]:
        """Query id -> its row."""
        return {name: place for place, name in enumerate(self.names.tolist())}

    def clusters(self, named: Mapping[str, str]) -> NDArray[np.int64] | None:
        """Return the number of each query's cluster; a query without one is a cluster on its own.

        The number is the row of the first query of the cluster. None without clusters.
        """
        if not named:
            return None
        if self._clusters is None or self._clusters[0] is not named:
            first: dict[str, int] = {}
            found = (
                place if (name := named.get(query)) is None else first.setdefault(name, place)
                for place, query in enumerate(self.names)
            )
            self._clusters = named, np.fromiter(found, np.int64, len(self.names))
        return self._clusters[1]


class StoredScores(RowsInOrder[Score]):
    """Query id -> score of one metric, in three columns: values, statuses and reasons."""

    def __init__(
        self,
        metric: str,
        ids: QueryIds,
        values: NDArray[np.float64],
        statuses: NDArray[np.int8],
        reasons: Mapping[int, str],
    ) -> None:
        self._metric, self._ids, self._values, self._statuses = metric, ids, values, statuses
        self._reasons = reasons

    def __getitem__(self, query_id: str) -> Score:
        """Return the score of a query."""
        return self._score(self._ids.places[query_id])

    def __iter__(self) -> Iterator[str]:
        """Yield the queries in the order of the rows."""
        return iter(self._ids.names.tolist())

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self._values)

    def each(self) -> Iterator[Score]:
        """Yield the scores in the order of the rows."""
        return map(self._score, range(len(self)))

    def _score(self, place: int) -> Score:
        value = float(self._values[place])
        status = _STATUSES[self._statuses[place]]
        known = None if value != value else value  # noqa: PLR0124 - NaN stands for no value
        return Score(
            self._ids.names[place], self._metric, known, status, self._reasons.get(place, "")
        )

    @property
    def values_by_query(self) -> dict[str, float | None]:
        """Query id -> value; None without one."""
        return dict(zip(self, self._floats(), strict=True))

    def _floats(self) -> list[float | None]:
        found: list[float | None] = self._values.tolist()
        for place in np.flatnonzero(np.isnan(self._values)).tolist():
            found[place] = None
        return found

    def has(self, status: Status) -> bool:
        """Return whether a query has this status."""
        return bool((self._statuses == _STATUSES.index(status)).any())

    def reasons(self, status: Status) -> list[str]:
        """Return the reasons of the scores with this status."""
        places = np.flatnonzero(self._statuses == _STATUSES.index(status)).tolist()
        return [self._reasons.get(place, "") for place in places]

    def summary(self, clusters: Mapping[str, str], scale: Scale) -> Summary:
        """Return the mean of all queries, by their clusters."""
        places = {name: np.flatnonzero(self._statuses == n) for n, name in enumerate(_STATUSES)}
        named = self._ids.clusters(clusters)
        return summarise_columns(
            self._values, ~np.isnan(self._values), places, scale, clusters=named
        )

    def _longer(self, reasons: Mapping[str, str], ids: QueryIds) -> StoredScores:
        """Return the scores with those of queries that are not applicable, added last."""
        more = len(reasons)
        return StoredScores(
            self._metric,
            ids,
            np.concatenate([self._values, np.full(more, np.nan)]),
            np.concatenate([self._statuses, np.full(more, _NOT_APPLICABLE, np.int8)]),
            {**self._reasons, **dict(enumerate(reasons.values(), start=len(self)))},
        )

    def with_inapplicable(
        self, reasons: Mapping[str, str], made: dict[QueryIds, QueryIds]
    ) -> Mapping[str, Score]:
        """Return the scores with those of queries that a setting does not apply to, added last.

        `made` has the queries of other columns with them, which equal columns share.
        """
        if frozenset(reasons).isdisjoint(self._ids.names.tolist()):
            if self._ids not in made:
                names = np.concatenate([self._ids.names, _objects(list(reasons))])
                made[self._ids] = QueryIds(names)
            return self._longer(reasons, made[self._ids])
        return {**self, **_inapplicable(self._metric, reasons)}


def with_inapplicable(
    scores: Mapping[str, Mapping[str, Score]], reasons: Mapping[str, str]
) -> dict[str, Mapping[str, Score]]:
    """Return metric -> scores with those of queries that a setting does not apply to."""
    made: dict[QueryIds, QueryIds] = {}
    return {
        metric: held.with_inapplicable(reasons, made)
        if isinstance(held, StoredScores)
        else {**held, **_inapplicable(metric, reasons)}
        for metric, held in scores.items()
    }


def reasons_of(scores: Mapping[str, Score], status: Status) -> list[str]:
    """Return the reasons of the scores with this status."""
    if isinstance(scores, StoredScores):
        return scores.reasons(status)
    return [score.reason for score in scores.values() if score.status == status]


def has_status(scores: Mapping[str, Score], status: Status) -> bool:
    """Return whether a score has this status."""
    if isinstance(scores, StoredScores):
        return scores.has(status)
    return any(score.status == status for score in scores.values())


def _inapplicable(metric: str, reasons: Mapping[str, str]) -> dict[str, Score]:
    return {q: Score(q, metric, None, "not_applicable", why) for q, why in reasons.items()}


def read_scores(tables: Iterable[Table], known: dict[str, str]) -> dict[str, StoredScores]:
    """Return metric -> its scores in SCORES tables, the parts of one or several of them.

    A later score of a query takes the place of an earlier one. `known` has each query id once.
    """
    found: dict[str, _Columns] = {}
    for table in tables:
        for metric, part in _parts(table, known):
            found.setdefault(metric, _Columns()).add(part)
    made: dict[str, StoredScores] = {}
    last: QueryIds | None = None
    for metric in list(found):
        ids, *columns = found.pop(metric).joined(last)
        last = ids
        made[metric] = StoredScores(metric, ids, *columns)
    return made


@dataclass(frozen=True)
class _Part:
    """The scores of a metric in one table."""

    ids: NDArray[np.object_]
    values: NDArray[np.float64]
    statuses: NDArray[np.int8]
    reasons: Mapping[int, str]


def _parts(table: Table, known: dict[str, str]) -> Iterator[tuple[str, _Part]]:
    """Yield each metric with its scores in a table; metrics of equal queries share their ids."""
    metrics, texts, statuses, reasons = (
        _objects(table.column(name).to_pylist())
        for name in ("metric", "query_id", "status", "reason")
    )
    names = _objects([known.setdefault(one, one) for one in texts.tolist()])
    values = np.array(table.column("value").to_pylist(), dtype=np.float64)
    codes = np.zeros(len(names), dtype=np.int8)
    for code, status in enumerate(_STATUSES[1:], start=1):
        codes[statuses == status] = code
    ids = names[:0]
    for metric in dict.fromkeys(metrics.tolist()):
        rows = np.flatnonzero(metrics == metric)
        if len(ids) != len(rows) or (ids != names[rows]).any():
            ids = names[rows]
        named = enumerate(reasons[rows].tolist())
        yield metric, _Part(ids, values[rows], codes[rows], {n: why for n, why in named if why})


class _Columns:
    """The parts of one metric's columns."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []

    def add(self, part: _Part) -> None:
        """Add the scores of a further table."""
        self._parts.append(part)

    def joined(self, last: QueryIds | None) -> tuple[Any, ...]:
        """Return ids, values, statuses, and reasons by row; the ids may be those of `last`."""
        names, values, codes = (
            np.concatenate([getattr(part, name) for part in self._parts])
            for name in ("ids", "values", "statuses")
        )
        starts = np.cumsum([0, *(len(part.ids) for part in self._parts)]).tolist()
        reasons = {
            start + place: why
            for start, part in zip(starts, self._parts, strict=False)
            for place, why in part.reasons.items()
        }
        if last is not None and len(last.names) == len(names) and not (last.names != names).any():
            return last, values, codes, reasons
        # As in a mapping: the place of the first score of a query, and the last score itself.
        places = {query_id: place for place, query_id in enumerate(names.tolist())}
        if len(places) == len(names):
            return QueryIds(names), values, codes, reasons
        kept = list(places.values())
        reasons = {n: reasons[place] for n, place in enumerate(kept) if place in reasons}
        return QueryIds(names[kept]), values[kept], codes[kept], reasons


def _objects(values: Iterable[Any]) -> NDArray[np.object_]:
    """Return an array of objects, also of no value."""
    listed = list(values)
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found
