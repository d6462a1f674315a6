"""Which replies of each system count in a run: kept ones, or new ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ragstone.calls import runs
from ragstone.core.fingerprint import fingerprint
from ragstone.errors import ConfigError, did_you_mean
from ragstone.results.wording import moment

if TYPE_CHECKING:
    from pathlib import Path

    from ragstone.calls.runs import SystemRun, Wish
    from ragstone.experiment.plan import Plan
    from ragstone.experiment.system import System, Trial

_DIGITS: Final = 24


@dataclass(frozen=True)
class Freshness:
    """The wish of the user, for one run.

    Args:
        reuse: whether your own systems keep the answers of their last finished run.
        fresh: names of systems that are asked again; None stands for all.
    """

    reuse: bool = False
    fresh: Sequence[str] | None = ()

    def check(self, names: Sequence[str]) -> None:
        """Raise `ConfigError` if `fresh` names a system that the experiment does not have."""
        for name in self.fresh or ():
            if name not in names:
                raise ConfigError(
                    f"fresh: the experiment has no system {name!r}{did_you_mean(name, names)}",
                    key="fresh",
                    value=name,
                )

    def wish(self, system: System) -> Wish:
        """Return what to do with a system."""
        if system.generator is None:
            return "keep"
        if self.fresh is None or system.name in self.fresh:
            return "again"
        if not system.generator.asks_again:
            return "keep"
        return "reuse" if self.reuse else "again"


def begin(
    systems: Sequence[System], log: Path, experiment: str, wish: Freshness, *, planned: bool = False
) -> dict[str, SystemRun]:
    """Return the run of each system whose replies count; see `ragstone.calls.runs.begin`."""
    wish.check([system.name for system in systems])
    wishes = {_definition(system): wish.wish(system) for system in systems}
    found = runs.begin(log, experiment, wishes, planned=planned)
    return {system.name: found[_definition(system)] for system in systems}


def _definition(system: System) -> str:
    """Return a system's name with its identity: each release of a system has runs of its own."""
    identity = system.generator and system.generator.content_revision
    return f"{system.name} {fingerprint(identity)[:_DIGITS]}"


def of_runs(systems: Sequence[System], found: Mapping[str, SystemRun]) -> list[System]:
    """Return the systems, each with the replies of its run."""
    return [
        system
        if system.generator is None
        else replace(system, generator=system.generator.of_run(found[system.name].run))
        for system in systems
    ]


def asking_lines(
    plan: Plan, trials: Sequence[Trial], found: Mapping[str, SystemRun]
) -> Iterator[str]:
    """Yield a line per system with new calls, and the option that keeps earlier answers."""
    calls: dict[str, int] = {}
    to_do = {one.source: one for one in plan.steps if one.to_do}
    for step, name in {trial.predictions: trial.system.name for trial in trials}.items():
        if step in to_do:
            most = step.component.cost(to_do[step].queries or 0, to_do[step].passages)
            calls[name] = calls.get(name, 0) + most
    for name, count in calls.items():
        if count:
            line = f"{name}: at most {count:,} calls for answers"
            run = found[name]
            if run.continues:
                line += f"; continues the run of {moment(runs.started(run.run))}"
            if run.before:
                line += f"; --reuse keeps the answers of {moment(runs.started(run.before))}"
            elif run.again:
                line += "; asked again by each run, unless `release` names its version"
            yield line
