"""What failed is requested again by the next run, counted by class, and reported in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from ragstone.cli.run import command
from ragstone.errors import ConfigError
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.load import load_experiment
from ragstone.results import leaderboards
from ragstone.testing import FakeModelServer

Make = Callable[..., Experiment]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Return a function that writes an experiment of 8 queries and loads it."""

    def _make(url: str, **changes: Any) -> Experiment:
        model = {"name": "chat", "model": "fake", "base_url": url}
        document = {
            "data": "sample",
            "store": str(tmp_path / "store"),
            "sample": {"limit": 8, "seed": 3, "where": {"turn": None}},
            "systems": {"v1": {"generator": model}},
            "settings": ["none"],
            "metrics": ["Match"],
        }
        path = tmp_path / "failing.yaml"
        path.write_text(yaml.safe_dump(document | changes))
        return load_experiment(path)

    return _make


def test_the_commonest_reason_stands_below_the_table(make: Make, tmp_path: Path) -> None:
    """In words: in the terminal, in JSON and in the report."""
    with FakeModelServer(script=["400", "400-context", "ok", "400"]) as server:
        results = make(server.url).run()
    sentence = "3 of 8 calls of `v1` have no answer: HTTP 400"
    assert f"\nWARNING: {sentence}\n" in str(results)
    assert "--keep-failed" in str(results)
    document = results.to_dict()
    assert document["warnings"] == [sentence]
    assert document["usage"][0]["statuses"] == {
        "answered": 5, "empty": 0, "cut": 0, "filtered": 0, "tool_calls": 0, "unreadable": 0,
        "failed": 3,
    }  # fmt: skip
    report = results.report(tmp_path / "report.html").read_text()
    assert f"WARNING: {sentence}. The next" in report


def test_empty_answers_have_a_column(make: Make) -> None:
    """Only if there are some: beside the means, and in the table of calls."""
    answers = iter(["", "  ", *["yes"] * 6])
    with FakeModelServer(answer=lambda _: next(answers)) as server:
        results = make(server.url).run()
    tables = str(results)
    assert tables.count("empty") == 2
    assert "filtered" not in tables
    assert "WARNING" not in tables
    assert results.to_dict()["usage"][0]["statuses"]["empty"] == 2


def test_failed_calls_are_repeated_or_kept(make: Make) -> None:
    """`retry_failed` is the default; without it, a step with failed items counts as finished."""
    with FakeModelServer(script=["400", "400"]) as server:
        make(server.url).run()
        assert server.asked.total() == 8
        kept = make(server.url).run(retry_failed=False)
        assert server.asked.total() == 8
        assert kept.finished
        assert kept.to_dict()["usage"][0]["failed"] == 2
        again = make(server.url).run()
        assert server.asked.total() == 10
    assert again.to_dict()["usage"][0]["failed"] == 0


def test_kept_failures_of_an_unfinished_step_are_not_repeated(make: Make) -> None:
    """The failures in the log count as outcomes, and in `Calls.usage`."""
    with FakeModelServer(script=["400"] * 8) as server:
        make(server.url).run()
        experiment = make(server.url, metrics=["Match", "F1"], settings=["none"])
        for folder in (experiment.store.root / "steps").glob("generate-*"):
            (folder / "manifest.json").unlink()
        with experiment.open_calls(retry_failed=False) as calls:
            experiment.run(calls)
            assert (calls.usage.asked, calls.usage.kept, calls.usage.failed) == (0, 8, 8)
        assert server.asked.total() == 8


def test_the_command_has_both_options(make: Make, tmp_path: Path) -> None:
    """`--keep-failed` makes no call; `--retry-failed` is what a plain run does."""
    with FakeModelServer(script=["400", "400", *["ok"] * 6, "400"]) as server:
        make(server.url).run()
        counts = []
        for option in ("--keep-failed", "--retry-failed"):
            result = CliRunner().invoke(command, [str(tmp_path / "failing.yaml"), option, "--json"])
            assert result.exit_code == 0, result.output
            counts.append(json.loads(result.stdout)["usage"][0]["failed"])
        assert server.asked.total() == 10
    assert counts == [2, 1]


