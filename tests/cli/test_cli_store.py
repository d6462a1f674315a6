"""`ragstone store`: list, check and prune."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.calls.test_log import keep

from ragstone.calls.log_file import connect
from ragstone.calls.types import Reply
from ragstone.cli import root
from ragstone.core import limits
from ragstone.experiment.load import load_experiment


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the default store, with a finished experiment."""
    monkeypatch.chdir(tmp_path)
    document: dict[str, Any] = {
        "name": "one",
        "data": "sample",
        "sample": {"limit": 3},
        "systems": [{"retriever": "bm25", "generator": "gold"}],
        "settings": ["gold"],
        "metrics": ["Match", "R@2"],
    }
    load_experiment(document).run()
    return tmp_path / ".ragstone"


def ragstone(*arguments: str, typed: str = "") -> Result:
    """Run the command line."""
    return CliRunner().invoke(root, list(arguments), input=typed)


def damaged(store: Path) -> str:
    """Damage a table of scores, and return its path within the store."""
    path = next(store.glob("steps/score-answer-*/table.parquet"))
    path.write_bytes(path.read_bytes()[:-1])
    return path.relative_to(store).as_posix()


def test_the_contents_are_listed(store: Path) -> None:
    """`ragstone store` lists the default store, and `ragstone store PATH` another one."""
    text = ragstone("store").stdout
    document = json.loads(ragstone("store", str(store), "--json").stdout)

    assert "one" in text
    assert "call log" in text
    (experiment,) = document["experiments"]
    assert set(experiment) == {
        "name",
        "started",
        "finished",
        "steps",
        "problem",
        "earlier",
        "counterfactuals",
    }
    assert experiment["finished"]
    assert document["orphans"] == document["set_aside"] == document["abandoned"] == []
    assert document["bytes"] > 0
    assert ragstone("store", "absent").exit_code == 1


def test_damage_is_found_repaired_and_computed_again(store: Path) -> None:
    """The shape of the JSON and the exit codes are a promise to scripts."""
    sound = ragstone("store", "check", "--json")
    assert (sound.exit_code, json.loads(sound.stdout)["damaged"]) == (0, [])
    path = damaged(store)

    found = ragstone("store", "check", "--json")
    repaired = ragstone("store", "check", "--repair", "--json")

    what = "its bytes differ from the digest in its manifest"
    damage = {"path": path, "what": what, "earlier_version": False}
    assert found.exit_code == 1
    assert json.loads(found.stdout) == {
        "checked": json.loads(sound.stdout)["checked"] - 1,
        "damaged": [damage | {"repaired": False}],
    }
    assert repaired.exit_code == 0
    assert json.loads(repaired.stdout)["damaged"] == [{**damage, "repaired": True}]
    assert "damaged and set aside" in ragstone("store").stdout


def test_the_text_of_a_check_says_how_to_repair(store: Path) -> None:
    """Every finding has a line, and the last line has the command."""
    path = damaged(store)

    found = ragstone("store", "check").stdout.splitlines()
    assert found[0] == f"{path}: its bytes differ from the digest in its manifest"
    assert found[-1] == "to set them aside: ragstone store check --repair .ragstone"
    assert "(repaired)" in ragstone("store", "check", "--repair").stdout


def test_a_damaged_call_log_is_found(store: Path) -> None:
    """The call log is one of the files."""
    (store / "calls.sqlite").write_bytes(b"not a database" * 100)

    found = ragstone("store", "check", "--json")
    assert found.exit_code == 1
    assert {one["path"] for one in json.loads(found.stdout)["damaged"]} == {"calls.sqlite"}


def test_pruning_lists_asks_and_removes(store: Path) -> None:
    """Without a confirmation nothing is removed."""
    damaged(store)
    ragstone("store", "check", "--repair")

    refused = ragstone("store", "prune", typed="n\n")
    assert "damaged/score-answer-" in refused.output
    assert list((store / "damaged").iterdir())
    removed = json.loads(ragstone("store", "prune", "--yes", "--json").stdout)

    assert [Path(one["path"]).parts[0] for one in removed["removed"]] == ["damaged"]
    assert removed["bytes"] > 0
    assert not list((store / "damaged").iterdir())


def test_young_folders_without_a_record_are_left_by_prune(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list says so, and how to remove them too."""
    next((store / "experiments").glob("*.json")).unlink()

    text = ragstone("store").stdout

    assert "that no experiment refers to" in text
    assert "changed in the last 24 hours and may belong to a run that goes on" in text
    assert "--older-than 0" in text
    assert "to remove them: ragstone" not in text
    assert "removed 0 files" in ragstone("store", "prune", "--yes").stdout
    monkeypatch.setattr(limits, "KEPT_ORPHAN_DAYS", -1.0)
    assert "to remove them: ragstone" in ragstone("store").stdout


def test_a_record_of_an_earlier_version_is_not_called_damaged(store: Path) -> None:
    """It has no checksum, so it cannot be checked."""
    path = next((store / "experiments").glob("*.json"))
    record = json.loads(path.read_text())
    record.pop("checksum")
    path.write_text(json.dumps(record))

    found = ragstone("store", "check")

    assert found.exit_code == 1
    assert "it was written by an earlier version of Ragstone, without a checksum" in found.stdout
    assert "0 damaged, 1 of an earlier version, without a checksum" in found.stdout


def test_a_missing_key_of_digests_is_named(store: Path) -> None:
    """Without it, systems with headers in their identity are asked again."""
    log = store / "calls.sqlite"
    keep(log, [Reply("a", key="key-1")])
    assert ragstone("store", "check").exit_code == 0
    with closing(connect(log)) as connection, connection:
        identity = '{"header:x-team":"' + "0f" * 12 + '"}'
        connection.execute("UPDATE calls SET identity = ?", (identity,))

    assert "identity.key: it is missing, and 1 systems" in ragstone("store", "check").stdout
    (store / "identity.key").write_text("key")
    assert "identity.key" not in ragstone("store", "check").stdout
