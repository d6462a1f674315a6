"""The stored tables of an experiment, without its secret queries and nuggets.

Every output reads tables here, so that secret rows are left out of all of them.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Self, TypeVar

from arro3.core import Table

from ragstone.components.judges.secret_nuggets import (
    open_part,
    secret_nuggets,
    without_nuggets,
)
from ragstone.core import limits, schemas
from ragstone.core.store import Store, notify_once
from ragstone.core.stored_table import StoredTable
from ragstone.data.corpus import rows_at
from ragstone.data.machine_qrels import agreement_sentence
from ragstone.errors import ConfigError
from ragstone.results.record import Record
from ragstone.results.reveals import Reveal, record_reveal, reveals
from ragstone.results.secret import Secret
from ragstone.results.stored_scores import RowsInOrder, read_scores
from ragstone.text.language_names import LANGUAGE
from ragstone.types import Context, Prediction, Query, Score

_Row = TypeVar("_Row", Query, Context, Prediction)


class StoredRows(RowsInOrder[_Row]):
    """Query id -> row of a stored table, whose rows are in memory after the first look-up of one.

    Ids and iterations over all rows read the table block by block.
    """

    def __init__(
        self, blocks: Callable[[], Iterable[Table]], read: Callable[[Table], Iterable[_Row]]
    ) -> None:
        self._blocks = blocks
        self._read: Callable[[Table], Iterable[_Row]] = read

    def each(self) -> Iterator[_Row]:
        """Yield the rows; those that are not in memory yet are read block by block."""
        if "_rows" in vars(self):
            yield from self._rows.values()
        else:
            yield from chain.from_iterable(map(self._read, self._blocks()))

    def where(self, column: str, holds: Callable[[Any], bool]) -> Iterator[_Row]:
        """Yield the rows whose value in a column is right; no other row is made."""
        for block in self._blocks():
            if column in block.column_names:
                values = block.column(column).to_pylist()
                places = [place for place, value in enumerate(values) if holds(value)]
                if places:
                    yield from self._read(rows_at(block, places))

    @cached_property
    def _rows(self) -> dict[str, _Row]:
        return {row.query_id: row for row in self.each()}

    @cached_property
    def _ids(self) -> frozenset[str]:
        return frozenset(self)

    def __getitem__(self, query_id: str) -> _Row:
        """Return the row of a query."""
        return self._rows[query_id]

    def __contains__(self, query_id: object) -> bool:
        """Return whether a query has a row."""
        return query_id in (self._rows if "_rows" in vars(self) else self._ids)

    def __iter__(self) -> Iterator[str]:
        """Yield the queries in the order of the rows."""
        if "_rows" in vars(self):
            yield from self._rows
        else:
            for block in self._blocks():
                yield from block.column("query_id").to_pylist()

    def __len__(self) -> int:
        """Return the number of rows."""
        return sum(block.num_rows for block in self._blocks())


class TextsOnUse(Mapping[str, str]):
    """A mapping of texts that is read at its first use."""

    def __init__(self, read: Callable[[], Mapping[str, str]]) -> None:
        self._read = read

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        return self._read()

    def __getitem__(self, key: str) -> str:
        """Return a text."""
        return self._texts[key]

    def __iter__(self) -> Iterator[str]:
        """Yield the keys in order."""
        return iter(self._texts)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._texts)


def rows_where(
    rows: Mapping[str, _Row], column: str, holds: Callable[[Any], bool]
) -> Iterable[_Row]:
    """Return the rows whose value in a column of their table is right.

    Of rows that are not of a stored table, all are returned.
    """
    return rows.where(column, holds) if isinstance(rows, StoredRows) else rows.values()


@dataclass(frozen=True)
class StoredTables:
    """The tables of the steps that a record names."""

    store: Store
    """The store of the results."""
    record: Record
    """The systems, settings and trials of the last run, with the folders of their steps."""
    reveal: bool = False
    """Whether secret rows are included; `revealed` records that they were shown."""

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.record.name

    @cached_property
    def secret(self) -> Secret | None:
        """The secret shares of queries and nuggets, if the file of the record has some."""
        written = self.record.file.get("secret")
        return Secret.parse(written) if written else None

    @cached_property
    def secret_queries(self) -> frozenset[str]:
        """Ids of the secret queries, whether or not they are revealed."""
        if self.secret is None or not self.secret.queries:
            return frozenset()
        tables, ids = self.record.tables, dict[str, None]()
        for folder in (tables.answered, tables.ranked):
            ids.update(dict.fromkeys(schemas.columns(self.whole_table(folder))["query_id"]))
        clusters = schemas.columns(self.whole_table(tables.clusters))
        named = dict(zip(clusters["query_id"], clusters["cluster"], strict=True))
        return self.secret.chosen(ids, named)

    @cached_property
    def secret_nuggets(self) -> Mapping[str, frozenset[str]]:
        """Query id -> texts of its secret nuggets, of queries that have some, revealed or not."""
        if self.secret is None or not self.secret.nuggets:
            return {}
        share, seed, tables = self.secret.nuggets, self.secret.seed, self.record.tables
        queries = (
            query
            for folder in dict.fromkeys((tables.answered, tables.ranked))
            for query in schemas.table_to_queries(self.whole_table(folder))
        )
        found = {query.query_id: secret_nuggets(query, share, seed) for query in queries}
        return {query_id: texts for query_id, texts in found.items() if texts}

    @cached_property
    def held_back(self) -> frozenset[str]:
        """Ids of the queries that the rows leave out; a notice has the number of all secrets."""
        if self.reveal:
            return frozenset()
        if self.secret_sentence and not self.record.counterfactual:
            notify_once(f"note: {self.name}: {self.secret_sentence}")
        return self.secret_queries

    @property
    def withholds_figures(self) -> bool:
        """Whether figures of all answers together are left out, as secret queries are in them."""
        folders = (entry.folder for entry in self.record.steps) if self.held_back else ()
        return any(self._step(folder).manifest.get("beside") for folder in folders)

    @property
    def reveals(self) -> list[Reveal]:
        """When the secrets were revealed, the first time first."""
        return reveals(self.store, self.name) if self.secret else []

    @property
    def secret_sentence(self) -> str:
        """How many queries and nuggets are secret, and when they were revealed; "" without any."""
        queries, nuggets = len(self.secret_queries), sum(map(len, self.secret_nuggets.values()))
        named = ((queries, "query", "queries"), (nuggets, "nugget", "nuggets"))
        parts = [f"{n:,} {one if n == 1 else several}" for n, one, several in named if n]
        if not parts:
            return ""
        are = f"{' and '.join(parts)} {'is' if queries + nuggets == 1 else 'are'}"
        then = "and shown here" if self.reveal else "and in no figure; --reveal shows them"
        before = self.reveals
        known = f". The secret share was revealed on {before[0].at[:10]}" if before else ""
        return f"{are} secret {then}{known}"

    @property
    def qrels_sentence(self) -> str:
        """The model that made the qrels, and the metrics' meaning then; "" if people made them."""
        return agreement_sentence(self.record.data_source.get("machine_qrels", ""))

    def secret_document(self) -> dict[str, Any] | None:
        """Return the facts of the secret shares as plain data; None without one."""
        if self.secret is None:
            return None
        nuggets = sum(map(len, self.secret_nuggets.values()))
        return {
            "queries": len(self.secret_queries),
            **({"nuggets": nuggets} if self.secret.nuggets else {}),
            "shown": self.reveal,
            "share": self.secret.to_dict(),
            "reveals": [dataclasses.asdict(one) for one in self.reveals],
        }

    def with_share_of(self, file: Mapping[str, Any] | None) -> Self:
        """Return these results with the share that their file has now, if their run had none.

        A notice reports that the file differs from the run; a share that is changed or taken away
        has no effect before the next run, which records it. So has a share of
        nuggets: the values of the open ones are not known.
        """
        known = self.record.file.get("secret")
        if file == known:
            return self
        notify_once(
            f"note: {self.name}: `secret` in the file is not that of its results; run the file "
            "again, which makes no model call for it"
        )
        if known or file is None or "queries" not in file:
            return self
        secret = {key: value for key, value in file.items() if key != "nuggets"}
        record = dataclasses.replace(self.record, file={**self.record.file, "secret": secret})
        return dataclasses.replace(self, record=record)

    def revealed(self) -> Self:
        """Return these results with their secrets, and record in the store that it was done.

        Raises:
            ConfigError: the experiment has no secret queries or nuggets.
            StoreError: the store is read-only.
        """
        if self.secret is None:
            raise ConfigError(
                f"{self.name!r} has no secret queries or nuggets to reveal; its file has no "
                "`secret`",
                key="secret",
            )
        record_reveal(self.store, self.name, self.secret.to_dict(), "--reveal")
        return dataclasses.replace(self, reveal=True)

    def stored_table(self, folder: str) -> Table:
        """Return the table of a step's folder, without the rows that are held back."""
        table = self.whole_table(folder)
        if self.secret is None or "query_id" not in table.column_names:
            return table
        of_rows = [name for name in ("query_id", "metric") if name in table.column_names]
        rows = list(zip(*schemas.columns(table.select(of_rows)).values(), strict=True))
        kept = [n for n, row in enumerate(rows) if not self._is_held_back(*row)]
        return table if len(kept) == len(rows) else rows_at(table, kept)

    def _is_held_back(self, query_id: str, metric: str = "") -> bool:
        """Return whether a row is of a secret query, or a score of secret nuggets."""
        return query_id in self.held_back or (not self.reveal and open_part(metric) != "")

    def whole_table(self, folder: str) -> Table:
        """Return the table of a step's folder with all its rows; no output may show it."""
        return self.rows_in(folder).table

    def rows_in(self, folder: str) -> StoredTable:
        """Return where all rows of a step's folder are read; no output may show them."""
        return self._step(folder)

    def blocks(self, folder: str, rows: int = 0) -> Iterator[Table]:
        """Yield the table of a step's folder in pieces, without the rows that are held back."""
        if self.secret is None:
            yield from self.rows_in(folder).blocks(rows or limits.PARQUET_BATCH_ROWS)
        else:
            yield self.stored_table(folder)

    def scores(self, *folders: str) -> dict[str, Mapping[str, Score]]:
        """Return metric -> query id -> score of the stored tables `folders`."""
        tables = chain.from_iterable(map(self.blocks, folders))
        return dict(read_scores(tables, self._query_ids))

    @cached_property
    def _query_ids(self) -> dict[str, str]:
        """The ids of the queries, each once: all columns share them."""
        return {}

    def mapping(self, folder: str) -> dict[str, str]:
        """Return a table of two columns as a mapping; {} if the record has no folder."""
        key, value = self._query_ids.setdefault, dict[str, str]().setdefault
        found: dict[str, str] = {}
        for block in self.blocks(folder) if folder else ():
            keys, values = schemas.columns(block).values()
            found.update(zip(map(key, keys, keys), map(value, values, values), strict=True))
        return found

    @cached_property
    def manifests(self) -> dict[str, dict[str, Any]]:
        """Folder -> manifest of every step, in order; its counts are those of the rows here."""
        return {entry.folder: self.manifest(entry.folder) for entry in self.record.steps}

    def manifest(self, folder: str) -> dict[str, Any]:
        """Return the manifest of the step in `folder`, without figures of queries held back."""
        found = self._step(folder).manifest
        return self._of_rows(found, folder) if self.held_back else found

    def _of_rows(self, manifest: Mapping[str, Any], folder: str) -> dict[str, Any]:
        rows = schemas.columns(self.stored_table(folder))
        known = manifest.get("reasons", {})
        failed = dict(zip(rows.get("query_id", ()), rows.get("reason", ()), strict=False))
        reasons = Counter(reason for reason in failed.values() if reason in known)
        kept = {key: value for key, value in manifest.items() if key not in ("beside", "reasons")}
        counts = {"rows": self.stored_table(folder).num_rows}
        if "reason" in rows:
            counts["failed"] = min(manifest.get("failed", 0), reasons.total())
        return kept | counts | ({"reasons": dict(reasons)} if reasons else {})

    def queries_at(self, folder: str) -> Mapping[str, Query]:
        """Return the queries of the table in `folder` by id, with languages; no secret nuggets."""
        return self._by_query(folder, lambda rows: map(self._in_language, self._shown(rows)))

    @cached_property
    def stated_queries(self) -> Mapping[str, Query]:
        """The answered queries by id, with the labels of the data set alone."""
        return self._by_query(self.record.tables.answered, self._shown)

    def _shown(self, rows: Table) -> Iterator[Query]:
        """Yield the queries of a table, without secret nuggets."""
        hidden = {} if self.reveal else self.secret_nuggets
        for query in schemas.table_to_queries(rows):
            texts = hidden.get(query.query_id)
            yield without_nuggets(query, texts) if texts else query

    def _in_language(self, query: Query) -> Query:
        """Return a query with its language as a label, if it is known and there is none."""
        code = self.languages.get(query.query_id)
        if not code or LANGUAGE in query.labels:
            return query
        return dataclasses.replace(query, labels={**query.labels, LANGUAGE: code})

    @cached_property
    def languages(self) -> dict[str, str]:
        """Query id -> language, "" if it is not recognised; empty if queries have it as a label."""
        return self.mapping(self.record.tables.languages)

    def whole_queries(self, *folders: str) -> dict[str, Query]:
        """Return the queries of the tables `folders` by id, with all nuggets; never to be shown."""
        read = (self._by_query(folder, schemas.table_to_queries) for folder in folders)
        return {query_id: one for found in read for query_id, one in found.items()}

    def _by_query(self, folder: str, read: Callable[[Table], Iterable[_Row]]) -> StoredRows[_Row]:
        return StoredRows(lambda: self.blocks(folder, limits.BLOCK_QUERIES), read)

    def _step(self, folder: str) -> StoredTable:
        return StoredTable("", folder=self.store.root / "steps" / folder)
