"""A store as the pages read it: the list of its experiments, and results that stay in memory.

The store may be written at the same time. A record that was replaced is read again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ragstone.core.checksums import unseal
from ragstone.core.store import Store
from ragstone.core.store_contents import documents, require_store
from ragstone.data.machine_qrels import agreement_sentence
from ragstone.errors import ConfigError, StoreError, nearest_name
from ragstone.results.record import ATTEMPTS, FORMAT, KIND, Attempt, Record
from ragstone.results.results import Results
from ragstone.web import limits

if TYPE_CHECKING:
    from arro3.core import Table

_Made = TypeVar("_Made")
_SETTLED: Final = 2 * 10**9
"""Nanoseconds after which a change of a folder has another time than the next one."""


@dataclass(frozen=True, slots=True)
class ListedExperiment:
    """An experiment of the store: the facts of its record, without its results."""

    name: str
    digest: str
    """Digest of the record's file: results are those of one digest."""
    started: str | None = None
    finished: str | None = None
    campaign: str = ""
    data: str = ""
    queries: int = 0
    answered: int = 0
    systems: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    metrics: tuple[tuple[str, str], ...] = ()
    """Name and kind of each metric."""
    headline: str = ""
    problem: str = ""
    """Why the record cannot be read, or ""."""
    secret: bool = False
    """Whether some of its queries are secret."""
    machine_qrels: str = ""
    """Which model made its qrels, as a sentence; "" if people made them."""
    running: bool = False
    """Whether a run has begun after the last one that finished."""

    @property
    def is_readable(self) -> bool:
        """Whether a run of the experiment has finished, and its record can be read."""
        return bool(self.finished) and not self.problem


class StoreView:
    """The experiments of a store, each read once while its record stays the same."""

    def __init__(self, root: Path) -> None:
        """Open a store; raise `StoreError` if there is no such folder."""
        require_store(root)
        self.store = Store(root)
        self._listed: dict[str, tuple[tuple[int, int, int], ListedExperiment]] = {}
        self._every: tuple[tuple[int, ...], list[ListedExperiment]] | None = None
        self._results: OrderedDict[str, tuple[str, _HeldResults]] = OrderedDict()
        self._made: OrderedDict[Hashable, tuple[Hashable, Any]] = OrderedDict()
        self._lock = threading.RLock()

    @property
    def root(self) -> Path:
        """The folder of the store."""
        return self.store.root

    def experiments(self) -> list[ListedExperiment]:
        """Return the experiments, the last started first; those that cannot be read at the end.

        The folders are looked through again if a document was added, replaced or removed.
        """
        with self._lock:
            seen = tuple(_changed_at(self.root / kind) for kind in (KIND, ATTEMPTS))
            if self._every is None or self._every[0] != seen:
                every = self._look()
                # A change within the resolution of the clock would not be seen later.
                is_old = time.time_ns() - max(seen) > _SETTLED
                self._every = (seen, every) if is_old else None
                return every
            return self._every[1]

    def _look(self) -> list[ListedExperiment]:
        attempts = {path.stem for path in documents(self.root, ATTEMPTS)}
        found = {}
        for path in documents(self.root, KIND):
            try:
                seen = path.stat()
                state = (seen.st_ino, seen.st_mtime_ns, seen.st_size)
                kept = self._listed.get(path.stem)
                if kept is None or kept[0] != state:
                    kept = state, _listed(path, self.root)
            except OSError:  # replaced or removed at this moment
                continue
            found[path.stem] = kept
        self._listed = found
        every = [
            replace(one, running=True) if one.name in attempts or not one.finished else one
            for _, one in found.values()
        ]
        every.sort(key=lambda one: one.name)
        every.sort(key=lambda one: one.started or "", reverse=True)
        return every

    def experiment(self, name: str) -> ListedExperiment:
        """Return one experiment; raise `ConfigError` with the nearest name if there is none."""
        every = {one.name: one for one in self.experiments()}
        if name not in every:
            raise ConfigError(
                f"the store {self.root} has no experiment {name!r}{nearest_name(name, every)}",
                value=name,
            )
        return every[name]

    def record(self, name: str) -> Record:
        """Return the record of an experiment; raise `StoreError` if it cannot be read."""
        return Record.load(self.store, name)

    def attempt(self, name: str) -> Attempt | None:
        """Return the run that began after the last finished one, or None."""
        return Attempt.load(self.store, self.record(name))

    def results(self, name: str) -> Results:
        """Return the results of an experiment; those used last stay in memory.

        Raises:
            ConfigError: the store has no such experiment.
            StoreError: its record is damaged or of another version.
        """
        listed = self.experiment(name)
        with self._lock:
            held = self._results.get(name)
            if held is None or held[0] != listed.digest:
                held = listed.digest, _HeldResults.load(self.store, name)
                self._results[name] = held
            self._results.move_to_end(name)
            self._drop()
        return held[1]

    def secret_lines(self) -> list[str]:
        """Return a line per experiment with secret queries, which no page shows."""
        found = []
        for one in self.experiments():
            if one.secret and not one.problem:
                with contextlib.suppress(StoreError):
                    found.append(f"{one.name}: {self.results(one.name).secret_sentence}.")
        return found

    def qrels_lines(self) -> list[str]:
        """Return a line per file of machine-made qrels, with its experiments."""
        made: dict[str, list[str]] = {}
        for one in self.experiments():
            if one.machine_qrels:
                made.setdefault(one.machine_qrels, []).append(one.name)
        return [f"{', '.join(names)}: {sentence}." for sentence, names in made.items()]

    def kept(self, key: Hashable, state: Hashable, make: Callable[[], _Made]) -> _Made:
        """Return the value of a key that was made from the same state, or make it.

        `state` identifies the inputs of the value, such as the digests of records.
        """
        with self._lock:
            held = self._made.get(key)
        if held is None or held[0] != state:
            held = state, make()
        with self._lock:
            self._made[key] = held
            self._made.move_to_end(key)
            while len(self._made) > limits.VIEW_HELD_TABLES:
                self._made.popitem(last=False)
        found: _Made = held[1]
        return found

    def _drop(self) -> None:
        """Forget the results that were used least recently, if their tables are too large."""
        sizes = {name: sum(held.sizes.values()) for name, (_, held) in self._results.items()}
        while len(sizes) > 1 and sum(sizes.values()) > limits.VIEW_HELD_BYTES:
            name, _ = self._results.popitem(last=False)
            del sizes[name]


