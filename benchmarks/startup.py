"""How long `import ragstone` and `ragstone --help` take, as medians and as ratios to bare Python.

    python benchmarks/startup.py [--rounds 20]

All three are run in turn within each round, so that whatever else the machine does hits them alike.
The installed size of the core is counted in a fresh environment with `--size`.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RAGSTONE = Path(sys.executable).with_name("ragstone")
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import ragstone": [sys.executable, "-c", "import ragstone"],
    "ragstone --help": [str(RAGSTONE), "--help"],
}
MEGABYTE = 1e6


def measure(rounds: int) -> dict[str, float]:
    """Return the median seconds of each command, after one warming round."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for turn in range(rounds + 1):
        for name, command in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            if turn:
                taken[name].append(time.perf_counter() - started)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


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
    options = parser.parse_args()
    medians = measure(options.rounds)
    bare = medians["python -c pass"]
    for name, seconds in medians.items():
        print(f"{name:<18} {seconds * 1000:7.1f} ms   {seconds / bare:5.2f} x bare Python")
    if options.size:
        print(f"core installed     {installed_size():7.1f} MB")


if __name__ == "__main__":
    main()
