"""A data set: queries, the corpus of passages, and the relevance judgements."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arro3.core import Table

from ragstone.core import limits
from ragstone.core.fingerprint import digest_file
from ragstone.core.schemas import table_to_queries
from ragstone.core.screen_text import shorten
from ragstone.core.tables import Shown, TextTable
from ragstone.data import table_builder
from ragstone.data.corpus import Corpus, rows_at
from ragstone.data.lazy_rows import JudgementRows, QueryRows
from ragstone.data.readers.qrels import Known, collect_qrels, numbered_judgements
from ragstone.data.readers.record_rows import add_rows, passage_rows, query_rows, turn_rows
from ragstone.data.readers.rows import Ids
from ragstone.text.language_names import stated_language
from ragstone.types import Conversation, Query, brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


_NO_DATA: Final = (".", "README", "card.md", "croissant.json")
"""Beginnings of the names of files that are about the data, such as a data card."""


@dataclass(frozen=True)
class DataSource:
    """The origin of a data set, as far as it is known."""

    reader: str = ""
    """The reader's name; "" for a data set made in Python."""
    path: Path | None = None
    """The file or folder that was read."""
    address: str = ""
    revision: str = ""
    licence: str = ""
    published: str = ""
    """Name of the published data set; "" if the set is none of `ragstone data list`."""
    citation: str = ""
    digest: str = ""
    """SHA-256 of the files of a published set, which `{digest: ...}` pins."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """File -> SHA-256, if the reader read some files of a folder only."""
    machine_qrels: str = ""
    """Sentence with the model that made the qrels; "" if they have no mark of a model."""

    def facts(self) -> dict[str, Any]:
        """Return plain data without a path: the names of the files, with their SHA-256."""
        files = dict(self.digests) or self._files()
        made = {"machine_qrels": self.machine_qrels} if self.machine_qrels else {}
        return {"reader": self.reader, **self.origin(), "files": files, **made}

    def origin(self) -> dict[str, str]:
        """Return the published facts of the set: its name, place, licence and citation."""
        return {
            "published": self.published,
            "source": self.address,
            "revision": self.revision,
            "licence": self.licence,
            "citation": self.citation,
            "digest": self.digest,
        }

    def _files(self) -> dict[str, str]:
        if self.path is None or not self.path.exists():
            return {}
        if self.path.is_file():
            return {self.path.name: digest_file(self.path)}
        found = ((path.relative_to(self.path), path) for path in sorted(self.path.rglob("*")))
        return {
            name.as_posix(): digest_file(path)
            for name, path in found
            if path.is_file() and not any(part.startswith(_NO_DATA) for part in name.parts)
        }


@dataclass(frozen=True)
class Dataset(Shown):
    """Queries, corpus and qrels as tables, and a name; a turn is a query with a history."""

    name: str
    """The name, which results show."""
    query_table: Table
    """Rows of `ragstone.core.schemas.QUERIES`: id, text, gold answers, history, labels."""
    corpus: Corpus
    """The passages, with their collections if there are several."""
    qrel_table: Table
    """Rows (query_id, passage_id, relevance); relevance 0 is judged and not relevant."""
    source: DataSource = DataSource()
    """Reader, path, revision, licence and digests of the files; empty for records."""
    judged: str = "passage"
    """Unit of the judgements: a passage, or a document (such as a Wikipedia page)."""
    collections: Mapping[str, str] = field(default_factory=dict)
    """Query id -> the collection that it searches; empty if all queries search all passages."""

    @classmethod
    def from_records(
        cls,
        *,
        queries: Iterable[Mapping[str, Any]] = (),
        passages: Iterable[Mapping[str, Any]] = (),
        qrels: Iterable[tuple[str, str, int]] = (),
        conversations: Iterable[Mapping[str, Any]] = (),
        name: str = "records",
    ) -> Dataset:
        """Return a data set of plain records.

        Args:
            queries: `query_id`, `text`, and if known `gold_answers`, `rewrite`, `history`.
            passages: `passage_id`, `text`, and if known `title` and `document_id`.
            qrels: (query id, passage id, grade); a grade of 1 or more is relevant.
            conversations: `conversation_id` and `turns`, each with `user` and `agent`.
            name: the name of the data set in reports.

        Further fields of a record become labels.

        Raises:
            DatasetError: a field is missing or has a wrong type, an id occurs twice, or the qrels
                name a query or passage that does not exist.

        >>> data = Dataset.from_records(
        ...     queries=[{"query_id": "q", "text": "Which river?", "gold_answers": ["Tagus"]}],
        ...     passages=[{"passage_id": "p", "text": "Lisbon is on the Tagus."}],
        ...     qrels=[("q", "p", 1)],
        ... )
        >>> data
        Dataset('records', 1 queries, 1 passages, 1 judgements)
        """
        query_table, corpus = table_builder.queries(), table_builder.passages()
        query_ids, passage_ids = Ids("query"), Ids("passage")
        for builder, ids, kind, records, rows_of in (
            (query_table, query_ids, "queries", queries, query_rows),
            (query_table, query_ids, "conversations", conversations, turn_rows),
            (corpus, passage_ids, "passages", passages, passage_rows),
        ):
            add_rows(builder, ids, kind, enumerate(records, start=1), rows_of, unit="record")
        known = Known(query_ids.keys(), passage_ids.keys())
        table = collect_qrels(numbered_judgements(qrels), "qrels", known, dangling="error")
        return cls(name, query_table.finish(), Corpus(corpus.finish()), table)

    def __repr__(self) -> str:
        """Return one line: the name and the numbers of rows."""
        return brief(self, repr(self.name), self._counts())

    def parts(self) -> Iterator[str | TextTable]:
        """Yield the name with the numbers of rows, and the first queries."""
        yield f"{self.name}: {self._counts()}"
        width = limits.SHOWN_CELL_CHARACTERS
        count = min(limits.SHOWN_QUERIES, self.query_table.num_rows)
        first = table_to_queries(self.query_table.slice(0, count))
        texts = [(query.query_id, query.text, " | ".join(query.gold_answers)) for query in first]
        rows = [[shorten(text.strip(), width) for text in row] for row in texts]
        yield TextTable(["query_id", "text", "gold answers"], rows)

    def _counts(self) -> str:
        queries, judgements = self.query_table.num_rows, self.qrel_table.num_rows
        return f"{queries:,} queries, {len(self.corpus):,} passages, {judgements:,} judgements"

    @cached_property
    def conversations(self) -> list[Conversation]:
        """The conversations, by the queries' labels `conversation` and `turn`."""
        return Conversation.of(self.queries)

    @property
    def queries(self) -> Sequence[Query]:
        """The queries, in the order of the file; they are made when they are asked for."""
        return QueryRows(self.query_table)

    @property
    def query_ids(self) -> list[str]:
        """The ids of the queries, in the order of the file."""
        return list(self.query_table.column("query_id").to_pylist())

    @cached_property
    def qrels(self) -> Mapping[str, dict[str, int]]:
        """Query id -> passage id -> grade; read from the table when it is asked for."""
        return JudgementRows(self.qrel_table)

    def stated_languages(self) -> dict[str, str]:
        """Return query id -> language by the query's label, without a region; "" without one."""
        return {query.query_id: stated_language(query.labels) for query in self.queries}

    def sample(self, limit: int, seed: int) -> Dataset:
        """Return the data set with a random sample of `limit` queries, in file order.

        The same limit and seed always give the same queries. A limit at or above the number of
        queries changes nothing.
        """
        total = self.query_table.num_rows
        if limit >= total:
            return self
        return self.select(sorted(random.Random(seed).sample(range(total), limit)))  # noqa: S311

    def select(self, positions: Sequence[int]) -> Dataset:
        """Return the data set with the queries at these positions (from 0), in this order."""
        return replace(self, query_table=rows_at(self.query_table, list(positions)))
