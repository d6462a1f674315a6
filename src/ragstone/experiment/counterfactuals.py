"""Counterfactuals: some queries of an experiment asked again with something changed.

A counterfactual is a small experiment of the same file, on some queries, with other settings or
with other parts of its systems. It runs through the same steps, store and call log, and is scored
by the metrics of the experiment. Its record is kept apart from those of experiments, so that it is
part of no mean, leaderboard, passport or history.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from ragstone.components.metrics.base import RankingMetric
from ragstone.components.metrics.repeated import RepeatMetric
from ragstone.core.fingerprint import cache_key_parts, fingerprint
from ragstone.core.registry import beside
from ragstone.core.schemas import columns
from ragstone.core.stored_table import StoredTable
from ragstone.core.user_code import is_ours
from ragstone.errors import ConfigError, LimitReached, StoreError, did_you_mean, nearest_name
from ragstone.experiment.checks import plants_attacks
from ragstone.experiment.freshness import Freshness
from ragstone.experiment.repeat_spec import RepeatSpec
from ragstone.experiment.running import execute
from ragstone.experiment.shared_queries import own_queries, select_queries
from ragstone.experiment.step_list import StepList
from ragstone.experiment.steps import Step, known_inputs
from ragstone.results.counterfactuals import base_of, digests_of
from ragstone.results.factors import PARTS
from ragstone.results.record import Record
from ragstone.results.results import Results
from ragstone.statistics.correctness import Correctness
from ragstone.types import one_line

if TYPE_CHECKING:
    from ragstone.calls.client import Calls
    from ragstone.experiment.config import ExperimentFile
    from ragstone.experiment.experiment import Experiment
    from ragstone.experiment.plan import Plan
    from ragstone.experiment.running import Run
    from ragstone.experiment.system import SharedInputs, System

Purpose = Literal["exploratory", "deciding"]
_WISH: Final = Freshness(reuse=True)
"""Your own systems answer in their last finished run, so that equal questions are not repeated."""
_DIGITS: Final = 12


@dataclass(frozen=True)
class Counterfactual:
    """A change to an experiment, and its queries and systems."""

    query_ids: tuple[str, ...]
    settings: tuple[Any, ...]
    """Context settings as a file has them; `given` shows explicit passages."""
    systems: tuple[str, ...] = ()
    """Names of systems of the experiment; by default all that answer."""
    parts: Mapping[str, Any] = field(default_factory=dict)
    """Key of a system, such as `query_former` -> the part in its place; None leaves the step out.
    Without a generator, only passages are retrieved. `changed_part` returns a part with other
    parameters."""
    repeats: int | None = None
    """Answers of a system that samples; by default as in the experiment."""
    judges: tuple[Any, ...] | None = None
    """By default those that the rule for correct answers needs."""
    purpose: Purpose = "exploratory"
    """`deciding` if it decides the cause of wrong answers by a fixed rule."""
    note: str = ""
    """The change, in words."""

    __repr__ = one_line

    @property
    def answers(self) -> bool:
        """Whether the systems answer; without a generator they only retrieve."""
        return self.parts.get("generator", True) is not None


@dataclass(frozen=True)
class AskedAgain:
    """The asked queries of a counterfactual."""

    counterfactual: Counterfactual
    results: Results | None
    """None if nothing was asked."""
    left_out: tuple[str, ...] = ()
    """Ids of the queries that were not asked."""
    reason: str = ""
    """Why they were not."""
    calls: int = 0
    """Model calls and answers of your own system; kept replies are not among them."""

    __repr__ = one_line


def plan_counterfactual(
    experiment: Experiment, wanted: Counterfactual, calls: Calls | None = None
) -> Plan:
    """Return the steps, calls and cost of a counterfactual; nothing is asked."""
    name = experiment.file.name
    with _opened(experiment, calls) as opened:
        return _part(experiment, wanted).plan(opened, reuse=True, run_name=name)


def calls_of(experiment: Experiment, wanted: Counterfactual, calls: Calls | None = None) -> int:
    """Return the maximum number of calls: those of models, and answers of your own system."""
    plan = plan_counterfactual(experiment, wanted, calls)
    return plan.calls + _own_answers(plan)


def ask_counterfactuals(
    experiment: Experiment,
    wanted: Iterable[Counterfactual],
    *,
    calls: Calls | None = None,
    max_calls: int | None = None,
    budget: float | None = None,
) -> list[AskedAgain]:
    """Ask counterfactuals, the first ones first, as far as the maximum of calls and cost allow.

    The same call resumes an interrupted one: finished steps and kept replies are used again.

    Args:
        experiment: the experiment as its file describes it.
        wanted: the counterfactuals.
        calls: makes the model calls; by default those of the experiment.
        max_calls: maximum number of calls, as `calls_of` counts them. A counterfactual that takes
            more is asked for as many of its queries, in their order, as fit.
        budget: maximum cost, in the currency of the price table; without effect with `calls`.

    Raises:
        ConfigError: a name or a part is wrong, or the file has changed since the run; nothing was
            spent.
        CallError, ModelFileError: a model cannot be reached; nothing was spent.
    """
    done: list[AskedAgain] = []
    stopped = ""
    with _opened(experiment, calls, budget) as opened:
        for one in wanted:
            left = None if max_calls is None else max_calls - sum(each.calls for each in done)
            fitting = () if stopped else _fitting(experiment, one, opened, left)
            before, results, own = opened.usage.asked, None, 0
            if fitting:
                asked = dataclasses.replace(one, query_ids=fitting)
                own = _own_answers(plan_counterfactual(experiment, asked, opened))
                try:
                    results = _results(experiment, asked, opened)
                except LimitReached as error:
                    stopped, fitting = str(error), ()
            rest = one.query_ids[len(fitting) :]
            reason = stopped or f"the maximum of {max_calls} calls does not suffice"
            used = opened.usage.asked - before + (own if results else 0)
            done.append(AskedAgain(one, results, rest, reason if rest else "", used))
    return done


def changed_part(experiment: Experiment, system: str, key: str, /, **changes: Any) -> Any:
    """Return a part of a system with other parameters, such as another prompt.

    Raises:
        ConfigError: the system has no such part, or the part has no such parameter.
    """
    (found,) = _systems(experiment, (system,))
    part = found.components.get(key)
    if part is None:
        raise ConfigError(f"system {system!r} has no {key}", key=key)
    known = {one.name for one in dataclasses.fields(part) if one.init}
    for name in changes.keys() - known:
        raise ConfigError(
            f"system {system!r}: its {key} has no parameter {name!r}{did_you_mean(name, known)}",
            key=name,
            value=changes[name],
        )
    with beside(experiment.folder):
        return dataclasses.replace(part, **changes)


@contextlib.contextmanager
def _opened(experiment: Experiment, calls: Calls | None, budget: float | None = None) -> Any:
    with contextlib.nullcontext(calls) if calls else experiment.open_calls(budget=budget) as opened:
        yield opened


def _fitting(
    experiment: Experiment, one: Counterfactual, calls: Calls, most: int | None
) -> tuple[str, ...]:
    """Return the first queries of a counterfactual that take at most `most` calls together."""
    if most is None or _calls_of(experiment, one, one.query_ids, calls) <= most:
        return one.query_ids
    low, high = 0, len(one.query_ids)
    # More queries never take fewer calls: the largest number that fits is found by halving.
    while high - low > 1:
        middle = (low + high) // 2
        if _calls_of(experiment, one, one.query_ids[:middle], calls) <= most:
            low = middle
        else:
            high = middle
    return one.query_ids[:low]


def _calls_of(
    experiment: Experiment, one: Counterfactual, query_ids: tuple[str, ...], calls: Calls
) -> int:
    return calls_of(experiment, dataclasses.replace(one, query_ids=query_ids), calls)


def _own_answers(plan: Plan) -> int:
    """Return the number of answers that code of the user has to give."""
    return sum(
        one.queries or 0
        for one in plan.steps
        if one.to_do and one.step == "generate" and not is_ours(type(one.component))
    )


def _results(experiment: Experiment, asked: Counterfactual, calls: Calls) -> Results:
    """Return the results of a counterfactual, computed as far as they are not stored."""
    part = _part(experiment, asked)
    part.check()
    run = part.begin(calls, _WISH, run_name=experiment.file.name)
    _check_base(run, part.member.counterfactual["base"], asked.parts, experiment.file.name)
    (record,) = execute([run])
    return Results(part.store, record)


def _check_base(
    run: Run, base: Mapping[str, Mapping[str, str]], parts: Mapping[str, Any], name: str
) -> None:
    """Raise `ConfigError` if a part that is not changed on purpose differs from the last run's."""
    for trial in run.steps.trials:
        system = trial.system
        made = digests_of({key: cache_key_parts(p) for key, p in system.components.items()})
        for key, digest in base.get(system.name, {}).items():
            if key not in parts and made.get(key) != digest:
                raise ConfigError(
                    f"the {key} of system {system.name!r} is not that of the last run of "
                    f"{name!r}, so answers could not be compared; run the experiment again first",
                    key=key,
                )


