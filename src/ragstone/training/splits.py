"""Parts of the data for training, validation and test, without a document or question in common.

Queries are one group if they share a gold passage, its document or a conversation, or if their
texts are nearly equal. The groups are dealt to the parts.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from ragstone.core import limits
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.training_marks import FILE, document_of, marks_of, marks_text
from ragstone.data_quality.duplicates import near_query_pairs
from ragstone.errors import ConfigError
from ragstone.types import Query

PARTS: Final = ("train", "validation", "test")

Share = int | float
Item = tuple[str, Query]
"""A part and a query."""


class _Link(NamedTuple):
    """Two queries by position, the earlier one first, and their common mark."""

    first: int
    second: int
    mark: str


@dataclass(frozen=True)
class Splits:
    """The query ids of each part.

    Args:
        train: queries to learn.
        validation: queries whose loss is measured during the training.
        test: queries that the training never reads.
        seed: seed of the deal.
        groups: number of groups that have no document or question in common.
        documents: number of source documents of the gold passages.
        data: part -> its data set.
    """

    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]
    seed: int
    groups: int
    documents: int
    data: Mapping[str, Dataset] = field(repr=False, compare=False)

    def files(self) -> dict[str, str]:
        """Return the files for the output folder, name -> content: ids, and marks of the data.

        The marks are those of the training and the validation, by which `ragstone run` finds
        queries that the model has seen.
        """
        files = {f"splits/{p}.txt": "".join(f"{i}\n" for i in getattr(self, p)) for p in PARTS}
        seen = (marks_of(self.data[p], getattr(self, p)).values() for p in PARTS[:2])
        return {**files, FILE: marks_text(chain.from_iterable(chain.from_iterable(seen)))}

    def facts(self) -> dict[str, Any]:
        """Return the numbers of queries, documents and groups, and the seed."""
        sizes = {part: len(getattr(self, part)) for part in PARTS}
        return {**sizes, "documents": self.documents, "groups": self.groups, "seed": self.seed}


def split(
    dataset: Dataset, validation: Any, test: Any, seed: int, folder: Path | None = None
) -> Splits:
    """Return the parts of a data set; the same arguments always give the same parts.

    Args:
        dataset: the data to learn.
        validation: share of the queries, or a data set of its own (all that `load_dataset` reads).
        test: the same for the test.
        seed: seed of the deal.
        folder: the folder of the training file, in which declared data sets are looked for too.

    Raises:
        ConfigError: declared data sets overlap, or the shares cannot be met.
        DatasetError: a declared data set cannot be read.
    """
    given = {"validation": validation, "test": test}
    shares = {part: float(w) for part, w in given.items() if isinstance(w, Share)}
    if sum(shares.values()) >= 1:
        raise ConfigError(
            f"validation and test together must be less than 1, found {sum(shares.values()):g}: "
            "nothing is left to train on",
            key="validation",
            value=validation,
        )
    data = {p: dataset if p in shares else load_dataset(given[p], folder=folder) for p in given}
    data = {"train": dataset, **data}
    declared = {p: one for p, one in data.items() if p not in shares}
    items = [(part, query) for part, one in declared.items() for query in one.queries]
    links = list(_links(items, declared))
    _refuse_overlap(items, links, declared)
    groups = _groups(items, links)
    own = [[i for part, i in group if part == "train"] for group in groups]
    parts = _deal([sorted(group) for group in own if group], shares, seed)
    for part in declared.keys() - {"train"}:
        parts[part] = {query.query_id for query in declared[part].queries}
    train, held, last = (
        tuple(q.query_id for q in data[p].queries if q.query_id in parts[p]) for p in PARTS
    )
    documents = {link.mark for link in links if link.mark.startswith("document ")}
    return Splits(train, held, last, seed, len(groups), len(documents), data)


def _links(items: Sequence[Item], data: Mapping[str, Dataset]) -> Iterator[_Link]:
    """Yield what joins each query to the first one of every part that has the same mark."""
    marks = {part: marks_of(one) for part, one in data.items()}
    first: dict[str, dict[str, int]] = {}
    for place, (part, query) in enumerate(items):
        for mark in sorted(marks[part][query.query_id]):
            known = first.setdefault(mark, {})
            known.setdefault(part, place)
            yield from (_Link(earlier, place, mark) for earlier in known.values())
    for pair in near_query_pairs([query for _, query in items]):
        yield _Link(pair.first, pair.second, "similar")


def _groups(items: Sequence[Item], links: Sequence[_Link]) -> list[list[tuple[str, str]]]:
    """Return the groups of (part, query id) that are linked, by union-find."""
    root = list(range(len(items)))

    def find(place: int) -> int:
        while root[place] != place:
            root[place] = root[root[place]]
            place = root[place]
        return place

    for link in links:
        root[find(link.second)] = find(link.first)
    found: dict[int, list[tuple[str, str]]] = {}
    for place, (part, query) in enumerate(items):
        found.setdefault(find(place), []).append((part, query.query_id))
    return list(found.values())


def _refuse_overlap(
    items: Sequence[Item], links: Sequence[_Link], data: Mapping[str, Dataset]
) -> None:
    """Raise `ConfigError` if queries of two declared data sets are linked."""
    found: dict[tuple[int, int], str] = {}
    for link in links:
        if items[link.first][0] != items[link.second][0]:
            found.setdefault((link.first, link.second), link.mark)
    if not found:
        return
    most = limits.MAX_EXAMPLE_IDS
    shown = [_told(items[a], items[b], data) for a, b in list(found)[:most]]
    rest = f"; and {len(found) - most:,} more" if len(found) > most else ""
    queries = len({place for pair in found for place in pair})
    parts = ", ".join(f"{part}: {data[part].name}" for part in data)
    raise ConfigError(
        f"the data sets overlap ({parts}): {queries:,} queries share a document or a question with "
        f"a query of another part: {'; '.join(shown)}{rest}. Remove them from one of the two, or "
        "give shares (validation: 0.1, test: 0.2)",
        key=items[next(iter(found))[1]][0],
        value=queries,
    )


def _told(a: Item, b: Item, data: Mapping[str, Dataset]) -> str:
    """Return two queries and what they share, in words."""
    documents = [
        {document_of(data[part], i) for i, grade in grades.items() if grade > 0}
        for part, query in (a, b)
        for grades in [data[part].qrels.get(query.query_id, {})]
    ]
    shared = min(documents[0] & documents[1], default="")
    what = f"document {shared!r}" if shared else "nearly equal texts"
    if not shared and documents[0] and documents[1]:
        what = f"{what}, or passages of {min(documents[0])!r} and {min(documents[1])!r}"
    return f"{a[0]} {a[1].query_id!r} and {b[0]} {b[1].query_id!r} ({what})"


def _deal(
    groups: Sequence[Sequence[str]], shares: Mapping[str, float], seed: int
) -> dict[str, set[str]]:
    """Return part -> query ids: the largest groups first, each to the part that needs the most."""
    total = sum(map(len, groups))
    lacking = {
        "train": total * (1 - sum(shares.values())),
        **{p: total * s for p, s in shares.items()},
    }
    wanted = dict(lacking)
    # The order of the file has no influence.
    mixed = sorted(groups, key=lambda group: group[0])
    random.Random(seed).shuffle(mixed)  # noqa: S311 - not a secret
    parts: dict[str, set[str]] = {part: set() for part in PARTS}
    for group in sorted(mixed, key=len, reverse=True):
        part = max(lacking, key=lacking.__getitem__)
        parts[part].update(group)
        lacking[part] -= len(group)
    for part, size in wanted.items():
        if size >= 1 and not parts[part]:
            raise ConfigError(
                f"no query is left for {part}: {max(map(len, groups)):,} of {total:,} queries are "
                "one group, because they share documents or nearly equal texts; declare a data "
                f"set as {part}, or give passages the documents that they are from",
                key=part,
                value=shares.get(part),
            )
    return parts
