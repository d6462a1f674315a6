"""The form in which benchmarks hand over their figures, and turns between ours and peers."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("RAGSTONE_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
"""The folder of public data sets."""
LEFT_OUT = 77
"""The exit status of a benchmark that cannot run here; it has printed why."""


def need_data(*names: str) -> None:
    """End the benchmark with the reason if one of the data sets is not there."""
    for name in names:
        if not (DATA / name).is_dir():
            print(f"needs the data set {name}: no folder {DATA / name}; set RAGSTONE_SHARED_DATA")
            raise SystemExit(LEFT_OUT)


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a gzipped file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def corpora() -> list[Path]:
    """Return the files of the 55,540 passages of mtRAG and nq_singlehop."""
    need_data("mtrag", "nq_singlehop")
    mtrag = sorted((DATA / "mtrag" / "corpus").glob("*.jsonl.gz"))
    return [*mtrag, DATA / "nq_singlehop" / "corpus.jsonl.gz"]


def copied_runs() -> Iterator[str]:
    """Yield lines of BERGEN's runs of ELI5 without end, each time with other query ids."""
    need_data("bergen")
    files = sorted((DATA / "bergen" / "runs").glob("kilt_eli5.*.trec.gz"))
    for number, path in enumerate(cycle(files)):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from (f"{number}_{line}" for line in lines)


def process_costs(command: Sequence[str], folder: Path | None = None) -> tuple[float, float, str]:
    """Run a process; return its processor seconds, its peak in MB and what it printed."""
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as errors:
        running = subprocess.Popen(list(command), cwd=folder, stdout=said, stderr=errors)
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        errors.seek(0)
        if running.returncode:
            raise SystemExit(errors.read())
        return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, said.read()


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a job costs here and with a peer, measured in one run."""

    job: str
    """Names the job among all benchmarks, e.g. "BM25 build"; numbers that change are left out."""
    n: int
    """How many items the job has."""
    unit: str
    """Of both costs, less is better: "CPU s", "CPU ms", "CPU us", "MB", or "s" by the clock."""
    ours: float
    peer: float | None = None
    against: str = ""
    """The peer and its version."""
    conditions: str = ""
    """Threads, rounds, inputs."""

    @property
    def ratio(self) -> float | None:
        """How many times less ours costs than the peer; above 1 is faster or smaller."""
        return None if self.peer is None else self.peer / self.ours


def hand_over(figures: Sequence[Measured], path: Path | None) -> None:
    """Print the figures, and write them if a file is named."""
    for one in figures:
        peer = "" if one.peer is None else f", {one.peer:,.3f} by {one.against}, {one.ratio:.2f} x"
        print(f"{one.job}: {one.ours:,.3f} {one.unit}{peer}\n  {one.n:,} items, {one.conditions}")
    if path:
        write_measured(path, figures)


def write_measured(path: Path, figures: Sequence[Measured]) -> None:
    """Write the figures as a JSON list."""
    rows = [{**asdict(one), "ratio": one.ratio} for one in figures]
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def in_turns(work: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the CPU seconds of each piece of work in its best round; they take turns."""
    best = dict.fromkeys(work, float("inf"))
    for _ in range(rounds):
        for name, function in work.items():
            start = time.process_time()
            function()
            best[name] = min(best[name], time.process_time() - start)
    return best