def _part(experiment: Experiment, asked: Counterfactual) -> Experiment:
    """Return the experiment of a counterfactual."""
    _check(experiment, asked)
    facts = {
        "of": experiment.file.name,
        "purpose": asked.purpose,
        "note": asked.note,
        "query_ids": list(asked.query_ids),
        "parts": sorted(asked.parts),
        "base": _base(experiment, asked.systems),
    }
    file = _file(experiment, asked)
    # Secret queries change no value, unlike secret nuggets.
    apart = set[str]() if (file.secret or {}).get("nuggets") else {"secret"}
    digest = fingerprint({"file": file.model_dump(mode="json", exclude=apart), **facts})[:_DIGITS]
    draft = dataclasses.replace(experiment, file=file)
    changes = {"name": f"{experiment.file.name}@{digest}", "metrics": _metrics(draft)}
    part = dataclasses.replace(
        draft,
        file=file.model_copy(update=changes),
        member=dataclasses.replace(experiment.member, counterfactual=facts),
        command="",
    )
    vars(part).update(dataset=experiment.dataset, store=experiment.store)
    vars(part).update(systems=draft.systems, settings=draft.settings)
    vars(part).update(shared=_shared(part, experiment, asked.query_ids))
    return part


def _check(experiment: Experiment, asked: Counterfactual) -> None:
    """Raise `ConfigError` for a query or a key that the experiment does not have."""
    known = columns(experiment.dataset.query_table)["query_id"]
    for query_id in asked.query_ids:
        if query_id not in known:
            raise ConfigError(
                f"the data set {experiment.dataset.name!r} has no query {query_id!r}"
                f"{nearest_name(query_id, known)}",
                value=query_id,
            )
    for key in asked.parts:
        if key not in PARTS:
            raise ConfigError(f"a system has no part {key!r}{did_you_mean(key, PARTS)}", key=key)
    if asked.answers and not asked.settings:
        raise ConfigError("a counterfactual needs a context setting", key="settings")


