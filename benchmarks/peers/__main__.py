"""Ragstone beside its peers on the same jobs: what each prints, and what it costs.

    python benchmarks/peers --environments FOLDER [--only ragas,inspect] [--jobs own,verdicts]
        [--output FILE] [--data DATA]

FOLDER has a virtual environment per peer: `ragas` (with `langchain-community<0.4`, rapidfuzz,
rouge_score), `inspect` (inspect-ai, openai), `deepeval`, `mlflow` (with openai), `phoenix`
(arize-phoenix-evals, openai), and `promptfoo` (its `node_modules` beside a Python environment). A
peer without one is left out. The jobs, on questions of
nq_singlehop with recorded answers (11 of 25 equal the first gold answer, 7 contain it):

    own        100 questions to an own function; exact match and what else the tool has
    failing    the same, and the function raises for 10 of the 100; 4 of those would be exact
    verdicts   a judge on 100 answers; 54 replies have no verdict; of the other 46, 32 say yes
    recorded   20,000 recorded answers scored by string metrics
    calls      a judge on 1,000 answers, 64 at once

`failing` needs a tool that calls the system itself. The judges' model is Ragstone's fake server, in
this process, which counts prompts. CPU is user and system time of the tool with its children, from
its start; peak is that of its largest process. Output is kept as FILE's neighbours.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

from ragstone.testing import FakeModelServer

HERE: Final = Path(__file__).resolve().parent
RAGSTONE: Final = Path(sys.executable).with_name("ragstone")
UNREADABLE: Final = "I would rather not say."
VERDICTS: Final[Mapping[str, tuple[str, str]]] = {
    "ragstone": ("Verdict: [[yes]]", "Verdict: [[no]]"),
    "ragas": ('{"reason": "as asked", "verdict": 1}', '{"reason": "as asked", "verdict": 0}'),
    "inspect": ("GRADE: C", "GRADE: I"),
    "deepeval": ('{"reason": "as asked", "score": 10}', '{"reason": "as asked", "score": 0}'),
    "mlflow": ('{"result": true, "rationale": "x"}', '{"result": false, "rationale": "x"}'),
    "phoenix": ('{"label": "yes"}', '{"label": "no"}'),
    "promptfoo": (
        '{"pass": true, "score": 1, "reason": "x"}',
        '{"pass": false, "score": 0, "reason": "x"}',
    ),
}
"""Tool -> its judge's verdicts yes and no."""
PACKAGES: Final = {
    "ragas": "ragas",
    "inspect": "inspect-ai",
    "deepeval": "deepeval",
    "mlflow": "mlflow",
    "phoenix": "arize-phoenix-evals",
}
MODULES: Final = {
    "ragas": "ragas",
    "inspect": "inspect_ai",
    "deepeval": "deepeval",
    "mlflow": "mlflow.genai",
    "phoenix": "phoenix.evals",
}
PROGRAMS: Final = {"inspect": "inspect", "deepeval": "deepeval", "mlflow": "mlflow"}
JOBS: Final = {
    "own": 100,
    "failing-default": 100,
    "failing": 100,
    "verdicts-default": 100,
    "verdicts": 100,
    "recorded": 20_000,
    "calls": 1_000,
}
"""Job -> its number of queries."""
CALLS_THE_SYSTEM: Final = {"ragstone", "inspect", "mlflow", "promptfoo"}
QUIET: Final = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_DISABLE_PROGRESS_BAR": "1",
    "DEEPEVAL_NO_INSPECT_PROMPT": "1",
    "RAGAS_DO_NOT_TRACK": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "DO_NOT_TRACK": "true",
    "COLUMNS": "200",
}
EXPERIMENT: Final = """\
data: {{path: {rows}, columns: {{query_id: query_id, text: query, gold_answers: gold_answers}}}}
systems:
  mine: {{generator: "callable({here}/my_rag.py:answer)"}}
settings: [system]
metrics: [EM, F1, ROUGE-L]
"""


