"""What a run does in a hostile environment, and whether it recovers: one process per row.

    python benchmarks/environment.py [--only WORDS] [--keep FILE] [--json]

Each row is a command in an environment that a line of shell makes hostile: a full disk, a read-only
folder, a low limit, a closed stream. It must work, or end with one clear message: no traceback, at
most 1,000 characters. The same experiment is then run in a healthy environment on the store that
the row left: `show --json` must print what it prints after a clean run, times and counts of calls
left out, digests of all steps included, and `store check` must find nothing. Mounts are in a mount
namespace of the row, so root is needed for them; where this machine lacks what a row needs, the row
is "not run". With `--keep`, rows that were right are not run again. The system answers by a fake
model server, so there is a call log.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from environment_rows import ROWS, Row, reason_not_to_run  # type: ignore[import-not-found]
from faults import serving  # type: ignore[import-not-found]  # files beside this one
from measured import DATA, need_data, rows_of  # type: ignore[import-not-found]

MAIN: Final = (sys.executable, "-c", "from ragstone.cli import main; main()")
QUERIES, PASSAGES = 10, 150
EXPERIMENT: Final = """
name: hostile
data: data
store: store
systems:
  - name: système-ü
    retriever: bm25(top_k=20)
    generator: {name: chat, model: fake, base_url: URL}
settings: [gold, retrieved(3)]
metrics: [nDCG@10, EM, F1, ROUGE-L]
"""
DENSE: Final = """
name: hostile
data: data
store: store
executor: processes(2)
systems: [{name: dense, retriever: "dense(embedder=minilm)", generator: gold}]
settings: [gold]
metrics: [nDCG@10, F1]
"""
RECOVER: Final = """
import contextlib, io, json, sys
from ragstone.cli.commands import run
def said(*words):
    sys.argv[1:] = words
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = run()
    return code, out.getvalue()
e = sys.argv[1]
print(json.dumps([said("run", e), said("show", e, "--json"), said("store", "check", "store")]))
"""
MEASURED: Final = frozenset({"attempt", "calls", "finished", "folder", "made_at", "usage"})
"""Keys of `show --json` that differ between two equal runs."""
LONGEST: Final = 1_000
"""The most characters of a message."""


@dataclass(frozen=True)
class Result:
    """What a row did."""

    name: str
    outcome: str
    """"works", "message", "not run", or what is wrong."""
    said: str = ""
    problems: tuple[str, ...] = ()


def prepare(folder: Path, url: str) -> None:
    """Write the data set, with texts that are not ASCII, and the experiments."""
    source, target = DATA / "nq_singlehop", folder / "data"
    target.mkdir(parents=True)
    queries = list(islice(rows_of(source / "queries.jsonl.gz"), QUERIES))
    with (target / "queries.jsonl").open("w", encoding="utf-8") as file:
        for row in queries:
            file.write(json.dumps({**row, "text": f"{row['text']} - où?"}, ensure_ascii=False))
            file.write("\n")
    named = {row["_id"] for row in queries}
    lines = (source / "qrels.tsv").read_text().splitlines(keepends=True)
    judged = [line for line in lines[1:] if line.split("\t")[0] in named]
    (target / "qrels.tsv").write_text("".join([lines[0], *judged]))
    wanted = {line.split("\t")[1] for line in judged}
    kept: list[str] = []
    for row in rows_of(source / "corpus.jsonl.gz"):
        if row["_id"] in wanted or len(kept) < PASSAGES:
            kept.append(json.dumps(row, ensure_ascii=False) + "\n")
    (target / "corpus.jsonl").write_text("".join(kept), encoding="utf-8")
    (folder / "experiment.yaml").write_text(EXPERIMENT.replace("URL", url), encoding="utf-8")
    (folder / "dense.yaml").write_text(DENSE)


def hostile(row: Row, folder: Path, tools: Path) -> subprocess.CompletedProcess[str]:
    """Run a row's command in its environment."""
    given = {**os.environ, "TOOLS": str(tools), "PYTHONDONTWRITEBYTECODE": "1", **row.environment}
    # "$@" is the command.
    command = ["unshare", "--mount", "bash", "-c", row.shell, "bash", *MAIN, *row.arguments]
    return subprocess.run(
        command if os.geteuid() == 0 else command[2:],
        cwd=folder,
        env={name: value for name, value in given.items() if name not in row.without},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=300,
    )


def judged(
    row: Row, done: subprocess.CompletedProcess[str], expected: str
) -> tuple[str, list[str]]:
    """Return whether a row worked or said why not, and what is wrong with it."""
    said = done.stderr.strip()
    bad = ("Traceback", "Exception ignored", "Fatal", "leaked", "panicked")
    problems = [f"{word}: {said[-900:]}" for word in bad if word in said]
    message = said[said.rfind("Error: ") :] if "Error: " in said else ""
    outcome = "message" if done.returncode else "works"
    if done.returncode not in {0, *row.codes}:
        problems.append(f"exit code {done.returncode}: {said[-300:]}")
    if outcome == "message" and not message and not row.silent:
        problems.append(f"no message, exit code {done.returncode}: {said[-300:]}")
    if len(message) > LONGEST:
        problems.append(f"a message of {len(message)} characters")
    if (
        outcome == "works"
        and row.arguments[0] == "show"
        and row.printed
        and done.stdout != expected
    ):
        problems.append(f"prints something else: {done.stdout[:300]!r}")
    if row.outcome and outcome != row.outcome:
        problems.append(f"{outcome}, not {row.outcome}")
    return outcome, problems


