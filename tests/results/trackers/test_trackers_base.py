"""The trackers by name."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.fakes.made_results import made_results

from ragstone.cli.run import command
from ragstone.core.redaction import remember
from ragstone.results.trackers.base import TRACKERS, track
from ragstone.results.trackers.tracked_run import TrackedRun


def test_each_name_has_a_class_and_is_offered() -> None:
    """The option and the table have the same names."""
    for target in TRACKERS.values():
        module, _, name = target.partition(":")
        assert hasattr(importlib.import_module(module), name)
    (option,) = (one for one in command.params if one.name == "track")
    assert list(getattr(option.type, "choices", ())) == list(TRACKERS)


@pytest.mark.parametrize("other", ["--plan", "--only=retrieve"])
def test_only_whole_results_are_tracked(other: str, tmp_path: Path) -> None:
    """A plan and single steps have no results to keep."""
    file = tmp_path / "e.yaml"
    file.write_text("{}", "utf-8")
    found = CliRunner().invoke(command, [str(file), "--track", "mlflow", other])

    assert (found.exit_code, "leave out --plan and --only" in found.output) == (2, True)


def test_a_tracker_gets_no_secret(tmp_path: Path) -> None:
    """Names of systems in parameters and numbers are without a value that is known."""
    results = made_results(tmp_path / "store")
    runs: list[TrackedRun] = []

    class Kept:
        def log(self, run: TrackedRun) -> str:
            runs.append(run)
            return ""

    track(Kept(), [results])
    remember(["bm25_small"])
    track(Kept(), [results])
    told = [repr((run.name, run.parameters, run.numbers)) for run in runs]
    assert ["bm25_small" in one for one in told] == [True, False]
    assert "'***/none/Match'" in told[1]
