"""The worked case of failures: 70 right of 100 against 30 right and 70 failed, in all commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli import root

N = 100


def call(*arguments: str | Path) -> Any:
    """Return the JSON of a command."""
    found = CliRunner().invoke(root, [*map(str, arguments), "--json"], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Write gold answers, answers, qrels and runs of a system that tries and one that fails."""
    lines: dict[str, list[str]] = {name: [] for name in ("gold", "tries", "fails", "missing")}
    runs: dict[str, list[str]] = {"tries": [], "fails": []}
    qrels = []
    for i in range(N):
        gold = {"_id": f"q{i}", "text": "?", "answers": [f"word{i}"]}
        lines["gold"].append(json.dumps(gold))
        tried = {"query_id": f"q{i}", "answer": f"word{i}" if i < 70 else "something else"}
        failed = {"query_id": f"q{i}", "answer": f"word{i}" if i < 30 else None}
        lines["tries"].append(json.dumps(tried))
        lines["fails"].append(json.dumps(failed))
        lines["missing"] += lines["fails"][-1:] if i < 30 else []
        qrels.append(f"q{i}\tp{i}\t1")
        runs["tries"].append(f"q{i} Q0 {f'p{i}' if i < 70 else 'x'} 1 1.0 tries")
        runs["fails"] += [f"q{i} Q0 p{i} 1 1.0 fails"] if i < 30 else []
    for name, held in lines.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(held))
    for name, held in runs.items():
        (tmp_path / f"{name}.trec").write_text("\n".join(held))
    (tmp_path / "qrels.tsv").write_text("\n".join(qrels))
    return tmp_path


@pytest.mark.parametrize("failing", ["fails", "missing"])
def test_answers(files: Path, failing: str) -> None:
    """A null and a missing line count as wrong; the answered ones stand beside."""
    gold = files / "gold.jsonl"
    scores = {}
    for name in ("tries", failing):
        path = files / f"{name}.scores.jsonl"
        answers = files / f"{name}.jsonl"
        options = ("--gold", gold, "--metrics", "Match", "--per-query", path)
        scores[name] = call("score", answers, *options)["Match"]
    assert (scores["tries"]["mean"], scores["tries"]["failed"]) == (0.7, 0)
    fields = ("mean", "n", "failed", "mean_of_answered", "policy")
    assert [scores[failing][key] for key in fields] == [0.3, N, 70, 1.0, "wrong"]

    both = (files / "tries.scores.jsonl", files / f"{failing}.scores.jsonl")
    for policy, outcome in (("wrong", "worse"), ("exclude", "undecided"), ("bounds", "undecided")):
        found = call("compare", *both, "--failures", policy)["metrics"]
        assert found["Match"]["pairs"][0]["outcome"] == outcome
        assert found["failure rate"]["pairs"][0]["outcome"] == "worse"


def test_rankings(files: Path) -> None:
    """A query that is missing in a run counts as 0."""
    found = {
        name: call("rank", files / f"{name}.trec", files / "qrels.tsv", "nDCG@10")["nDCG@10"]
        for name in ("tries", "fails")
    }

    assert found["tries"]["mean"] == 0.7
    assert [found["fails"][key] for key in ("mean", "n", "failed")] == [0.3, N, 70]
