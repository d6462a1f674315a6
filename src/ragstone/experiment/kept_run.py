"""A finished run that would compute nothing: found without reading its data set.

A run keeps in the store what decided it: the code, the experiment file, the keys of all components
with the revisions of their models, and the digests of the data's files before they were read. If
all of it is the same, and each step of the record is stored, sound and without failed rows, the run
would find every step, so its results are those of the record. In any doubt the run goes on as ever.

The digests of the code of components are kept with it, under the digest of all files of Ragstone:
whoever has the same bytes need not parse them. Files of your own are digested each time.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

from ragstone.core.component import Component
from ragstone.core.environment import describe_environment
from ragstone.core.fingerprint import cache_key_parts, digest_file, digest_json, fingerprint
from ragstone.core.registry import beside
from ragstone.core.user_code import known_sources, recall_sources
from ragstone.data.unchanged import data_state
from ragstone.errors import RagstoneError, StoreError
from ragstone.experiment.freshness import Freshness, begin, of_runs
from ragstone.experiment.independence import parts_of
from ragstone.results.kept_board import code_digest, code_now, folders_of, manifest_of
from ragstone.results.record import ATTEMPTS, CallsEntry, Record
from ragstone.results.results import Results
from ragstone.results.wording import left_out_text, not_applicable_text

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Protocol

    from ragstone.calls.client import Calls
    from ragstone.core.store import Store
    from ragstone.experiment.members import Member
    from ragstone.experiment.metric_set import MetricSet
    from ragstone.experiment.plan import PlannedStep
    from ragstone.experiment.running import Startable
    from ragstone.experiment.system import SharedInputs, System
    from ragstone.protocols import ContextSetting, Judge

    class Repeatable(Startable, Protocol):
        """The part of an experiment that decides whether a run would compute anything."""

        @property
        def folder(self) -> Path:
            """The folder of the experiment file."""

        @property
        def member(self) -> Member:
            """Its place among the experiments of its file."""

        @property
        def store(self) -> Store:
            """The store of all results."""

        @property
        def systems(self) -> list[System]:
            """The systems with their components."""

        @property
        def settings(self) -> list[ContextSetting]:
            """The context settings."""

        @property
        def noise(self) -> System | None:
            """The system that finds noise."""

        @property
        def metrics(self) -> tuple[MetricSet, MetricSet, MetricSet]:
            """The metrics of rankings, of answers and of repeats."""

        @property
        def judges(self) -> tuple[Judge, ...]:
            """The judges."""

        @property
        def shared(self) -> SharedInputs:
            """The tables and components that all systems share."""

        def check(self) -> None:
            """Raise an error for anything that would fail later on."""

        def notes_of(self, steps: Sequence[PlannedStep]) -> tuple[str, ...]:
            """Return the notes of a run that has these steps to do."""

        def beside(self, path: str) -> Path:
            """Return a path as found from the current folder, else from the experiment file's."""


KIND: Final = "finished"
_LOG: Final = logging.getLogger(__name__)


def run_once(
    experiment: Repeatable, calls: Calls | None, *, run_name: str = "", **options: Any
) -> Results:
    """Run an experiment that may have finished before, and return its results; as `run_together`.

    Nothing is read or run if the results are kept and everything is as it was.
    """
    kept = _kept(experiment)
    state = _state(experiment, calls, run_name, options)
    if found := _kept_results(experiment, state, kept):
        return found
    from ragstone.experiment.running import run_together

    with _heard_lines() as lines:
        experiment.check()
    (results,) = run_together([experiment], calls, run_name=run_name, **options)
    if state and results.record.finished:
        _keep(experiment, state, lines)
    return results


def _state(
    experiment: Repeatable, calls: Calls | None, run_name: str, options: Mapping[str, Any]
) -> str | None:
    """Return the digest of all that decides a run; None if it is not known in advance.

    It is not known for parts of a campaign, if a system is asked again, or with options that do
    not run everything as usual.
    """
    asks = (
        any(map(options.get, ("only", "fresh", "trust_code"))) or options.get("fresh", ()) is None
    )
    member = experiment.member
    if asks or member.campaign or member.counterfactual or experiment.batch is not None:
        return None
    if "dataset" in vars(experiment):
        # It may have been read before its files were changed.
        return None
    try:
        data = data_state(experiment.file.data, experiment.folder, experiment.store.root)
        keys = None if data is None else _keys(experiment, calls, run_name, options)
    except (RagstoneError, OSError, TypeError):
        # The checks of the run report it.
        return None
    if keys is None:
        return None
    code, packages, member_facts = code_digest(), describe_environment(), asdict(member)
    return digest_json([code, packages, member_facts, _queries_file(experiment), data, keys])


def _keys(
    experiment: Repeatable, calls: Calls | None, run_name: str, options: Mapping[str, Any]
) -> str | None:
    """Return the digest of the file and of all components; None if a system is asked again."""
    reuse = bool(options.get("reuse")) or bool(calls and calls.replay_only)
    log = calls.log.path if calls else experiment.store.call_log
    name = run_name or experiment.file.name
    with beside(experiment.folder):
        runs = begin(experiment.systems, log, name, Freshness(reuse), planned=True)
        parts = _parts(experiment, of_runs(experiment.systems, runs))
    if any(one.again or one.continues for one in runs.values()):
        return None
    if any(isinstance(p, Component) and p.training_folder for p in parts_of(parts)):
        return None
    keys = [{place: cache_key_parts(part) for place, part in one.items()} for one in parts]
    return fingerprint([experiment.file.model_dump(), keys])