def _changed_at(folder: Path) -> int:
    """Return when an entry of a folder was last added, replaced or removed; 0 without a folder."""
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


class _HeldResults(Results):
    """Results that know the size of the tables that they have read."""

    @property
    def sizes(self) -> dict[str, int]:
        """Folder -> bytes of its table in memory."""
        found: dict[str, int] = vars(self).setdefault("_sizes", {})
        return found

    def stored_table(self, folder: str) -> Table:
        """Return the table of a step's folder, and count its bytes."""
        table = super().stored_table(folder)
        self.sizes[folder] = table.nbytes
        return table

    def blocks(self, folder: str, rows: int = 0) -> Iterator[Table]:
        """Yield the table of a step's folder in pieces, and count the bytes of its rows."""
        self.sizes[folder] = 0
        for block in super().blocks(folder, rows):
            self.sizes[folder] += block.nbytes
            yield block


def _listed(path: Path, root: Path) -> ListedExperiment:
    """Return the facts of a record; a damaged one has a problem."""
    raw = path.read_bytes()
    digest = hashlib.sha256(raw).hexdigest()
    try:
        document: dict[str, Any] = json.loads(raw)
        # A record of another format may have no checksum, and its message names the format.
        if document.get("format") == FORMAT:
            document = unseal(document, path.relative_to(root).as_posix())
        return _facts(digest, Record.of(document, path.stem))
    except StoreError as error:
        return ListedExperiment(path.stem, digest, problem=str(error))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        problem = f"its record is damaged: {error}; run the experiment again, with --reuse"
        return ListedExperiment(path.stem, digest, problem=problem)


def _facts(digest: str, record: Record) -> ListedExperiment:
    data = record.data
    return ListedExperiment(
        record.name,
        digest,
        started=record.started,
        finished=record.finished,
        campaign=record.campaign,
        data=data.name,
        queries=data.queries,
        answered=data.answered,
        systems=tuple(one.name for one in record.systems),
        settings=tuple(dict.fromkeys(one.setting for one in record.trials)),
        metrics=tuple((one.name, one.kind) for one in record.metrics),
        headline=record.headline,
        secret=bool(record.file.get("secret")),
        machine_qrels=agreement_sentence(record.data_source.get("machine_qrels", "")),
    )
