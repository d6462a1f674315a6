"""Every kind of malformed input is accepted or refused: 3,000 inputs of `make fuzz`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from benchmarks import fuzz
from benchmarks.fuzzing.cases import make
from benchmarks.fuzzing.seeds import SEEDS

SCRIPT: Final = Path(__file__).parents[2] / "benchmarks" / "fuzz.py"
SEED: Final = 25
INPUTS: Final = {"YAML": 86, "judge replies": 88}
"""Kind -> inputs; plans of experiments and long replies of judges take the longest."""
USUAL: Final = 157


@pytest.mark.parametrize("kind", SEEDS)
def test_malformed_input_is_refused_or_read(kind: str, tmp_path: Path) -> None:
    """No traceback, abort, hang, gigabyte or long message, and both outcomes occur."""
    found = tmp_path / "found.json"
    count = INPUTS.get(kind, USUAL)
    command = [sys.executable, str(SCRIPT), "--kinds", kind, "--inputs", str(count)]
    command += ["--seed", str(SEED), "--processes", "1", "--json", str(found)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    (of_kind,) = json.loads(found.read_text()).values()
    outcomes = Counter(of_kind["outcomes"])
    assert outcomes.keys() == {"accepted", "refused"}, done.stdout + done.stderr
    assert outcomes.total() == of_kind["inputs"] == count
    assert min(outcomes.values()) >= count / 20


def test_there_are_3000_inputs() -> None:
    """The kinds are those of the documentation."""
    assert sum(INPUTS.get(kind, USUAL) for kind in SEEDS) == 3000
    assert len(SEEDS) == 20


def test_kind_number_and_seed_decide_an_input() -> None:
    """A failure can be repeated; other numbers and seeds give other inputs."""
    for kind in SEEDS:
        assert make(kind, 117, SEED) == make(kind, 117, SEED)
        assert len({repr(make(kind, number, SEED).files) for number in range(100, 130)}) > 20
        assert make(kind, 117, SEED).files != make(kind, 117, SEED + 1).files


@pytest.fixture
def worker() -> Any:
    """Return a process that reads inputs."""
    made = fuzz.Worker()
    yield made
    made.process.kill()
    made.end()


def test_a_death_is_noted_and_another_process_goes_on(worker: fuzz.Worker) -> None:
    """An abort of the process that reads is an outcome."""
    assert worker.ask(f"queries\t0\t{SEED}")["outcome"] == "accepted"
    worker.process.kill()
    worker.process.wait()
    found = fuzz.Found()
    fuzz.note(found, worker.ask(f"queries\t1\t{SEED}"))
    assert (found.outcomes["abort"], found.failures) == (1, 1)


def test_a_process_that_waits_is_a_hang(
    worker: fuzz.Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is ended."""
    assert worker.ask(f"queries\t0\t{SEED}")["outcome"] == "accepted"
    monkeypatch.setattr(fuzz, "WAIT", 0.1)
    os.kill(worker.process.pid, signal.SIGSTOP)
    assert worker.ask(f"queries\t1\t{SEED}")["outcome"] == "hang"
    assert worker.process.returncode == -signal.SIGKILL


def test_a_failing_input_is_kept_and_repeated(tmp_path: Path, worker: fuzz.Worker) -> None:
    """An entry that does not exist is a traceback of ours: it is found as any other is."""
    from benchmarks.fuzzing.worker import keep

    keep(make("queries", 0, SEED), tmp_path)
    assert worker.ask(str(tmp_path))["outcome"] == "accepted"
    case = tmp_path / "case.json"
    case.write_text(case.read_text().replace('"data"', '"nothing"'))
    answer = worker.ask(str(tmp_path))
    assert (answer["outcome"], "KeyError" in answer["detail"]) == ("traceback", True)
