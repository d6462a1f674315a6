"""Whether a signal at any moment ends a command soon, with one sentence and nothing lost.

    python benchmarks/interrupts.py [--moments 25] [--seed 0] [--json]

Each of eight commands gets SIGINT, SIGTERM or SIGHUP at moments that are drawn over its whole
duration, from the time on when the program has been imported. It must end within two seconds (four
with a model on this machine), print its sentence once and no traceback, exit with code 130 (or
with 0 if it had finished), and leave no process. After all moments, each command is run to its
end: what it prints must be what an uninterrupted one prints. Experiments start with an empty store
each time but the last.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path

from finished_run import EXPERIMENT, MAIN, write_data  # type: ignore[import-not-found]
from measured import need_data  # type: ignore[import-not-found]  # a file beside this one

IMPORTED = 0.25
"""Seconds after which the program hears signals: the interpreter itself starts before."""
BOUND, BOUND_WITH_MODEL = 2.0, 4.0
SENTENCE = "Stopped. Run the same command again to resume."
LOCAL = EXPERIMENT.replace("gold\nsettings", "local\nsample: {limit: 2}\nsettings")
COMMANDS = {
    "run": ("run", "experiment.yaml", "store=fresh"),
    "run with a local model": ("run", "local.yaml", "store=fresh"),
    "show": ("show", "experiment.yaml", "--json"),
    "report": ("report", "experiment.yaml", "-o", "report.html"),
    "export": ("export", "experiment.yaml", "--to", "scores", "-o", "scores.csv"),
    "score": ("score", "answers.jsonl", "--gold", "data", "--metrics", "F1,ROUGE-L", "--json"),
    "rank": ("rank", "run.trec", "data/qrels.tsv", "nDCG@10", "MRR", "--json"),
    "data check": ("data", "check", "data", "--json"),
}
FRESH = ("fresh", "report.html", "scores.csv")
"""What is taken away before each moment."""


@dataclass
class Found:
    """What happened at all moments of a command."""

    moments: int = 0
    finished: int = 0
    """Moments at which the command had ended by itself."""
    slowest: float = 0.0
    problems: list[str] = field(default_factory=list)


def start(arguments: tuple[str, ...], folder: Path, mark: str) -> subprocess.Popen[str]:
    """Start a command whose processes have a mark in their environment."""
    command = [sys.executable, "-c", MAIN, *arguments]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    given = {**os.environ, "RAGSTONE_MARK": mark}
    return subprocess.Popen(command, cwd=folder, env=given, text=True, **streams)  # type: ignore[call-overload,no-any-return]


def marked(mark: str) -> list[int]:
    """Return the processes with a mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def left(mark: str) -> list[int]:
    """Return the processes that are still there two seconds later."""
    ends = time.monotonic() + 2
    while (found := marked(mark)) and time.monotonic() < ends:
        time.sleep(0.05)
    return found


def clear(folder: Path) -> None:
    """Take away what the last command wrote."""
    for name in FRESH:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)


def interrupt(
    arguments: tuple[str, ...], folder: Path, moment: float, number: signal.Signals, found: Found
) -> None:
    """Send a signal at a moment, and note what is wrong with the end of the command."""
    mark = uuid.uuid4().hex
    running = start(arguments, folder, mark)
    try:
        running.wait(moment)
    except subprocess.TimeoutExpired:
        began = time.monotonic()
        running.send_signal(number)
    else:
        found.finished += 1
        began = time.monotonic()
    try:
        _, said = running.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        running.kill()
        found.problems.append(f"{moment:.2f} s {number.name}: still at work after 30 s")
        return
    seconds = time.monotonic() - began
    found.slowest = max(found.slowest, seconds)
    bound = BOUND_WITH_MODEL if "local.yaml" in arguments else BOUND
    wrong = {
        f"took {seconds:.1f} s": seconds > bound,
        f"exit code {running.returncode}": running.returncode not in {0, 130},
        f"the sentence {said.count(SENTENCE)} times": said.count(SENTENCE)
        != (running.returncode == 130),
        f"a traceback: {said[-300:]!r}": "Traceback" in said or "Exception ignored" in said,
        f"processes left: {left(mark)}": bool(left(mark)),
    }
    for what, is_wrong in wrong.items():
        if is_wrong:
            found.problems.append(f"{moment:.2f} s {number.name}: {what}")


def whole(arguments: tuple[str, ...], folder: Path) -> tuple[str, float]:
    """Run a command to its end; return what it printed, and its seconds."""
    began = time.monotonic()
    command = [sys.executable, "-c", MAIN, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout, time.monotonic() - began


def prepare(folder: Path) -> None:
    """Write the data, the experiments and the files of answers and rankings."""
    write_data(folder, 1_000)
    (folder / "experiment.yaml").write_text(EXPERIMENT)
    (folder / "local.yaml").write_text(LOCAL)
    whole(("run", "experiment.yaml"), folder)
    whole(("export", "experiment.yaml", "--to", "trec", "-o", "runs"), folder)
    shutil.copy(next((folder / "runs").rglob("*.trec*")), folder / "run.trec")
    with (
        (folder / "data" / "queries.jsonl").open() as file,
        (folder / "answers.jsonl").open("w") as answers,
    ):
        for line in file:
            query = json.loads(line)
            row = {"query_id": query["_id"], "answer": f"It is {query['answers'][0]}."}
            answers.write(json.dumps(row) + "\n")


def measure(folder: Path, moments: int, seed: int) -> dict[str, Found]:
    """Return command -> what happened."""
    draw, results = random.Random(seed), {}
    for name, arguments in COMMANDS.items():
        clear(folder)
        expected, seconds = whole(arguments, folder)
        found = results[name] = Found()
        for _ in range(moments):
            clear(folder)
            moment = draw.uniform(IMPORTED, max(seconds, 2 * IMPORTED))
            number = draw.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
            found.moments += 1
            interrupt(arguments, folder, moment, number, found)
        # The last interrupted store is gone on with.
        for name_of_file in FRESH[1:]:
            (folder / name_of_file).unlink(missing_ok=True)
        if whole(arguments, folder)[0] != expected:
            found.problems.append("what it prints differs from an uninterrupted command")
        sys.stderr.write(f"{name}: {asdict(found)}\n")
    return results


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--moments", type=int, default=25, help="moments of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    need_data("nq_singlehop")
    for number in (signal.SIGINT, signal.SIGHUP):
        # `nohup` and shells in the background ignore them, and the commands would do so too.
        signal.signal(number, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as temporary:
        prepare(Path(temporary))
        results = measure(Path(temporary), given.moments, given.seed)
    if given.json:
        shown = {name: asdict(found) for name, found in results.items()}
        sys.stdout.write(json.dumps(shown, indent=2) + "\n")
    for name, found in results.items():
        if not given.json:
            sys.stdout.write(
                f"{name:<24} {found.moments} moments, {found.finished} after its end, slowest "
                f"{found.slowest:.2f} s, {len(found.problems)} problems\n"
            )
    if any(found.problems for found in results.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
