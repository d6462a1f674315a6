"""The plan of a run: its steps, which of them are stored, and the cost of the others."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Final, Literal

from ragstone.core import limits
from ragstone.core.component import Component
from ragstone.core.describe import spec_of
from ragstone.core.resources import size
from ragstone.core.schemas import columns
from ragstone.core.screen_text import padded, shorten
from ragstone.core.store import Store
from ragstone.core.stored_table import StoredTable
from ragstone.core.user_code import is_ours
from ragstone.data.languages import LanguageFacts
from ragstone.errors import ModelFileError, RagstoneError
from ragstone.experiment.metric_set import MetricSet
from ragstone.experiment.repeat_spec import of_repeat
from ragstone.experiment.searches import parts_of, services_of
from ragstone.experiment.step_blocks import compute
from ragstone.experiment.steps import Step, input_records, known_inputs
from ragstone.results.secret import SecretCounts
from ragstone.results.wording import TITLES, left_out_text, not_applicable_text
from ragstone.types import brief, tasks_of

if TYPE_CHECKING:
    from ragstone.calls.estimates import Estimate
    from ragstone.experiment.system import Trial
    from ragstone.protocols import Services
    from ragstone.types import Task

State = Literal["kept", "to do"]
_ASKING: Final[Mapping[str, str]] = {
    "form": "query formers",
    "rerank": "rerankers",
    "process": "processors",
    "judge": "judges",
}
"""Steps whose model calls a plan counts by component -> who makes them."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of the experiment and whether its result is in the store."""

    source: Step
    state: State
    queries: int | None = None
    """Number of queries of the step; None if it is not known yet."""
    passages: int = 0
    """Number of passages in the contexts of a step to do, as far as they are known."""

    @property
    def step(self) -> str:
        """The name of the step."""
        return self.source.name

    @property
    def component(self) -> Any:
        """The component of the step."""
        return self.source.component

    @property
    def to_do(self) -> bool:
        """Whether the step has to be computed."""
        return self.state == "to do"

    @property
    def calls(self) -> int:
        """Maximum number of model calls, apart from answers, which are estimated together."""
        if not self.to_do or self.step not in _ASKING:
            return 0
        calls: int = self.component.cost(self.queries or 0, self.passages)
        return calls


