"""The rankings in a RUN table: ids and scores are cut out of it when a ranking is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

import numpy as np
from arro3.core import Array, Table

from ragstone.types import Ranking


class Rankings(Mapping[str, Ranking]):
    """Query id -> ranking of a RUN table, whose rows are in rank order.

    The table may be given by a function, which is called at the first use.
    """

    def __init__(self, table: Table | Callable[[], Table], depth: int | None = None) -> None:
        self._given, self._depth = table, depth

    def __getitem__(self, query_id: str) -> Ranking:
        """Return a ranking."""
        return self._cut(*self._places[query_id])

    def __iter__(self) -> Iterator[str]:
        """Yield the queries that have a passage, in order."""
        return iter(self._places)

    def __len__(self) -> int:
        """Return the number of queries that have a passage."""
        return len(self._places)

    def first(self, depth: int) -> Rankings:
        """Return the rankings with at most `depth` passages each."""
        return Rankings(self._given, depth)

    @cached_property
    def _table(self) -> Table:
        table = self._given if isinstance(self._given, Table) else self._given()
        return table.select(["query_id", "passage_id", "score", "rank"])

    @cached_property
    def _places(self) -> dict[str, tuple[int, ...]]:
        """Query id -> its first row and the one after its last; several pairs if it is spread."""
        starts, ids, done = list[int](), list[str](), 0
        for batch in self._table.to_batches():
            first = np.flatnonzero(batch.column("rank").to_numpy() == 1)
            if not starts and batch.num_rows and (not len(first) or first[0]):
                first = np.concatenate([[0], first])
            chosen = Array.from_numpy(first.astype(np.int64))
            ids += batch.column("query_id").take(chosen).to_pylist()
            starts += (first + done).tolist()
            done += batch.num_rows
        found: dict[str, tuple[int, ...]] = {}
        ends = [*starts[1:], done] if starts else []
        for query_id, *span in zip(ids, starts, ends, strict=True):
            found[query_id] = (*found.get(query_id, ()), *span)
        return found

    def _cut(self, *spans: int) -> Ranking:
        ids: list[str] = []
        scores: list[float] = []
        for start, end in zip(spans[::2], spans[1::2], strict=True):
            rows = self._table.slice(start, self._rows(end - start, len(ids)))
            ids += rows.column("passage_id").to_pylist()
            scores += rows.column("score").to_pylist()
        return Ranking(ids, scores)

    def _rows(self, found: int, taken: int) -> int:
        """Return how many of the rows found are within the depth."""
        return found if self._depth is None else min(found, self._depth - taken)
