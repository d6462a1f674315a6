"""The corpus: all passages of a data set, as one Arrow table read by id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from arro3.core import Array, ChunkedArray, DataType, Table

from ragstone.core.fingerprint import digest_table, fingerprint
from ragstone.core.schemas import CORPUS, WITHHELD, joined, labels_from_json, passages_to_table
from ragstone.text.language_names import LANGUAGE, one_language, stated_language
from ragstone.types import Passage, brief

if TYPE_CHECKING:
    from ragstone.core.store import Store

JOIN: Final = "+"
"""Mark between the names of collections that are searched together."""


@dataclass(frozen=True)
class Corpus:
    """Passages by position and by id, and the store of the data derived from them."""

    table: Table
    """Rows of `ragstone.core.schemas.CORPUS`: id, text, title, document id, labels."""
    store: Store | None = None
    """Store of embeddings and indexes; None stores nothing."""
    whole: Corpus | None = field(default=None, compare=False)
    """The corpus with labels, if this one is without them."""
    collections: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Collection -> positions of its passages; empty if all queries search all passages."""
    parts: tuple[Corpus, ...] = field(default=(), compare=False, repr=False)
    """The collections that this corpus joins, in order, so that their vectors are reused."""

    @classmethod
    def from_passages(cls, passages: Sequence[Passage]) -> Corpus:
        """Return a corpus of some passages.

        >>> corpus = Corpus.from_passages([Passage("p1", "Lisbon is on the Tagus.")])
        >>> corpus["p1"].text, len(corpus)
        ('Lisbon is on the Tagus.', 1)
        """
        return cls(passages_to_table(passages))

    def kept_in(self, store: Store) -> Corpus:
        """Return the corpus with a store for the arrays derived from it, the same for each call."""
        return self._kept.setdefault(store, replace(self, store=store))

    @cached_property
    def _kept(self) -> dict[Store, Corpus]:
        return {}

    def __repr__(self) -> str:
        """Return one line: the number of passages."""
        return brief(self, f"{len(self):,} passages")

    def __len__(self) -> int:
        """Return the number of passages."""
        return self.table.num_rows

    def __iter__(self) -> Iterator[Passage]:
        """Yield the passages in order."""
        return (self.at(position) for position in range(len(self)))

    def __contains__(self, passage_id: object) -> bool:
        """Return whether a passage has that id."""
        return passage_id in self._positions

    def __getitem__(self, passage_id: str) -> Passage:
        """Return the passage with that id; raise `KeyError` if there is none."""
        return self.at(self.position(passage_id))

    def position(self, passage_id: str) -> int:
        """Return the position of `passage_id`, from 0; raise `KeyError` if no passage has it."""
        return self._positions[passage_id]

    def at(self, position: int) -> Passage:
        """Return the passage at a position, counted from 0."""
        passage_id, text, title, document_id, *labels = [c[position].as_py() for c in self._columns]
        found = labels_from_json(labels[0]) if labels else WITHHELD["passage_labels"]
        return Passage(passage_id, text, title, document_id, found)

    @cached_property
    def _columns(self) -> list[Any]:
        # A lookup of the columns takes ten times as long as reading one passage.
        known = self.table.column_names
        return [self.table.column(name) for name in CORPUS.names if name in known]

    @cached_property
    def has_documents(self) -> bool:
        """Whether some passage names the document that it was cut from."""
        return any(any(chunk.to_pylist()) for chunk in self.table.column("document_id").chunks)

    def documents(self, passage_ids: Iterable[str]) -> dict[str, str]:
        """Return passage id -> document id for `passage_ids`; "" for a passage without one."""
        column = self.table.column("document_id")
        return {i: column[self.position(i)].as_py() for i in passage_ids if i in self}

    @cached_property
    def language_counts(self) -> dict[str, dict[str, int]]:
        """Collection, or "" -> language of the label -> passages; {} if no passage has one."""
        found = [one_language(code) for code in (self.whole or self).stated_languages()]
        if not any(found):
            return {}
        groups = self.collections or {"": range(len(found))}
        return {name: dict(Counter(found[p] for p in group)) for name, group in groups.items()}

    def stated_languages(self) -> list[str]:
        """Return the language of each passage by its label, without a region; "" without one."""
        texts = self.table.column("labels").to_pylist()
        marked = f'"{LANGUAGE}"'
        return [stated_language(labels_from_json(t)) if marked in t else "" for t in texts]

    @cached_property
    def passage_ids(self) -> list[str]:
        """Ids in order."""
        if self.whole is not None:
            return self.whole.passage_ids
        return list(self.table.column("passage_id").to_pylist())

    def part(self, collection: str) -> Corpus:
        """Return the passages of one collection, which have an index of their own.

        `ja+en` are those of two collections, one after the other.
        """
        if self.whole is not None:
            return self.whole.part(collection).unlabelled
        if collection not in self._parts:
            parts = tuple(self._parts[name] for name in collection.split(JOIN))
            table = joined((part.table for part in parts), CORPUS)
            self._parts[collection] = Corpus(table, self.store, parts=parts)
        return self._parts[collection]

    @cached_property
    def _parts(self) -> dict[str, Corpus]:
        return {n: Corpus(rows_at(self.table, p), self.store) for n, p in self.collections.items()}

    @property
    def depth(self) -> int:
        """Number of passages of the smallest collection: the most that any query can be shown."""
        return min(map(len, self.collections.values()), default=len(self))

    @cached_property
    def unlabelled(self) -> Corpus:
        """The corpus without labels, for components that do not read them."""
        if self.whole is not None:
            return self
        table = self.table.select(CORPUS.names[:-1])
        parts = tuple(part.unlabelled for part in self.parts)
        return Corpus(table, self.store, whole=self, collections=self.collections, parts=parts)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the table, and of its collections if there are any."""
        return self._digest(self.table) if self.whole is None else self.content_digest

    def _digest(self, table: Table) -> str:
        digest = digest_table(table)
        parts = {name: list(positions) for name, positions in self.collections.items()}
        return fingerprint({"table": digest, "collections": parts}) if parts else digest

    @cached_property
    def content_digest(self) -> str:
        """SHA-256 of the table with empty labels, so that no label changes it."""
        if self.whole is not None:
            return self.whole.content_digest
        if not any(self.table.column("labels").to_pylist()):
            return self.digest
        blank = ChunkedArray([Array([""] * len(self), type=DataType.string())])
        return self._digest(self.unlabelled.table.append_column(CORPUS.field("labels"), blank))

    def full_texts(self, start: int = 0, stop: int | None = None) -> list[str]:
        """Return titles and texts of passages `start` up to `stop`, as retrievers see them."""
        length = (len(self) if stop is None else min(stop, len(self))) - start
        part = self.table.slice(start, length)
        titles, texts = part.column("title").to_pylist(), part.column("text").to_pylist()
        return [
            f"{title}\n{text}" if title else text for title, text in zip(titles, texts, strict=True)
        ]

    @cached_property
    def _positions(self) -> dict[str, int]:
        if self.whole is not None:
            return self.whole._positions  # noqa: SLF001  # another corpus
        return {passage_id: position for position, passage_id in enumerate(self.passage_ids)}


def rows_at(table: Table, positions: Sequence[int]) -> Table:
    """Return the rows of a table at some positions (from 0), in this order."""
    if isinstance(positions, range) and positions.step == 1:
        return table.slice(positions.start, len(positions))
    if not table.num_rows:
        return table
    whole = table.combine_chunks().to_batches()[0]
    chosen = whole.take(Array(list(positions), type=DataType.int64()))
    return Table.from_batches([chosen], schema=table.schema)