@dataclass(frozen=True)
class Planner:
    """Looks up which steps are in the store.

    The inputs of a step that follows from an unknown result are unknown too: it is to do. With
    `look_ahead`, the cost of the answers is estimated: steps that cost next to nothing are computed
    in memory, so that the prompts that follow from them are known.
    """

    store: Store
    services: Services
    look_ahead: bool = False

    def plan(
        self,
        steps: Sequence[Step],
        *,
        queries: int = 0,
        trials: Sequence[Trial] = (),
        left_out: Mapping[str, int] | None = None,
        not_applicable: Mapping[str, Mapping[str, int]] | None = None,
        sample_calls: int = 0,
    ) -> Plan:
        """Return the plan of some steps, each after those that it depends on."""
        known: dict[Step, StoredTable] = {}
        planned: dict[Step, PlannedStep] = {}
        for step in steps:
            planned[step] = self._planned(step, known, planned)
        to_do = [one for one in planned.values() if one.to_do]
        shown = to_do if self.look_ahead else ()
        estimate, others = self._estimate(shown, known, sample_calls)
        return Plan(
            queries,
            tuple(planned.values()),
            trials=len(trials),
            trials_to_do=sum(
                any(planned[step].to_do for step in trial.every_predictions) for trial in trials
            ),
            estimate=estimate,
            calls_unknown=others,
            left_out=left_out or {},
            not_applicable=not_applicable or {},
            index_bytes=self._index_bytes(to_do) if trials or self.look_ahead else 0,
        )

    def _planned(
        self,
        step: Step,
        known: dict[Step, StoredTable],
        planned: Mapping[Step, PlannedStep],
    ) -> PlannedStep:
        """Return the state of a step; its result joins the known ones if it is stored."""
        inputs = known_inputs(step, known)
        rows = next(iter(step.inputs.values()))
        count = rows.num_rows if isinstance(rows, StoredTable) else planned[rows].queries
        if inputs is None:
            return PlannedStep(step, "to do", count, _passages(step, known))
        keep_failed = self.services.calls.keep_failed
        stored = self.store.find(step.name, step.component, inputs, keep_failed=keep_failed)
        if stored is not None:
            known[step] = stored
            return PlannedStep(step, "kept", count)
        if self.look_ahead and _is_cheap(step):
            tables = {name: given.table for name, given in inputs.items()}
            known[step] = StoredTable.of_result(compute(step, tables, self.services).table)
        return PlannedStep(step, "to do", count, _passages(step, known))

    def _estimate(
        self, to_do: Sequence[PlannedStep], known: Mapping[Step, StoredTable], sample: int
    ) -> tuple[Estimate | None, int]:
        """Return the likely cost of the answers, and the number of calls without an estimate."""
        tasks: dict[tuple[str, int], tuple[Any, list[Task]]] = {}
        others = 0
        for one in to_do:
            if one.step != "generate":
                continue
            inputs = known_inputs(one.source, known)
            if inputs is None:
                others += one.component.cost(one.queries or 0, 0)
            else:
                records = input_records({name: given.table for name, given in inputs.items()})
                number = records.get("repeat", 0)
                shown = tasks_of(records["queries"], records["contexts"])
                place = repr(one.component), number
                tasks.setdefault(place, (one.component, []))[1].extend(shown)
        estimates: list[Estimate] = []
        # One estimate per generator, over all its trials: equal prompts are asked once per repeat.
        for (_, number), (generator, of_all) in tasks.items():
            services = of_repeat(self.services, number, "generate") if number else self.services
            estimate = generator.estimate(of_all, services, sample=sample)
            if estimate is None:
                others += generator.cost(len(of_all), 0)
            else:
                estimates.append(estimate)
        return (reduce(add, estimates) if estimates else None), others

    def _index_bytes(self, to_do: Sequence[PlannedStep]) -> int:
        """Return the size of the indexes that retrievers will add to the store."""
        indexes: dict[tuple[str | None, str], int] = {}
        for one in to_do:
            for name in parts_of(self.services, self._collections(one)):
                # A model that is not there yet is reported by the run.
                with contextlib.suppress(ModelFileError):
                    found = one.component.index_bytes(services_of(self.services, name))
                    indexes |= {(name, key): size for key, size in found.items()}
        return sum(indexes.values())

    @staticmethod
    def _collections(one: PlannedStep) -> list[str | None]:
        """Return the collections that a step searches; [None] if it searches all passages."""
        given = one.source.inputs.get("collections")
        named = columns(given.table)["collection"] if isinstance(given, StoredTable) else [None]
        return list(dict.fromkeys(named))


