"""Items from data sets: judged passages, runs, gold passages, generated queries and nuggets."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from ragstone.annotation.items import AnnotationItem
from ragstone.annotation.schemes import Scheme, TaskName
from ragstone.data.dataset import Dataset
from ragstone.data.readers.nuggets import LABELS as NUGGET_LABELS
from ragstone.data.readers.ratings import Inclusion
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Passage, Query, Ranking

T = TypeVar("T")
TOP: Final = 5
"""Passages of a run per query, unless another number is chosen."""
_GOLD: Final = 10
"""Gold passages that are shown with a query, the best first."""


@dataclass(frozen=True)
class DataChoice:
    """The parts of a data set that become items."""

    run: Mapping[str, Ranking] | None = None
    top: int = TOP
    pairs: Mapping[str, Mapping[str, Inclusion | None]] | None = None
    """Only these pairs: query id -> passage id -> how the pair was drawn."""
    limit: int | None = None
    """Maximum number of queries, a random sample."""
    seed: int = 0


def data_items(
    dataset: Dataset, task: TaskName, scheme: Scheme, choice: DataChoice
) -> list[AnnotationItem]:
    """Return the items of a data set for a task, in its order.

    Raises:
        ConfigError: the task needs answers of systems.
        DatasetError: a run or a file names a passage that the data set does not have.
    """
    if task in ("ratings", "pairwise", "causes"):
        raise ConfigError(
            f"the task {task} needs answers of systems, which a data set does not have; give "
            "--experiment, or --from with items that have answers",
            key="data",
        )
    make = _MAKERS.get(task) or (_pairs if scheme.each == "passage" else _with_gold)
    queries = sampled(dataset.queries, choice.limit, choice.seed)
    return list(make(dataset, queries, choice))


def sampled(found: Sequence[T], limit: int | None, seed: int) -> list[T]:
    """Return a random sample of some things in their order; all without a limit."""
    if limit is None or limit >= len(found):
        return list(found)
    places = sorted(random.Random(seed).sample(range(len(found)), limit))  # noqa: S311 - no secret
    return [found[place] for place in places]


def _pairs(
    dataset: Dataset, queries: Iterable[Query], choice: DataChoice
) -> Iterator[AnnotationItem]:
    """Yield each query with each judged passage, or with each of the first ones of a run."""
    for query in queries:
        for passage_id in _passages_of(dataset, query.query_id, choice):
            if passage_id not in dataset.corpus:
                raise DatasetError(
                    f"query {query.query_id!r}: {dataset.name!r} has no passage {passage_id!r}; "
                    "give the data set that the run or the file is of"
                )
            drawn = (choice.pairs or {}).get(query.query_id, {}).get(passage_id)
            yield pair_item(query, dataset.corpus[passage_id], drawn)


def pair_item(query: Query, passage: Passage, drawn: Inclusion | None = None) -> AnnotationItem:
    """Return the item of a query and one passage."""
    item_id = f"{query.query_id} {passage.passage_id}"
    return AnnotationItem(item_id, query, (passage,), inclusion=drawn)


def _passages_of(dataset: Dataset, query_id: str, choice: DataChoice) -> list[str]:
    if choice.pairs is not None:
        return list(choice.pairs.get(query_id, ()))
    if choice.run is not None:
        ranking = choice.run.get(query_id)
        return list(ranking.passage_ids[: choice.top]) if ranking else []
    return list(dataset.qrels.get(query_id, {}))


def _with_gold(
    dataset: Dataset, queries: Iterable[Query], _choice: DataChoice
) -> Iterator[AnnotationItem]:
    """Yield each query with its gold passages."""
    for query in queries:
        yield AnnotationItem(query.query_id, query, gold_passages(dataset, query.query_id))


def gold_passages(dataset: Dataset, query_id: str) -> tuple[Passage, ...]:
    """Return the gold passages of a query, the best grade first."""
    grades = sorted(dataset.qrels.get(query_id, {}).items(), key=lambda pair: -pair[1])
    ids = [one for one, grade in grades if grade > 0 and one in dataset.corpus]
    return tuple(dataset.corpus[one] for one in ids[:_GOLD])


def _nuggets(
    dataset: Dataset, queries: Iterable[Query], choice: DataChoice
) -> Iterator[AnnotationItem]:
    """Yield each query with its nuggets, which people check, and its gold passages."""
    for item in _with_gold(dataset, queries, choice):
        yield nugget_item(item.query, item.passages)


def nugget_item(query: Query, passages: tuple[Passage, ...] = ()) -> AnnotationItem:
    """Return the item of a query whose nuggets are labels of it; others are written by people.

    The importance that the nuggets have is suggested.
    """
    texts: dict[str, str] = {}
    for importance, name in NUGGET_LABELS.items():
        held = query.labels.get(name, ())
        for text in held if isinstance(held, tuple) else (str(held),):
            texts.setdefault(text, importance)
    given = {f"part:{number}": one for number, one in enumerate(texts.values(), 1)}
    suggested = {"importance": given} if given else {}
    kept = {name: v for name, v in query.labels.items() if name not in NUGGET_LABELS.values()}
    bare = replace(query, labels=kept)
    return AnnotationItem(query.query_id, bare, passages, parts=tuple(texts), suggested=suggested)


_Maker = Callable[[Dataset, Iterable[Query], DataChoice], Iterator[AnnotationItem]]
_MAKERS: Final[dict[str, _Maker]] = {
    "validation": _with_gold,
    "conversation": _with_gold,
    "nuggets": _nuggets,
}
