"""Blocks of a step that workers compute; every finished one is a shard in the store.

    store/arrays/shared-44ce10.../table.parquet     a table that all blocks of a step share
    store/arrays/shard-9b7f21.../rows.arrow         a finished block; facts.json is beside it

The name of a shard is the digest of the step's key and of the rows that the block was given. It
appears by a rename, so a run that was killed goes on with the blocks that it has, and a worker that
is given a block a second time returns the shard. The shards are removed when the step is stored.

Steps that call models stay in this process, so that all calls have one rate limit, one budget and
one log. So do scores that depend on other queries (`score_work`).
"""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from ragstone.core.checksums import TABLE
from ragstone.core.executors.base import IN_PROCESS
from ragstone.core.executors.portable import Portable, names_in
from ragstone.core.fingerprint import fingerprint
from ragstone.core.ipc import bytes_of, table_of
from ragstone.core.parquet_blocks import write_blocks
from ragstone.core.redaction import redacted_data
from ragstone.core.step_notes import (
    add_note,
    collect_arrays,
    collect_facts,
    collect_notes,
    no_arrays,
    step_facts,
    use_arrays,
)
from ragstone.core.store import Store, store_errors
from ragstone.core.stored_table import StoredTable, unverified_table
from ragstone.core.user_code import is_ours
from ragstone.data.corpus import Corpus
from ragstone.errors import StoreError
from ragstone.experiment.block_work import BlockWork, Tally
from ragstone.experiment.maker import use_folder
from ragstone.experiment.metric_set import MetricSet
from ragstone.experiment.score_work import ScoreWork, scored_apart
from ragstone.experiment.steps import SHARED_INPUTS, Step
from ragstone.protocols import Services

if TYPE_CHECKING:
    from arro3.core import Table

ASKS_A_SERVER: Final = frozenset(
    {
        "embedders/endpoint",
        "retrievers/elasticsearch",
        "retrievers/milvus",
        "retrievers/pgvector",
        "retrievers/qdrant",
    }
)
"""Components that ask a server although their `cost` is 0; they stay in this process."""
_ROWS, _FACTS, _COLLECTIONS = "rows.arrow", "facts.json", "collections.json"


class FinishedBlock(NamedTuple):
    """A finished block: its rows as an Arrow stream, what else is known, and its folder."""

    rows: bytes
    facts: Mapping[str, Any]
    folder: str
    """The name of its folder in the store; "" if failed rows are computed again."""


@dataclass(frozen=True)
class BlockJob:
    """All that a worker needs to compute blocks of a step, as plain data."""

    step: str
    system: str
    part: Portable
    key: str
    """The name of the step's folder in the store."""
    store: str
    shared: tuple[tuple[str, str], ...]
    """Name -> digest of the shared tables; that of the corpus is of the whole corpus."""
    labelled: bool
    """Whether the step sees the labels of passages."""

    def __call__(self, block: Mapping[str, bytes]) -> FinishedBlock:
        """Return the shard of a block, from the store if it is stored."""
        root = Path(self.store)
        if not root.is_dir():
            raise StoreError(
                f"the worker has no store {root}; give all workers this folder, such as one on a "
                "network disk, or run on this machine",
                path=root,
            )
        use_folder(root)
        return self.shard(block, lambda tables, tally: _work(self).result(tables, tally))

    def shard(self, block: Mapping[str, bytes], compute: Any) -> FinishedBlock:
        """Return the shard of a block, computed by a function of tables and tally if needed."""
        store, made_of = Store(Path(self.store)), {"step": self.key, "block": _digests(block)}
        with no_arrays():
            if (folder := store.kept_files("shard", made_of)) is not None:
                return _read(folder)
        tally = Tally()
        with collect_notes() as notes, collect_arrays() as arrays, collect_facts() as found:
            table = compute({name: table_of(rows) for name, rows in block.items()}, tally)
        told = {
            "failed": tally.failed,
            "reasons": dict(tally.reasons),
            "notes": dict(notes),
            "arrays": list(arrays),
            "facts": found,
        }
        shard = FinishedBlock(bytes_of(table), redacted_data(told), "")
        if tally.failed:
            return shard
        with no_arrays():
            folder = store.files("shard", made_of, lambda place: _write(shard, place))
        return shard._replace(folder=folder.name)