def make_rows(data: Path, count: int, *, failing: bool) -> list[dict[str, Any]]:
    """Return queries with gold answers and recorded answers; repeated queries get a number."""
    with gzip.open(data / "nq_singlehop" / "queries.jsonl.gz", "rt", encoding="utf-8") as lines:
        known = [row for row in map(json.loads, lines) if row["answerable"]]
    known = known[: max(100, min(count, 1_000))]
    rows = []
    for number, row in enumerate(islice(cycle(known), count)):
        first, other = row["answers"][0], known[(number + 1) % len(known)]["answers"][0]
        place = number % 25
        again = f" ({number // len(known)})" if number >= len(known) else ""
        rows.append(
            {
                "query_id": f"q{number}",
                "query": row["text"] + again,
                "gold_answers": row["answers"],
                "answer": first if place < 11 else f"It is {first} ." if place < 18 else other,
                "fails": failing and number % 10 == 3,
            }
        )
    return rows


def judge_of(tool: str, rows: Sequence[Mapping[str, Any]], job: str) -> Callable[[Any], str]:
    """Return the model of the judge: yes for answers that contain the gold answer."""
    yes, no = VERDICTS[tool]

    def reply(messages: Any) -> str:
        if job == "calls":
            return yes
        asked = json.dumps(list(messages), ensure_ascii=False)
        number = next((n for n, row in enumerate(rows) if row["query"] in asked), None)
        if number is None or number * 54 % 100 < 54:
            return UNREADABLE
        return yes if number % 25 < 18 else no

    return reply


def command_of(tool: str, job: str, rows: Path, url: str, environments: Path) -> list[str]:
    """Return the command of a job."""
    if tool != "ragstone":
        python = environments / tool / "bin" / "python"
        return [str(python), str(HERE / f"with_{tool}.py"), job]
    if job.startswith(("own", "failing")):
        rows.with_name("own.yaml").write_text(EXPERIMENT.format(rows=rows.name, here=HERE))
        return [str(RAGSTONE), "run", "own.yaml"]
    if job == "recorded":
        return [str(RAGSTONE), "score", rows.name, "--metrics", "EM,F1,ROUGE-L"]
    option = "" if job == "verdicts-default" else ", least_parse_rate=0"
    judge = f"criterion('The answer is right'{option})"
    return [str(RAGSTONE), "score", rows.name, "--metrics", judge, "--judge", f"{url}#fake"]


@contextmanager
def ended(running: subprocess.Popen[str], seconds: float) -> Iterator[threading.Event]:
    """Kill the process and its children after some seconds; the event tells if that was done."""
    late = threading.Event()

    def kill() -> None:
        late.set()
        os.killpg(running.pid, signal.SIGKILL)

    timer = threading.Timer(seconds, kill)
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def measure(command: Sequence[str], folder: Path, seconds: float, **names: str) -> dict[str, Any]:
    """Run a command; return its costs, what it printed, and whether it was stopped."""
    paths = {"PATH": f"{Path(command[0]).parent}:{os.environ['PATH']}", "HOME": str(folder)}
    started = time.perf_counter()
    with (folder / "said.txt").open("w+", encoding="utf-8") as said:
        running = subprocess.Popen(
            command,
            cwd=folder,
            stdout=said,
            stderr=subprocess.STDOUT,
            env={**os.environ, **QUIET, **paths, **names},
            start_new_session=True,
            text=True,
        )
        with ended(running, seconds) as late:
            _, status, used = os.wait4(running.pid, 0)
            running.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return {
            "status": "stopped" if late.is_set() else running.returncode,
            "cpu_s": round(used.ru_utime + used.ru_stime, 2),
            "peak_mb": round(used.ru_maxrss / 1024),
            "wall_s": round(time.perf_counter() - started, 1),
            "said": said.read(),
        }