@dataclass(frozen=True)
class Plan:
    """The steps of an experiment, which of them are stored, and the cost of the others."""

    queries: int
    """Number of queries that are answered in each trial."""
    steps: tuple[PlannedStep, ...]
    trials: int = 0
    trials_to_do: int = 0
    """Trials whose answers are not in the store."""
    estimate: Estimate | None = None
    """The likely cost of the missing answers, as far as their prompts are known."""
    calls_unknown: int = 0
    """Answer calls without an estimate: most have prompts that depend on steps not yet run."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Why queries are not answered under any setting -> number of queries."""
    not_applicable: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Setting -> why it does not apply to some queries -> number of queries."""
    asking: tuple[str, ...] = ()
    """A line per system with new calls for answers, and the option that keeps earlier answers."""
    notes: tuple[str, ...] = ()
    """Notes of components on the data: texts that they cannot read or do not have."""
    index_bytes: int = 0
    """Bytes that new indexes will take in the store, as far as their retrievers know."""
    power: str = ""
    """A line on the smallest difference that the queries show."""
    languages: LanguageFacts = field(default_factory=LanguageFacts)
    """The languages of queries and passages."""
    secret: SecretCounts = field(default_factory=SecretCounts)
    """Numbers of secret queries and nuggets, which outputs leave out, and of all."""

    def __repr__(self) -> str:
        """Return one line: the sizes, and the number of steps to do."""
        to_do = sum(step.to_do for step in self.steps)
        sizes = f"{self.trials} trials x {self.queries} queries"
        return brief(
            self, sizes, f"{to_do} of {len(self.steps)} steps to do", f"{self.calls} calls"
        )

    def __str__(self) -> str:
        """Return the plan for people."""
        return self.text()

    @property
    def answer_calls(self) -> int:
        """Maximum number of model calls for answers."""
        return self.calls_unknown + (0 if self.estimate is None else self.estimate.calls)

    @property
    def calls(self) -> int:
        """Maximum number of model calls; kept replies need no call."""
        return self.answer_calls + sum(step.calls for step in self.steps)

    def calls_of(self, name: str) -> int:
        """Return the maximum number of model calls of the steps of one name."""
        return sum(step.calls for step in self.steps if step.step == name)

    def check_ready(self, services: Services, *, own_only: bool = False) -> None:
        """Let every component with a step to do check its model files, packages and servers.

        A component whose results are all stored is not checked: a finished experiment needs no
        model. With `own_only` the built-in components are not checked: a plan needs no model.
        """
        checked: list[object] = []
        if not own_only and any(step.to_do for step in self.steps):
            services.executor.open()
        for step in self.steps:
            if step.to_do and step.component not in checked:
                checked.append(step.component)
                for part in _parts(step.component):
                    if not (own_only and is_ours(type(part))):
                        _check(part, services, step.source.owner)

    def document(self) -> dict[str, Any]:
        """Return the plan as plain data; its shape is in docs/experiment-file.md."""
        estimate = None if self.estimate is None else dataclasses.asdict(self.estimate)
        return {
            "queries": self.queries,
            "languages": dataclasses.asdict(self.languages),
            "secret": self.secret.to_dict(),
            "left_out": dict(self.left_out),
            "not_applicable": {name: dict(why) for name, why in self.not_applicable.items()},
            "trials": self.trials,
            "trials_to_do": self.trials_to_do,
            "calls_at_most": self.calls,
            "calls_unknown": self.calls_unknown,
            **{f"{name}_calls": self.calls_of(name) for name in _ASKING},
            "estimate": estimate,
            "asking": list(self.asking),
            "notes": list(self.notes),
            "index_bytes": self.index_bytes,
            "power": self.power,
            "steps": [
                {"step": s.step, "component": type(s.component).__name__, "state": s.state}
                for s in self.steps
            ],
        }

    def text(self) -> str:
        """Return the plan for people: a tree of the steps, then the calls."""
        lines = [f"{self.trials} trials of {self.queries} queries each"]
        lines += [*self.languages.lines, *self.secret.lines()]
        if self.left_out:
            lines.append(left_out_text(self.left_out))
        if self.not_applicable:
            lines.append(not_applicable_text(self.not_applicable))
        few = len(self.steps) <= limits.MAX_PLAN_TREE_STEPS
        lines += _tree(self.steps) if few else _counts(self.steps)
        if self.index_bytes:
            lines.append(f"index: {size(self.index_bytes)} on disk")
        shares = [f"{n:,} by {who}" for name, who in _ASKING.items() if (n := self.calls_of(name))]
        by_whom = f" ({', '.join(shares)})" if shares else ""
        lines.append(f"model calls: at most {self.calls:,}{by_whom}; kept replies are not repeated")
        lines += [f"  {line}" for line in self.asking]
        lines += [f"note: {line}" for line in self.notes]
        if self.estimate is not None and self.estimate.calls:
            lines += _estimate_lines(self.estimate, self.calls_unknown)
        return "\n".join(filter(None, [*lines, self.power]))


def _check(part: Component, services: Services, owner: str) -> None:
    try:
        part.check(services)
    except RagstoneError as error:
        raise error.with_message(f"{owner}: {error}" if owner else str(error)) from error


def _passages(step: Step, known: Mapping[Step, StoredTable]) -> int:
    """Return the number of passages in a step's contexts, as far as they are known."""
    contexts = step.inputs.get("contexts")
    table = known.get(contexts) if isinstance(contexts, Step) else contexts
    blocks = (columns(block.select(["passage_ids"])) for block in (table.blocks() if table else ()))
    return sum(len(ids) for block in blocks for ids in block["passage_ids"])


