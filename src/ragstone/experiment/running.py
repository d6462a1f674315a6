"""Running the steps of one or several experiments; the failure of a step stops those after it."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

from ragstone.calls.runs import finish
from ragstone.calls.usage import Usage
from ragstone.core.freed_memory import give_back
from ragstone.core.progress import Bar, progress
from ragstone.errors import CallError, ComponentError, LimitReached, RagstoneError
from ragstone.experiment.batched_answers import in_batches, requests_of
from ragstone.experiment.freshness import Freshness
from ragstone.experiment.schedule import Job, in_order
from ragstone.experiment.step_blocks import run_step
from ragstone.experiment.steps import Step, known_inputs
from ragstone.results.results import Results
from ragstone.results.wording import left_out_text, not_applicable_text

if TYPE_CHECKING:
    from ragstone.calls.client import Calls
    from ragstone.calls.runs import SystemRun
    from ragstone.calls.types import Endpoint, Request
    from ragstone.core.store import Store
    from ragstone.core.stored_table import StoredTable
    from ragstone.experiment.config import ExperimentFile
    from ragstone.experiment.freshness import Asked
    from ragstone.experiment.record import Recorder
    from ragstone.experiment.step_list import StepList
    from ragstone.experiment.system import SharedInputs
    from ragstone.protocols import Services
    from ragstone.results.record import Record

_LOG: Final = logging.getLogger(__name__)


@dataclass
class Run:
    """A run of an experiment: its steps, those to compute, and the results so far."""

    name: str
    steps: StepList
    chosen: Collection[Step]
    services: Services
    store: Store
    recorder: Recorder
    asked: Mapping[Asked, SystemRun]
    priority: Callable[[Step], int]
    """Steps of a higher priority run first."""
    done: dict[Step, StoredTable] = field(default_factory=dict)
    failed: dict[Step, RagstoneError] = field(default_factory=dict)
    used: Usage = field(default_factory=Usage)
    _broken: set[str] = field(default_factory=set)
    """Components that failed as a whole, such as a server that is off: they are not tried again."""

    @cached_property
    def _waiting(self) -> Counter[Step]:
        """Step -> number of steps that still need its table."""
        given = (one for step in self.steps for one in step.inputs.values())
        return Counter(one for one in given if isinstance(one, Step))

    def jobs(self, place: int) -> list[Job]:
        """Return the steps with their priorities; `place` is that of the run."""
        return [Job(place, step, self.priority(step)) for step in self.steps]

    def perform(self, step: Step) -> None:
        """Compute a step, unless it is stored, is not chosen, or depends on one that failed."""
        inputs = known_inputs(step, self.done)
        if inputs is None:
            return
        keep_failed = self.services.calls.keep_failed
        table = self.store.find(step.name, step.component, inputs, keep_failed=keep_failed)
        if table is None and step in self.chosen:
            self.recorder.begin_computing(step)
            table = self._computed(step, inputs)
        if table is not None:
            self.done[step] = table
            self.recorder.update(self.done)
        self._release(step)

    def _computed(self, step: Step, inputs: Mapping[str, StoredTable]) -> StoredTable | None:
        """Return the result of a step; None if it failed, with the error kept."""
        if repr(step.component) in self._broken:
            return None
        before = self.services.calls.usage
        try:
            return run_step(step, inputs, self.store, self.services)
        except LimitReached:
            raise
        except (CallError, ComponentError) as error:
            self.failed[step] = error
            self._broken.add(repr(step.component))
            return None
        finally:
            self.used += self.services.calls.usage - before

    def _release(self, step: Step) -> None:
        """Drop tables from memory that no later step needs; they are read again if asked for."""
        for given in step.inputs.values():
            if isinstance(given, Step):
                self._waiting[given] -= 1
                if not self._waiting[given] and given in self.done:
                    self.done[given] = self.done[given].on_disk
        give_back()

    def finish(self) -> Record:
        """Write the record of a run that ended, and return it."""
        return self.recorder.finish(self.done, dataclasses.asdict(self.used))

    @property
    def is_complete(self) -> bool:
        """Whether every step has a result."""
        return len(self.done) == len(self.steps)


class Startable(Protocol):
    """The part of an experiment that `run_together` uses."""

    @property
    def file(self) -> ExperimentFile:
        """The experiment file."""

    @property
    def batch(self) -> Collection[str] | None:
        """Ids of the answered queries that the run is of; None for all."""

    def open_calls(self, *, retry_failed: bool) -> Calls:
        """Return the `Calls` of a run."""

    def begin(
        self,
        calls: Calls,
        wish: Freshness,
        *,
        only: Sequence[str],
        trust_code: bool,
        run_name: str,
    ) -> Run:
        """Return a run whose components are checked."""


def run_together(
    experiments: Sequence[Startable],
    calls: Calls | None = None,
    *,
    only: Sequence[str] = (),
    retry_failed: bool = True,
    reuse: bool = False,
    fresh: Sequence[str] | None = (),
    trust_code: bool = False,
    run_name: str = "",
) -> list[Results]:
    """Run experiments that are checked, and return their results; options as `Experiment.run`.

    Own systems are asked again by the next run if all experiments have finished.
    """
    first = experiments[0]
    own = contextlib.nullcontext(calls) if calls else first.open_calls(retry_failed=retry_failed)
    wish = Freshness(reuse, fresh)
    with own as opened:
        runs = [
            one.begin(opened, wish, only=only, trust_code=trust_code, run_name=run_name)
            for one in experiments
        ]
        records = execute(runs)
        whole = not only and all(one.batch is None for one in experiments)
        if whole and all(record.finished for record in records):
            finish_runs(runs, run_name or first.file.name)
        return [Results(run.store, record) for run, record in zip(runs, records, strict=True)]


def execute(runs: Sequence[Run]) -> list[Record]:
    """Run the steps of experiments and return the records, in order.

    If a step fails, the steps that do not depend on it run all the same, and then the error is
    raised.

    Raises:
        CallError, ComponentError: some steps failed; all other results are stored.
        LimitReached, StoreError: nothing more could be done.
    """
    for run in runs:
        _tell_left_out(run.steps.shared)
    bars: dict[int, Bar] = {}
    finished: dict[int, Record] = {}
    with ExitStack() as opened:
        opened.callback(runs[0].services.executor.close)
        jobs = in_order([job for place, run in enumerate(runs) for job in run.jobs(place)])
        for job in _batches_last(list(jobs), runs):
            place, run = job.experiment, runs[job.experiment]
            if place not in bars:
                title = f"{run.name}: steps" if len(runs) > 1 else "Steps"
                bars[place] = opened.enter_context(progress(title, len(run.steps)))
            run.perform(job.step)
            bars[place].advance()
            if len(runs) > 1 and run.is_complete:
                # Whatever stops the others, this one is finished.
                finished[place] = run.finish()
                _LOG.warning("%s: finished", run.name)
    records = [finished.get(place) or run.finish() for place, run in enumerate(runs)]
    _raise_failures(runs)
    return records


def _batches_last(jobs: Sequence[Job], runs: Sequence[Run]) -> Iterator[Job]:
    """Yield the jobs, those that ask in batches and all that follow from them last.

    The calls of all answers in batches are made when everything else is done.
    """
    last = in_batches(job.step for job in jobs)
    yield from (job for job in jobs if job.step not in last)
    wanted: dict[Endpoint, list[Request]] = {}
    for run in runs:
        to_do = [step for step in run.steps if step in last and step in run.chosen]
        for endpoint, requests in requests_of(to_do, run.done, run.store, run.services).items():
            wanted.setdefault(endpoint, []).extend(requests)
    if wanted:
        runs[0].services.calls.ask_ahead(wanted)
    yield from (job for job in jobs if job.step in last)


def _tell_left_out(shared: SharedInputs) -> None:
    if shared.left_out:
        _LOG.warning("%s", left_out_text(shared.left_out))
    if counts := shared.not_applicable:
        _LOG.warning("%s", not_applicable_text(counts))


def finish_runs(runs: Sequence[Run], name: str) -> None:
    """Note that the runs of all systems are finished: the next run asks them again."""
    asked = {found.run for run in runs for found in run.asked.values()}
    finish(runs[0].services.calls.log.path, name, asked)


def _raise_failures(runs: Sequence[Run]) -> None:
    """Raise the errors of failed steps as one error."""
    errors = {str(error): error for run in runs for error in run.failed.values()}
    if not errors:
        return
    first = next(iter(errors.values()))
    if len(errors) == 1:
        raise first
    raise first.with_message(
        f"{len(errors)} parts failed, all other results are stored:\n  " + "\n  ".join(errors)
    ) from first