def run_job(tool: str, job: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run one job with one tool in an empty folder."""
    count = options.sizes.get(job, JOBS[job])
    rows = make_rows(options.data, count, failing=job.startswith("failing"))
    with (
        tempfile.TemporaryDirectory() as name,
        FakeModelServer(answer=judge_of(tool, rows, job), delay=0.05) as server,
    ):
        path = Path(name) / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        command = command_of(tool, job, path, server.url, options.environments)
        names = {"PEER_ROWS": str(path), "PEER_URL": server.url}
        if tool != "ragstone":
            names["PYTHONPATH"] = ""
        found = measure(command, Path(name), options.seconds, **names)
        calls = {"prompts": sum(server.asked.values()), "at_once": server.peak}
    said = found.pop("said")
    options.output.with_name(f"{options.output.stem}-{tool}-{job}.txt").write_text(said)
    _, found_it, last = said.rpartition("summary: ")  # it may follow a bar of progress
    summary = json.loads(last.splitlines()[0]) if found_it else {}
    if tool == "ragstone":
        summary = {"said": " ".join(said.split())[:2000]}
    return {"tool": tool, "job": job, "queries": count, **found, **calls, **summary}


def start_costs(tool: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return version, installed megabytes, and the least CPU seconds of three starts."""
    home = options.environments / tool
    python = str(home / "bin" / "python")
    commands = {}
    if tool == "promptfoo":
        commands["help"] = [str(home / "node_modules" / ".bin" / "promptfoo"), "--help"]
        asked = [commands["help"][0], "--version"]
    else:
        package = PACKAGES.get(tool, tool)
        code = f"from importlib.metadata import version; print(version('{package}'))"
        asked = [python, "-c", code]
        commands["import"] = [python, "-c", f"import {MODULES.get(tool, tool)}"]
    if tool in {"ragstone", *PROGRAMS}:
        commands["help"] = [str(home / "bin" / PROGRAMS.get(tool, tool)), "--help"]
    files = [path for path in home.rglob("*") if path.is_file() and not path.is_symlink()]
    row: dict[str, Any] = {"tool": tool, "job": "start"}
    row["installed_mb"] = round(sum(path.stat().st_size for path in files) / 1e6)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        said = measure(asked, folder, 60, PYTHONPATH="")["said"]
        row["version"] = said.strip().splitlines()[-1]
        for kind, command in commands.items():
            runs = [measure(command, folder, 60, PYTHONPATH="") for _ in range(4)][1:]
            row[f"{kind}_cpu_s"] = min(run["cpu_s"] for run in runs)
            row[f"{kind}_status"] = runs[-1]["status"]
    return row


def shown(row: Mapping[str, Any]) -> str:
    """Return a line of the table."""
    return ", ".join(f"{key} {value}" for key, value in row.items() if value is not None)


def main() -> None:
    """Run the jobs that were asked for, and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=HERE.parents[2] / "shared" / "data")
    parser.add_argument("--only", default=",".join(VERDICTS))
    parser.add_argument("--jobs", default=f"start,{','.join(JOBS)}")
    parser.add_argument("--sizes", type=json.loads, default={}, help='as JSON: {"recorded": 2000}')
    parser.add_argument("--seconds", type=float, default=120, help="a job is stopped after these")
    parser.add_argument("--output", type=Path, default=Path("peers.jsonl"))
    options = parser.parse_args()
    for job in options.jobs.split(","):
        for tool in options.only.split(","):
            absent = not (options.environments / tool).is_dir()
            if absent and (tool != "ragstone" or job == "start"):
                print(f"{tool}: left out, no environment {options.environments / tool}")
                continue
            if job.startswith("failing") and tool not in CALLS_THE_SYSTEM:
                continue
            row = start_costs(tool, options) if job == "start" else run_job(tool, job, options)
            print(shown(row), flush=True)
            with options.output.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