def _is_cheap(step: Step) -> bool:
    """Return whether a plan may compute a step: no model and no code of yours is run."""
    return step.kind.cheap and is_ours(type(step.component)) and not step.component.needs_model


def _tree(steps: Sequence[PlannedStep]) -> list[str]:
    """Return a line per step, below the step that it follows."""
    children: dict[Step | None, list[PlannedStep]] = {}
    for one in steps:
        before = [given for given in one.source.inputs.values() if isinstance(given, Step)]
        children.setdefault(before[-1] if before else None, []).append(one)

    width = limits.PLAN_TITLE_CHARACTERS

    def lines(parent: Step | None, indent: str) -> Iterator[str]:
        for one in children.get(parent, ()):
            again = " again" if "repeat" in one.source.inputs else ""
            title = shorten(f"{indent}{TITLES[one.step]}{again}: {_name(one.component)}", width)
            calls = f", at most {one.calls:,} model calls" if one.calls else ""
            yield f"{padded(title, width)} {one.state}{calls}"
            yield from lines(one.source, indent + "  ")

    return list(lines(None, "  "))


def _parts(component: Any) -> tuple[Component, ...]:
    """Return the metrics of a step that scores, else the component itself."""
    return component.metrics if isinstance(component, MetricSet) else (component,)


def _name(component: Any) -> str:
    """Return a component as people write it; metrics by their names."""
    parts = _parts(component)
    return str(spec_of(component)) if parts == (component,) else ", ".join(map(str, parts))


def _counts(steps: Sequence[PlannedStep]) -> list[str]:
    """Return a line per kind of step, for a plan whose tree would be too long."""
    lines = []
    for name, title in TITLES.items():
        states = [one.state for one in steps if one.step == name]
        if states:
            kept = states.count("kept")
            lines.append(f"  {title:<18} {kept:>4} kept {len(states) - kept:>4} to do")
    return lines


def _estimate_lines(estimate: Estimate, others: int) -> list[str]:
    grounds = (
        f"from {estimate.sampled:,} kept replies"
        if estimate.sampled
        else "rule of thumb; --sample-calls 20 makes 20 of the calls and estimates from them"
    )
    cost = "price not known" if estimate.cost is None else f"cost {estimate.cost:,.2f}"
    time = "time not known" if estimate.seconds is None else f"{estimate.seconds:,.0f} s"
    tokens = f"{estimate.tokens_in:,.0f} tokens in, {estimate.tokens_out:,.0f} out"
    if estimate.tokens_reasoning:
        tokens += f" ({estimate.tokens_reasoning:,.0f} of reasoning)"
    lines = [f"  {estimate.calls:,} for answers: {tokens}, {cost}, {time} ({grounds})"]
    if estimate.batched:
        lines.append(f"  {estimate.batched:,} of them in batches, which may take a day each")
    if estimate.batched_at_full_price:
        share = "the price table has no `batch` for their model"
        lines.append(f"  {estimate.batched_at_full_price:,} of them at the full price: {share}")
    if others:
        lines.append(f"  {others:,} more, whose prompts depend on steps that have not run")
    return lines
