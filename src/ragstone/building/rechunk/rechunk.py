"""A data set over new passages: its documents cut anew, its judgements carried over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragstone.building.rechunk.documents import Documents, Joined, Span, document_id_of
from ragstone.building.rechunk.qrels_transfer import THRESHOLD, Carrier, NotCarried
from ragstone.building.rechunk.spans import find_span
from ragstone.core import limits
from ragstone.core.component import run_component
from ragstone.core.progress import progress
from ragstone.core.schemas import labels_to_json
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.document_level import judge_documents
from ragstone.data.table_builder import passages, qrels
from ragstone.errors import DatasetError
from ragstone.protocols import Chunker, Services

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.types import Passage


@dataclass(frozen=True)
class Rechunked:
    """What came of cutting a data set's documents anew."""

    dataset: Dataset
    documents: int
    without_text: tuple[str, ...]
    """Documents of white space alone, which have no passage."""
    longest: int
    """Characters of the longest passage."""
    notes: Mapping[str, int]
    """What was found while the documents were put together -> number of documents."""
    judgements: int
    """Of the old passages."""
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
    chunker: Chunker,
    *,
    documents: Corpus | None = None,
    threshold: float = THRESHOLD,
) -> Rechunked:
    """Cut the documents of a data set into new passages and carry its judgements over.

    Args:
        dataset: its passages are put together to documents; its queries stay as they are.
        chunker: what cuts.
        documents: the documents themselves, where they are to be had: each passage one of them.
            The data set's judged passages are then found in them, by their offsets or their text.
        threshold: see `ragstone.building.rechunk.qrels_transfer`.

    Raises:
        DatasetError: The chunker gives two passages one id, or one without its place; or no judged
            passage is of one of the documents given.
        ConfigError: The threshold is not above 0 and at most 1.
    """
    carrier, services = Carrier(dataset.qrels, threshold), Services()
    source = Documents(dataset.corpus if documents is None else documents)
    given = None if documents is None else _Judged(dataset.corpus, carrier)
    if given and documents is not None:
        given.check(documents)
    corpus, empty, count = _Cut(chunker), [], 0
    with progress("Cutting documents", len(source.corpus)) as bar:
        for joined in source:
            count += 1
            old = joined.spans if given is None else given.spans_in(joined)
            cut = run_component(chunker, services, joined.stretches)
            new = [corpus.add(p, joined) for part in cut for p in part.value or ()]
            carrier.carry(old, new)
            empty += [] if new else [joined.document_id]
            bar.advance(len(joined.spans))
    if given:
        given.lose_the_rest()
    made = replace(dataset, corpus=Corpus(corpus.finish()), qrel_table=_qrels(carrier))
    return Rechunked(
        made,
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


class _Cut:
    """The corpus of new passages while it is made."""

    def __init__(self, chunker: Chunker) -> None:
        self._chunker, self._builder = chunker, passages()
        self._seen = set[int]()
        self._count = 0
        self.longest = 0

    def add(self, passage: Passage, joined: Joined) -> Span:
        """Add a passage and return where it stands; raise `DatasetError` where it is unfit."""
        passage_id, start, end = (
            passage.passage_id,
            passage.labels.get("start"),
            passage.labels.get("end"),
        )
        if not (isinstance(start, int) and isinstance(end, int)):
            raise DatasetError(
                f"{self._chunker!r} does not say where the passage {passage_id!r} stands: it must "
                f"have the labels start and end, as document.passage(start, end) gives them"
            )
        self._count += 1
        self.longest = max(self.longest, len(passage.text))
        self._seen.add(hash(passage_id))
        if len(self._seen) < self._count:
            raise DatasetError(
                f"{self._chunker!r} gives the id {passage_id!r} to two passages; give each "
                f"document an id of its own, and make passages by document.passage(start, end)"
            )
        labels = labels_to_json(passage.labels)
        title = joined.title_at(start) if joined.titles else passage.title
        self._builder.add((passage_id, passage.text, title, passage.document_id, labels))
        return Span(passage_id, start, end)

    def finish(self) -> Table:
        """Return the table of all passages."""
        return self._builder.finish()


class _Judged:
    """The judged passages of a data set, to be found in documents that come from elsewhere."""

    def __init__(self, corpus: Corpus, carrier: Carrier) -> None:
        self._carrier = carrier
        self._of: dict[str, list[Passage]] = {}
        document_of = _document_of(corpus)
        for passage_id in carrier.judged:
            if passage_id in corpus:
                self._of.setdefault(document_of(passage_id), []).append(corpus[passage_id])

    def check(self, documents: Corpus) -> None:
        """Raise `DatasetError` where none of the judged passages is of one of the documents."""
        document_of = _document_of(documents)
        if not self._of or any(document_of(i) in self._of for i in documents.passage_ids):
            return
        raise DatasetError(
            f"no judged passage is of a document that is given: the passages are of "
            f"{_examples(self._of)}, the documents are {_examples(documents.passage_ids)}; "
            f"the `_id` of a document must be what its passages name as their `document`"
        )

    def spans_in(self, joined: Joined) -> Sequence[Span]:
        """Return where the judged passages of a document stand in it."""
        found = []
        for passage in self._of.pop(joined.document_id, ()):
            span = find_span(passage, joined.stretches)
            if span:
                found.append(span)
            else:
                self._carrier.lose(passage.passage_id, "its text is not found in its document")
        return found

    def lose_the_rest(self) -> None:
        """Note the passages whose document is not among the documents."""
        for held in self._of.values():
            for passage in held:
                self._carrier.lose(passage.passage_id, "its document is not there")


def _examples(ids: Iterable[str]) -> str:
    held, most = list(ids), limits.SHOWN_PASSAGE_IDS
    return ", ".join(map(repr, held[:most])) + (", ..." if len(held) > most else "")


def _qrels(carrier: Carrier) -> Table:
    builder = qrels()
    for query_id, grades in carrier.carried.items():
        for passage_id, relevance in grades.items():
            builder.add((query_id, passage_id, relevance))
    return builder.finish()
