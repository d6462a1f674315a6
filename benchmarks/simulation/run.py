"""Histories and crash states of a seed, and what they tell."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from benchmarks.simulation.history import History, Plan, Violated
from benchmarks.simulation.loop import START


@cache
def memory_folder() -> str | None:
    """Return a folder on a memory disk, or None if there is none."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108


@dataclass
class Told:
    """What a history tells when it has ended."""

    seed: int
    violation: str = ""
    digest: str = ""
    faults: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    """Virtual time."""
    steps: int = 0
    calls: int = 0
    states: int = 0
    losing: int = 0
    """States in which something acknowledged is lost or damaged."""


def run_seed(seed: int, plan: Plan | None = None) -> Told:
    """Run the history of a seed."""
    with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
        return _told(History(seed, Path(folder), plan))


def _told(history: History) -> Told:
    told = Told(history.seed)
    try:
        history.run()
    except Violated as error:
        told.violation = str(error)
    told.digest = history.digest.hexdigest()
    told.faults, told.events = history.server.spent, history.happened
    told.seconds, told.steps = history.machine.time - START, history.machine.steps
    told.calls = sum(history.server.asked.values())
    return told


def run_states(seed: int, most: int, plan: Plan | None = None) -> Told:
    """Run a history without crashes, and check states that power loss at any moment may leave."""
    plan = replace(plan or Plan(), events=0)
    with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
        history = History(seed, Path(folder), plan)
        told = _told(history)
        told.states, told.losing = history.check_states(most)
        told.violation = told.violation or history.violation
    return told
