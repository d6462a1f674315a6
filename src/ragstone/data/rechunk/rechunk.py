"""Rechunking: the documents of a data set cut into new passages, with its judgements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ragstone.core import limits
from ragstone.core.progress import progress
from ragstone.data.corpus import Corpus
from ragstone.data.cut_passages import CutPassages, Located
from ragstone.data.dataset import Dataset
from ragstone.data.document_level import judge_documents
from ragstone.data.rechunk.documents import Documents, Joined, Span, document_id_of
from ragstone.data.rechunk.qrels_transfer import THRESHOLD, Carrier, NotCarried
from ragstone.data.rechunk.spans import find_span
from ragstone.data.table_builder import judgements
from ragstone.errors import DatasetError
from ragstone.types import Passage

_Judged = dict[str, list[Passage]]
"""Document id -> its judged passages that have no place yet."""


@dataclass(frozen=True)
class Rechunked:
    """A data set with new passages, and the outcome of its judgements."""

    dataset: Dataset
    documents: int
    without_text: tuple[str, ...]
    """Ids of documents of white space alone, which have no passage."""
    longest: int
    """Length of the longest passage in characters."""
    notes: Mapping[str, int]
    """Remark on joining the passages -> number of documents it applies to."""
    judgements: int
    """Number of judgements of the old passages."""
    not_carried: tuple[NotCarried, ...]
    document_qrels: Mapping[str, Mapping[str, int]]
    """Query id -> document id -> the highest grade among its old passages."""

    def summary(self) -> dict[str, object]:
        """Return the counts as plain data."""
        return {
            "name": self.dataset.name,
            "documents": self.documents,
            "documents_without_text": len(self.without_text),
            "passages": len(self.dataset.corpus),
            "longest_passage_characters": self.longest,
            "notes": dict(self.notes),
            "judgements": self.judgements,
            "judgements_carried": self.judgements - len(self.not_carried),
            "judgements_of_new_passages": self.dataset.qrel_table.num_rows,
        }


def rechunk(
    dataset: Dataset,
    chunker: Any,
    *,
    documents: Corpus | None = None,
    threshold: float = THRESHOLD,
) -> Rechunked:
    """Cut the documents of a data set into new passages and transfer its judgements to them.

    Args:
        dataset: the queries, the judgements, and the old passages, which are joined to documents.
        chunker: cuts a document into passages.
        documents: the whole documents, one per passage of this corpus. The judged passages of the
            data set are then found in them, by their offsets or their text.
        threshold: see `ragstone.data.rechunk.qrels_transfer`.

    Raises:
        DatasetError: the chunker fails for a document, gives two passages one id, or gives one
            without its place; or no judged passage is from one of the given documents.
        ConfigError: the threshold is not above 0 and at most 1.
    """
    carrier = Carrier(dataset.qrels, threshold)
    source = Documents(dataset.corpus if documents is None else documents)
    judged = {} if documents is None else _judged(dataset.corpus, carrier, documents)
    corpus, empty, count = CutPassages(chunker), [], 0
    with progress("Cutting documents", len(source.corpus)) as bar:
        for joined, passages in corpus.cut((joined, joined.stretches) for joined in source):
            count += 1
            own = judged.pop(joined.document_id, ())
            old = joined.spans if documents is None else _found(own, joined, carrier)
            new = list(_added(joined, passages, corpus))
            carrier.carry(old, new)
            empty += [] if new else [joined.document_id]
            bar.advance(len(joined.spans))
    for passage in (passage for rest in judged.values() for passage in rest):
        carrier.lose(passage.passage_id, "its document is missing")
    carried = {(q, p): n for q, grades in carrier.carried.items() for p, n in grades.items()}
    return Rechunked(
        replace(dataset, corpus=Corpus(corpus.finish()), qrel_table=judgements(carried)),
        count,
        tuple(empty),
        corpus.longest,
        source.notes,
        sum(map(len, dataset.qrels.values())),
        tuple(carrier.not_carried()),
        judge_documents(dataset.qrels, _document_of(dataset.corpus)),
    )


def _document_of(corpus: Corpus) -> Callable[[str], str]:
    def document_id(passage_id: str) -> str:
        if passage_id not in corpus:
            return passage_id
        passage = corpus[passage_id]
        return document_id_of(passage_id, passage.document_id, passage.text)

    return document_id


def _added(joined: Joined, passages: Iterable[Located], corpus: CutPassages) -> Iterator[Span]:
    """Add the passages of a document and yield their places."""
    for passage, start, end in passages:
        corpus.add(replace(passage, title=joined.title_at(start)) if joined.titles else passage)
        yield Span(passage.passage_id, start, end)


def _judged(corpus: Corpus, carrier: Carrier, documents: Corpus) -> _Judged:
    """Return the judged passages; raise `DatasetError` if none is from one of the documents."""
    found: _Judged = {}
    document_of, given_of = _document_of(corpus), _document_of(documents)
    for passage_id in carrier.judged:
        if passage_id in corpus:
            found.setdefault(document_of(passage_id), []).append(corpus[passage_id])
    if found and not any(given_of(i) in found for i in documents.passage_ids):
        raise DatasetError(
            f"no judged passage is from a given document: the passages are from "
            f"{_examples(found)}, the documents are {_examples(documents.passage_ids)}; the "
            f"`_id` of a document must be the `document` of its passages"
        )
    return found


def _found(own: Iterable[Passage], joined: Joined, carrier: Carrier) -> Iterator[Span]:
    """Yield the places of a document's judged passages; the others are lost."""
    for passage in own:
        span = find_span(passage, joined.stretches)
        if span:
            yield span
        else:
            carrier.lose(passage.passage_id, "its text is not found in its document")


def _examples(ids: Iterable[str]) -> str:
    first, most = list(ids), limits.SHOWN_PASSAGE_IDS
    return ", ".join(map(repr, first[:most])) + (", ..." if len(first) > most else "")
