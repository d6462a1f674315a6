"""`ragstone judge compare`: an experiment's judges; a missing verdict of several is noted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from ragstone.cli.judge import command
from ragstone.cli.show import command as show
from ragstone.errors import ConfigError
from ragstone.experiment.load import load_experiment
from ragstone.testing import FakeModelServer


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an experiment with a panel of two models, one of them often unreadable."""
    folder = tmp_path_factory.mktemp("judges")
    with (
        FakeModelServer(answer=lambda m: "yes" if len(str(m)) % 2 else "no") as good,
        FakeModelServer(answer=lambda m: "what?" if len(str(m)) % 3 == 0 else "yes") as bad,
    ):
        models = [
            {"name": "chat", "model": name, "base_url": server.url}
            for name, server in (("good", good), ("bad", bad))
        ]
        document = {
            "data": "sample",
            "store": str(folder / "store"),
            "sample": {"limit": 20, "seed": 1, "where": {"turn": None}},
            "systems": {"one": {"generator": models[0]}, "two": {"generator": models[1]}},
            "settings": ["gold"],
            "metrics": ["Match", "F1"],
            "judges": [
                {"name": "equivalence", "model": models, "refusals": "judge"},
                {"name": "idk", "model": models[0]},
            ],
        }
        file = folder / "run.yaml"
        file.write_text(yaml.safe_dump(document))
        load_experiment(file).run()
    return file


def test_the_judges_of_an_experiment_are_compared(experiment: Path) -> None:
    """By default its judges; other metrics by name; each pair has its agreement."""
    shown = CliRunner().invoke(command, ["compare", str(experiment)])
    held = CliRunner().invoke(
        command, ["compare", str(experiment), "--metric", "Match", "--metric", "idk", "--json"]
    )

    assert shown.exit_code == 0, shown.output
    assert "equivalence  idk" in shown.output
    assert "2 systems make only 1 pair" in shown.output
    document = json.loads(held.output)
    assert [one["judge"] for one in document["orders"]] == ["Match", "idk"]
    assert set(document["pairs"][0]) == {"a", "b", "n", "kappa", "correlation", "order", "groups"}


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--metric", "equivalenc", "did you mean 'equivalence'"),
        ("--metric", "idk", "found 1 judge"),
        ("--setting", "golf", "did you mean 'gold'"),
    ],
)
def test_wrong_names_are_refused(experiment: Path, option: str, value: str, message: str) -> None:
    """Unknown metrics and settings, and a single judge."""
    found = CliRunner().invoke(command, ["compare", str(experiment), option, value])

    assert isinstance(found.exception, ConfigError)
    assert message in str(found.exception)


def test_a_missing_verdict_of_several_is_in_every_output(experiment: Path) -> None:
    """The verdicts count, and the warning states what they rest on."""
    text = CliRunner().invoke(show, [str(experiment)])
    held = CliRunner().invoke(show, [str(experiment), "--json"])

    assert "verdicts of `equivalence` rest on some of the replies: 1 of 2 verdicts are missing" in (
        " ".join(text.output.split())
    )
    assert any("rest on some of the replies" in one for one in json.loads(held.output)["warnings"])
