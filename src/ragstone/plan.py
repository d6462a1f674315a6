"""What a run would do: the pipeline walked with a store that computes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ragstone.store import Kept, Store

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.calls import Calls

State = Literal["kept", "to do"]

TITLES: Mapping[str, str] = {
    "form": "form queries",
    "retrieve": "retrieve",
    "rerank": "rerank",
    "score-ranking": "score rankings",
    "context": "build contexts",
    "generate": "generate answers",
    "score-answer": "score answers",
    "judge": "judge answers",
}


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of the experiment and whether its result is kept."""

    step: str
    component: object
    state: State


@dataclass(frozen=True)
class PlanningStore(Store):
    """A store that notes which steps are kept, and computes none.

    What depends on a step that is not kept has inputs that nobody knows yet: it is to do.
    """

    steps: list[PlannedStep] = field(default_factory=list)

    def table(
        self,
        step: str,
        component: object,
        inputs: Mapping[str, Kept],
        compute: Callable[..., Table],
        *,
        count_failed: Callable[[Table], int] | None = None,
        facts: Callable[[], Mapping[str, Any]] | None = None,
    ) -> Kept:
        """Return the kept result, or a placeholder that nothing kept can depend on."""
        kept = self.has(step, component, inputs)
        self.steps.append(PlannedStep(step, component, "kept" if kept else "to do"))
        if not kept:
            return Kept(f"not known yet: {self.folder(step, component, inputs).name}")
        return super().table(step, component, inputs, compute)

    def keep(self, step: str, table: Table) -> Kept:
        """Hold a table in memory; a plan writes nothing."""
        return Kept.of(table)


@dataclass(frozen=True)
class Plan:
    """The steps of an experiment, which of them are kept, and how many model calls may come."""

    queries: int
    """Queries that are answered in each trial."""
    trials: int
    steps: tuple[PlannedStep, ...]

    @property
    def trials_to_do(self) -> int:
        """Trials whose answers are not kept yet."""
        return sum(s.step == "generate" and s.state == "to do" for s in self.steps)

    @property
    def calls(self) -> int:
        """Model calls at most; replies that are kept from other runs are not asked for again."""
        judged = sum(
            getattr(s.component, "calls_per_item", 1)
            for s in self.steps
            if s.step == "judge" and s.state == "to do"
        )
        return (self.trials_to_do + judged) * self.queries

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
            "trials": self.trials,
            "trials_to_do": self.trials_to_do,
            "calls_at_most": self.calls,
            "steps": [
                {"step": s.step, "component": type(s.component).__name__, "state": s.state}
                for s in self.steps
            ],
        }

    def text(self) -> str:
        """Return the plan for people."""
        lines = [f"{self.trials} trials of {self.queries} queries each"]
        for step, title in TITLES.items():
            states = [s.state for s in self.steps if s.step == step]
            if states:
                kept = states.count("kept")
                lines.append(f"  {title:<18} {kept:>4} kept {len(states) - kept:>4} to do")
        lines.append(
            f"model calls: at most {self.calls:,}; replies already kept are not asked again"
        )
        return "\n".join(lines)