def unmeasured(shown: Any) -> Any:
    """Return what `show --json` prints without what differs between two equal runs."""
    if isinstance(shown, dict):
        return {name: unmeasured(one) for name, one in shown.items() if name not in MEASURED}
    return [unmeasured(one) for one in shown] if isinstance(shown, list) else shown


def run_and_show(folder: Path, experiment: str) -> tuple[Any, list[str]]:
    """Run and show an experiment and check its store, in one process; return what is wrong too."""
    done = subprocess.run(
        [sys.executable, "-c", RECOVER, experiment],
        cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        return None, [f"ends with code {done.returncode}: {done.stderr[-600:]}"]
    (code, _), (_, shown), (damaged, checked) = json.loads(done.stdout)
    if code:
        return None, [f"cannot be run: {done.stderr[-600:]}"]
    return unmeasured(json.loads(shown)), [f"store check: {checked[-400:]}"] if damaged else []


def recovered(row: Row, folder: Path, expected: Any) -> list[str]:
    """Run in a healthy environment what a row left; return what is wrong."""
    shown, problems = run_and_show(folder, row.experiment)
    if shown is not None and shown != expected:
        problems.append("the results differ from a clean run's")
    return [f"afterwards: {problem}" for problem in problems]


def measure(row: Row, clean: Path, tools: Path) -> Result:
    """Run a row on a copy of the clean folder, from an empty store or a finished one."""
    if reason := reason_not_to_run(row, tools):
        return Result(row.name, "not run", reason)
    with tempfile.TemporaryDirectory(prefix="hostile-") as temporary:
        folder = Path(temporary) / "ordner-ü"
        shutil.copytree(clean, folder)
        if not row.finished:
            shutil.rmtree(folder / "store")
            (folder / "store").mkdir()
        (folder / "home").mkdir()
        if row.user:
            subprocess.run(["chown", "-R", row.user, temporary], check=True)
        expected = json.loads((folder / f"{row.experiment}.json").read_text())
        printed = (folder / "show.txt").read_text()
        try:
            done = hostile(row, folder, tools)
        except subprocess.TimeoutExpired:
            return Result(row.name, "hangs", problems=("still at work after 300 s",))
        outcome, problems = judged(row, done, printed)
        said = done.stderr.strip().replace(str(folder), "FOLDER")[-LONGEST:]
        problems += recovered(row, folder, expected)
    return Result(row.name, outcome, said, tuple(problems))


def clean_run(folder: Path, url: str) -> None:
    """Make the folder that each row gets a copy of, with what a clean run prints."""
    prepare(folder, url)
    for experiment in ("dense.yaml", "experiment.yaml"):
        shutil.rmtree(folder / "store", ignore_errors=True)
        shown, problems = run_and_show(folder, experiment)
        if problems:
            raise SystemExit(problems[0])
        (folder / f"{experiment}.json").write_text(json.dumps(shown))
    printed = subprocess.run(
        [*MAIN, "show", experiment], cwd=folder, capture_output=True, check=True
    )
    (folder / "show.txt").write_bytes(printed.stdout)


def all_rows(given: argparse.Namespace) -> Iterator[Result]:
    """Yield the results of all rows, those that were kept and right as they are."""
    kept: dict[str, Result] = {}
    if given.keep and given.keep.exists():
        for line in given.keep.read_text(encoding="utf-8").splitlines():
            one = Result(**json.loads(line))
            kept[one.name] = one
    with tempfile.TemporaryDirectory() as temporary, serving() as url:
        clean, tools = Path(temporary) / "clean", Path(temporary) / "tools"
        tools.mkdir()
        clean_run(clean, url)
        for row in ROWS:
            if given.only not in row.name:
                continue
            if row.name in kept and not kept[row.name].problems:
                yield kept[row.name]
                continue
            one = measure(row, clean, tools)
            sys.stderr.write(f"{one.name}: {one.outcome}\n    {one.said[-250:]}\n")
            sys.stderr.writelines(f"  !!  {problem}\n" for problem in one.problems)
            if given.keep:
                with given.keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(one), ensure_ascii=False) + "\n")
            yield one


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="rows whose name has these words")
    parser.add_argument("--keep", type=Path, help="file of the results of a run that goes on")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    need_data("nq_singlehop")
    results = list(all_rows(given))
    if given.json:
        shown: Any = [asdict(one) for one in results]
        sys.stdout.write(json.dumps(shown, indent=1, ensure_ascii=False) + "\n")
    else:
        for one in results:
            wrong = "; ".join(one.problems)
            sys.stdout.write(f"| {one.name} | {one.outcome} | {wrong or 'equal'} |\n")
    if any(one.problems for one in results):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
