"""The trackers by name."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragstone.cli.run import command
from ragstone.results.trackers.base import TRACKERS


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
