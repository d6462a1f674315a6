"""Kill a real experiment at random moments, go on with it, and see that nothing was lost.

    python benchmarks/kill_run.py EXPERIMENT.yaml [key=value ...] --kills 20
    python benchmarks/kill_run.py EXPERIMENT.yaml --calm STORE --seconds 400  # reuse one

The experiment is run once undisturbed in one store, and in another store under `kill -9` at random
moments, each time with the same command again. Then:

- no reply lost, none asked twice: after each kill every reply that was in the call log before is
  there still, made at the same time (a reply that was asked again would have a new time);
- the same final scores: the score tables of both stores are equal, value by value.

Exit code 1 if any of it does not hold. Stretches between kills are drawn at random, short and long
ones, so that kills fall into every stage of the experiment.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from ragstone.core.store import Store
from ragstone.experiment.experiment import load_experiment
from ragstone.results.results import Results

RAGSTONE = Path(sys.executable).with_name("ragstone")


def replies(store: Path) -> dict[str, float]:
    """Return key -> time made of every reply in a store's call log."""
    path = store / "calls.sqlite"
    if not path.exists():
        return {}
    with sqlite3.connect(path, timeout=60) as log:
        try:
            rows = log.execute("SELECT key, made_at FROM calls WHERE replied = 1").fetchall()
        except sqlite3.OperationalError:
            return {}  # killed before the table was made
    return dict(rows)


def steps(store: Path) -> set[str]:
    """Return the names of the finished steps and arrays."""
    return {str(path.parent.relative_to(store)) for path in store.glob("*/*/manifest.json")}


def start(experiment: Path, overrides: list[str], store: Path) -> subprocess.Popen[bytes]:
    """Start the experiment in a process group of its own."""
    command = [str(RAGSTONE), "run", str(experiment), *overrides, f"store={store}"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)


def run_to_the_end(experiment: Path, overrides: list[str], store: Path) -> float:
    """Run without disturbance and return the seconds it took."""
    started = time.monotonic()
    process = start(experiment, overrides, store)
    if process.wait() != 0:
        raise SystemExit(f"the undisturbed run failed with exit code {process.returncode}")
    return time.monotonic() - started


def kill_at(experiment: Path, overrides: list[str], store: Path, seconds: float) -> bool:
    """Run for some seconds, then kill; return whether the run was still active."""
    process = start(experiment, overrides, store)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def scores(experiment: Path, overrides: list[str], store: Path) -> dict[str, list[object]]:
    """Return every score of an experiment, by trial and metric."""
    loaded = load_experiment(experiment, [*overrides, f"store={store}"])
    results = Results.load(Store(store), loaded.file.name)
    groups = [(t.system, t.setting, t.scores) for t in results.trials]
    groups += [(r.system, "", r.scores) for r in results.rankings]
    return {
        f"{system} | {setting} | {metric}": [
            (query_id, score.value, score.status) for query_id, score in by_query.items()
        ]
        for system, setting, found in groups
        for metric, by_query in found.items()
    }


def main() -> None:
    """Run the campaign and print the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiment", type=Path)
    parser.add_argument("overrides", nargs="*")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("kill-run"))
    parser.add_argument("--calm", type=Path, help="store of a run that was not disturbed")
    parser.add_argument("--seconds", type=float, default=0.0, help="how long that run took")
    options = parser.parse_intermixed_args()
    calm, killed = options.calm or options.folder / "calm", options.folder / "killed"
    took = options.seconds or run_to_the_end(options.experiment, options.overrides, calm)
    print(f"undisturbed: {took:.0f} s, {len(replies(calm))} replies, {len(steps(calm))} steps")

    moments = random.Random(options.seed)  # a campaign, no secret
    lost = repeated = hits = 0
    while hits < options.kills:
        before, finished = replies(killed), steps(killed)
        going = kill_at(
            options.experiment,
            options.overrides,
            killed,
            0.3 + moments.random() * 1.6 * took / options.kills,
        )
        after = replies(killed)
        lost += len(set(before) - set(after)) + len(finished - steps(killed))
        repeated += sum(after.get(key, made) != made for key, made in before.items())
        if not going:
            print(f"finished after {hits} kills: later moments had nothing left to interrupt")
            break
        hits += 1
        print(f"kill {hits}: {len(before)} -> {len(after)} replies", flush=True)
    before = replies(killed)
    run_to_the_end(options.experiment, options.overrides, killed)
    after = replies(killed)
    lost += len(set(before) - set(after))
    repeated += sum(after.get(key, made) != made for key, made in before.items())
    found = [scores(options.experiment, options.overrides, store) for store in (calm, killed)]
    report = {
        "kills": hits,
        "replies": len(after),
        "replies_undisturbed": len(replies(calm)),
        "lost": lost,
        "asked_twice": repeated,
        "same_scores": found[0] == found[1],
    }
    print(json.dumps(report, indent=1))
    sys.exit(0 if not lost and not repeated and report["same_scores"] and hits else 1)


if __name__ == "__main__":
    main()
