"""`ragstone why`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.fakes.faulty_system import faulty

from ragstone.cli.why import command
from ragstone.errors import ConfigError, StoreError
from ragstone.experiment.load import load_campaign


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an experiment that was run."""
    made = tmp_path_factory.mktemp("faulty")
    faulty(made, store=str(made / ".ragstone"))
    return made


def test_the_chain_of_a_query(folder: Path) -> None:
    """As text and as JSON."""
    chosen = ["low", str(folder / "e.yaml"), "--system", "a", "--setting", "retrieved(3)"]
    text = CliRunner().invoke(command, chosen)
    document = json.loads(CliRunner().invoke(command, [*chosen, "--json"]).stdout)

    assert text.exit_code == 0
    assert "Cause: ranking" in text.stdout
    (chain,) = document["chains"]
    assert (chain["cause"], chain["gold"][0]["retrieved"]) == ("ranking", 7)


def test_without_a_file_the_store_of_the_folder_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A folder without a store is an error."""
    monkeypatch.chdir(folder)
    found = CliRunner().invoke(command, ["low", "--json"])
    assert json.loads(found.stdout)["experiment"] == "e"

    monkeypatch.chdir(tmp_path)
    absent = CliRunner().invoke(command, ["low"])
    assert isinstance(absent.exception, StoreError)
    assert "there is no store" in str(absent.exception)


def test_an_unknown_query_has_the_nearest_ids(folder: Path) -> None:
    """The message names the experiment."""
    found = CliRunner().invoke(command, ["lowe", str(folder / "e.yaml")])

    assert isinstance(found.exception, ConfigError)
    assert "such as low" in str(found.exception)


def test_a_query_of_several_data_sets_has_to_be_chosen(folder: Path) -> None:
    """`FILE#DATA` chooses one."""
    file = json.loads((folder / "e.yaml").read_text("utf-8"))
    joined = folder / "joined.yaml"
    joined.write_text(
        json.dumps({**file, "data": {"x": {"path": "set"}, "y": {"path": "set"}}}), encoding="utf-8"
    )
    load_campaign(joined).run()

    both = CliRunner().invoke(command, ["low", str(joined)])
    one = CliRunner().invoke(command, ["low", f"{joined}#y", "--json"])

    assert isinstance(both.exception, ConfigError)
    assert "joined.yaml#x" in str(both.exception)
    assert json.loads(one.stdout)["chains"]
