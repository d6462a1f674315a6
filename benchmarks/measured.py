"""The form in which benchmarks hand over their figures, and turns between ours and peers."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

DATA = Path(os.environ.get("RAGSTONE_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
"""The folder of public data sets."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a job costs here and with a peer, measured in one run."""

    job: str
    """Names the job among all benchmarks, e.g. "BM25 build"; numbers that change are left out."""
    n: int
    """How many items the job has."""
    unit: str
    """Of both costs, less is better: "CPU s", "CPU us", "MB", or "s" by the clock."""
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
