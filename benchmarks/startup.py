"""How long `import ragstone` and `ragstone --help` take, as medians and as ratios to bare Python.

    python benchmarks/startup.py [--rounds 20] [--json FILE]

All three are run in turn within each round, so that whatever else the machine does hits them alike.
The figures of `--json` are processor seconds, the least of the rounds. The installed size of the
core is counted in a fresh environment with `--size`.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measured import (  # type: ignore[import-not-found]  # a file beside this one
    Measured,
    process_costs,
    write_measured,
)

ROOT = Path(__file__).resolve().parents[1]
RAGSTONE = Path(sys.executable).with_name("ragstone")
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import ragstone": [sys.executable, "-c", "import ragstone"],
    "ragstone --help": [str(RAGSTONE), "--help"],
}
MEGABYTE = 1e6


def measure(rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return each command's median and least processor seconds, after one warming round."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    cost = dict.fromkeys(COMMANDS, float("inf"))
    for turn in range(rounds + 1):
        for name, command in COMMANDS.items():
            started = time.perf_counter()
            spent, _, _ = process_costs(command)
            if turn:
                taken[name].append(time.perf_counter() - started)
                cost[name] = min(cost[name], spent)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}, cost


def figures(cost: dict[str, float], rounds: int) -> list[Measured]:
    """Return the processor seconds of our commands beside those of bare Python."""
    bare = cost["python -c pass"]
    return [
        Measured(
            job=name,
            n=1,
            unit="CPU s",
            ours=seconds,
            peer=bare,
            against=f"bare Python {platform.python_version()}",
            conditions=f"whole processes, best of {rounds} in turn",
        )
        for name, seconds in cost.items()
        if seconds != bare
    ]


def installed_size() -> float:
    """Return the megabytes that `pip install ragstone` (no extras) adds to a new environment."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "env"
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        packages = next(home.glob("lib/python*/site-packages"))
        before = size_of(packages)
        pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, str(ROOT)], check=True)
        shutil.rmtree(ROOT / "build", ignore_errors=True)
        return (size_of(packages) - before) / MEGABYTE


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--size", action="store_true", help="also install the core and weigh it")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    medians, cost = measure(options.rounds)
    bare = medians["python -c pass"]
    for name, seconds in medians.items():
        print(f"{name:<18} {seconds * 1000:7.1f} ms   {seconds / bare:5.2f} x bare Python")
    if options.size:
        print(f"core installed     {installed_size():7.1f} MB")
    if options.json:
        write_measured(options.json, figures(cost, options.rounds))


if __name__ == "__main__":
    main()
