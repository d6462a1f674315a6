"""What a run would do and take: the pipeline walked with a store that keeps nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from ragstone.core.fingerprint import fingerprint
from ragstone.core.resources import size
from ragstone.core.schemas import columns
from ragstone.core.store import Store, StoredTable
from ragstone.errors import ModelFileError
from ragstone.experiment.pipeline import to_tasks
from ragstone.protocols import AskingFormer
from ragstone.results.wording import TITLES, left_out_text

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.calls.client import Calls
    from ragstone.calls.estimates import Estimate
    from ragstone.data.corpus import Corpus
    from ragstone.types import Task

State = Literal["kept", "to do"]
UNKNOWN: Final = "not known yet: "
SHARED: Final = frozenset({"form", "retrieve", "fuse", "rerank"})
"""Steps that several systems have in common, and that are noted once; trials are counted whole."""
LOOKED_AHEAD: Final = frozenset({"form", "retrieve", "fuse", "context", "process"})


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of the experiment and whether its result is kept."""

    step: str
    component: object
    state: State
    queries: int | None = None
    """How many the step is for, where that is known."""
    passages: int = 0
    """How many passages its contexts hold, as far as they are known."""


@dataclass(frozen=True)
class PlanningStore(Store):
    """A store that notes which steps are kept, and keeps none.

    What depends on a step that is not kept has inputs that nobody knows yet: it is to do. With
    `look_ahead`, steps that cost next to nothing are computed in memory, so that the prompts that
    follow from them are known; the others stay unknown.
    """

    look_ahead: bool = False
    steps: list[PlannedStep] = field(default_factory=list)
    planned: dict[str, int | None] = field(default_factory=dict)
    """Folders of the steps noted -> for how many queries they are, where that is known."""
    asked: list[tuple[Any, Mapping[str, StoredTable]]] = field(default_factory=list)
    """Generators whose answers are to do, each with the inputs of that step."""

    def get_or_compute(
        self,
        step: str,
        component: object,
        inputs: Mapping[str, StoredTable],
        compute: Callable[..., Table],
        *,
        count_failed: Callable[[Table], int] | None = None,
        facts: Callable[[], Mapping[str, Any]] | None = None,
    ) -> StoredTable:
        """Return the kept result, or a placeholder that nothing kept can depend on."""
        kept = self.has(step, component, inputs)
        state: State = "kept" if kept else "to do"
        folder = self.folder(step, component, inputs).name
        if step not in SHARED or folder not in self.planned:
            self.planned[folder] = self._queries(inputs)
            passages = _passages(inputs) if step == "process" else 0
            self.steps.append(PlannedStep(step, component, state, self.planned[folder], passages))
        if kept:
            return super().get_or_compute(step, component, inputs, compute)
        if step == "generate":
            self.asked.append((component, inputs))
        if self.look_ahead and _costs_nothing(step, component) and all(map(known, inputs.values())):
            held = {name: given.table for name, given in inputs.items()}
            return StoredTable.in_memory(compute(component, **held))
        return StoredTable(UNKNOWN + folder)

    def _queries(self, inputs: Mapping[str, StoredTable]) -> int | None:
        """Return how many queries a step is for, from the table that has a row for each."""
        rows = inputs.get("queries") or inputs.get("searches")
        if rows is None or known(rows):
            return None if rows is None else rows.table.num_rows
        return self.planned.get(rows.digest.removeprefix(UNKNOWN))

    def keep(self, step: str, table: Table) -> StoredTable:
        """Hold a table in memory; a plan writes nothing."""
        return StoredTable.in_memory(table)


def known(kept: StoredTable) -> bool:
    """Say whether a table is there to be looked at."""
    return not kept.digest.startswith(UNKNOWN)


def _passages(inputs: Mapping[str, StoredTable]) -> int:
    """Return how many passages a step's contexts hold, as far as they are known."""
    contexts = inputs.get("contexts")
    if contexts is None or not known(contexts):
        return 0
    return sum(map(len, columns(contexts.table)["passage_ids"]))


def _costs_nothing(step: str, component: object) -> bool:
    """Say whether a step needs no model: built-in parts that need one say so by `check`.

    One that checks for something else says `needs_model = False`.
    """
    built_in = type(component).__module__.startswith("ragstone.")
    by_its_ways = hasattr(component, "check") or isinstance(component, AskingFormer)
    needs_model = getattr(component, "needs_model", by_its_ways)
    return step in LOOKED_AHEAD and built_in and not needs_model


