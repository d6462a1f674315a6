"""Which tests end differently from run to run, on the same code.

    python tools/repeat.py [--times 5] [--json FILE] [TESTS ...]

TESTS are arguments of pytest; without them, all tests run. Each run is a process of its own, in
which parallel workers share out the tests again, and Hypothesis draws other examples. Printed are
the tests that failed, with the number of runs in which they failed and in which they ran. The exit
status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[1]


def outcomes(arguments: Sequence[str]) -> dict[str, bool]:
    """Run tests once; return the name of each test that ran, and whether it passed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "--quiet", f"--junitxml={report}", *arguments]
        varied = {name: value for name, value in os.environ.items() if name != "CI"}
        subprocess.run(command, cwd=ROOT, env=varied, stdout=subprocess.DEVNULL, check=False)
        if not report.exists():
            raise SystemExit(f"pytest wrote no report: {' '.join(command)}")
        cases = ET.parse(report).iter("testcase")  # noqa: S314 - pytest wrote it
    found: dict[str, bool] = {}
    for case in cases:
        kinds = {child.tag for child in case}
        if "skipped" not in kinds:
            name = f"{case.get('classname')}::{case.get('name')}"
            found[name] = found.get(name, True) and not kinds & {"failure", "error"}
    return found


def failures(runs: Sequence[Mapping[str, bool]]) -> dict[str, tuple[int, int]]:
    """Return test -> (runs in which it failed, runs in which it ran), for those that ever failed.

    >>> failures([{"a": True, "b": True}, {"a": False, "b": True}, {"a": True}])
    {'a': (1, 3)}
    """
    ran = Counter(name for run in runs for name in run)
    failed = Counter(name for run in runs for name, passed in run.items() if not passed)
    return {name: (count, ran[name]) for name, count in sorted(failed.items())}


def main() -> int:
    """Run the tests and print the result; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options, tests = parser.parse_known_args()
    runs: list[dict[str, bool]] = []
    for number in range(1, options.times + 1):
        runs.append(outcomes(tests or ["--numprocesses", "auto"]))
        print(f"run {number}: {len(runs[-1]):,} tests, {Counter(runs[-1].values())[False]} failed")
    found = failures(runs)
    for name, (failed, ran) in found.items():
        print(f"{name}: failed in {failed} of {ran} runs")
    print(f"{len(found)} tests failed in some of {len(runs)} runs")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
