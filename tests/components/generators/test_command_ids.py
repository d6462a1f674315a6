"""A program that prints more than its replies: no answer is assigned to another query."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.components.generators.support import answers_of

from ragstone.calls.client import Calls
from ragstone.calls.scheduler import RetryPolicy
from ragstone.components.generators.command import Command
from ragstone.core.fingerprint import cache_key_parts
from ragstone.errors import CallError
from ragstone.types import Context, Prediction, Query, Task

DOCS: Final = Path(__file__).parents[3] / "docs"
PROGRAM: Final = """
import json, pathlib, sys, time
STRAY = '{"answer": "STRAY"}'
marker = pathlib.Path(__file__).with_suffix(".started")
is_first, _ = not marker.exists(), marker.touch()
if AT_START and is_first:
    print(STRAY)
for line in sys.stdin:
    task = json.loads(line)
    reply = {"request_id": task.get("request_id"), "answer": task["query"].upper()}
    lines = [json.dumps(reply)]
    if task["query_id"] == "q1" and is_first:
        AT_Q1
    print("\\n".join(lines), flush=True)
    if task["query_id"] == "q1" and AFTER_Q1:
        time.sleep(0.1)
        print(STRAY, flush=True)
        marker.with_suffix(".done").touch()
"""


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    """Calls with a fresh log."""
    policy = RetryPolicy(timeout=60.0, attempts=2, first_wait=0.01, give_up_after=6)
    with Calls.at(tmp_path / "calls.sqlite", retry_policy=policy) as made:
        yield made


def tasks(count: int = 5) -> list[Task]:
    """Return tasks q0, q1, ... without passages."""
    return [
        Task(Query(f"q{n}", f"Question {n}?"), Context(f"q{n}", "none", ())) for n in range(count)
    ]


def program(
    folder: Path, *, at_start: bool = False, at_q1: str = "pass", after_q1: bool = False
) -> str:
    """Write a program that replies in capitals, with a fault; return the command that runs it."""
    faults = {"AT_START": repr(at_start), "AT_Q1": at_q1, "AFTER_Q1": repr(after_q1)}
    text = re.sub("|".join(faults), lambda found: faults[found.group()], PROGRAM)
    (folder / "program.py").write_text(text, encoding="utf-8")
    return f"{sys.executable} {folder / 'program.py'}"


def failed(predictions: list[Prediction]) -> str:
    """Return the queries that failed; each answer must be that of its own query."""
    for n, prediction in enumerate(predictions):
        assert prediction.answer in {None, f"QUESTION {n}?"}
        assert ("is out of step" in prediction.reason) == (prediction.answer is None)
    return " ".join(p.query_id for p in predictions if p.answer is None)


@pytest.mark.parametrize(
    ("at_q1", "with_ids", "without_ids"),
    [
        ("pass", "", ""),
        ("lines.insert(0, STRAY)", "q1", "q1"),
        ("lines[:0] = [STRAY, STRAY]", "q1", "q1"),
        ("lines.insert(0, 'loading...')", "q1", "q1"),
        ("lines.insert(0, '')", "q1", "q1"),
        ("lines[0] = 'loading... ' + lines[0]", "q1", "q1"),
        ("lines.append(STRAY)", "q2", "q1"),
        ("lines.append('done')", "q2", "q1"),
        ("lines *= 2", "q2", "q1"),
        ('lines = [\'{"answer": "QUESTION 1?"}\']', "q1", ""),
        ('lines = [\'{"answer": "QUESTION 1?", "request_id": "q1"}\']', "q1", ""),
        ("lines = ['\"QUESTION 1?\"']", "q1", ""),
    ],
)
def test_a_stray_line_is_never_an_answer(
    tmp_path: Path, calls: Calls, at_q1: str, with_ids: str, without_ids: str
) -> None:
    """One task fails with the reason, and a new process answers the tasks after it."""
    system = Command(program(tmp_path, at_q1=at_q1))
    assert failed(answers_of(system, tasks(), calls)) == with_ids
    (tmp_path / "program.started").unlink()
    plain = Command(program(tmp_path, at_q1=at_q1), ids=False, release="2")
    assert failed(answers_of(plain, tasks(), calls)) == without_ids


@pytest.mark.parametrize("ids", [True, False])
def test_a_rerun_asks_again_for_the_tasks_out_of_step(
    tmp_path: Path, calls: Calls, ids: bool
) -> None:
    """The first process prints a line at its start; the second answers what is missing."""
    system = Command(program(tmp_path, at_start=True), ids=ids)
    assert failed(answers_of(system, tasks(), calls)) == "q0"
    asked = calls.usage.asked
    assert failed(answers_of(system, tasks(), calls)) == ""
    assert calls.usage.asked == asked + 1


@pytest.mark.parametrize("ids", [True, False])
def test_output_between_two_tasks_is_found(tmp_path: Path, calls: Calls, ids: bool) -> None:
    """The task that comes next fails, not the one that was answered."""
    system = Command(program(tmp_path, after_q1=True), ids=ids)
    assert failed(answers_of(system, tasks(2), calls)) == ""
    for _ in range(600):
        if (tmp_path / "program.done").exists():
            break
        time.sleep(0.1)
    assert failed(answers_of(system, tasks(), calls)) == "q2"


@pytest.mark.parametrize(
    ("at_q1", "reason"),
    [
        ("lines.insert(0, STRAY)", "without request_id.*'STRAY'.*copy the .* or set ids: false"),
        ("lines *= 2; reply['request_id'] = 7; lines[0] = json.dumps(reply)", "request_id 7 in"),
        (
            "lines.insert(0, 'loading')",
            r"a line that is not JSON.*\(loading\).*standard error",
        ),
    ],
)
def test_the_reason_contains_the_line_and_the_remedy(
    tmp_path: Path, calls: Calls, at_q1: str, reason: str
) -> None:
    """The remedy for a program without ids is to copy them, or the parameter."""
    found = answers_of(Command(program(tmp_path, at_q1=at_q1)), tasks(2), calls)[1].reason
    assert re.search(reason, found)


def test_the_reason_without_ids_contains_the_second_line(tmp_path: Path, calls: Calls) -> None:
    """Which of two lines is the reply is not known, so neither is."""
    system = Command(program(tmp_path, at_q1="lines.append('done')"), ids=False)
    found = answers_of(system, tasks(2), calls)[1].reason
    assert "it wrote more than one line per task: done. Its standard output" in found


def test_ids_are_not_part_of_any_key(tmp_path: Path, calls: Calls) -> None:
    """The replies of one form are kept for the other."""
    written = program(tmp_path)
    system, plain = Command(written), Command(written, ids=False)
    assert cache_key_parts(system) == cache_key_parts(plain)
    assert answers_of(system, tasks(), calls) == answers_of(plain, tasks(), calls)
    assert calls.usage.asked == 5


def test_a_program_without_ids_is_asked_again_with_the_parameter(
    tmp_path: Path, calls: Calls
) -> None:
    """The processes of one form never serve the other, and nothing failed is kept."""
    (tmp_path / "old.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'answer': json.loads(line)['query'].upper()}), flush=True)\n"
    )
    written = f"{sys.executable} {tmp_path / 'old.py'}"
    assert failed(answers_of(Command(written), tasks(2), calls)) == "q0 q1"
    assert failed(answers_of(Command(written, ids=False), tasks(2), calls)) == ""


def test_the_program_of_the_docs_answers(tmp_path: Path, calls: Calls) -> None:
    """It copies the id of each task."""
    text = (DOCS / "calls.md").read_text("utf-8")
    (block,) = re.findall(r"^```python\n(import json.*?)^```", text, re.DOTALL | re.MULTILINE)
    (tmp_path / "my_rag.py").write_text(block, encoding="utf-8")
    system = Command(f"{sys.executable} {tmp_path / 'my_rag.py'}")
    assert [p.answer for p in answers_of(system, tasks(2), calls)] == ["QUESTION 0?", "QUESTION 1?"]


def test_a_program_that_never_replies_stops_the_run(calls: Calls) -> None:
    """Two processes in a row that end without a reply; one bad task is a failure of that task."""
    missing = Command(f"{sys.executable} no_such_program.py")
    with pytest.raises(CallError, match="ended with exit code 2"):
        answers_of(missing, tasks(5), calls)
