"""The stored tables of an experiment, without the rows of its secret queries.

Every output reads tables here, so that a secret query is left out of all of them.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeVar

from arro3.core import Table

from ragstone.core import schemas
from ragstone.core.store import Store, notify_once
from ragstone.core.stored_table import StoredTable
from ragstone.data.corpus import rows_at
from ragstone.data.machine_qrels import agreement_sentence
from ragstone.errors import ConfigError
from ragstone.results.record import Record
from ragstone.results.reveals import Reveal, record_reveal, reveals
from ragstone.results.secret import Secret
from ragstone.types import Context, Prediction, Query, Score

_Row = TypeVar("_Row", Query, Context, Prediction)


@dataclass(frozen=True)
class StoredTables:
    """The tables of the steps that a record names."""

    store: Store
    record: Record
    reveal: bool = False
    """Whether the secret queries are among the rows; `revealed` records that they were shown."""

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.record.name

    @cached_property
    def secret(self) -> Secret | None:
        """The secret share of the queries, if the file of the record has one."""
        written = self.record.file.get("secret")
        return Secret.parse(written) if written else None

    @cached_property
    def secret_queries(self) -> frozenset[str]:
        """Ids of the secret queries, whether or not they are revealed."""
        if self.secret is None:
            return frozenset()
        tables, ids = self.record.tables, dict[str, None]()
        for folder in (tables.answered, tables.ranked):
            ids.update(dict.fromkeys(schemas.columns(self.whole_table(folder))["query_id"]))
        clusters = schemas.columns(self.whole_table(tables.clusters))
        named = dict(zip(clusters["query_id"], clusters["cluster"], strict=True))
        return self.secret.chosen(ids, named)

    @cached_property
    def held_back(self) -> frozenset[str]:
        """Ids of the queries that the rows leave out; a notice has their number, once."""
        found = frozenset[str]() if self.reveal else self.secret_queries
        if found and not self.record.counterfactual:
            notify_once(f"note: {self.name}: {self.secret_sentence}")
        return found

    @property
    def withholds_figures(self) -> bool:
        """Whether figures of all answers together are left out, as secret queries are in them."""
        folders = (entry.folder for entry in self.record.steps) if self.held_back else ()
        return any(self._step(folder).manifest.get("beside") for folder in folders)

    @property
    def reveals(self) -> list[Reveal]:
        """When the secret queries were revealed, the first time first."""
        return reveals(self.store, self.name) if self.secret else []

    @property
    def secret_sentence(self) -> str:
        """How many queries are secret, and when they were revealed; "" without any."""
        if not (count := len(self.secret_queries)):
            return ""
        are = "1 query is" if count == 1 else f"{count:,} queries are"
        then = "and shown here" if self.reveal else "and in no figure; --reveal shows them"
        before = self.reveals
        known = f". The secret share was revealed on {before[0].at[:10]}" if before else ""
        return f"{are} secret {then}{known}"

    @property
    def qrels_sentence(self) -> str:
        """Which model made the qrels, and what metrics then measure; "" if people made them."""
        return agreement_sentence(self.record.data_source.get("machine_qrels", ""))

    def secret_document(self) -> dict[str, Any] | None:
        """Return the facts of the secret share as plain data; None without one."""
        if self.secret is None:
            return None
        return {
            "queries": len(self.secret_queries),
            "shown": self.reveal,
            "share": self.secret.to_dict(),
            "reveals": [dataclasses.asdict(one) for one in self.reveals],
        }

    def with_share_of(self, file: Mapping[str, Any] | None) -> Self:
        """Return these results with the share that their file has now, if their run had none.

        A notice says that the file differs from the run; a share that is changed or taken away
        has no effect before the next run, which records it.
        """
        known = self.record.file.get("secret")
        if file == known:
            return self
        notify_once(
            f"note: {self.name}: `secret` in the file is not that of its results; run the file "
            "again, which computes nothing for it"
        )
        if known or file is None:
            return self
        record = dataclasses.replace(self.record, file={**self.record.file, "secret": dict(file)})
        return dataclasses.replace(self, record=record)

    def revealed(self) -> Self:
        """Return these results with their secret queries, and record in the store that it was done.

        Raises:
            ConfigError: the experiment has no secret queries.
            StoreError: the store is read-only.
        """
        if self.secret is None:
            raise ConfigError(
                f"{self.name!r} has no secret queries to reveal; its file has no `secret`",
                key="secret",
            )
        record_reveal(self.store, self.name, self.secret.to_dict(), "--reveal")
        return dataclasses.replace(self, reveal=True)

    def stored_table(self, folder: str) -> Table:
        """Return the table of a step's folder, without the rows of queries that are held back."""
        table = self.whole_table(folder)
        if self.secret is None or "query_id" not in table.column_names or not self.held_back:
            return table
        ids = schemas.columns(table.select(["query_id"]))["query_id"]
        return rows_at(table, [n for n, one in enumerate(ids) if one not in self.held_back])

    def whole_table(self, folder: str) -> Table:
        """Return the table of a step's folder with all its rows; no output may show it."""
        return self._step(folder).table

    def scores(self, *folders: str) -> dict[str, dict[str, Score]]:
        """Return metric -> query id -> score of some stored tables."""
        found: dict[str, dict[str, Score]] = {}
        for folder in folders:
            for score in schemas.table_to_scores(self.stored_table(folder)):
                found.setdefault(score.metric, {})[score.query_id] = score
        return found

    def mapping(self, folder: str) -> dict[str, str]:
        """Return a table of two columns as a mapping; {} if the record has no folder."""
        columns = schemas.columns(self.stored_table(folder)).values() if folder else ((), ())
        return dict(zip(*columns, strict=True))

    @cached_property
    def manifests(self) -> dict[str, dict[str, Any]]:
        """Folder -> manifest of every step, in order; its counts are those of the rows here."""
        return {entry.folder: self.manifest(entry.folder) for entry in self.record.steps}

    def manifest(self, folder: str) -> dict[str, Any]:
        """Return the manifest of a step; figures that contain queries held back are left out."""
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

    def _by_query(self, folder: str, read: Callable[[Table], Iterable[_Row]]) -> dict[str, _Row]:
        return {row.query_id: row for row in read(self.stored_table(folder))}

    def _step(self, folder: str) -> StoredTable:
        return StoredTable("", folder=self.store.root / "steps" / folder)
