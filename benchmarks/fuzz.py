"""Whether any malformed input ends in a traceback, a hang, an abort or a gigabyte of memory.

    python benchmarks/fuzz.py [--inputs 2000] [--kinds YAML,mtRAG] [--seed 0] [--processes 2]
                              [--folder fuzz-found] [--json [FILE]]
    python benchmarks/fuzz.py --repeat fuzz-found/mtRAG-17

Each of 20 kinds of input starts from small valid files. A mutation drops, repeats, renames,
retypes, deepens or lengthens a part of their structure (numbers beyond 64 bits, NaN, NUL, lone
surrogates, odd digits), or changes their bytes (cut, flipped, another encoding, gzip, a bomb), or
puts a pipe, a device or a broken link in their place. A process reads them through the readers and
commands that people use; it may use 1 GB and 20 s of processor time per input. Its death is noted,
and another one goes on. What is accepted is written in Ragstone's own layout and must be read again
equal. Kind, number and seed decide an input; one that fails is kept as a folder, which `--repeat`
reads again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

HERE: Final = Path(__file__).resolve().parent
SECONDS: Final = 20.0
"""Processor time of one input."""
WAIT: Final = 60.0
"""The same by the clock: a process that waits uses no processor."""
FAILED: Final = ("traceback", "long", "unnamed", "nonsense", "memory", "hang", "abort")


@dataclass
class Found:
    """What became of the inputs of one kind."""

    inputs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    slowest: float = 0.0
    largest: int = 0
    """Most bytes of memory."""
    details: Counter[str] = field(default_factory=Counter)
    """Failure -> how often."""
    kept: list[str] = field(default_factory=list)

    @property
    def failures(self) -> int:
        """How many inputs were neither accepted nor refused as they should be."""
        return sum(self.outcomes[name] for name in FAILED)


class Worker:
    """A process that reads inputs."""

    def __init__(self) -> None:
        self.errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - see `end`
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fuzzing.worker"],
            cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"},
        )  # fmt: skip

    def ask(self, line: str) -> dict[str, Any]:
        """Return what became of an input; the process is dead after an abort or a hang."""
        stdin, stdout = _stream(self.process.stdin), _stream(self.process.stdout)
        used = self._seconds()
        with suppress(BrokenPipeError):  # it ended since its last answer
            stdin.write(line + "\n")
            stdin.flush()
        if self._waits(stdout, used) and (answer := stdout.readline()):
            found: dict[str, Any] = json.loads(answer)
            return found
        hung = self.process.poll() is None and not self._ended()
        if hung:
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(0.3)
            self.process.kill()
        status = self.process.wait()
        self.errors.seek(0)
        said = self.errors.read()[-1500:]
        outcome = "hang" if hung else "memory" if "memory allocation of" in said else "abort"
        detail = f"status {status}: {said[-600:]}"
        return {"outcome": outcome, "detail": detail, "seconds": SECONDS if hung else 0.0}

    def _waits(self, stdout: IO[str], used: float) -> bool:
        """Return whether the process answers, or ends, in time."""
        began = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while not selector.select(0.5):
                if self._seconds() - used > SECONDS or time.monotonic() - began > WAIT:
                    return False
        return True

    def _ended(self) -> bool:
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _seconds(self) -> float:
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """End the process."""
        with suppress(BrokenPipeError):
            _stream(self.process.stdin).close()
        self.process.wait()
        _stream(self.process.stdout).close()
        self.errors.close()


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def read_kind(kind: str, numbers: range, seed: int, folder: Path | None) -> Found:
    """Read the inputs of a kind in one process at a time."""
    found, worker = Found(), Worker()
    for number in numbers:
        answer = worker.ask(f"{kind}\t{number}\t{seed}")
        note(found, answer)
        if answer["outcome"] in FAILED:
            found.kept.append(_keep(kind, number, seed, folder, answer["detail"]))
        if worker.process.returncode is not None:
            worker.end()
            worker = Worker()
    worker.end()
    return found


def note(found: Found, answer: dict[str, Any]) -> None:
    """Add what became of one input."""
    found.inputs += 1
    found.outcomes[answer["outcome"]] += 1
    found.seconds += answer["seconds"]
    found.slowest = max(found.slowest, answer["seconds"])
    found.largest = max(found.largest, answer.get("peak", 0))
    if answer["outcome"] in FAILED:
        found.details[f"{answer['outcome']}: {_group(answer)}"] += 1


def _group(answer: dict[str, Any]) -> str:
    """Return a failure without what differs from input to input: folders, values, numbers."""
    detail = re.sub(r"\S*/input\w+/?", "", str(answer["detail"]))
    if answer["outcome"] == "traceback":
        kind, _, places = detail.partition(":")
        return f"{kind} at {places.rpartition(' at ')[2]}"
    return re.sub(r"'[^']*'?|\d[\d,.]*", "#", detail)[:300]


def _keep(kind: str, number: int, seed: int, folder: Path | None, detail: str) -> str:
    """Keep an input and return how it is repeated."""
    if folder is None:
        return f"{kind} {number} of seed {seed}: {detail}"
    from fuzzing.cases import make  # type: ignore[import-not-found]  # beside this file
    from fuzzing.worker import keep  # type: ignore[import-not-found]

    kept = folder / f"{kind.replace(' ', '-')}-{number}"
    if not (kept / "case.json").exists():
        keep(make(kind, number, seed), kept)
    return f"python benchmarks/fuzz.py --repeat {kept}"


def repeat(folder: str) -> int:
    """Read a kept input again."""
    worker = Worker()
    answer = worker.ask(str(Path(folder).resolve()))
    worker.end()
    print(json.dumps(answer, indent=1, ensure_ascii=False))
    return int(answer["outcome"] in FAILED)


def main() -> int:
    """Read the inputs of all kinds, print what became of them."""
    from fuzzing.seeds import SEEDS  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=2000, help="inputs per kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--kinds", default=",".join(SEEDS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="folder for the inputs that fail")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE")
    parser.add_argument("--repeat", metavar="FOLDER", help="read a kept input again")
    given = parser.parse_args()
    if given.repeat:
        return repeat(given.repeat)
    kinds = given.kinds.split(",")
    if unknown := set(kinds) - set(SEEDS):
        parser.error(f"unknown kinds: {', '.join(unknown)}; known: {', '.join(SEEDS)}")
    numbers = range(given.first, given.first + given.inputs)
    with ThreadPoolExecutor(given.processes) as pool:
        found = dict(
            zip(kinds, pool.map(lambda k: read_kind(k, numbers, given.seed, given.folder), kinds),
                strict=True)
        )  # fmt: skip
    if given.json:
        document = json.dumps({kind: _document(one) for kind, one in found.items()}, indent=1)
        print(document) if given.json == "-" else Path(given.json).write_text(document)
    if given.json != "-":
        show(found, given.seed)
    return int(any(one.failures for one in found.values()))


def _document(one: Found) -> dict[str, Any]:
    return {**vars(one), "outcomes": dict(one.outcomes), "details": dict(one.details)}


def show(found: dict[str, Found], seed: int) -> None:
    """Print a line per kind, and the failures."""
    total = sum((one.outcomes for one in found.values()), Counter[str]())
    inputs = sum(one.inputs for one in found.values())
    print(f"{inputs:,} inputs of {len(found)} kinds, seed {seed}, Python {sys.version.split()[0]}, "
          f"at most {SECONDS:.0f} CPU s and 1 GB each")  # fmt: skip
    print(f"{'kind':16} inputs accepted refused failed   CPU s slowest  MB")
    for kind, one in found.items():
        share = one.outcomes["accepted"] / max(1, one.inputs)
        print(f"{kind:16} {one.inputs:6} {share:7.1%} {one.outcomes['refused']:8} {one.failures:6} "
              f"{one.seconds:7.1f} {one.slowest:7.2f} {one.largest / 2**20:4.0f}")  # fmt: skip
    print(
        "outcomes: "
        + ", ".join(f"{name} {total[name]:,}" for name in ("accepted", "refused", *FAILED))
    )
    for kind, one in found.items():
        for detail, count in one.details.most_common():
            print(f"\n{kind}, {count} times: {detail}")
        for how in one.kept[:20]:
            print(f"  {how}")


if __name__ == "__main__":
    sys.exit(main())
