"""Repeats: how often each query is asked, and each answer judged, with other seeds.

A part that cannot sample gives the same reply again: it is asked once, unless a system's own key
demands its repeats. The first repeat has the keys of an experiment without repeats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragstone.errors import ConfigError
from ragstone.experiment.repeat_spec import ONCE, RepeatCounts, RepeatSpec, is_fixed, samples

if TYPE_CHECKING:
    from ragstone.components.metrics.repeated import RepeatMetric
    from ragstone.experiment.config import ExperimentFile
    from ragstone.experiment.system import System
    from ragstone.protocols import Judge


def with_repeats(systems: Sequence[System], file: ExperimentFile) -> list[System]:
    """Return the systems of a file with the repeats of their trials; raise as `counts_of` does."""
    return [
        replace(system, repeats=counts_of(system, entry.repeats, file.repeats))
        for system, entry in zip(systems, file.systems, strict=True)
    ]


def counts_of(system: System, own: RepeatSpec | None, shared: RepeatSpec | None) -> RepeatCounts:
    """Return the repeats of a system, whose own key comes before that of the file.

    Raises:
        ConfigError: the system's own key asks for repeats of answers that cannot differ.
    """
    wish = own or shared or RepeatSpec()
    generator = system.generator
    if own and own.answers > 1 and (generator is None or is_fixed(generator)):
        kind = "no generator" if generator is None else f"the generator {type(generator).__name__}"
        raise ConfigError(
            f"system {system.name!r}: repeats is {own.answers}, but it has {kind}"
            f"{'' if generator is None else ', whose answers never differ'}; leave repeats out",
            key="repeats",
            value=own.answers,
        )
    repeated = generator is not None and (own is not None or samples(generator))
    answers = wish.answers if repeated else 1
    return RepeatCounts(answers, wish.verdicts or (wish.answers if answers == 1 else 1))


def check_repeated(metrics: Sequence[RepeatMetric], systems: Iterable[System]) -> None:
    """Raise `ConfigError` for a metric of repeats that needs more answers than any system gives."""
    most = max((system.repeats.answers for system in systems if system.generator), default=1)
    for metric in metrics:
        if metric.least > most:
            raise ConfigError(
                f"metric {str(metric)!r} needs {metric.least} answers to each query, and "
                f"{'no system repeats its answers' if most == 1 else f'there are {most}'}; write "
                f"repeats: {metric.least} or more (a system with temperature 0 is asked once)",
                key="metrics",
                value=str(metric),
            )


def repeat_notes(
    systems: Sequence[System], judges: Sequence[Judge], metrics: Sequence[RepeatMetric]
) -> Iterator[str]:
    """Yield notes on the cost and the limits of these systems' repeats, for the plan."""
    asked = [system for system in systems if system.generator]
    if all(system.repeats == ONCE for system in asked):
        return
    once = [s.name for s in asked if s.repeats.answers == 1]
    if once:
        yield (
            f"asked once, because the answers cannot differ (temperature 0) or no repeats are "
            f"wanted: {', '.join(once)}; `repeats` in a system asks it again"
        )
    for system in asked:
        if system.repeats.answers > 1 and system.generator and not samples(system.generator):
            yield (
                f"{system.name}: temperature 0, so {system.repeats.answers} repeats cost calls and "
                "measure only what the server does not repeat exactly"
            )
    greedy = [str(judge) for judge in judges if not samples(judge)]
    if greedy and any(system.repeats.verdicts > 1 for system in asked):
        yield f"judges with temperature 0, which give one verdict per answer: {', '.join(greedy)}"
    for system in asked:
        if few := [str(metric) for metric in metrics if system.repeats.answers < metric.least]:
            yield f"{', '.join(few)}: not applicable to {system.name}, which has too few answers"
