"""The input of the data doctor: a data set, and the rows that could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final

from ragstone.core import limits
from ragstone.data_quality.shingles import ShingleSets, word_shingles

if TYPE_CHECKING:
    from pathlib import Path

    from ragstone.data.dataset import Dataset
    from ragstone.types import Query

_ANSWERABLE: Final = frozenset({"answerable", "partial", "true", "yes", "1"})
_UNANSWERABLE: Final = frozenset({"unanswerable", "false", "no", "0"})


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that is malformed, repeated or contradictory."""

    kind: str
    """`malformed`, `not-utf-8`, `repeated-id`, `repeated-judgement` or `conflicting-grades`."""
    place: str
    """File and line."""
    problem: str
    line: str = ""
    """The line itself, or "" if the fault is not in one line."""


@dataclass(frozen=True, slots=True)
class Dangling:
    """A judgement that names an unknown query or passage."""

    place: str
    query_id: str
    passage_id: str
    no_query: bool
    no_passage: bool
    line: str = ""
    """The line of the file."""


@dataclass(frozen=True)
class Subject:
    """A data set read leniently."""

    dataset: Dataset
    faults: tuple[Fault, ...] = ()
    dangling: tuple[Dangling, ...] = ()
    splits: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Split -> query ids; empty without splits."""
    unread: tuple[str, ...] = ()
    """Data files of the folder that were not read."""
    others: tuple[Query, ...] = ()
    """Queries of another data set (`--against`), which should have none of this one's queries."""

    answers: Path | None = None
    """File of rows with the answers of a system that the data set was read from, if it is one."""

    @cached_property
    def queries(self) -> Sequence[Query]:
        """The queries in order."""
        return self.dataset.queries

    @cached_property
    def passage_ids(self) -> list[str]:
        """Ids of the passages in order."""
        return self.dataset.corpus.passage_ids

    @cached_property
    def gold(self) -> dict[str, list[str]]:
        """Query id -> ids of its relevant passages that are in the corpus, best grade first."""
        corpus = self.dataset.corpus
        return {
            query_id: [
                passage_id
                for passage_id, grade in sorted(grades.items(), key=lambda pair: -pair[1])
                if grade > 0 and passage_id in corpus
            ]
            for query_id, grades in self.dataset.qrels.items()
        }

    @cached_property
    def unanswerable(self) -> set[str]:
        """Ids of the queries labelled as unanswerable from the corpus."""
        return {q.query_id for q in self.queries if _answerability(q) & _UNANSWERABLE}

    @cached_property
    def expecting(self) -> list[Query]:
        """The queries that a passage should answer, which includes unlabelled ones."""
        return [query for query in self.queries if _answerability(query) <= _ANSWERABLE]

    @cached_property
    def shingles(self) -> ShingleSets:
        """Runs of five words of every passage in order, and after them of every query."""
        texts = (text for _, text in self.texts())
        return word_shingles(chain(texts, (query.text for query in self.queries)))

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield id and text (with title) of every passage, batch by batch."""
        corpus = self.dataset.corpus
        for start in range(0, len(corpus), limits.TABLE_BATCH_ROWS):
            ids = self.passage_ids[start : start + limits.TABLE_BATCH_ROWS]
            yield from zip(
                ids, corpus.full_texts(start, start + limits.TABLE_BATCH_ROWS), strict=True
            )


def _answerability(query: Query) -> set[str]:
    """Return the values of the label `answerability`, or else `answerable`, in lower case.

    >>> from ragstone.types import Query
    >>> _answerability(Query("q", "Who?", labels={"answerability": "UNANSWERABLE"}))
    {'unanswerable'}
    """
    label = query.labels.get("answerability", query.labels.get("answerable", ()))
    return {str(value).lower() for value in (label if isinstance(label, tuple) else (label,))}
