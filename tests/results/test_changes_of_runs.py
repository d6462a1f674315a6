"""Causes of changes between systems and runs that were really run, up to the commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ragstone
from ragstone.cli.compare import command as compare_command
from ragstone.cli.gate import command as gate_command
from ragstone.evaluation.changes import ChangeCount
from ragstone.results.results import Results

READER = """
from dataclasses import dataclass
from pathlib import Path
from ragstone.types import Prediction


@dataclass(frozen=True)
class Reader:
    user: str = "Guess."
    model: str = "small"
    temperature: float = 1.0
    samples = True

    def generate(self, task):
        query_id = task.query.query_id
        if query_id == "fails" and self.model == "broken":
            raise ValueError("no answer today")
        log = Path(__file__).parent / "asked.txt"
        count = log.read_text().count(query_id + " ") if log.exists() else 0
        with log.open("a") as file:
            file.write(query_id + " ")
        right = {
            "read": self.user == "Read." or self.model == "large",
            "fails": True,
            "chance": count % 2 == 1,
        }
        return Prediction(query_id, "1912" if right[query_id] else "1900")
"""
QUERIES = ("read", "fails", "chance")
Run = Callable[..., Results]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs an experiment with these readers."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts.py").write_text(READER, encoding="utf-8")

    def _run(
        readers: dict[str, dict[str, str]], gold: str = "1912", store: str = "s", **changes: Any
    ) -> Results:
        rows = [{"query_id": q, "query": f"When, {q}?", "gold_answers": [gold]} for q in QUERIES]
        Path("queries.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        systems = {
            name: {"generator": {"name": "parts.py:Reader", **given}}
            for name, given in readers.items()
        }
        file = {
            "data": "queries.jsonl",
            "store": store,
            "systems": systems,
            "settings": ["none"],
            "metrics": ["Match"],
            **changes,
        }
        Path("e.yaml").write_text(json.dumps(file), encoding="utf-8")
        return ragstone.load_experiment("e.yaml").run()

    return _run


def causes(changes: list[ChangeCount]) -> dict[str, str]:
    """Return query id -> the cause of its change."""
    return {q: one.cause for one in changes for q in (*one.better, *one.worse)}


def test_prompt_model_and_failure_of_a_run(run: Run) -> None:
    """Readers that differ in one thing: the changed query has that thing as its cause."""
    readers = {
        "guess": {"user": "Guess."},
        "read": {"user": "Read."},
        "large": {"model": "large"},
        "broken": {"model": "broken"},
    }
    results = run(readers)

    def found(a: str, b: str) -> dict[str, str]:
        pair = {name: results.evaluation(name, "none") for name in (a, b)}
        return causes(ragstone.compare(pair).changes("Match"))

    assert found("guess", "read")["read"] == "prompt"
    assert found("guess", "large")["read"] == "generator"
    assert found("guess", "broken")["fails"] == "failure"
    assert "fails" not in found("guess", "large")


def test_repeats_that_overlap_are_random(run: Run) -> None:
    """A query that is sometimes right in both systems changed by chance, others did not."""
    readers = {"guess": {"user": "Guess."}, "read": {"user": "Read."}}
    results = run(readers, repeats=3)
    pair = {name: results.evaluation(name, "none") for name in readers}
    found = ragstone.compare(pair)

    assert causes(found.changes("Match")) == {"read": "prompt", "chance": "random"}
    (change,) = found.flipped()["chance"].changes
    assert change.evidence.startswith("repeats: ")


def test_a_second_run_of_one_system(run: Run) -> None:
    """An equal reader that answers otherwise is chance; new gold answers are a label."""
    first = run({"guess": {}}, store="first").evaluation("guess", "none")
    again = run({"guess": {}}, store="again").evaluation("guess", "none")
    label = run({"guess": {}}, gold="1900", store="label").evaluation("guess", "none")

    found = ragstone.compare({"first": first, "again": again})
    assert causes(found.changes("Match")) == {"chance": "random"}
    assert "gave another answer" in found.flipped()["chance"].changes[0].evidence

    gated = ragstone.gate(label, baseline=first, metrics="Match", margin=0.1, common=True)
    assert set(causes(list(gated.changes)).values()) == {"label"}


def test_the_commands_name_the_causes(run: Run) -> None:
    """`compare` and `gate` have them in the terminal, as JSON, and on the page."""
    run({"guess": {"user": "Guess."}, "read": {"user": "Read."}})
    sides = ["e.yaml:guess:none", "e.yaml:read:none"]

    def output(command: Any, *arguments: str) -> str:
        return CliRunner().invoke(command, arguments, catch_exceptions=False).output

    shown = output(compare_command, *sides, "--html", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    document = json.loads(output(compare_command, *sides, "--json"))
    assert "Causes of changes: Match" in shown
    assert "cause of the change: prompt" in shown
    assert 'data-cause="prompt"' in page
    assert "Causes of the changes in Match" in page
    assert "prompt" in {one["cause"] for one in document["changes"]}

    gate = [sides[1], "--baseline", sides[0], "--metric", "Match", "--margin", "0.1"]
    assert "Causes of changes: Match, new against baseline" in output(gate_command, *gate)
    gated = json.loads(output(gate_command, *gate, "--json"))
    assert "read" in next(c["better"] for c in gated["changes"] if c["cause"] == "prompt")
