"""The scores of stored SCORES tables as columns; a `Score` is made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.statistics.failures import Scale, summarise_scores
from ragstone.statistics.summary import Summary, clusters_of
from ragstone.types import Score

if TYPE_CHECKING:
    from arro3.core import Table
    from numpy.typing import NDArray

    from ragstone.types import Status

_STATUSES: Final[tuple[Status, ...]] = ("scored", "failed", "unscored", "not_applicable")
_NOT_APPLICABLE: Final = _STATUSES.index("not_applicable")


class QueryIds:
    """The queries of columns, in the order of their rows; several columns share them."""

    def __init__(self, names: NDArray[np.object_]) -> None:
        self.names = names

    @cached_property
    def places(self) -> dict[str, int]:
        """Query id -> its row."""
        return {name: place for place, name in enumerate(self.names.tolist())}


class StoredScores(Mapping[str, Score]):
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
        statuses = [_STATUSES[code] for code in self._statuses.tolist()]
        named = clusters_of(self, clusters)
        return summarise_scores(self._floats(), statuses, scale, clusters=named)

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
        if self._ids.places.keys().isdisjoint(reasons):
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
    found: dict[str, list[_Part]] = {}
    for table in tables:
        for metric, part in _parts(table, known):
            found.setdefault(metric, []).append(part)
    made: dict[str, StoredScores] = {}
    last: QueryIds | None = None
    for metric, parts in found.items():
        ids, values, statuses, reasons = _joined(parts)
        if last is None or len(last.names) != len(ids) or (last.names != ids).any():
            last = QueryIds(ids)
        made[metric] = StoredScores(metric, last, values, statuses, reasons)
    return made


_Part = tuple[Any, Any, Any, Any]


def _parts(table: Table, known: dict[str, str]) -> Iterator[tuple[str, _Part]]:
    """Yield each metric with its ids, values, statuses and reasons in a table."""
    metrics, texts, statuses, reasons = (
        _objects(table.column(name).to_pylist())
        for name in ("metric", "query_id", "status", "reason")
    )
    ids = _objects([known.setdefault(one, one) for one in texts.tolist()])
    values = np.array(table.column("value").to_pylist(), dtype=np.float64)
    codes = np.zeros(len(ids), dtype=np.int8)
    for code, status in enumerate(_STATUSES[1:], start=1):
        codes[statuses == status] = code
    for metric in dict.fromkeys(metrics.tolist()):
        rows = np.flatnonzero(metrics == metric)
        yield metric, (ids[rows], values[rows], codes[rows], reasons[rows])


def _joined(parts: Sequence[_Part]) -> _Part:
    """Return the columns of one metric, and its reasons by row, without those that are empty."""
    ids, values, codes, reasons = (np.concatenate(column) for column in zip(*parts, strict=True))
    last = {query_id: place for place, query_id in enumerate(ids.tolist())}
    if len(last) < len(ids):
        # As in a mapping: the place of the first score of a query, and the last score itself.
        kept = np.array(list(last.values()))
        ids, values, codes, reasons = (column[kept] for column in (ids, values, codes, reasons))
    named = np.flatnonzero(reasons != "").tolist()
    return ids, values, codes, {place: reasons[place] or "" for place in named}


def _objects(values: Iterable[Any]) -> NDArray[np.object_]:
    """Return an array of objects, also of no value."""
    listed = list(values)
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found
