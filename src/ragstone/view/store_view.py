"""A store as the pages read it: the list of its experiments, and results that stay in memory.

The store may be written at the same time. A record that was replaced is read again.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.core import limits
from ragstone.core.checksums import CHECKSUM
from ragstone.core.store import Store
from ragstone.core.store_contents import documents, require_store
from ragstone.errors import ConfigError, RagstoneError, StoreError, did_you_mean
from ragstone.results.record import ATTEMPTS, FORMAT, KIND
from ragstone.results.results import Results

_FACTS: Final = ("name", "started", "finished", "campaign")


@dataclass(frozen=True, slots=True)
class ListedExperiment:
    """An experiment of the store: what its record says, without its results."""

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
    headline: str = ""
    problem: str = ""
    """Why the record cannot be read, or ""."""
    running: bool = False
    """Whether a run has begun after the last one that finished."""


class StoreView:
    """The experiments of a store, each read once while its record stays the same."""

    def __init__(self, root: Path) -> None:
        """Open a store; raise `StoreError` if there is no such folder."""
        require_store(root)
        self.store = Store(root)
        self._listed: dict[str, tuple[tuple[int, int, int], ListedExperiment]] = {}
        self._results: OrderedDict[str, tuple[str, Results]] = OrderedDict()
        self._lock = threading.RLock()

    @property
    def root(self) -> Path:
        """The folder of the store."""
        return self.store.root

    def experiments(self) -> list[ListedExperiment]:
        """Return the experiments, the last started first; those that cannot be read at the end."""
        with self._lock:
            attempts = {path.stem for path in documents(self.root, ATTEMPTS)}
            found = {}
            for path in documents(self.root, KIND):
                try:
                    seen = path.stat()
                    state = (seen.st_ino, seen.st_mtime_ns, seen.st_size)
                    kept = self._listed.get(path.stem)
                    if kept is None or kept[0] != state:
                        kept = state, _listed(path)
                except OSError:  # replaced or removed at this moment
                    continue
                found[path.stem] = kept
            self._listed = found
        every = [
            _running(one) if one.name in attempts or not one.finished else one
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
                f"the store {self.root} has no experiment {name!r}{did_you_mean(name, every)}",
                value=name,
            )
        return every[name]

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
                held = listed.digest, Results.load(self.store, name)
                self._results[name] = held
            self._results.move_to_end(name)
            self._drop()
        return held[1]

    def _drop(self) -> None:
        """Forget the results that were used least recently, if too many answers are held."""
        sizes = {n: _predictions(results) for n, (_, results) in self._results.items()}
        while len(sizes) > 1 and sum(sizes.values()) > limits.VIEW_HELD_PREDICTIONS:
            name, _ = self._results.popitem(last=False)
            del sizes[name]


def _predictions(results: Results) -> int:
    record = results.record
    return record.data.answered * len(record.trials) + record.data.ranked * len(record.rankings)


def _running(one: ListedExperiment) -> ListedExperiment:
    from dataclasses import replace

    return replace(one, running=True)


def _listed(path: Path) -> ListedExperiment:
    """Return what a record says; a damaged one has a problem."""
    raw = path.read_bytes()
    digest = hashlib.sha256(raw).hexdigest()
    try:
        found = orjson.loads(raw)
        if problem := _problem(found):
            return ListedExperiment(path.stem, digest, problem=problem)
        return _facts(path.stem, digest, found)
    except (ValueError, TypeError, KeyError, AttributeError, RagstoneError, StoreError) as error:
        return ListedExperiment(path.stem, digest, problem=f"its record cannot be read: {error}")


def _problem(document: Mapping[str, Any]) -> str:
    written = document.get("format")
    if written != FORMAT:
        newer = isinstance(written, int) and written > FORMAT
        way_out = "pip install -U ragstone" if newer else "run the experiment again, with --reuse"
        return f"its record has format {written}, this version reads format {FORMAT}; {way_out}"
    if CHECKSUM not in document:
        return "its record has no checksum; run the experiment again, with --reuse"
    return ""


def _facts(name: str, digest: str, document: Mapping[str, Any]) -> ListedExperiment:
    data, trials = document["data"], document["trials"]
    file = document["file"]
    rule = file.get("correct", file.get("correctness_metric"))
    planned = (file.get("analysis") or {}).get("headline") or file.get("headline")
    first = next((one["name"] for one in document["metrics"]), "")
    return ListedExperiment(
        name,
        digest,
        started=document["started"],
        finished=document["finished"],
        campaign=document.get("campaign", ""),
        data=data["name"],
        queries=data["queries"],
        answered=data["answered"],
        systems=tuple(one["name"] for one in document["systems"]),
        settings=tuple(dict.fromkeys(one["setting"] for one in trials)),
        headline=str(planned or rule or first),
    )
