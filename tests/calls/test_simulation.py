"""Calls, log, leases and store in virtual time, with faults, kills and power loss of each seed."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest
from benchmarks.simulation.disk import Left, Op, Replay
from benchmarks.simulation.history import Plan
from benchmarks.simulation.planted import PLANTED, planted
from benchmarks.simulation.run import run_seed, run_states
from benchmarks.simulation.sqlite_vfs import library

CALLS = Path(__file__).parents[2] / "src" / "ragstone" / "calls"
LATE = {
    "a lease ends before the commit",
    "a later reply replaces the first",
    "a dead owner keeps its leases",
    "the last outcome of a group is not told",
    "failures of before a clock set back",
}
"""Bugs that need more seeds or longer histories: `python benchmarks/simulation --only planted`."""

needs_linux = pytest.mark.skipif(
    sys.platform != "linux" or library() is None,
    reason="the simulation needs Linux and the shared library of SQLite",
)


@needs_linux
@pytest.mark.parametrize("first", range(0, 500, 50))
def test_histories(first: int) -> None:
    """Nothing acknowledged is lost, asked again or late; again: benchmarks/simulation --seed N."""
    for seed in range(first, first + 50):
        told = run_seed(seed)
        assert not told.violation, f"seed {seed}: {told.violation}"


@needs_linux
@pytest.mark.parametrize("seed", [0, 1])
def test_crash_states(seed: int) -> None:
    """No state that power loss may leave has lost what was acknowledged."""
    told = run_states(seed, 250)
    assert (told.states, told.losing, told.violation) == (250, 0, "")


@needs_linux
def test_a_disk_that_ignores_syncs_loses_replies() -> None:
    """The control: the simulation sees losses."""
    told = run_states(0, 50, Plan(ignore_syncs=True))
    assert told.losing > 10, told


@needs_linux
def test_a_seed_replays_its_history() -> None:
    """One seed has one digest of all steps and bytes on the disk; another seed has another one."""
    first, again, other = run_seed(4), run_seed(4), run_seed(5)
    assert first == again
    assert first.digest != other.digest
    assert first.events


@needs_linux
@pytest.mark.parametrize("name", [name for name in PLANTED if name not in LATE])
def test_a_planted_bug_is_found(name: str) -> None:
    """Each bug violates something within a few seeds."""
    with planted(name):
        assert any(run_seed(seed).violation for seed in range(25)), name


def test_only_the_clock_reads_the_time() -> None:
    """What the simulation runs takes time and chance from `calls.clock`, which it replaces."""
    for name in ("scheduler", "log", "log_file", "leases", "client", "deadline"):
        text = (CALLS / f"{name}.py").read_text(encoding="utf-8")
        assert not re.search(r"time\.(time|monotonic)\b|random\.Random\(\)", text), name


def test_what_power_loss_leaves() -> None:
    """Synced bytes and names stay; of others all, none or whole sectors."""
    draw = random.Random(0)  # noqa: S311 - no secret
    replay = Replay({})
    for op in (
        Op("make", "a"),
        Op("sync-folder", ""),
        Op("create", "a/file"),
        Op("write", "a/file", 0, b"x" * 1024),
        Op("sync", "a/file"),
    ):
        replay.apply(op)
    assert replay.state(Left.NONE, draw) == {"a": None}  # its name was not synced
    replay.apply(Op("sync-folder", "a"))
    replay.apply(Op("write", "a/file", 256, b"y" * 1024))
    assert replay.state(Left.NONE, draw)["a/file"] == b"x" * 1024
    assert replay.state(Left.ALL, draw)["a/file"] == b"x" * 256 + b"y" * 1024
    some = {replay.state(Left.SOME, draw)["a/file"] for _ in range(200)}
    assert len(some) == 8  # three sectors, each old or new
    replay.apply(Op("rename", "a/file", target="a/other"))
    assert set(replay.state(Left.NONE, draw)) == {"a", "a/file"}
    assert set(replay.state(Left.ALL, draw)) == {"a", "a/other"}