def _parts(experiment: Repeatable, systems: Sequence[System]) -> list[dict[str, Any]]:
    """Return the components of a run, by their places in it."""
    noise = {} if experiment.noise is None else experiment.noise.components
    listed: tuple[Sequence[Any], ...] = (
        experiment.settings,
        experiment.metrics,
        experiment.judges,
    )
    found = [{str(place): part for place, part in enumerate(parts)} for parts in listed]
    return [*(system.components for system in systems), noise, *found]


def _queries_file(experiment: Repeatable) -> str:
    """Return the digest of the file `sample.queries`, or ""."""
    written = experiment.file.sample.queries
    path = None if written is None else experiment.beside(written)
    return digest_file(path) if path and path.is_file() else ""


def _kept(experiment: Repeatable) -> Mapping[str, Any]:
    """Return what the last finished run kept; its digests are recalled if the code is the same."""
    try:
        kept = experiment.store.read_json(KIND, experiment.file.name) or {}
        if kept.get("code") == code_digest():
            recall_sources(kept["sources"])
    except (RagstoneError, OSError, KeyError, TypeError, ValueError, AttributeError):
        return {}
    return kept


def _kept_results(
    experiment: Repeatable, state: str | None, kept: Mapping[str, Any]
) -> Results | None:
    """Return the results of the finished run with this state, and log its lines; None without one.

    Every table of the record is verified.
    """
    store, name = experiment.store, experiment.file.name
    if state is None or (store.root / ATTEMPTS / f"{name}.json").exists():
        return None
    try:
        if kept.get("state") != state:
            return None
        record = Record.load(store, name)
        if kept["record"] != _digest(record) or not _is_whole(experiment, record):
            return None
        calls = tuple(CallsEntry(**entry) for entry in kept["calls"])
    except (RagstoneError, OSError, KeyError, TypeError):
        return None
    for line in kept["lines"]:
        _LOG.warning("%s", line)
    return Results(store, replace(record, calls=calls))


def _is_whole(experiment: Repeatable, record: Record) -> bool:
    """Return whether every table of a record is as written and has no failed row."""
    manifests = (manifest_of(experiment.store, folder) for folder in folders_of(record))
    return all(not manifest["failed"] for manifest in manifests)


def _keep(experiment: Repeatable, state: str, lines: Sequence[str]) -> None:
    """Keep the state of a run that has finished, for the next one."""
    record = Record.load(experiment.store, experiment.file.name)
    document = {
        "state": state,
        "record": _digest(record),
        "lines": [*lines, *_usual_lines(experiment)],
        "calls": [asdict(entry) for entry in _calls(experiment, record)],
        **_sources(),
    }
    with contextlib.suppress(StoreError):  # The store may be read-only.
        experiment.store.write_json(KIND, record.name, document)


def _sources() -> dict[str, Any]:
    """Return the digests of the code of components, if no file changed since the first of them."""
    code = code_digest()
    return {"code": code, "sources": known_sources()} if code == code_now() else {}


def _digest(record: Record) -> str:
    return digest_json(asdict(record))


def _usual_lines(experiment: Repeatable) -> Iterator[str]:
    """Yield the lines of a run that has nothing to do."""
    yield from experiment.notes_of(())
    if experiment.shared.left_out:
        yield left_out_text(experiment.shared.left_out)
    if counts := experiment.shared.not_applicable:
        yield not_applicable_text(counts)


def _calls(experiment: Repeatable, record: Record) -> Iterator[CallsEntry]:
    """Yield the calls of a run that makes none: all replies are kept."""
    releases = {system.name: system.release or None for system in experiment.systems}
    for trial in record.trials:
        folders = dict.fromkeys(one.predictions for one in trial.every if not one.verdict)
        made = [manifest_of(experiment.store, folder) for folder in folders]
        made = [manifest for manifest in made if "calls" in manifest]
        if made:
            failed = sum(manifest["failed"] for manifest in made)
            kept = sum(manifest["rows"] for manifest in made) - failed
            dates = (
                m.get("kept_from") or (m["started"] if m["rows"] > m["failed"] else None)
                for m in made
            )
            first = min(filter(None, dates), default=None)
            release = releases.get(trial.system)
            yield CallsEntry(trial.system, trial.setting, 0, kept, failed, first, release)


class _Listener(logging.Handler):
    """Collects the lines that are logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Add a line."""
        self.lines.append(record.getMessage())


@contextmanager
def _heard_lines() -> Iterator[list[str]]:
    """Yield a list of the lines that Ragstone logs within the block."""
    listener, logger = _Listener(), logging.getLogger("ragstone")
    logger.addHandler(listener)
    try:
        yield listener.lines
    finally:
        logger.removeHandler(listener)
