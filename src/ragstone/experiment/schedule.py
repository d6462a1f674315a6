"""The order of the steps of one or several experiments: a local model is loaded once.

Only one local model is in memory at a time. Steps that use the model in memory, or none, come
before those that need another one.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple

from ragstone.errors import ConfigError, did_you_mean
from ragstone.experiment.steps import Step

_PARTS: Final = ("backend", "inner", "detector")
"""Fields of components with a model of their own, such as judges of judges."""


class Job(NamedTuple):
    """A step of an experiment."""

    experiment: int
    """The place of the experiment among those that run together."""
    step: Step
    priority: int = 0
    """Steps of a higher priority come first."""


def in_order(jobs: Sequence[Job]) -> Iterator[Job]:
    """Yield the jobs, each after those of the steps that it depends on.

    Among the jobs that are ready, the highest priority decides, then the model in memory, then the
    order of `jobs`.
    """
    places = {job.step: place for place, job in enumerate(jobs)}
    followers: list[list[int]] = [[] for _ in jobs]
    open_inputs = [0] * len(jobs)
    for place, job in enumerate(jobs):
        given_steps = {given for given in job.step.inputs.values() if isinstance(given, Step)}
        for given in given_steps & places.keys():
            followers[places[given]].append(place)
            open_inputs[place] += 1
    ready: dict[str, list[tuple[int, int]]] = {}

    def add(place: int) -> None:
        queue = ready.setdefault(local_model(jobs[place].step.component), [])
        heapq.heappush(queue, (-jobs[place].priority, place))

    for place, count in enumerate(open_inputs):
        if not count:
            add(place)
    loaded = ""
    while any(ready.values()):
        model = _next_model(ready, loaded)
        loaded = model or loaded
        _, place = heapq.heappop(ready[model])
        yield jobs[place]
        for follower in followers[place]:
            open_inputs[follower] -= 1
            if not open_inputs[follower]:
                add(follower)


def _next_model(ready: dict[str, list[tuple[int, int]]], loaded: str) -> str:
    """Return the model of the next job; "" for jobs without a local model."""
    first = {model: queue[0] for model, queue in ready.items() if queue}
    urgent = min(priority for priority, _ in first.values())
    fits = {m: job for m, job in first.items() if job[0] == urgent}
    in_memory = {m: job for m, job in fits.items() if m in ("", loaded)}
    chosen = in_memory or fits
    return min(chosen, key=chosen.__getitem__)


def local_model(component: Any) -> str:
    """Return the model that a component loads into memory alone, or ""."""
    endpoint = getattr(component, "endpoint", None)
    if endpoint is not None:
        return str(endpoint.identity) if getattr(endpoint, "serve", None) else ""
    parts = [getattr(component, name, None) for name in _PARTS]
    parts += getattr(component, "backends", ())
    return next(filter(None, (local_model(part) for part in parts if part is not None)), "")


def needed(steps: Sequence[Step], names: Collection[str]) -> list[Step]:
    """Return the steps of some names and those that they depend on, in order.

    Raises:
        ConfigError: no step has one of the names.
    """
    known = dict.fromkeys(step.name for step in steps)
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ConfigError(f"only: the experiment has no step {name!r}{hint}", key="only")
    wanted: set[Step] = set()
    for step in reversed(steps):
        if step.name in names or step in wanted:
            wanted |= {step, *(given for given in step.inputs.values() if isinstance(given, Step))}
    return [step for step in steps if step in wanted]
