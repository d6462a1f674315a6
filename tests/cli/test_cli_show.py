"""`ragstone show --causes`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.fakes.faulty_system import FAULTS, faulty

from ragstone.cli.show import command
from ragstone.errors import ConfigError
from ragstone.experiment.load import load_campaign


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an experiment that was run."""
    made = tmp_path_factory.mktemp("faulty")
    faulty(made)
    return made


def test_causes_as_json(folder: Path) -> None:
    """The promised keys, and every fault with its cause."""
    found = CliRunner().invoke(command, [str(folder / "e.yaml"), "--causes", "--json"])
    document = json.loads(found.stdout)

    assert list(document) == ["causes", "gains", "queries", "marks"]
    listed = {
        one["query_id"]: (one["cause"], one["within"])
        for one in document["queries"]
        if (one["system"], one["setting"]) == ("a", "retrieved(3)")
    }
    assert listed == FAULTS
    shares = [c for c in document["causes"] if (c["system"], c["setting"]) == ("a", "retrieved(3)")]
    assert {c["cause"]: c["n"] for c in shares}["retrieval_miss"] == 2
    assert all(c["interval"][0] <= c["share"] <= c["interval"][1] for c in shares)


def test_causes_of_one_trial(folder: Path) -> None:
    """As text; names that do not exist are refused with the nearest one."""
    file = str(folder / "e.yaml")
    chosen = ["--causes", "--system", "a", "--setting", "retrieved(3)"]
    found = CliRunner().invoke(command, [file, *chosen])

    assert found.exit_code == 0
    assert "Causes of wrong answers (Match" in found.stdout
    assert "neighbours(3)  " not in found.stdout
    wrong = CliRunner().invoke(command, [file, "--causes", "--system", "aa"])
    assert isinstance(wrong.exception, ConfigError)
    assert "did you mean 'a'" in str(wrong.exception)
    alone = CliRunner().invoke(command, [file, "--system", "a"])
    assert alone.exit_code == 2
    assert "add --causes" in alone.output


def test_causes_of_several_data_sets(folder: Path) -> None:
    """One document per experiment of the file."""
    file = json.loads((folder / "e.yaml").read_text("utf-8"))
    joined = folder / "joined.yaml"
    joined.write_text(
        json.dumps({**file, "data": {"x": {"path": "set"}, "y": {"path": "set"}}}), encoding="utf-8"
    )
    load_campaign(joined).run()

    found = CliRunner().invoke(command, [str(joined), "--causes", "--json"])
    experiments = json.loads(found.stdout)["experiments"]
    assert len(experiments) == 2
    assert all(list(one) == ["causes", "gains", "queries", "marks"] for one in experiments.values())
    text = CliRunner().invoke(command, [str(joined), "--causes"]).stdout
    assert text.count("Causes of wrong answers") == 2
    assert all(name in text for name in experiments)
