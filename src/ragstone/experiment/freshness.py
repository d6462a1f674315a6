"""Which replies of each system count in a run: kept ones, or new ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from ragstone.calls import runs
from ragstone.core.fingerprint import fingerprint
from ragstone.errors import ConfigError, did_you_mean
from ragstone.protocols import Generator, Retriever
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
        fresh: names of systems that are asked again; None for all.
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

    def wish(self, asked: Asked, *, changes: bool) -> Wish:
        """Return the wish for a part of a system that may change without notice, or not."""
        if self.fresh is None or asked.system in self.fresh:
            return "again"
        if not changes:
            return "keep"
        return "reuse" if self.reuse else "again"


class Asked(NamedTuple):
    """A part of a system whose replies belong to runs."""

    system: str
    part: Literal["generator", "retriever"]


def begin(
    systems: Sequence[System], log: Path, experiment: str, wish: Freshness, *, planned: bool = False
) -> dict[Asked, SystemRun]:
    """Return the run of each part whose replies count; see `ragstone.calls.runs.begin`."""
    wish.check([system.name for system in systems])
    parts = {asked: part for system in systems for asked, part in _parts(system)}
    names = {asked: _definition(asked, part) for asked, part in parts.items()}
    wishes = {names[asked]: wish.wish(asked, changes=_changes(p)) for asked, p in parts.items()}
    found = runs.begin(log, experiment, wishes, planned=planned)
    return {asked: found[name] for asked, name in names.items()}


def _parts(system: System) -> Iterator[tuple[Asked, Generator | Retriever]]:
    """Yield the generator, and the retriever if its index is not part of its cache key."""
    if system.generator is not None:
        yield Asked(system.name, "generator"), system.generator
    if system.retriever is not None and system.retriever.declared_release is not None:
        yield Asked(system.name, "retriever"), system.retriever


def _changes(part: Generator | Retriever) -> bool:
    """Return whether a change of a part would not be noticed."""
    return part.asks_again if isinstance(part, Generator) else not part.declared_release


def _definition(asked: Asked, part: Generator | Retriever) -> str:
    """Return a name with a part's identity: each release of a system has runs of its own."""
    if isinstance(part, Generator):
        return f"{asked.system} {fingerprint(part.content_revision)[:_DIGITS]}"
    return f"{asked.system} retriever {fingerprint(part)[:_DIGITS]}"


def of_runs(systems: Sequence[System], found: Mapping[Asked, SystemRun]) -> list[System]:
    """Return the systems, each with the replies of its runs."""

    def made(system: System) -> System:
        parts: dict[str, Any] = {
            asked.part: part.of_run(found[asked].run) for asked, part in _parts(system)
        }
        return replace(system, **parts)

    return [made(system) for system in systems]


def asking_lines(
    plan: Plan, trials: Sequence[Trial], found: Mapping[Asked, SystemRun]
) -> Iterator[str]:
    """Yield a line per system that is asked, and the option that keeps earlier answers."""
    calls: dict[str, int] = {}
    to_do = {one.source: one for one in plan.steps if one.to_do}
    named = {step: trial.system.name for trial in trials for step in trial.every_predictions}
    for step, name in named.items():
        if step in to_do:
            most = step.component.cost(to_do[step].queries or 0, to_do[step].passages)
            calls[name] = calls.get(name, 0) + most
    for name, count in calls.items():
        if count:
            run = found[Asked(name, "generator")]
            line = f"{name}: at most {count:,} calls for answers{_since(run, 'answers')}"
            if run.again and not run.before:
                line += "; asked again by each run, unless `release` names its version"
            yield line
    for asked, run in found.items():
        if asked.part == "retriever" and run.again:
            yield (
                f"{asked.system}: searches an index that may have changed"
                f"{_since(run, 'rankings')}; `release` in the retriever names its version"
            )


def _since(run: SystemRun, what: str) -> str:
    """Return the start of the interrupted run that is continued, and the kept run of `--reuse`."""
    text = f"; continues the run of {moment(runs.started(run.run))}" if run.continues else ""
    if run.before:
        text += f"; --reuse keeps the {what} of {moment(runs.started(run.before))}"
    return text
