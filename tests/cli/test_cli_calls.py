"""`ragstone calls`: kept calls are listed, shown, exported and pruned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ragstone.calls.client import Calls
from ragstone.calls.scheduler import RetryPolicy
from ragstone.calls.types import Endpoint, chat
from ragstone.cli.calls import command
from ragstone.testing import FakeModelServer


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with three replies and one failure."""
    with (
        FakeModelServer(script=["400", "ok", "ok", "ok"]) as server,
        Calls.at(tmp_path / "calls.sqlite", retry_policy=RetryPolicy(), max_concurrency=1) as calls,
    ):
        endpoint = Endpoint("fake", (server.url,))
        list(calls.ask(endpoint, [chat(f"question {n}") for n in range(4)]))
    return tmp_path


def run(*arguments: str | Path) -> Result:
    """Run the command."""
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_list_reports_replies_failures_and_size(store: Path) -> None:
    """The text and the JSON contain the same numbers."""
    assert "fake" in run("list", store).output
    document = json.loads(run("list", store, "--json").output)
    (model,) = document["models"]
    assert (model["replies"], model["failures"]) == (3, 1)
    assert model["tokens_in"] == 6
    assert document["bytes"] > 1000


def test_export_writes_one_json_object_per_call(store: Path) -> None:
    """Prompts and parameters are plain data, and failures have a reason."""
    calls = [json.loads(line) for line in run("export", store).output.splitlines()]
    assert len(calls) == 4
    assert calls[1]["messages"] == [["user", "question 1"]]
    (failure,) = [json.loads(x) for x in run("export", store, "--failures").output.splitlines()]
    assert "refused with 400" in failure["reason"]


def test_show_finds_a_call_by_the_start_of_its_key(store: Path) -> None:
    """The output contains the prompt and the reply."""
    call = json.loads(run("export", store).output.splitlines()[1])
    shown = run("show", store, call["key"][:10]).output
    assert "question 1" in shown
    assert call["text"] in shown
    assert "no call with a key" in str(run("show", store, "zzz").exception)


def test_prune_removes_only_the_chosen_calls(store: Path) -> None:
    """Failures need no confirmation, replies need one, and a filter is required."""
    assert json.loads(run("prune", store, "--failures", "--json").output)["removed"] == 1
    assert "choose the calls" in str(run("prune", store).exception)
    assert run("prune", store, "--all").exit_code == 1
    assert json.loads(run("prune", store, "--older-than", "1", "--json").output)["removed"] == 0
    assert json.loads(run("prune", store, "--all", "--yes", "--json").output)["removed"] == 3


def test_a_missing_log_is_an_error(tmp_path: Path) -> None:
    """The command does not create the log."""
    result = run("list", tmp_path)
    assert "no call log" in str(result.exception)
    assert not list(tmp_path.iterdir())
