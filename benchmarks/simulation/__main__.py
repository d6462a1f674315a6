"""Calls, log, leases and store in one deterministic process: what must hold, for every seed.

    python benchmarks/simulation                     10,000 histories and 10,000 crash states
    python benchmarks/simulation --seed 43           one history again, with its trace
    python benchmarks/simulation --only planted      bugs that must be found, with their seeds

A history has one or two processes that ask a faulty server through the real call engine, log,
leases and store, in virtual time. The order of all steps, the faults, kills, power loss,
suspensions and clocks set back are drawn from the seed. After each power loss the disk has one of
the states that it may be left in. The crash states are those after each write of a history: all,
none or random 512-byte sectors of what was not synced. A control on a disk that ignores syncs must
find losses.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.simulation.history import History, Plan, Violated
from benchmarks.simulation.planted import PLANTED, planted
from benchmarks.simulation.run import Told, memory_folder, run_seed, run_states

STATES_OF_EACH = 250
"""Crash states that are drawn from one history."""
REPLAY = "python benchmarks/simulation --seed"


def many(run: Callable[[int], Told], seeds: Iterable[int], workers: int) -> Iterator[Told]:
    """Run histories in several processes; print what is violated."""
    with ProcessPoolExecutor(workers) as pool:
        for told in pool.map(run, seeds, chunksize=10):
            if told.violation:
                print(
                    f"seed {told.seed}: {told.violation}; again: {REPLAY} {told.seed}", flush=True
                )
            yield told


def histories(options: argparse.Namespace) -> dict[str, object]:
    """Run histories with every kind of event."""
    faults, events, wrong = Counter[str](), Counter[str](), 0
    seconds, calls, steps = 0.0, 0, 0
    for told in many(
        run_seed, range(options.first, options.first + options.seeds), options.workers
    ):
        faults += told.faults
        events += told.events
        wrong += bool(told.violation)
        seconds, calls, steps = seconds + told.seconds, calls + told.calls, steps + told.steps
    print(
        f"{options.seeds:,} histories: {wrong} violations; {calls:,} calls, {steps:,} steps, "
        f"{seconds / 3600:,.0f} hours of virtual time"
    )
    for title, counts in (("faults", faults), ("events", events)):
        shown = ", ".join(f"{kind} {number:,}" for kind, number in counts.most_common())
        print(f"{title}: {counts.total():,} ({shown})")
    return {"histories": options.seeds, "violations": wrong, "faults": faults, "events": events}


def crash_states(options: argparse.Namespace, *, ignore_syncs: bool) -> dict[str, object]:
    """Check crash states; on a disk that ignores syncs, some must lose something."""
    wanted = options.states // 10 if ignore_syncs else options.states
    run = partial(run_states, most=STATES_OF_EACH, plan=Plan(ignore_syncs=ignore_syncs))
    states = losing = 0
    for seed in range(options.first, options.first + max(1, wanted // STATES_OF_EACH)):
        told = run(seed)
        states, losing = states + told.states, losing + told.losing
        if told.violation and not ignore_syncs:
            print(f"crash states of seed {seed}: {told.violation}")
    name = "control without syncs" if ignore_syncs else "crash states"
    print(f"{name}: {losing:,} of {states:,} states lose something acknowledged")
    return {"states": states, "losing": losing}


def find(name: str, seeds: int) -> Told | None:
    """Return the first history that finds a planted bug."""
    with planted(name):
        return next((told for told in map(run_seed, range(seeds)) if told.violation), None)


def find_all(options: argparse.Namespace) -> dict[str, object]:
    """Look for each planted bug."""
    found = {}
    for name in PLANTED:
        told = find(name, min(1000, options.seeds))
        found[name] = told and told.seed
        print(f"{name}: {f'seed {told.seed}: {told.violation}' if told else 'NOT FOUND'}")
    print(f"{sum(one is not None for one in found.values())} of {len(found)} planted bugs found")
    return {"planted": found}


def replay(seed: int) -> int:
    """Run one history again, with its trace."""
    with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
        history = History(seed, Path(folder))
        history.keep_trace, ended = True, "all holds"
        try:
            history.run()
        except Violated as error:
            ended = f"VIOLATED: {error}"
        print("\n".join(history.trace))
        print(f"seed {seed}: {ended}; digest {history.digest.hexdigest()}")
    return int(ended != "all holds")


def main() -> int:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10_000, help="number of histories")
    parser.add_argument("--states", type=int, default=10_000, help="number of crash states")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seed", type=int, help="one history again, with its trace")
    parser.add_argument("--only", choices=("histories", "states", "planted"), help="one part")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--json", action="store_true", help="print the figures as JSON too")
    options = parser.parse_args()
    if options.seed is not None:
        return replay(options.seed)
    began = time.monotonic()
    found: dict[str, object] = {}
    if options.only in {None, "histories"}:
        found |= histories(options)
    if options.only in {None, "states"}:
        found["crash_states"] = crash_states(options, ignore_syncs=False)
        found["control"] = crash_states(options, ignore_syncs=True)
    if options.only in {None, "planted"}:
        found |= find_all(options)
    cpu = sum(os.times()[:4])
    print(f"{cpu:.0f} CPU seconds, {time.monotonic() - began:.0f} s")
    if options.json:
        print(json.dumps(found))
    return int(not passed(found))


def passed(found: dict[str, object]) -> bool:
    """Return whether nothing is violated, and each planted bug and the control found something."""
    states, control = found.get("crash_states"), found.get("control")
    bugs = found.get("planted", {})
    assert isinstance(bugs, dict)
    right = None not in bugs.values() and not found.get("violations")
    if isinstance(states, dict) and isinstance(control, dict):
        right = right and not states["losing"] and control["losing"] > 0
    return right


if __name__ == "__main__":
    sys.exit(main())
