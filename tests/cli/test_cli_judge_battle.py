"""`ragstone judge battle`: an experiment's answers, people's ratings, the plan, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.fakes.made_results import made_results

from ragstone.cli.judge_battle import command
from ragstone.errors import ConfigError, DatasetError
from ragstone.testing import FakeModelServer

RATINGS = [
    {"query_id": f"q{n}", "rater": "ann", "property": "better", "value": value}
    | {"system": "x", "against": "y"}
    for n, value in enumerate(["a", "a", "b", "tie"])
]


def battle(folder: Path, source: Path, *arguments: str) -> Result:
    """Run the command with a store of replies in a folder."""
    given = [str(source), "--store", str(folder / "replies"), *arguments]
    return CliRunner().invoke(command, given, catch_exceptions=False)


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """Return the file of a made-up experiment that has run."""
    made_results(tmp_path / "store", settings=("none", "gold"))
    path = tmp_path / "made.yaml"
    rest = "systems: [{generator: gold}]\nsettings: [none]\nmetrics: [Match]\n"
    path.write_text(f"name: made\ndata: sample\nstore: {tmp_path / 'store'}\n{rest}")
    return path


def test_answers_of_an_experiment_are_compared_once(tmp_path: Path, experiment: Path) -> None:
    """A rerun asks nothing; the plan names an upper bound of the calls."""
    with FakeModelServer(answer=lambda _: "first") as server:
        model = f"pairwise(model=chat(model=m, base_url={server.url!r}))".replace("'", '"')
        options = ("--judge", model, "--json")
        planned = json.loads(battle(tmp_path, experiment, *options, "--plan").stdout)
        assert not sum(server.asked.values())
        first = battle(tmp_path, experiment, *options)
        asked = sum(server.asked.values())
        again = battle(tmp_path, experiment, *options)
        text = battle(tmp_path, experiment, "--judge", model, "--setting", "gold")
        few = battle(tmp_path, experiment, *options, "--battles", "1", "--plan")

    found = json.loads(first.stdout)
    assert set(found["settings"]) == {"none", "gold"} == set(planned["planned"])
    assert asked <= sum(one["calls"] for one in planned["planned"].values())
    gold = found["settings"]["gold"]
    assert gold["battles"] == gold["settled"] + gold["order_dependent"]
    assert set(gold["systems"]) == {"bm25 + small", "dense + small"}
    assert set(gold["systems"]["bm25 + small"]) == {
        *("strength", "interval", "win_rate", "rank", "rank_interval", "n", "wins"),
    }
    assert again.stdout == first.stdout
    assert sum(server.asked.values()) == asked
    assert "ties because the orders disagree; first place preferred in 100.0%" in text.stdout
    assert "none (" not in text.stdout
    assert json.loads(few.stdout) == planned


def test_ratings_of_people_need_no_judge(tmp_path: Path) -> None:
    """Two wins, one loss and a tie."""
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in RATINGS))
    found = json.loads(battle(tmp_path, path, "--json").stdout)["properties"]["better"]
    assert (found["battles"], found["systems"]["x"]["wins"]) == (4, 2.5)
    assert "better (4 battles on 4 queries, 1 ties)" in battle(tmp_path, path).stdout
    with pytest.raises(DatasetError, match="'better'"):
        battle(tmp_path, path, "--property", "fluency")
    alone = {"query_id": "q", "rater": "ann", "property": "better", "value": 3, "system": "x"}
    path.write_text(json.dumps(alone))
    with pytest.raises(DatasetError, match="no rating of a pair"):
        battle(tmp_path, path)


def test_what_cannot_be_compared_is_told(tmp_path: Path, experiment: Path) -> None:
    """A judge of one answer, and a setting that is unknown."""
    with pytest.raises(ConfigError, match="needs a judge that compares two answers"):
        battle(tmp_path, experiment, "--judge", "idk")
    with pytest.raises(ConfigError, match=r"no setting 'golden'; did you mean 'gold'"):
        battle(tmp_path, experiment, "--setting", "golden")
