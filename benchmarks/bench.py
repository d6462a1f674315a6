"""Runs the short benchmarks, keeps their figures and compares them with kept ones.

    python benchmarks/bench.py                       within ten minutes on two cores
    python benchmarks/bench.py --against last        and name what became slower
    python benchmarks/bench.py encoder_speed --against FILE
    python benchmarks/bench.py --campaign            the long ones, an hour or two

Each benchmark is a process of its own, one after the other, that writes rows of `measured.py`.
The figures are kept in `.bench/`, one JSON file per run, with facts about the machine. A ratio to a
peer in the same run holds on a busy machine too, so only ratios of processor time are compared. A
benchmark with a ratio that fell by more than 15 % runs once more; if the better of the two fell as
far, it is named, and the exit status is then 1, as after a benchmark that failed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
KEPT: Final = HERE.parent / ".bench"
SLOWER: Final = 0.15
"""The share of a ratio that a job may lose without being named."""
DATA: Final = os.environ.get("RAGSTONE_SHARED_DATA", str(HERE.parents[1] / "shared" / "data"))
LEFT_OUT: Final = 77
"""The exit status of a script that cannot run here; its last line is the reason."""
PEERS: Final = (
    "numpy", "scipy", "pyarrow", "onnxruntime", "rouge-score", "pytrec-eval", "bm25s", "numba",
    "tantivy", "faiss-cpu", "bert-score", "torch", "transformers", "openai", "aiohttp",
)  # fmt: skip

Row = dict[str, Any]


@dataclass(frozen=True)
class Benchmark:
    """One script and how it is started."""

    script: str
    arguments: tuple[str, ...] = ()
    rows: bool = True
    """Whether it writes rows; else only its exit status counts."""

    @property
    def name(self) -> str:
        """The script without its ending."""
        return Path(self.script).stem

    @property
    def title(self) -> str:
        """The name with the arguments."""
        return " ".join((self.name, *self.arguments))


SHORT: Final = (
    Benchmark("startup.py", ("--rounds", "10")),
    Benchmark("statistics_speed.py", ("--rounds", "3")),
    Benchmark("judge_parsing.py", ("--rounds", "5")),
    Benchmark("reading_speed.py", ("--passages", "111080", "--lines", "200000", "--rounds", "3")),
    Benchmark("rank_speed.py", ("--lines", "200000", "--rounds", "3")),
    Benchmark("finished_run.py"),
    Benchmark("calls_speed.py", ("--calls", "6000", "--rounds", "3")),
    Benchmark("bm25_speed.py", ("--engines", "tantivy", "--rounds", "3")),
    Benchmark("encoder_speed.py", ("--texts", "64", "--answers", "20", "--rounds", "2")),
)
LONG: Final = (
    Benchmark("reading_speed.py"),
    Benchmark("rank_speed.py"),
    Benchmark("finished_run.py", ("--queries", "20000")),
    Benchmark("flat_memory.py"),
    Benchmark("exact_search.py", (f"{KEPT}/vectors",)),
    Benchmark("calls_speed.py"),
    Benchmark("bm25_speed.py"),
    Benchmark("encoder_speed.py"),
    Benchmark("executor_steps.py"),
    Benchmark("linear_parsers.py", rows=False),
    Benchmark("faults.py", rows=False),
    Benchmark("fuzz.py", ("--inputs", "1900", "--folder", f"{KEPT}/fuzz-found"), rows=False),
    Benchmark(
        "kill_run.py",
        (
            *("examples/nq_singlehop.yaml", f"data={DATA}/nq_singlehop"),
            *("--kills", "20", "--folder", ".ragstone/kill-run"),
        ),
        rows=False,
    ),
    Benchmark("kill_build.py", (f"{DATA}/nq_singlehop", "--kills", "100"), rows=False),
    Benchmark("store_mutations.py", rows=False),
    Benchmark("planted_secrets.py", rows=False),
    Benchmark("mutants.py", rows=False),
    Benchmark("interrupts.py", ("--minutes", "11"), rows=False),
    Benchmark("environment.py", rows=False),
    Benchmark("simulation", rows=False),
    Benchmark("soak.py", rows=False),
    Benchmark("doctor_findings.py", (DATA,), rows=False),
    Benchmark("mtrag_people.py", (f"{DATA}/mtrag",), rows=False),
)


def machine() -> dict[str, Any]:
    """Return facts about the machine, Python, the peers and the code."""
    git = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(git, check=False, cwd=HERE, capture_output=True, text=True)
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": dict(_versions(PEERS)),
        "commit": commit.stdout.strip(),
        "time": datetime.now(UTC).isoformat(),
    }


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _versions(packages: Iterable[str]) -> Iterator[tuple[str, str]]:
    for package in packages:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue


class LeftOutError(Exception):
    """A benchmark cannot run here; the message is the reason."""


def run(benchmark: Benchmark, folder: Path = HERE) -> tuple[list[Row], str]:
    """Return the rows of a benchmark, and the reason if it failed; raise `LeftOutError`."""
    with tempfile.TemporaryDirectory() as kept:
        path = Path(kept) / "figures.json"
        command = [sys.executable, str(folder / benchmark.script), *benchmark.arguments]
        if not benchmark.rows:
            status = subprocess.run(command, check=False).returncode
            return [], f"it ended with status {status}" if status else ""
        command += ["--json", str(path)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        if done.returncode == LEFT_OUT:
            raise LeftOutError(said[-1] if said else "it gave no reason")
        if done.returncode:
            return [], f"it ended with status {done.returncode}: {said[-1] if said else ''}"
        if not path.exists():
            return [], "it wrote no figures"
        rows: list[Row] = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(rows, list):
        return [], "its figures are not a list of rows"
    return [{**row, "benchmark": benchmark.name} for row in rows], ""


def compare(before: Sequence[Row], now: Sequence[Row]) -> list[str]:
    """Return a line for each CPU ratio that fell by more than 15 % or is missing."""
    held = {row["job"]: row["ratio"] for row in now if row["ratio"]}
    found = []
    for row in before:
        job, old = row["job"], row["ratio"]
        if not old or not row["unit"].startswith("CPU"):
            continue
        if job not in held:
            found.append(f"missing: {job} ({row['benchmark']}), {old:.2f} x before")
        elif held[job] < old * (1 - SLOWER):
            fell = 1 - held[job] / old
            found.append(f"slower: {job}, {held[job]:.2f} x, {old:.2f} x before (-{fell:.0%})")
    return found


def better(rows: Sequence[Row], again: Sequence[Row]) -> list[Row]:
    """Return of each job the measurement with the better ratio."""
    second = {row["job"]: row for row in again}
    pairs = [(row, second.get(row["job"], row)) for row in rows]
    return [max(pair, key=lambda row: row["ratio"] or 0.0) for pair in pairs]


def load(word: str, kept: Path = KEPT) -> dict[str, Any]:
    """Return kept figures: of a path, or the newest of each benchmark if the word is "last"."""
    last = word.lower() == "last"
    files = sorted(kept.glob("*.json")) if last else [Path(word)]
    if not files:
        raise SystemExit(f"no figures are kept in {kept}: run `python benchmarks/bench.py` first")
    if not files[-1].exists():
        raise SystemExit(f"no kept figures at {word}; give a path or the word last")
    document: dict[str, Any] = {}
    newest: dict[str, list[Row]] = {}
    for path in files:
        document = json.loads(path.read_text(encoding="utf-8"))
        newest |= {name: list(rows) for name, rows in groupby(document["figures"], _benchmark)}
    return {**document, "figures": [row for rows in newest.values() for row in rows]}


def _benchmark(row: Row) -> str:
    name: str = row["benchmark"]
    return name


def keep(document: dict[str, Any], kept: Path = KEPT) -> Path:
    """Write the figures of a run into a new file, whose names sort by time."""
    kept.mkdir(parents=True, exist_ok=True)
    path = kept / f"{document['machine']['time'].replace(':', '')}.json"
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return path


def show(row: Row) -> str:
    """Return the line of one row."""
    peer = "" if row["peer"] is None else f"{row['peer']:12,.3f}"
    ratio = "" if row["ratio"] is None else f"{row['ratio']:8.2f} x"
    return (
        f"{row['job']:58} {row['n']:>9,} {row['ours']:12,.3f} {peer:>12} {row['unit']:7} "
        f"{ratio:>10}  {row['against']}"
    )


def chosen(names: Sequence[str], among: Sequence[Benchmark]) -> list[Benchmark]:
    """Return the benchmarks of these names; all without names."""
    known = [benchmark.name for benchmark in among]
    if unknown := sorted(set(names) - set(known)):
        raise SystemExit(f"no benchmark {unknown[0]!r}; there are {', '.join(known)}")
    return [benchmark for benchmark in among if not names or benchmark.name in names]


def report(benchmark: Benchmark, before: Sequence[Row], folder: Path) -> tuple[list[Row], str]:
    """Run a benchmark, a second time if it seems slower, and print its rows."""
    started = time.monotonic()
    rows, reason = run(benchmark, folder)
    expected = [row for row in before if row["benchmark"] == benchmark.name]
    if not reason and compare(expected, rows):
        rows = better(rows, run(benchmark, folder)[0])
    for row in rows:
        print(show(row))
    if reason:
        print(f"failed: {benchmark.title}: {reason}")
    print(f"  ({benchmark.title}: {time.monotonic() - started:.0f} s)", flush=True)
    return rows, reason


def main(arguments: Sequence[str], folder: Path = HERE, kept: Path = KEPT) -> int:
    """Run, keep, print; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="names of benchmarks (default: all)")
    parser.add_argument("--against", help="kept figures: a path, or the word last")
    parser.add_argument("--campaign", action="store_true", help="the long ones")
    options = parser.parse_args(arguments)
    kept = kept / "campaign" if options.campaign else kept
    before = load(options.against, kept)["figures"] if options.against else []
    wanted = chosen(options.names, LONG if options.campaign else SHORT)
    document: dict[str, Any] = {"machine": machine(), "figures": [], "failed": {}, "left_out": {}}
    print(f"{'job':58} {'n':>9} {'ours':>12} {'peer':>12} {'unit':7} {'ratio':>10}  against")
    for benchmark in wanted:
        try:
            rows, reason = report(benchmark, before, folder)
        except LeftOutError as told:
            document["left_out"][benchmark.title] = str(told)
            print(f"left out: {benchmark.title}: {told}")
            continue
        document["figures"] += rows
        if reason:
            document["failed"][benchmark.title] = reason
    print(f"kept in {keep(document, kept)}")
    names = [one.name for one in wanted if one.title not in document["left_out"]]
    slower = compare([row for row in before if row["benchmark"] in names], document["figures"])
    for line in slower:
        print(line)
    return 1 if slower or document["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
