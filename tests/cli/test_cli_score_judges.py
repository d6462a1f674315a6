"""`ragstone score --judge`: judges beside metrics, without an experiment file."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from ragstone.cli.score import command
from ragstone.errors import CallError, ConfigError, UnknownMetric
from ragstone.testing import FakeModelServer

ROWS = [
    {"query": "Peru?", "gold_answers": ["Lima"], "answer": "Lima.", "contexts": ["Lima, Peru."]},
    {"query": "Oman?", "gold_answers": ["Muscat"], "answer": "Doha.", "contexts": ["Oman."]},
    {"query": "Mali?", "gold_answers": ["Bamako"], "answer": None, "contexts": ["Mali."]},
]


def verdicts(messages: object) -> str:
    """List one claim, and support it unless the answer is about Doha."""
    text = str(messages)
    if "List every claim" in text:
        return json.dumps({"claims": ["It is Doha." if "Doha" in text else "It is Lima."]})
    return json.dumps({"1": "unsupported" if "Doha" in text else "supported"})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of rows: a supported answer, an unsupported one and a failed one."""
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def score(file: Path, *arguments: str) -> Result:
    """Run the command with a store beside the file; errors of Ragstone are raised."""
    given = [str(file), "--store", str(file.parent / "store"), *arguments]
    return CliRunner().invoke(command, given, catch_exceptions=False)


def test_a_judge_is_a_metric_like_others_and_a_rerun_asks_nothing(file: Path) -> None:
    """Faithfulness is RL_F; the failed answer counts as wrong, as it does for F1."""
    with FakeModelServer(answer=verdicts) as server:
        model = f"{server.url}#judge"
        wanted = ("--metrics", "F1,faithfulness", "--judge", model, "--json")
        first = score(file, *wanted)
        asked = sum(server.asked.values())
        again = score(file, *wanted)

    found = json.loads(first.stdout)
    assert {name: round(one["mean"], 4) for name, one in found.items()} == {
        "F1": 0.3333,
        "RL_F": 0.3333,
    }
    assert (found["RL_F"]["n"], found["RL_F"]["failed"]) == (3, 1)
    assert asked == 4
    assert again.stdout == first.stdout
    assert sum(server.asked.values()) == asked


def test_an_unreadable_verdict_is_not_the_systems_failure(file: Path) -> None:
    """It is counted as unscored, and the per-query file has the reason."""
    lines = file.parent / "scores.jsonl"
    with FakeModelServer(answer=lambda _: "Hm.") as server:
        model = f"{server.url}#judge"
        options = ("--metrics", "equivalence(least_parse_rate=0)", "--per-query", str(lines))
        found = score(file, *options, "--judge", model, "--json")

    assert json.loads(found.stdout)["equivalence"]["unscored"] == 2
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [row["status"] for row in rows] == ["unscored", "unscored", "failed"]


def test_what_is_wrong_is_told_before_anything_is_asked(file: Path) -> None:
    """A judge without a model, a model without a name, an unknown name, no server."""
    with pytest.raises(
        UnknownMetric, match="unknown metric 'faithfulnes'; did you mean 'faithfulness'"
    ):
        score(file, "--metrics", "faithfulnes")
    without = score(file, "--metrics", "faithfulness")
    nameless = score(file, "--metrics", "RL_F", "--judge", "http://localhost:9/v1")
    with pytest.raises(ConfigError, match="not a language model"):
        score(file, "--metrics", "RL_F", "--judge", "gold")
    with pytest.raises(CallError, match=r"127\.0\.0\.1:9"):
        score(file, "--metrics", "RL_F", "--judge", "http://127.0.0.1:9/v1#m")

    assert isinstance(without.exception, SystemExit)
    assert "name its model with --judge URL#MODEL" in without.output
    assert "write http://localhost:9/v1#MODEL" in nameless.output
    assert click.UsageError.exit_code == without.exit_code == nameless.exit_code