@dataclass(frozen=True)
class Plan:
    """The steps of an experiment, which of them are kept, and what the model calls may take."""

    queries: int
    """Queries that are answered in each trial."""
    trials: int
    steps: tuple[PlannedStep, ...]
    estimate: Estimate | None = None
    """What the answers that are to do are likely to take, as far as their prompts are known."""
    calls_unknown: int = 0
    """Further calls for answers, whose prompts hang on steps that are to do."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Why queries are not answered under any setting -> how many."""
    index_bytes: int = 0
    """What new indexes will take in the store, as far as their retrievers say."""

    @property
    def trials_to_do(self) -> int:
        """Trials whose answers are not kept yet."""
        return sum(s.step == "generate" and s.state == "to do" for s in self.steps)

    @property
    def answer_calls(self) -> int:
        """Model calls for answers at most."""
        if self.estimate is None:
            return self.trials_to_do * self.queries
        return self.estimate.calls + self.calls_unknown

    @property
    def judge_calls(self) -> int:
        """Model calls of judges at most; the answers they will see are not known yet."""
        judging = [s.component for s in self.steps if (s.step, s.state) == ("judge", "to do")]
        return sum(getattr(judge, "calls_per_item", 1) for judge in judging) * self.queries

    @property
    def form_calls(self) -> int:
        """Model calls of query formers at most."""
        return self._calls_of("form")

    @property
    def rerank_calls(self) -> int:
        """Model calls of rerankers at most: a ranking may be shorter than they look."""
        return self._calls_of("rerank")

    @property
    def process_calls(self) -> int:
        """Model calls of processors, for the contexts that are known by now."""
        return self._calls_of("process")

    def _calls_of(self, step: str) -> int:
        """Return the calls of the components that say how many they make."""
        return sum(
            getattr(s.component, "calls_per_query", 0)
            * (self.queries if s.queries is None else s.queries)
            + getattr(s.component, "calls_per_passage", 0) * s.passages
            for s in self.steps
            if (s.step, s.state) == (step, "to do")
        )

    @property
    def calls(self) -> int:
        """Model calls at most; replies that are kept from other runs are not asked for again."""
        before = self.form_calls + self.rerank_calls + self.process_calls
        return before + self.answer_calls + self.judge_calls

    def check_ready(self, calls: Calls) -> None:
        """Let every component that is to work say what it lacks: model files, packages, a server.

        A component says so by raising from a method `check(calls)`. One whose results are all kept
        is not asked: a finished experiment needs no model.
        """
        asked: list[object] = []
        for step in self.steps:
            check = getattr(step.component, "check", None)
            if step.state == "to do" and check is not None and step.component not in asked:
                asked.append(step.component)
                check(calls)

    def document(self) -> dict[str, Any]:
        """Return the plan as plain data; its shape is in docs/experiment-file.md."""
        return {
            "queries": self.queries,
            "left_out": dict(self.left_out),
            "trials": self.trials,
            "trials_to_do": self.trials_to_do,
            "calls_at_most": self.calls,
            "calls_unknown": self.calls_unknown,
            "judge_calls": self.judge_calls,
            "form_calls": self.form_calls,
            "rerank_calls": self.rerank_calls,
            "process_calls": self.process_calls,
            "estimate": None if self.estimate is None else asdict(self.estimate),
            "index_bytes": self.index_bytes,
            "steps": [
                {"step": s.step, "component": type(s.component).__name__, "state": s.state}
                for s in self.steps
            ],
        }

    def text(self) -> str:
        """Return the plan for people."""
        lines = [f"{self.trials} trials of {self.queries} queries each"]
        if self.left_out:
            lines.append(left_out_text(self.left_out))
        for step, title in TITLES.items():
            states = [s.state for s in self.steps if s.step == step]
            if states:
                kept = states.count("kept")
                lines.append(f"  {title:<18} {kept:>4} kept {len(states) - kept:>4} to do")
        if self.index_bytes:
            lines.append(f"index: {size(self.index_bytes)} on disk")
        told = f"model calls: at most {self.calls:,}"
        asking = {
            "query formers": self.form_calls,
            "rerankers": self.rerank_calls,
            "processors": self.process_calls,
            "judges": self.judge_calls,
        }
        shares = [f"{count:,} by {who}" for who, count in asking.items() if count]
        of_them = f" ({', '.join(shares)})" if shares else ""
        lines.append(f"{told}{of_them}; kept replies are not asked again")
        if self.estimate is not None and self.estimate.calls:
            lines += _estimate_lines(self.estimate, self.calls_unknown)
        return "\n".join(lines)


def index_bytes(steps: Sequence[PlannedStep], corpus: Corpus) -> int:
    """Return what the indexes of retrievers that are to work add to the store.

    A retriever says so by a method `index_room(corpus)`: a name of each index -> bytes.
    """
    indexes: dict[str, int] = {}
    for step in steps:
        index_room = getattr(step.component, "index_room", None)
        if step.state == "to do" and index_room is not None:
            # A model that is not there yet is for the run to complain of.
            with contextlib.suppress(ModelFileError):
                indexes |= index_room(corpus)
    return sum(indexes.values())


def estimate_answers(
    asked: Sequence[tuple[Any, Mapping[str, StoredTable]]], calls: Calls, sample: int
) -> tuple[Estimate | None, int]:
    """Return what answering is likely to take, and how many calls it says nothing about.

    Generators that make no model call have no `estimate` and cost nothing.
    """
    tasks: dict[str, tuple[Any, list[Task]]] = {}
    unknown = 0
    for generator, inputs in asked:
        if not hasattr(generator, "estimate"):
            continue
        if known(inputs["contexts"]):
            found = to_tasks(inputs["queries"].table, inputs["contexts"].table)
            tasks.setdefault(fingerprint(generator), (generator, []))[1].extend(found)
        else:
            unknown += inputs["queries"].table.num_rows
    # One estimate per generator, over all its trials: equal prompts are asked once.
    estimates = [g.estimate(held, calls, sample=sample) for g, held in tasks.values()]
    return (sum(estimates[1:], start=estimates[0]) if estimates else None), unknown


def _estimate_lines(estimate: Estimate, unknown: int) -> list[str]:
    grounds = (
        f"from {estimate.sampled:,} kept replies"
        if estimate.sampled
        else "a rule of thumb; --probe 20 makes twenty of the calls to learn from"
    )
    cost = "price not known" if estimate.cost is None else f"cost {estimate.cost:,.2f}"
    time = "time not known" if estimate.seconds is None else f"{estimate.seconds:,.0f} s"
    tokens = f"{estimate.tokens_in:,.0f} tokens in, {estimate.tokens_out:,.0f} out"
    lines = [f"  {estimate.calls:,} for answers: {tokens}, {cost}, {time} ({grounds})"]
    if unknown:
        lines.append(f"  {unknown:,} more hang on steps that are to do: prompts not known yet")
    return lines