@dataclass
class SentBlocks:
    """The blocks of a step, sent to the workers of an executor."""

    job: BlockJob
    step: Step
    services: Services
    _finished: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, step: Step, inputs: Mapping[str, StoredTable], store: Store, services: Services
    ) -> Self | None:
        """Return the sent blocks of a step; None if it is computed in this process."""
        if services.executor is IN_PROCESS or not may_be_sent(step) or "repeat" in inputs:
            return None
        part = Portable.of(step.component)
        if part is None:
            return None
        shared = {name: one.digest for name, one in inputs.items() if name in SHARED_INPUTS}
        labelled = "corpus" in shared and "labels" in inputs["corpus"].table.column_names
        if "corpus" in shared:
            shared["corpus"] = services.corpus.digest
        job = BlockJob(
            step.name,
            step.system,
            part,
            store.folder(step.name, step.component, inputs).name,
            str(store.root.absolute()),
            tuple(shared.items()),
            labelled,
        )
        return cls(job, step, services)

    def results(
        self,
        blocks: Iterable[Mapping[str, Table]],
        shared: Mapping[str, StoredTable],
        work: BlockWork | ScoreWork,
        tally: Tally,
    ) -> Iterator[Table]:
        """Yield the rows of each block, in order; a single block is computed here."""
        given = iter(blocks)
        begun = list(itertools.islice(given, 2))
        if len(begun) == 1:
            yield work.result(begun[0], tally)
            return
        self._publish(shared)
        sent = ({n: bytes_of(table) for n, table in one.items()} for one in (*begun, *given))
        if self.step.name == "retrieve":
            # The index is built once, here; the workers find it in the store.
            yield self._added(self.job.shard(next(sent), work.result), tally)
        for shard in self.services.executor.map(self.job, sent):
            yield self._added(shard, tally)

    def remove_shards(self) -> None:
        """Remove the shards of a step that is stored."""
        for name in self._finished:
            path = Path(self.job.store) / "arrays" / name
            with store_errors(path):
                shutil.rmtree(path, ignore_errors=True)

    def _added(self, shard: FinishedBlock, tally: Tally) -> Table:
        """Return the rows of a shard, and add its facts to those of the step."""
        tally.failed += shard.facts["failed"]
        tally.reasons.update(shard.facts["reasons"])
        for note, count in shard.facts["notes"].items():
            add_note(note, count)
        step_facts().update(shard.facts["facts"])
        use_arrays(shard.facts["arrays"])
        self._finished += [shard.folder] if shard.folder else []
        return table_of(shard.rows)

    def _publish(self, shared: Mapping[str, StoredTable]) -> None:
        """Write the shared tables where the workers read them, each once for all steps."""
        store = Store(Path(self.job.store))
        with no_arrays():
            for name, digest in self.job.shared:
                corpus = self.services.corpus if name == "corpus" else None
                table = shared[name] if corpus is None else StoredTable(digest, memory=corpus.table)
                collections = corpus.collections if corpus else {}
                store.files("shared", {"table": digest}, partial(_write_shared, table, collections))


def may_be_sent(step: Step) -> bool:
    """Return whether a step is computed by queries, by components of Ragstone, without calls."""
    component = step.component
    divisible = is_ours(type(component)) and not component.takes_all_items
    if step.kind.in_columns:
        return isinstance(component, MetricSet) and scored_apart(component)
    if step.kind.to_table is None or not divisible or component.cost(1, 1):
        return False
    return ASKS_A_SERVER.isdisjoint(names_in(component))


@lru_cache(maxsize=1)
def _work(job: BlockJob) -> BlockWork | ScoreWork:
    """Return the work of a job; a worker opens its tables and its index once."""
    store = Store(Path(job.store))
    corpus, tables = None, dict[str, Any]()
    for name, digest in job.shared:
        if name == "corpus":
            corpus = _corpus(store, digest)
            tables[name] = (corpus if job.labelled else corpus.unlabelled).table
        else:
            tables[name] = unverified_table(_shared(store, name, digest))
    step = Step(job.step, job.part.component(), {}, job.system)
    services = Services(store=store, corpus=corpus)
    if step.kind.in_columns:
        return ScoreWork(step.kind.apply(step.component, services, **tables))
    return BlockWork(step, tables, services)


@lru_cache(maxsize=1)
def _corpus(store: Store, digest: str) -> Corpus:
    folder = _shared(store, "corpus", digest)
    collections = json.loads((folder / _COLLECTIONS).read_text(encoding="utf-8"))
    corpus = Corpus(unverified_table(folder), store, collections=collections)
    vars(corpus)["digest"] = digest
    return corpus


def _shared(store: Store, name: str, digest: str) -> Path:
    """Return the folder of a shared table, its files verified."""
    with no_arrays():
        folder = store.kept_files("shared", {"table": digest})
    if folder is None:
        raise StoreError(
            f"the worker does not find the table {name} ({digest[:12]}) in the store {store.root}, "
            "or its file is damaged; give all workers the folder of the store that this run has",
            path=store.root,
        )
    return folder


def _write_shared(table: StoredTable, collections: Mapping[str, Any], folder: Path) -> None:
    write_blocks(table.blocks() if table.num_rows else [table.table], folder / TABLE)
    plain = {name: list(positions) for name, positions in collections.items()}
    (folder / _COLLECTIONS).write_text(json.dumps(plain), encoding="utf-8")


def _write(shard: FinishedBlock, folder: Path) -> None:
    (folder / _ROWS).write_bytes(shard.rows)
    (folder / _FACTS).write_text(json.dumps(shard.facts, ensure_ascii=False), encoding="utf-8")


def _read(folder: Path) -> FinishedBlock:
    facts = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
    return FinishedBlock((folder / _ROWS).read_bytes(), facts, folder.name)


def _digests(block: Mapping[str, bytes]) -> str:
    return fingerprint({name: hashlib.sha256(rows).hexdigest() for name, rows in block.items()})
