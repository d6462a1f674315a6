"""Trials that decide the causes of wrong answers: their plan, and how they are asked.

The trials are counterfactuals with the purpose `deciding`: they run through the steps, store and
call log of the experiment, they enter no mean, and kept queries are not asked again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.errors import ConfigError
from ragstone.experiment.counterfactuals import (
    AskedAgain,
    Counterfactual,
    ask_counterfactuals,
    calls_of,
)
from ragstone.results.causes.proposed import KINDS, ProposedTrial, proposed_trials
from ragstone.results.reader import StoredResults

if TYPE_CHECKING:
    from ragstone.calls.client import Calls
    from ragstone.experiment.experiment import Experiment


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """A trial that would decide more, and its maximum number of calls."""

    trial: ProposedTrial
    calls: int
    """0 if it cannot be asked."""
    reason: str = ""
    """Why it cannot be asked; "" if it can."""


@dataclass(frozen=True, slots=True)
class AskedTrial:
    """The asked queries of a trial."""

    trial: ProposedTrial
    calls: int
    asked: int
    """Queries that were asked, with those whose replies were kept."""
    failed: int
    """Queries without an answer."""
    left_out: tuple[str, ...] = ()
    """Ids of the queries that were not asked."""
    reason: str = ""
    """Why they were not."""


@dataclass(frozen=True)
class Decisions:
    """The trials that were asked to decide the causes of an experiment."""

    trials: tuple[AskedTrial, ...]
    calls: int
    cost: float | None
    """In the currency of the price table; None without one."""


def plan_decisions(
    experiment: Experiment,
    results: StoredResults,
    *,
    system: str | None = None,
    setting: str | None = None,
    calls: Calls | None = None,
) -> list[PlannedTrial]:
    """Return the trials that would decide more causes; nothing is asked.

    A trial that depends on the answers of an earlier one has its maximum number of calls. The
    arguments are those of `decide_causes`.
    """
    wanted = proposed_trials(results, system=system, setting=setting, at_most=True)
    with _opened(experiment, calls) as opened:
        return [_planned(experiment, one, opened) for one in wanted]


def decide_causes(
    experiment: Experiment,
    results: StoredResults,
    *,
    system: str | None = None,
    setting: str | None = None,
    max_calls: int | None = None,
    budget: float | None = None,
    calls: Calls | None = None,
) -> Decisions:
    """Ask the trials that decide causes, as far as the maximum of calls and cost allow.

    Trials of a kind are asked together, and the next kind only where the answers leave a cause
    open. The same call resumes an interrupted one. Load the results again to read the causes.

    Args:
        experiment: the experiment as its file describes it.
        results: its kept results.
        system: decide the wrong answers of this system alone.
        setting: decide the wrong answers under this context setting alone.
        max_calls: maximum number of calls; answers of your own system count as calls.
        budget: maximum cost, in the currency of the price table; without effect with `calls`.
        calls: makes the model calls; by default those of the experiment.

    Raises:
        ConfigError: the file has changed since the run; nothing was spent.
        CallError, ModelFileError: a model cannot be reached.
    """
    done: list[AskedTrial] = []
    with _opened(experiment, calls, budget) as opened:
        before = opened.usage.cost
        for kind in KINDS:
            current = StoredResults(results.store, results.record)
            for trial in proposed_trials(current, kind, system=system, setting=setting):
                done.append(_ask(experiment, trial, opened, max_calls, done))
        cost = opened.usage.cost - before if experiment.file.prices else None
        return Decisions(tuple(done), sum(one.calls for one in done), cost)


def _ask(
    experiment: Experiment,
    trial: ProposedTrial,
    calls: Calls,
    max_calls: int | None,
    done: Sequence[AskedTrial],
) -> AskedTrial:
    """Ask one trial with the calls that those before it have left."""
    planned = _planned(experiment, trial, calls)
    if planned.reason:
        return AskedTrial(trial, 0, 0, 0, trial.query_ids, planned.reason)
    left = None if max_calls is None else max_calls - sum(one.calls for one in done)
    (asked,) = ask_counterfactuals(experiment, [_wanted(trial)], calls=calls, max_calls=left)
    is_short = asked.left_out and left is not None and planned.calls > left
    return AskedTrial(
        trial,
        asked.calls,
        len(trial.query_ids) - len(asked.left_out),
        _failed(asked),
        asked.left_out,
        f"the maximum of {max_calls:,} calls does not suffice" if is_short else asked.reason,
    )


def _planned(experiment: Experiment, trial: ProposedTrial, calls: Calls) -> PlannedTrial:
    try:
        return PlannedTrial(trial, calls_of(experiment, _wanted(trial), calls))
    except ConfigError as error:
        return PlannedTrial(trial, 0, str(error))


def _wanted(trial: ProposedTrial) -> Counterfactual:
    return Counterfactual(
        trial.query_ids,
        () if trial.kind == "rewrite" else (trial.setting,),
        systems=(trial.system,),
        parts=trial.parts,
        purpose="deciding",
        note=trial.name,
    )


def _failed(asked: AskedAgain) -> int:
    trials = asked.results.trials if asked.results else ()
    return sum(one.answer is None for trial in trials for one in trial.predictions.values())


@contextlib.contextmanager
def _opened(
    experiment: Experiment, calls: Calls | None, budget: float | None = None
) -> Iterator[Calls]:
    with contextlib.nullcontext(calls) if calls else experiment.open_calls(budget=budget) as opened:
        yield opened
