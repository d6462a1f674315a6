"""The peak memory of a first run and of the same run again, by the number of queries.

    python benchmarks/flat_memory.py [--queries 2000 20000] [--folder FOLDER] [--json FILE]

The experiment is that of `finished_run.py`: nq_singlehop's questions, repeated under new ids until
there are as many as asked for, BM25 with 100 passages each, two settings and 8 metrics. Figures are
of whole processes: peak memory, and processor seconds (user and system). FOLDER keeps the stores.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from finished_run import prepare, process  # type: ignore[import-not-found]  # a file beside this one
from measured import (  # type: ignore[import-not-found]  # a file beside this one
    Measured,
    need_data,
    write_measured,
)

SAID = "whole process, one run, BM25 with 100 passages, 2 settings, 8 metrics, nq_singlehop"


def figures(folder: Path, count: int) -> list[Measured]:
    """Return the costs of the first run and of the same run again."""
    found = {"first run": prepare(folder, count), "run again": process(folder, "run")}
    return [
        Measured(job=f"{name}{what}", n=count, unit=unit, ours=cost[part], conditions=SAID)
        for name, cost in found.items()
        for part, (unit, what) in enumerate((("CPU s", ""), ("MB", ", peak")))
    ]


def main() -> None:
    """Print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, nargs="+", default=[2_000, 20_000])
    parser.add_argument("--folder", type=Path, help="where experiments are kept")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    need_data("nq_singlehop")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        found = [one for count in given.queries for one in figures(folder / str(count), count)]
    for one in found:
        sys.stdout.write(f"{one.n:>9,} queries  {one.job:<16} {one.ours:8.1f} {one.unit}\n")
    if given.json:
        write_measured(given.json, found)


if __name__ == "__main__":
    main()