def test_an_unreadable_verdict_is_requested_again(make: Make) -> None:
    """By the next run, whose judge works again; not by this run, and not with --keep-failed."""
    words = {"reply": "who knows"}
    judges = [{"name": "equivalence", "least_parse_rate": 0}]
    with FakeModelServer(answer=lambda _: words["reply"]) as server:
        model = {"name": "chat", "model": "fake", "base_url": server.url}
        changes: dict[str, Any] = {
            "systems": {"upper": {"generator": "gold"}},
            "judges": [{**judges[0], "model": model}],
        }
        first = make(server.url, **changes)
        with first.open_calls() as calls:
            assert _unscored_verdicts(first.run(calls)) == 7
            asked = server.asked.total()
            assert asked == 14
            (warning,) = leaderboards.warnings(first.run(calls))
            assert warning.startswith("7 verdicts of `equivalence` failed: the reply")
            assert _unscored_verdicts(first.run(calls)) == 7
            assert server.asked.total() == asked
        assert _unscored_verdicts(make(server.url, **changes).run(retry_failed=False)) == 7
        assert server.asked.total() == asked
        words["reply"] = "Verdict: yes"
        assert _unscored_verdicts(make(server.url, **changes).run()) == 0
        assert server.asked.total() == asked + 7
        make(server.url, **changes).run()
        assert server.asked.total() == asked + 7


def _unscored_verdicts(results: Any) -> int:
    cell = next(c for c in results.answer_cells if c.metric == "equivalence")
    unscored: int = cell.summary.unscored
    return unscored


def test_failing_never_pays(tmp_path: Path) -> None:
    """A system that answers only what it knows is behind one that answers more queries rightly."""
    queries = [
        {"_id": f"q{i}", "text": f"What is {i}?", "answers": [f"word{i}"]} for i in range(100)
    ]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (tmp_path / "parts.py").write_text(PARTS)
    document = {
        "data": str(tmp_path),
        "store": str(tmp_path / "store"),
        "systems": {
            "tries": {"generator": "parts.py:Knows(right=70, wrong=30)"},
            "fails": {"generator": "parts.py:Knows(right=30, wrong=0)"},
        },
        "settings": ["none"],
        "metrics": ["Match"],
    }
    rows = {}
    for policy in ("wrong", "exclude", "bounds"):
        path = tmp_path / f"{policy}.yaml"
        path.write_text(yaml.safe_dump(document | {"failures": policy}))
        results = load_experiment(path).run()
        found = results.to_dict()
        matches = [row for row in found["leaderboard"] if row["metric"] == "Match"]
        rows[policy] = {row["system"]: row for row in matches}
        lead = leaderboards.leads(results)[0]
        assert (lead.best, lead.is_clear) == ("tries", True) or not lead.is_clear
        report = results.report(tmp_path / "report.html").read_text()
        assert "70 failed" in report
        assert ("of the 30 answered" if policy != "exclude" else "of all 100") in report

        assert "fails failed on 70" in lead.sentence or "fails on 70" in lead.sentence
        rate = results.standings["none", "failure rate"]
        assert rate.outcome("tries", "fails") == "better"

    wrong, exclude, bounds = rows["wrong"], rows["exclude"], rows["bounds"]
    assert (wrong["fails"]["mean"], wrong["fails"]["n"], wrong["fails"]["failed"]) == (0.3, 100, 70)
    assert [wrong[name]["rank"] for name in ("tries", "fails")] == [[1, 1], [2, 2]]
    assert [wrong[name]["group"] for name in ("tries", "fails")] == [1, 2]
    assert (exclude["fails"]["mean"], exclude["fails"]["n"]) == (1.0, 30)
    assert [exclude[name]["rank"] for name in ("tries", "fails")] == [[1, 2], [1, 2]]
    assert bounds["fails"]["worst_and_best"] == [0.3, 1.0]
    assert [bounds[name]["rank"] for name in ("tries", "fails")] == [[1, 2], [1, 2]]


PARTS = """
from dataclasses import dataclass


@dataclass(frozen=True)
class Knows:
    right: int
    wrong: int

    def generate(self, task):
        number = int(task.query.query_id[1:])
        if number < self.right:
            return f"word{number}"
        return "no idea" if number < self.right + self.wrong else None
"""


def test_a_headline_that_is_no_metric_is_refused(make: Make) -> None:
    """The error has the nearest metric."""
    with pytest.raises(ConfigError, match="which is not a metric here; did you mean 'Match'"):
        make("http://localhost:1/v1", headline="Mach").check()
