"""Documents put together from the passages that were cut from them.

Which document a passage is of, and where it stands there, is read off, in this order:

1. its `document_id` and its labels `start` and `end`, as every chunker writes them;
2. its id, where that is `<document>-<start>-<end>` and its text is as long as that says (mtRAG's);
3. its `document_id` alone: the passages stand in the order of the corpus, an empty line between;
4. nothing: a passage without a document is one.

Passages that overlap are laid over each other. Where text between two passages is not known, the
document has several stretches: no passage is cut across what is missing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from arro3.core import Table

from ragstone.core import limits
from ragstone.core.schemas import labels_from_json, rows
from ragstone.types import Document, Label

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.data.corpus import Corpus

_ID: Final = re.compile(r"(?P<document>.+)-(?P<start>\d+)-(?P<end>\d+)", re.DOTALL)
_BETWEEN: Final = "\n\n"
_OFFSETS: Final = frozenset({"start", "end"})
_Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Span:
    """A passage's place in its document: characters `start` up to `end`."""

    passage_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Joined:
    """A document's stretches, one where all between its first and last passage is known."""

    document_id: str
    stretches: tuple[Document, ...]
    spans: tuple[Span, ...]
    """Where the passages stand that it was put together from."""
    titles: tuple[tuple[int, str], ...] = ()
    """Where they start and what their titles are, in order; empty where all have the same."""

    def title_at(self, start: int) -> str:
        """Return the title of the last passage that starts at a character or before it."""
        place = bisect_right(self.titles, start, key=lambda pair: pair[0])
        return self.titles[max(place - 1, 0)][1]


@dataclass
class Documents:
    """The documents of a corpus, in the order of their first passages, one at a time."""

    corpus: Corpus
    notes: Counter[str] = field(default_factory=Counter)
    """What was found while they were put together -> number of documents."""

    def __iter__(self) -> Iterator[Joined]:
        """Yield the documents; of the corpus, a batch of passages is held as objects."""
        self.notes.clear()
        for document_id, held in groupby(_by_document(self.corpus.table), key=_document_of):
            yield self._joined(document_id, list(held))

    def _joined(self, document_id: str, held: list[_Row]) -> Joined:
        placed = [(place, row["text"]) for row in held if (place := _place(row))]
        if len(placed) < len(held):
            placed = _in_order(held)
            self.notes["passages without offsets, joined in the order of the corpus"] += 1
        titles = sorted(
            (span.start, row["title"]) for (span, _), row in zip(placed, held, strict=True)
        )
        if len({title for _, title in titles}) == 1:
            titles = []
        else:
            self.notes["several titles: a passage has that of the old one in which it begins"] += 1
        stretches, agree = _stretches(placed)
        if not agree:
            self.notes["overlapping passages that disagree, of which the first is kept"] += 1
        if len(stretches) > 1:
            self.notes["text missing between passages"] += 1
        complete = len(stretches) == 1 and stretches[0][0] == 0
        labels, all_common = _common_labels(held)
        if not all_common:
            self.notes["labels that are not those of every passage, left out"] += 1
        common = (held[0]["title"], labels)
        made = (
            Document(document_id, text, *common, offset, complete) for offset, text in stretches
        )
        spans = tuple(span for span, _ in placed)
        return Joined(document_id, tuple(made), spans, tuple(titles))


def document_id_of(passage_id: str, document_id: str, text: str) -> str:
    """Return the id of the document that a passage is of.

    >>> document_id_of("d-7-13", "", "Lisbon"), document_id_of("d-7-13", "", "Porto")
    ('d', 'd-7-13')
    """
    if document_id:
        return document_id
    found = _ID.fullmatch(passage_id)
    fits = found and int(found["end"]) - int(found["start"]) == len(text)
    return found["document"] if found and fits else passage_id


def _document_of(row: _Row) -> str:
    return document_id_of(row["passage_id"], row["document_id"], row["text"])


def place_of(
    passage_id: str, document_id: str, text: str, labels: Mapping[str, Label]
) -> Span | None:
    """Return where a passage says that it stands; None where it does not, or cannot be right."""
    start, end = labels.get("start"), labels.get("end")
    if not (type(start) is int and type(end) is int):
        written = _ID.fullmatch(passage_id)
        start, end = (int(written["start"]), int(written["end"])) if written else (0, -1)
    if start >= 0 and end - start == len(text):
        return Span(passage_id, start, end)
    return None if document_id else Span(passage_id, 0, len(text))


def _place(row: _Row) -> Span | None:
    labels = labels_from_json(row["labels"])
    return place_of(row["passage_id"], row["document_id"], row["text"], labels)


def _by_document(table: Table) -> Iterator[_Row]:
    """Yield the rows of a corpus so that those of one document follow each other."""
    # Eight bytes a passage, where the ids of millions of documents would take a hundred each. In a
    # million documents, two have one hash with a chance of 3 in 100 million.
    hashes = np.fromiter(
        (hash(_document_of(row)) for row in _all(table)), dtype=np.int64, count=table.num_rows
    )
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(first[group], kind="stable")
    if (np.diff(order) == 1).all():
        yield from _all(table)
        return
    yield from _taken(table, order)


def _all(table: Table) -> Iterator[_Row]:
    for start in range(0, table.num_rows, limits.TABLE_BATCH_ROWS):
        yield from rows(table.slice(start, min(limits.TABLE_BATCH_ROWS, table.num_rows - start)))


def _taken(table: Table, order: npt.NDArray[np.int64]) -> Iterator[_Row]:
    held = {name: table.column(name) for name in table.column_names}
    for place in order.tolist():
        yield {name: column[place].as_py() for name, column in held.items()}


def _in_order(held: Sequence[_Row]) -> list[tuple[Span, str]]:
    """Place passages one after the other; the text between them goes to the one before."""
    placed, start = [], 0
    for number, row in enumerate(held, start=1):
        text = row["text"] + (_BETWEEN if number < len(held) else "")
        placed.append((Span(row["passage_id"], start, start + len(row["text"])), text))
        start += len(text)
    return placed


def _stretches(placed: Iterable[tuple[Span, str]]) -> tuple[list[tuple[int, str]], bool]:
    """Return offset and text of each stretch without a gap, and whether all overlaps agree."""
    found: list[tuple[int, list[str]]] = []
    end, agree, tail = 0, True, ""
    for span, text in sorted(placed, key=lambda pair: (pair[0].start, -len(pair[1]))):
        if not found or span.start > end:
            found.append((span.start, []))
            end = span.start
        known = end - span.start
        overlap = min(known, len(text))
        agree = agree and (not overlap or _holds(tail, known, text[:overlap]))
        found[-1][1].append(text[known:])
        tail = text if len(text) > known else tail
        end = max(end, span.start + len(text))
    return [(offset, "".join(parts)) for offset, parts in found], agree


def _holds(tail: str, known: int, text: str) -> bool:
    """Say whether a text is what stands `known` characters before the end, as far as is held."""
    return known > len(tail) or tail[len(tail) - known :].startswith(text)


def _common_labels(held: Sequence[_Row]) -> tuple[dict[str, Label], bool]:
    """Return the labels that all passages of a document share, and whether those are all."""
    each = [_labels(text) for text in dict.fromkeys(row["labels"] for row in held)]
    common = {n: v for n, v in each[0].items() if all((n, v) in other.items() for other in each)}
    return common, all(other == common for other in each)


def _labels(text: str) -> dict[str, Label]:
    return {name: v for name, v in labels_from_json(text).items() if name not in _OFFSETS}
