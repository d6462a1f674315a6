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
from ragstone.experiment.experiment import Experiment, load_experiment
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
            assert _failed_verdicts(first.run(calls)) == 7
            asked = server.asked.total()
            assert asked == 14
            (warning,) = leaderboards.warnings(first.run(calls))
            assert warning.startswith("7 verdicts of `equivalence` failed: the reply")
            assert _failed_verdicts(first.run(calls)) == 7
            assert server.asked.total() == asked
        assert _failed_verdicts(make(server.url, **changes).run(retry_failed=False)) == 7
        assert server.asked.total() == asked
        words["reply"] = "Verdict: yes"
        assert _failed_verdicts(make(server.url, **changes).run()) == 0
        assert server.asked.total() == asked + 7
        make(server.url, **changes).run()
        assert server.asked.total() == asked + 7


def _failed_verdicts(results: Any) -> int:
    cell = next(c for c in results.answer_cells if c.metric == "equivalence")
    failed: int = cell.summary.failed
    return failed
