"""Every command has help with an example, documentation, and the documented exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ragstone.cli import COMMANDS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def ragstone(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line in its own process."""
    command = [sys.executable, "-c", "from ragstone.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_and_a_place_in_the_docs(name: str) -> None:
    """`--help` has an example, and docs/commands.md lists the command."""
    found = ragstone(name, "--help")

    assert found.returncode == 0
    assert "Example" in found.stdout or "Commands:" in found.stdout
    assert f"ragstone {name}" in found.stdout
    assert f"`ragstone {name}`" in (DOCS / "commands.md").read_text()


def test_help_lists_every_command() -> None:
    """`ragstone --help` lists all commands."""
    shown = ragstone("--help").stdout

    assert all(name in shown for name in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing",), "No such command 'nothing'"),
        (("run",), "Missing argument 'EXPERIMENT.yaml'"),
        (("run", "absent.yaml"), "Error: there is no experiment file absent.yaml"),
        (("run", "x.yaml", "--limit", "0"), "Invalid value for '--limit'"),
        (("show", "absent.yaml"), "there is no experiment file absent.yaml"),
        (("report", "absent.yaml"), "there is no experiment file absent.yaml"),
        (("data", "show", "absent"), "absent"),
        (("components", "retriever"), "Invalid value"),
    ],
)
def test_wrong_usage_is_exit_code_2_without_a_traceback(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    """The message is on stderr, and no file is written."""
    found = ragstone(*arguments, folder=tmp_path)

    assert found.returncode == 2
    assert said in found.stderr
    assert "Traceback" not in found.stderr
    assert list(tmp_path.iterdir()) == []


def test_components_are_listed_with_parameters() -> None:
    """The JSON is a list of components; each parameter has its type, default and description."""
    found = json.loads(ragstone("components", "retrievers", "--json").stdout)

    (bm25,) = [entry for entry in found if entry["name"] == "bm25"]
    assert {key: bm25[key] for key in ("kind", "requires", "installed")} == {
        "kind": "retrievers",
        "requires": [],
        "installed": True,
    }
    (k1,) = [parameter for parameter in bm25["parameters"] if parameter["name"] == "k1"]
    assert k1.pop("help")
    assert k1 == {"name": "k1", "type": "float", "default": "1.2", "in_key": True}


def test_components_are_listed_for_people() -> None:
    """The text lists kinds, components and defaults."""
    shown = ragstone("components").stdout

    assert "retrievers" in shown
    assert "k1 = 1.2" in shown


def test_the_doctor_reports_its_findings(tmp_path: Path) -> None:
    """Each finding has a subject and a state, and advice if the state is not ok."""
    found = ragstone("doctor", "--json", "--store", str(tmp_path / "store"))

    findings = {entry["subject"]: entry for entry in json.loads(found.stdout)}
    assert findings["python"]["state"] == "ok"
    assert findings["store"]["state"] == "ok"
    assert all(entry["advice"] for entry in findings.values() if entry["state"] != "ok")


def test_a_missing_part_is_exit_code_1(tmp_path: Path) -> None:
    """A store that is not writable is reported with a remedy."""
    (tmp_path / "file").write_text("")

    found = ragstone("doctor", "--store", str(tmp_path / "file" / "store"))

    assert found.returncode == 1
    assert "give another folder: store=PATH" in found.stdout


def test_the_schema_of_the_experiment_file_is_printed() -> None:
    """The output is a JSON Schema with the keys of the file."""
    schema = json.loads(ragstone("config", "schema").stdout)

    assert {"data", "systems", "settings", "metrics"} <= set(schema["properties"])


def test_a_run_prints_the_leaderboard_and_json(tmp_path: Path) -> None:
    """The text, the JSON and the output of `show` contain the same results."""
    (tmp_path / "small.yaml").write_text(
        "data: sample\nsample: {limit: 6, where: {turn: null}}\n"
        "systems: {best: {retriever: bm25, generator: gold}}\n"
        "settings: [none, gold, retrieved(2)]\nmetrics: [Match, nDCG@10]\n"
    )

    first = ragstone("run", "small.yaml", folder=tmp_path)
    again = ragstone("run", "small.yaml", "--json", folder=tmp_path)
    shown = ragstone("show", "small.yaml", "--json", folder=tmp_path)
    plan = ragstone("run", "small.yaml", "--plan", "--json", folder=tmp_path)

    assert first.returncode == 0
    assert "Match" in first.stdout
    assert json.loads(again.stdout)["leaderboard"][0]["mean"] == 1.0
    assert json.loads(again.stdout)["leaderboard"] == json.loads(shown.stdout)["leaderboard"]
    assert json.loads(plan.stdout)["trials_to_do"] == 0


def test_limit_and_seed_are_options_of_run(tmp_path: Path) -> None:
    """`--limit` and `--seed` set the sample."""
    (tmp_path / "small.yaml").write_text(
        "data: sample\nsystems: {best: {generator: gold}}\nsettings: [none]\nmetrics: [Match]\n"
    )

    found = ragstone("run", "small.yaml", "--limit", "9", "--seed", "5", "--json", folder=tmp_path)

    assert json.loads(found.stdout)["data"]["answered"] == 9