def _base(experiment: Experiment, systems: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the digests of the components of the last run; {} if the experiment never ran."""
    try:
        known = base_of(Record.load(experiment.store, experiment.file.name))
    except StoreError:
        return {}
    return {name: made for name, made in known.items() if not systems or name in systems}


def _systems(experiment: Experiment, names: Sequence[str]) -> list[System]:
    """Return the systems of these names, or all that answer."""
    answering = {system.name: system for system in experiment.systems if system.generator}
    for name in names:
        if name not in answering:
            raise ConfigError(
                f"{experiment.file.name!r} has no system {name!r} that answers"
                f"{did_you_mean(name, answering)}",
                value=name,
            )
    if not answering:
        raise ConfigError(f"no system of {experiment.file.name!r} answers queries")
    return [system for name, system in answering.items() if not names or name in names]


def _file(experiment: Experiment, asked: Counterfactual) -> ExperimentFile:
    """Return the experiment file of a counterfactual."""
    file, systems = experiment.file, _systems(experiment, asked.systems)
    entries = {s.name: e for s, e in zip(experiment.systems, file.systems, strict=True)}
    changes: dict[str, Any] = dict(asked.parts)
    repeats = file.repeats
    if asked.repeats is not None:
        repeats, changes["repeats"] = RepeatSpec(answers=asked.repeats), None
    judges = list(asked.judges) if asked.judges is not None else _deciding_judges(experiment)
    if not asked.answers:
        judges, repeats, changes["repeats"] = [], None, None
    named = {
        s.name: entries[s.name].model_copy(update={"name": s.name, **changes}) for s in systems
    }
    changed = {
        "systems": list(named.values()),
        "settings": list(asked.settings),
        "judges": judges,
        "repeats": repeats,
        "oracle": None,
        "headline": None,
        "analysis": None,
        **({} if asked.answers else {"correct": None}),
    }
    return file.model_copy(update=changed)


def _deciding_judges(experiment: Experiment) -> list[Any]:
    """Return the judges, as written, whose metric decides whether an answer is correct."""
    file = experiment.file
    metric = Correctness.parse(file.correct).metric if file.correct else ""
    made = zip(file.judges, experiment.judges, strict=True)
    return [written for written, judge in made if metric in judge.metrics]


def _metrics(part: Experiment) -> list[Any]:
    """Return the metrics, as written, that the systems and settings of a counterfactual give."""
    retrieves = any(system.retriever or system.may_retrieve for system in part.systems)
    most = max(system.repeats.answers for system in part.systems)

    answers = any(system.generator for system in part.systems)

    def fits(metric: Any) -> bool:
        if isinstance(metric, RankingMetric):
            return retrieves
        if isinstance(metric, RepeatMetric):
            return answers and metric.least <= most
        return answers and ("attacks" not in metric.requires or plants_attacks(part.settings))

    return [written for written in part.file.metrics if fits(part.metric(written))]


def _shared(part: Experiment, experiment: Experiment, query_ids: Sequence[str]) -> SharedInputs:
    """Return the tables of a counterfactual; stored rankings of the experiment are used again."""
    dataset, wanted = experiment.dataset, set(query_ids)
    ids = columns(dataset.query_table)["query_id"]
    chosen = dataset.select([place for place, query_id in enumerate(ids) if query_id in wanted])
    selected = select_queries(chosen, part.settings)
    answered = StoredTable.in_memory(selected.dataset.query_table)
    shared = dataclasses.replace(
        experiment.shared,
        answered=answered,
        noise=part.noise,
        judges=part.judges,
        left_out=selected.left_out,
        own=own_queries(selected.dataset, part.settings),
    )
    if _is_ranked(part, shared):
        return shared
    return dataclasses.replace(shared, ranked=answered)


def _is_ranked(part: Experiment, shared: SharedInputs) -> bool:
    """Return whether the store has the rankings of all queries of the experiment."""
    steps, known = StepList(shared, *part.metrics), dict[Step, StoredTable]()
    for system in part.systems:
        if system.retriever:
            steps.add_ranking(system)
    for step in steps:
        inputs = known_inputs(step, known)
        found = inputs and part.store.find(step.name, step.component, inputs)
        if not found:
            return False
        known[step] = found
    return True
