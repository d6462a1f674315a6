"""Pairs of a query and a context to label: of a file, or of the passages that a run found.

A query with its gold passages is answerable by construction. Pairs with other contexts show whether
a labeller finds the unanswerable ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.components.judges.verdict import Item
from ragstone.data.readers.rows import Ids, Row, json_rows, reading
from ragstone.errors import DatasetError
from ragstone.types import Query

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.types import Ranking

_IDS: Final = ("item_id", "_id", "id")
_KEPT: Final = ("query_id", "passage_id")


@dataclass(frozen=True)
class LabelPair:
    """A query and a context under one id."""

    item: Item
    """Its query has the id of the pair."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """The ids of query and passage, as far as they are known."""

    @classmethod
    def of(
        cls, item_id: str, query: Query, context: Sequence[str], ids: Mapping[str, str]
    ) -> LabelPair:
        """Return the pair with an id of its own."""
        return cls(Item(replace(query, query_id=item_id), "", tuple(context)), ids)


def read_pairs(path: Path) -> list[LabelPair]:
    """Return the pairs of a file of JSON lines.

    A line has `query` and `context`, a text or a list of texts. The id is `item_id`, `_id` or `id`,
    or else the number of the line; `query_id` and `passage_id` are kept.

    Raises:
        DatasetError: a field is missing or has a wrong type, or an id occurs twice.
    """
    found, ids = [], Ids("pair")
    for number, row in json_rows(path):
        with reading(path, number):
            item_id = _taken(row, _IDS) or str(number)
            ids.add(item_id, f"line {number}")
            query, context = row.take_text("query"), context_of(row)
        kept = {name: str(row[name]) for name in _KEPT if row.get(name)}
        found.append(LabelPair.of(item_id, Query(item_id, query), context, kept))
    if not found:
        raise DatasetError(
            f'{path} has no pair; write lines such as {{"query": "...", "context": "..."}}'
        )
    return found


def sampled(pairs: Sequence[LabelPair], limit: int | None, seed: int) -> list[LabelPair]:
    """Return a random sample of some pairs in their order; all without a limit."""
    if limit is None or limit >= len(pairs):
        return list(pairs)
    places = sorted(random.Random(seed).sample(range(len(pairs)), limit))  # noqa: S311 - no secret
    return [pairs[place] for place in places]


def context_of(row: Row) -> tuple[str, ...]:
    """Return the texts of the field `context`; it is required."""
    return tuple(row.take_texts("context") or (row.take_text("context"),))


def run_pairs(dataset: Dataset, run: Mapping[str, Ranking], depth: int) -> list[LabelPair]:
    """Return each query with each of the first `depth` passages of its ranking.

    Raises:
        DatasetError: no query of the data set has a ranking, or a passage is not in its corpus.
    """
    found = list(_run_pairs(dataset, run, depth))
    if not found:
        raise DatasetError(f"the run has no ranking of a query of {dataset.name!r}")
    return found


def _run_pairs(dataset: Dataset, run: Mapping[str, Ranking], depth: int) -> Iterator[LabelPair]:
    for query in dataset.queries:
        ranking = run.get(query.query_id)
        for passage_id in ranking.passage_ids[:depth] if ranking else ():
            if passage_id not in dataset.corpus:
                raise DatasetError(
                    f"the run has the passage {passage_id!r} for {query.query_id!r}, which "
                    f"{dataset.name!r} does not contain; give the data set of the run"
                )
            ids = {"query_id": query.query_id, "passage_id": passage_id}
            text = dataset.corpus[passage_id].full_text
            yield LabelPair.of(f"{query.query_id} {passage_id}", query, [text], ids)


def _taken(row: Row, names: Sequence[str]) -> str:
    name = next((name for name in names if row.get(name) not in (None, "")), "")
    return row.take_id(name) if name else ""


def pair_rows(
    pairs: Sequence[LabelPair], rows: Iterator[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file of labels with the ids of the pairs in place of the queries'."""
    for pair, row in zip(pairs, rows, strict=True):
        named = {key: value for key, value in row.items() if key != "query_id"}
        yield {"item_id": pair.item.item_id, **pair.ids, **named}
