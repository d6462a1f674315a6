"""The page on the gate: keys of the result, and YAML of two services."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner

import ragstone
from ragstone.cli.gate import command
from ragstone.types import Score

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "gate.md").read_text("utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
GITHUB, GITLAB = map(yaml.safe_load, BLOCKS)


def test_every_key_of_the_json_is_described() -> None:
    """Keys of the object and of its metrics."""
    scores = [Score(str(i), "EM", float(i % 2)) for i in range(40)]
    found = ragstone.gate(scores, baseline=scores, metrics="EM", margin=0.1).to_dict()

    keys = [*found, *found["metrics"][0]]
    assert [key for key in keys if f"`{key}`" not in PAGE and f"`{key}[]`" not in PAGE] == []


def test_the_steps_of_both_services_call_the_gate() -> None:
    """The options of each call exist, and GitLab's warning is the exit code of `undecided`."""
    steps: list[dict[str, Any]] = GITHUB["jobs"]["gate"]["steps"]
    lines = [step.get("run", "") for step in steps] + GITLAB["gate"]["script"]
    calls = [shlex.split(line)[2:] for line in lines if line.startswith("ragstone gate")]

    assert len(calls) == 2
    for arguments in calls:
        context = command.make_context("gate", arguments)
        assert context.params["metrics"] == ("F1",)
    assert GITLAB["gate"]["allow_failure"]["exit_codes"] == [3]
    junit = GITLAB["gate"]["artifacts"]["reports"]["junit"]
    assert f"--junit {junit}" in GITLAB["gate"]["script"][-1]


def test_the_exit_codes_are_those_of_the_help() -> None:
    """The table of the page and the help list the same codes."""
    help_text = CliRunner().invoke(command, ["--help"]).output
    codes = re.findall(r"^\| (\d) \|", PAGE, re.MULTILINE)

    assert sorted(codes) == re.findall(r"^ +(\d)  ", help_text, re.MULTILINE)
