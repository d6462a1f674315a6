"""The contents of a data set: counts, labels, lengths, and missing parts of its queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.core import limits
from ragstone.core.schemas import columns, labels_from_json, rows
from ragstone.data.dataset import Dataset
from ragstone.types import Label, Passage, Query


@dataclass(frozen=True)
class Lengths:
    """Lengths of texts in words: runs of characters between white space."""

    texts: int
    shortest: int
    median: float
    mean: float
    longest: int


@dataclass(frozen=True)
class LabelCounts:
    """How often the values of one label occur."""

    values: int
    """Number of different values."""
    counts: Mapping[str, int]
    """Value -> rows, the 50 most frequent first; a list counts once per item."""


@dataclass(frozen=True)
class CollectionSizes:
    """The numbers of rows of one collection."""

    queries: int
    passages: int


@dataclass(frozen=True)
class Description:
    """The output of `ragstone data show`; the fields are the keys of its JSON."""

    name: str
    passages: int
    queries: int
    conversations: int
    qrels: int
    relevance: Mapping[str, int]
    """Grade -> number of judgements."""
    answerability: Mapping[str, int]
    """Value of the label `answerability`, or else `answerable`, -> queries; empty without both."""
    without_answers: int
    """Queries without gold answers."""
    without_relevant: int
    """Queries without a passage of relevance above 0."""
    with_history: int
    with_rewrite: int
    query_labels: Mapping[str, LabelCounts]
    passage_labels: Mapping[str, LabelCounts]
    words: Mapping[str, Lengths]
    """Kind of text ("passage", "query", "answer") -> lengths; kinds without texts are left out."""
    collections: Mapping[str, CollectionSizes]
    """Collection -> numbers of rows; empty if all queries search all passages."""
    judged: str
    """Unit of the judgements: `passage` or `document`."""
    origin: Mapping[str, str]
    """Published name, source, revision, licence, citation and digest; "" where unknown."""
    example_passages: Sequence[Passage]
    example_queries: Sequence[Query]


def describe(dataset: Dataset, examples: int = 2) -> Description:
    """Return counts, labels, lengths and examples of a data set.

    >>> from ragstone.data.load import load_dataset
    >>> found = describe(load_dataset("sample"))
    >>> found.passages > 150, found.conversations >= 8
    (True, True)
    """
    asked = columns(dataset.query_table)
    labels = [labels_from_json(text) for text in asked["labels"]]
    counted = _count_labels(labels)
    relevant = {query_id for query_id, grades in dataset.qrels.items() if max(grades.values()) > 0}
    grades = Counter(dataset.qrel_table.column("relevance").to_pylist())
    return Description(
        name=dataset.name,
        passages=len(dataset.corpus),
        queries=len(labels),
        conversations=len({query["conversation"] for query in labels if "conversation" in query}),
        qrels=dataset.qrel_table.num_rows,
        relevance={str(grade): grades[grade] for grade in sorted(grades)},
        answerability=_answerability(counted),
        without_answers=sum(not answers for answers in asked["gold_answers"]),
        without_relevant=sum(query_id not in relevant for query_id in asked["query_id"]),
        with_history=sum(map(bool, asked["history"])),
        with_rewrite=sum(map(bool, asked["rewrite"])),
        query_labels=counted,
        passage_labels=_count_labels(map(labels_from_json, _column(dataset, "labels"))),
        words=_words(dataset, asked["text"], asked["gold_answers"]),
        collections=_collections(dataset),
        judged=dataset.judged,
        origin=dataset.source.origin(),
        example_passages=[dataset.corpus.at(i) for i in range(min(examples, len(dataset.corpus)))],
        example_queries=list(dataset.queries[:examples]),
    )


def _collections(dataset: Dataset) -> dict[str, CollectionSizes]:
    asked = Counter(dataset.collections.values())
    places = dataset.corpus.collections
    return {name: CollectionSizes(asked[name], len(held)) for name, held in places.items()}


def _answerability(labels: Mapping[str, LabelCounts]) -> Mapping[str, int]:
    found = labels.get("answerability") or labels.get("answerable")
    names = {"true": "answerable", "false": "unanswerable"}
    return {names.get(value, value): n for value, n in found.counts.items()} if found else {}


def _count_labels(listed: Iterable[Mapping[str, Label]]) -> dict[str, LabelCounts]:
    found: dict[str, Counter[str]] = {}
    for labels in listed:
        for name, value in labels.items():
            counter = found.setdefault(name, Counter())
            for item in value if isinstance(value, tuple) else (value,):
                counter[str(item).lower() if isinstance(item, bool) else str(item)] += 1
    most = limits.STORED_LABEL_VALUES
    return {n: LabelCounts(len(c), dict(c.most_common(most))) for n, c in sorted(found.items())}


def _column(dataset: Dataset, name: str) -> Iterator[str]:
    return (row[name] for row in rows(dataset.corpus.table.select([name])))


def _words(
    dataset: Dataset, queries: Sequence[str], answers: Sequence[Sequence[str]]
) -> dict[str, Lengths]:
    counted = {
        "passage": [len(text.split()) for text in _column(dataset, "text")],
        "query": [len(text.split()) for text in queries],
        "answer": [len(text.split()) for listed in answers for text in listed],
    }
    return {name: _lengths(counts) for name, counts in counted.items() if counts}


def _lengths(counts: Sequence[int]) -> Lengths:
    values = np.asarray(counts)
    return Lengths(
        texts=len(counts),
        shortest=int(values.min()),
        median=float(np.median(values)),
        mean=float(values.mean()),
        longest=int(values.max()),
    )
